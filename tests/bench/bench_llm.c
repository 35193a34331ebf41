/*
 * What the client itself costs: decoding the recorded streams, and the time
 * from the last byte of a reply to its use. Data as the unit tests find it.
 */
#include "base/io.h"
#include "base/mem.h"
#include "llm/wire/decode.h"
#include "llm/wire/wire.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define INDEX_MAX   ((size_t)64 << 20)
#define CHUNK	    ((size_t)16384) /* what libcurl hands over at most */
#define ROUND_BYTES ((size_t)48 << 20)

struct stream {
	const struct wire *wire;
	struct buf body;
};

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of this process's own time, so that a busy machine counts for less. */
static double now_s(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

static bool read_data(const char *name, struct buf *out)
{
	const char *folder = getenv("ASSAY_DATA");
	struct error err = ERROR_INIT;
	cleanup_free char *path =
		mem_printf("%s/http/%s", folder ? folder : "../shared/data", name);

	return io_read_file(path, out, &err) == 0;
}

static const struct wire *wire_named(const char *name)
{
	for (int i = LLM_WIRE_OPENAI_CHAT; name && i <= LLM_WIRE_OLLAMA; i++)
		if (!strcmp(wire_find((enum llm_wire)i)->name, name))
			return wire_find((enum llm_wire)i);
	return NULL;
}

/* The recorded streams that decode; an array of *ret_count, to the end of the program. */
static struct stream *load(size_t *ret_count)
{
	struct buf index = BUF_INIT(INDEX_MAX);
	struct stream *streams = NULL;
	char *rest;
	size_t count = 0;

	if (!read_data("index.jsonl", &index))
		return NULL;
	for (char *line = strtok_r(index.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct error err = ERROR_INIT;
		struct json *row = json_parse(line, strlen(line), JSON_BIG_AS_STRING, &err);
		struct stream s = { .wire = wire_named(json_get_string(row, "wire")) };

		buf_init(&s.body, INDEX_MAX);
		if (s.wire && json_get(row, "expect") && json_get_bool(row, "stream", false) &&
		    read_data(json_get_string(row, "body_file"), &s.body)) {
			streams = mem_array(streams, count + 1, sizeof(*streams));
			streams[count++] = s;
		}
		json_free(row);
	}
	buf_release(&index);
	*ret_count = count;
	return streams;
}

/* Decodes it; *ret_tail_s is the time from its last chunk on. */
static void decode(const struct stream *s, double *ret_tail_s)
{
	struct llm_reply reply = { .first_token_ms = -1 };
	size_t at = 0, last = s->body.len > 1 ? s->body.len - 1 : 0;
	struct decode d;

	decode_init(&d, &s->wire->responses, NULL);
	for (; at < last; at += CHUNK)
		decode_feed(&d, s->body.data + at, last - at < CHUNK ? last - at : CHUNK);
	double began = now_s();
	decode_feed(&d, s->body.data + last, s->body.len - last);
	decode_finish(&d);
	decode_into_reply(&d, &reply);
	*ret_tail_s = now_s() - began;
	decode_release(&d);
	llm_reply_release(&reply);
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct stream *streams, size_t count, const struct wire *wire)
{
	double *tails = NULL, began = now_s(), began_wall = seconds_of(CLOCK_MONOTONIC);
	size_t bytes = 0, n = 0;

	while (bytes < ROUND_BYTES) {
		size_t before = bytes;

		for (size_t i = 0; i < count; i++) {
			if (streams[i].wire != wire)
				continue;
			tails = mem_array(tails, n + 1, sizeof(*tails));
			decode(&streams[i], &tails[n++]);
			bytes += streams[i].body.len;
		}
		if (bytes == before)
			return;
	}
	double took = now_s() - began;
	double took_wall = seconds_of(CLOCK_MONOTONIC) - began_wall;
	qsort(tails, n, sizeof(*tails), by_number);
	printf("%-20s %7.1f MB/s (%.1f by the wall clock)  last byte to use: median %.1f us, "
	       "99%% %.1f us, worst %.1f us (%zu replies)\n",
	       wire->name, (double)bytes / took / 1e6, (double)bytes / took_wall / 1e6,
	       tails[n / 2] * 1e6, tails[n - 1 - n / 100] * 1e6, tails[n - 1] * 1e6, n);
	free(tails);
}

/* Twice the reply must take twice the time. */
static void measure_growth(void)
{
	static const char event[] = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":"
				    "\"some words of a reply \"}}]}\n\n";
	double before = 0;

	for (size_t mib = 1; mib <= 16; mib *= 2) {
		struct stream s = { .wire = &wire_openai_chat };

		buf_init(&s.body, INDEX_MAX);
		while (s.body.len < mib << 20)
			buf_addstr(&s.body, event);
		buf_addstr(&s.body, "data: [DONE]\n\n");
		double began = now_s();
		double tail;
		decode(&s, &tail);
		began = now_s() - began;
		printf("one stream of %2zu MiB  %6.1f ms%s", mib, began * 1e3,
		       before > 0 ? "" : "\n");
		if (before > 0)
			printf("  x%.2f\n", began / before);
		before = began;
		buf_release(&s.body);
	}
}

/* --- a whole call: from the server's last byte to the reply in hand --- */

#define CALLS 200
#define HEAD                                                                              \
	"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" \
	"data: {\"choices\":[{\"delta\":{\"content\":\"hello\"}}]}\n\n"
#define TAIL                                                                  \
	"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" \
	"data: [DONE]\n\n"

/* Answers CALLS connections; *sent_s is when the last byte of an answer was given away. */
static void serve(int listener, volatile double *sent_s)
{
	for (int i = 0; i < CALLS; i++) {
		int fd = accept(listener, NULL, NULL);
		char request[8192];

		if (read(fd, request, sizeof(request)) < 0 || write(fd, HEAD, sizeof(HEAD) - 1) < 0)
			_exit(1);
		usleep(2000);
		*sent_s = seconds_of(CLOCK_MONOTONIC);
		if (write(fd, TAIL, sizeof(TAIL) - 1) < 0)
			_exit(1);
		close(fd);
	}
	_exit(0);
}

/* Whether the call went well; *ret_s is when its reply was in hand. */
static bool call(const struct llm *llm, double *ret_s)
{
	const struct llm_message message = { "user", "hi" };
	const struct llm_request request = { .stage = "complete",
					     .messages = &message,
					     .message_count = 1,
					     .temperature = NAN,
					     .stream = true,
					     .cancel_fd = -1 };
	struct error err = ERROR_INIT;
	struct llm_reply reply;
	bool good = llm_call(llm, &request, NULL, &reply, &err) == 0;

	*ret_s = seconds_of(CLOCK_MONOTONIC);
	llm_reply_release(&reply);
	return good;
}

static void measure_calls(void)
{
	double tails[CALLS], *sent_s = mmap(NULL, sizeof(*sent_s), PROT_READ | PROT_WRITE,
					    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), n = 0;
	struct llm_http_options options = { .provider = "bench", .model = "m" };
	struct error err = ERROR_INIT;
	char base[64];

	if (sent_s == MAP_FAILED || bind(listener, (struct sockaddr *)&at, len) < 0 ||
	    listen(listener, 8) < 0 || getsockname(listener, (struct sockaddr *)&at, &len) < 0)
		return;
	if (fork() == 0)
		serve(listener, sent_s);
	snprintf(base, sizeof(base), "http://127.0.0.1:%u/v1", (unsigned int)ntohs(at.sin_port));
	options.base_url = base;
	struct llm llm;
	if (llm_http_open(&llm, &options, &err) < 0)
		return;
	while (n < CALLS && call(&llm, &tails[n])) {
		tails[n] -= *sent_s;
		n++;
	}
	llm_close(&llm);
	close(listener);
	qsort(tails, (size_t)n, sizeof(*tails), by_number);
	if (n == CALLS)
		printf("last byte sent to reply in hand, by the wall clock: median %.0f us, "
		       "90%% %.0f us, worst %.0f us (%d calls)\n",
		       tails[n / 2] * 1e6, tails[n - 1 - n / 10] * 1e6, tails[n - 1] * 1e6, n);
}

int main(void)
{
	size_t count = 0;
	struct stream *streams = load(&count);

	if (!streams)
		puts("recorded streams: skipped, no data (ASSAY_DATA)");
	for (int i = LLM_WIRE_OPENAI_CHAT; streams && i <= LLM_WIRE_OLLAMA; i++)
		measure(streams, count, wire_find((enum llm_wire)i));
	measure_growth();
	measure_calls();
	for (size_t i = 0; i < count; i++)
		buf_release(&streams[i].body);
	free(streams);
	return 0;
}
