/*
 * POST /sandbox of another `assay serve` (agent/doors/http/sandbox.c): a whole job there, its
 * output as events while it runs, and its result at the end. When this side leaves, the other ends
 * the program. The key is sent to the URL that the user named and nowhere else.
 */
#include "sandbox/http/http.h"

#include "base/base64.h"
#include "base/mem.h"
#include "sandbox/remote/call.h"
#include "sandbox/remote/remote.h"

#include <stdlib.h>
#include <string.h>

#define KEY_NAME "ASSAY_SERVE_KEY"

struct service {
	char *url, *key; /* owned; key may be NULL: none is asked for */
};

static void service_free(void *self)
{
	struct service *s = self;

	if (s->key)
		explicit_bzero(s->key, strlen(s->key));
	free(s->key);
	free(s->url);
	free(s);
}

/* --- events --- */

struct stream {
	struct buf text;     /* not yet cut into events */
	struct json *answer; /* owned */
	const struct sandbox_watch *watch;
	bool broken;
};

static void hear_output(const struct stream *s, const struct json *data)
{
	const char *text = json_get_string(data, "base64"), *name = json_get_string(data, "stream");
	cleanup_buf struct buf bytes = BUF_INIT((size_t)16 << 20);

	if (!s->watch || !s->watch->output || !text || !name ||
	    base64_decode(&bytes, text, strlen(text)) < 0 || !bytes.len)
		return;
	s->watch->output(s->watch->self, !strcmp(name, "stderr"), bytes.data, bytes.len);
}

/* "event: NAME\ndata: JSON", which is how the server writes one. */
static void take_event(struct stream *s, const char *text, size_t len)
{
	static const char event[] = "event: ", data[] = "\ndata: ";
	const char *at = memmem(text, len, data, strlen(data));
	struct error ignored = ERROR_INIT;
	struct json *json;

	if (!at || strncmp(text, event, strlen(event)) != 0)
		return;
	at += strlen(data);
	json = json_parse(at, len - (size_t)(at - text), 0, &ignored);
	if (!strncmp(text + strlen(event), "output\n", 7))
		hear_output(s, json);
	else if (json && !s->answer)
		s->answer = TAKE_PTR(json);
	json_free(json);
}

static bool on_body(void *self, const char *bytes, size_t len)
{
	struct stream *s = self;
	const char *end;
	size_t done = 0, from = s->text.len;

	if (buf_add(&s->text, bytes, len) < 0) {
		s->broken = true;
		return false;
	}
	from = from > 0 ? from - 1 : 0; /* the end may have come in two pieces */
	while ((end = memmem(s->text.data + from, s->text.len - from, "\n\n", 2))) {
		take_event(s, s->text.data + done, (size_t)(end - s->text.data) - done);
		done = (size_t)(end - s->text.data) + 2;
		from = done;
	}
	buf_consume(&s->text, done);
	return true;
}

/* --- asking --- */

static struct json *refused(long status, const struct stream *s, struct error *err)
{
	cleanup_free char *said = NULL;
	cleanup_buf struct buf all = BUF_INIT(1 << 16);
	cleanup_free char *printed = s->answer ? json_print(s->answer) : NULL;

	buf_addstr(&all, printed ? printed : s->text.data);
	said = call_message(&all);
	if (status == 401)
		error_set(err, ERR_SANDBOX,
			  "the server does not know this key: " KEY_NAME " is to be the one that "
			  "its first start printed");
	else if (status == 200) /* said as an event */
		error_set(err, ERR_SANDBOX, "the server refuses: %s", said);
	else
		error_set(err, ERR_SANDBOX, "the server answers %ld%s%s", status, *said ? ": " : "",
			  said);
	return NULL;
}

static struct json *ask(void *self, struct http *http, const struct remote_ask *ask,
			struct error *err)
{
	const struct service *s = self;
	cleanup_free char *body = json_print(ask->request);
	cleanup_call_headers struct call_headers headers = { .count = 0 };
	struct stream stream = { .text = BUF_INIT(CALL_ANSWER_MAX), .watch = ask->watch };
	struct buf unused = BUF_INIT(0);
	struct call call = {
		.url = s->url,
		.headers = &headers,
		.body = body,
		.body_len = strlen(body),
		.answer_ms = ask->answer_ms,
		.cancel_fd = ask->cancel_fd,
		.on_body = on_body,
		.self = &stream,
	};
	struct json *answer = NULL;
	long status;

	call_header(&headers, "Content-Type: application/json");
	call_header(&headers, "Accept: text/event-stream");
	if (s->key)
		call_header(&headers, "X-API-Key: %s", s->key);
	if (call_make(http, &call, &status, &unused, err) == 0) {
		if (status == 200 && json_get(stream.answer, "assay_job"))
			answer = TAKE_PTR(stream.answer);
		else
			refused(status, &stream, err);
	}
	json_free(stream.answer);
	buf_release(&stream.text);
	return answer;
}

/* --- opening --- */

static const struct remote_service service = { ask, service_free, true };

static int open_http(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	struct sandbox_isolation outer = { .count = 0 };
	const char *key;
	struct service *s;
	size_t len;

	if (!call_is_url(options->target))
		return error_set(err, ERR_USAGE,
				 "\"%.100s\" is no address of an `assay serve`: --sandbox "
				 "http:https://HOST:PORT, with its key in " KEY_NAME,
				 options->target);
	if (call_secret(options, KEY_NAME, &key, err) < 0)
		return -1;
	len = strlen(options->target);
	while (len > 0 && options->target[len - 1] == '/')
		len--;
	s = mem_alloc(sizeof(*s));
	s->url = mem_printf("%.*s/sandbox", (int)len, options->target);
	s->key = mem_strdup(key);
	sandbox_fact_add(&outer, "service", "assay serve", "outer");
	sandbox_fact_add(&outer, "machine", options->target, "outer");
	return remote_open(ret_self, &service, s, &outer, err);
}

const struct backend http_backend = {
	.name = "http",
	.summary = "another `assay serve`, reached over HTTP",
	.target = ":URL",
	.needs_target = true,
	.open = open_http,
	.run_pair = remote_run_pair,
	.wall = remote_wall,
	REMOTE_ROWS,
};
