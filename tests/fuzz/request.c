/* Requests, from their heads on: who may come in, which route each means, and what is answered
 * without a worker: contexts, sandboxes of E2B with files, folders, processes and watchers, and the
 * Model Context Protocol. All workers are busy, so that what needs one is refused.
 *
 * An input is requests, parted by a line "---": METHOD URL, headers a line each, an empty line, the
 * body. In values $KEY, $ID and $TOKEN stand for those that are there. What is answered has a
 * status that there is and, if it says so, is JSON; nobody without a key or a token is served. */
#include "agent/doors/e2b/e2b.h"
#include "agent/doors/fusion/fusion.h"
#include "agent/doors/http/server.h"
#include "tests/fuzz/busy.h"
#include "tests/unit/test_service_ends.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define KEY	    "assay-0123456789abcdef"
#define HEADERS_MAX 32
#define PARTS_MAX   8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* --- a connection that is none --- */

struct pair {
	char *name, *value;
};

struct MHD_Connection {
	struct pair headers[HEADERS_MAX], query[HEADERS_MAX];
	size_t header_count, query_count;
	struct connection own;
	union MHD_ConnectionInfo info;
	unsigned status; /* of the answer; 0: none yet */
	bool admitted;	 /* by a key or a token that was given */
};

struct MHD_Response {
	char *bytes;
	size_t len;
	bool is_json;
};

static const char *fake_header(struct MHD_Connection *mhd, enum MHD_ValueKind kind, const char *key)
{
	const struct pair *list = kind == MHD_HEADER_KIND ? mhd->headers : mhd->query;
	size_t n = kind == MHD_HEADER_KIND ? mhd->header_count : mhd->query_count;

	for (size_t i = 0; i < n; i++)
		if (kind == MHD_HEADER_KIND ? !strcasecmp(list[i].name, key) :
					      !strcmp(list[i].name, key))
			return list[i].value;
	return NULL;
}

static int fake_headers(struct MHD_Connection *mhd, enum MHD_ValueKind kind,
			MHD_KeyValueIterator each, void *self)
{
	for (size_t i = 0; i < mhd->header_count; i++)
		each(self, kind, mhd->headers[i].name, mhd->headers[i].value);
	return (int)mhd->header_count;
}

static const union MHD_ConnectionInfo *fake_info(struct MHD_Connection *mhd,
						 enum MHD_ConnectionInfoType type, ...)
{
	(void)type;
	mhd->info.socket_context = &mhd->own;
	return &mhd->info;
}

static struct MHD_Response *fake_buffer(size_t size, void *buffer, enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *r = mem_alloc(sizeof(*r));

	*r = (struct MHD_Response){ .bytes = mem_strndup(buffer ? buffer : "", size), .len = size };
	if (mode == MHD_RESPMEM_MUST_FREE)
		free(buffer);
	return r;
}

static struct MHD_Response *fake_file(uint64_t size, int fd, uint64_t offset)
{
	struct MHD_Response *r = mem_alloc(sizeof(*r));
	cleanup_free char *bytes = mem_alloc(size + 1);

	if (pread(fd, bytes, size, (off_t)offset) != (ssize_t)size)
		abort(); /* less is there than was said */
	close(fd);
	*r = (struct MHD_Response){ .bytes = NULL };
	return r;
}

/* A stream begins in a worker alone. */
static struct MHD_Response *fake_callback(uint64_t size, size_t block,
					  MHD_ContentReaderCallback read, void *self,
					  MHD_ContentReaderFreeCallback release)
{
	(void)size;
	(void)block;
	(void)read;
	(void)self;
	(void)release;
	abort();
}

static enum MHD_Result fake_add(struct MHD_Response *r, const char *header, const char *content)
{
	if (strpbrk(content, "\r\n"))
		abort();
	if (!strcmp(header, "Content-Type"))
		r->is_json = !strcmp(content, "application/json");
	return MHD_YES;
}

static enum MHD_Result fake_queue(struct MHD_Connection *mhd, unsigned status,
				  struct MHD_Response *r)
{
	struct error err = ERROR_INIT;

	if (status < 200 || status > 599 || mhd->status)
		abort();
	mhd->status = status;
	if (r->is_json && r->len) {
		struct json *body = json_parse(r->bytes, r->len, JSON_FIRST_OF_TWINS, &err);
		if (!body)
			abort();
		json_free(body);
	}
	return MHD_YES;
}

static void fake_destroy(struct MHD_Response *r)
{
	free(r->bytes);
	free(r);
}

static void fake_suspend(struct MHD_Connection *mhd)
{
	(void)mhd;
	abort(); /* nothing is waited for */
}

/* --- a service that is busy --- */

static struct server server;
static struct guard guard;
static struct contexts_options limits = { .most = 64, .idle_ms = 3600000, .life_ms = 3600000 };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static struct service_ends ends = { .open_sandbox = no_sandbox, .open_log = no_log };
	static struct guard_key key = { .owner = "key:first" };
	static struct work busy[2] = { { .looks = false }, { .looks = true } };
	static struct policy policy;
	struct error err = ERROR_INIT;

	(void)argc;
	(void)argv;
	policy_init(&policy);
	const struct service_options options = {
		.policy = &policy, .ends = &ends, .parallel = 1, .contexts = limits
	};
	struct service *service;
	if (service_open(&service, &options, &err) < 0)
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(busy); i++)
		busy_keep(service, &busy[i]);
	hash_sha256(KEY, strlen(KEY), key.digest);
	guard = (struct guard){ .keys = &key, .count = 1 };
	static const struct route *const routes[] = { http_routes, fusion_routes,
						      e2b_control_routes, NULL };
	server.options =
		(struct server_options){ .service = service, .guard = &guard, .routes = routes };
	const struct mcp_options mcp = { .service = service };
	if (mcp_open(&server.options.mcp, &mcp, &err) < 0)
		abort();
	pthread_mutex_init(&server.lock, NULL);
	pthread_cond_init(&server.changed, NULL);
	microhttpd = (struct microhttpd_api){ .headers = fake_headers,
					      .header = fake_header,
					      .info = fake_info,
					      .from_buffer = fake_buffer,
					      .from_fd = fake_file,
					      .from_callback = fake_callback,
					      .add_header = fake_add,
					      .queue = fake_queue,
					      .destroy = fake_destroy,
					      .suspend = fake_suspend };
	return 0;
}

/* --- a request --- */

/* The next line, which is cut off; NULL: there is none. */
static char *next_line(char **at)
{
	char *line = *at, *end = line ? strchr(line, '\n') : NULL;

	*at = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return line;
}

static char *stands_for(const char *value, const struct box *box, bool *ret_admitted)
{
	bool key = !strcmp(value, "$KEY") || !strcmp(value, "Bearer $KEY");

	*ret_admitted = *ret_admitted || key || strstr(value, KEY) || !strcmp(value, "$TOKEN");
	return key			? mem_printf("%s", *value == '$' ? KEY : "Bearer " KEY) :
	       !strcmp(value, "$ID")	? mem_strdup(box->id) :
	       !strcmp(value, "$TOKEN") ? mem_strdup(box->token) :
					  mem_strdup(value);
}

static void read_headers(struct MHD_Connection *mhd, char **at, const struct box *box)
{
	char *line;

	while ((line = next_line(at)) && *line) {
		char *colon = strchr(line, ':');

		if (!colon || mhd->header_count == HEADERS_MAX)
			continue;
		*colon = '\0';
		const char *value = colon + 1 + strspn(colon + 1, " ");
		mhd->headers[mhd->header_count++] =
			(struct pair){ mem_strdup(line), stands_for(value, box, &mhd->admitted) };
	}
}

static void read_query(struct MHD_Connection *mhd, char *text)
{
	char *rest = NULL;

	for (char *word = strtok_r(text, "&", &rest); word && mhd->query_count < HEADERS_MAX;
	     word = strtok_r(NULL, "&", &rest)) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = '\0';
		server_unescape(NULL, mhd, word);
		if (value)
			server_unescape(NULL, mhd, value);
		mhd->query[mhd->query_count++] =
			(struct pair){ mem_strdup(word), value ? mem_strdup(value) : NULL };
	}
}

static void release(struct MHD_Connection *mhd)
{
	for (size_t i = 0; i < mhd->header_count; i++) {
		free(mhd->headers[i].name);
		free(mhd->headers[i].value);
	}
	for (size_t i = 0; i < mhd->query_count; i++) {
		free(mhd->query[i].name);
		free(mhd->query[i].value);
	}
}

/* What only looks is done by a worker that is never busy for long. */
static bool looks(const char *path)
{
	return strstr(path, "/runs") || strstr(path, "WatchDir") || strstr(path, "/Connect");
}

/* What anybody may ask; a wrong key before it does no harm. */
static bool is_open(const char *path)
{
	const char *rest = strncmp(path, "/key/", 5) ? path : path + 5 + strcspn(path + 5, "/");

	return !strcmp(rest, "/health") || !strcmp(rest, "/v1/ping");
}

static void deliver(struct MHD_Connection *mhd, const char *path, const char *method, char *body,
		    size_t len)
{
	void *context = NULL;
	size_t none = 0, half = len / 2, rest = len - half;
	enum MHD_Result rc =
		exchange_on_request(&server, mhd, path, method, "HTTP/1.1", NULL, &none, &context);

	if (rc == MHD_YES && context && !mhd->status && half)
		exchange_on_request(&server, mhd, path, method, "HTTP/1.1", body, &half, &context);
	if (rc == MHD_YES && context && !mhd->status && rest)
		exchange_on_request(&server, mhd, path, method, "HTTP/1.1", body + len - rest,
				    &rest, &context);
	if (rc == MHD_YES && context && !mhd->status)
		exchange_on_request(&server, mhd, path, method, "HTTP/1.1", NULL, &none, &context);
	exchange_on_completed(&server, mhd, &context, MHD_REQUEST_TERMINATED_COMPLETED_OK);
	if (mhd->status && mhd->status < 300 && !mhd->admitted && !is_open(path) &&
	    !fake_header(mhd, MHD_GET_ARGUMENT_KIND, "signature"))
		abort();
}

static void request(char *text, size_t len, const struct box *box)
{
	struct MHD_Connection mhd = { .own.fd = -1 };
	char *at = text, *line = next_line(&at), *url = line ? strchr(line, ' ') : NULL;

	if (!url)
		return;
	*url++ = '\0';
	read_headers(&mhd, &at, box);
	char *query = strchr(url, '?');
	if (query)
		*query++ = '\0';
	server_unescape(NULL, &mhd, url);
	mhd.admitted = mhd.admitted || strstr(url, KEY); /* "/key/KEY/..." */
	if (query)
		read_query(&mhd, query);
	if (!looks(url))
		deliver(&mhd, url, line, at ? at : text, at ? len - (size_t)(at - text) : 0);
	release(&mhd);
}

static void close_contexts(struct contexts *contexts)
{
	cleanup_json struct json *list = contexts_list(contexts, "key:first", NULL);

	for (const struct json *row = json_first(list); row; row = json_next(row))
		contexts_close(contexts, json_get_string(row, "context"), "key:first");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char mark[] = "\n---\n";
	struct contexts *contexts = service_contexts(server.options.service);
	cleanup_json struct json *none = json_object();
	struct error err = ERROR_INIT;

	struct boxes *boxes;
	struct guests guests;
	boxes_open(&boxes, contexts, &limits, NULL);
	e2b_guests(&guests, boxes);
	server.options.guests = &guests;
	struct box *box = boxes_make(boxes, "key:first", none, &err);
	if (!box)
		abort();
	cleanup_free char *text = mem_strndup((const char *)data, size);
	char *at = text, *end = text + size;
	for (size_t i = 0; at < end && i < PARTS_MAX; i++) {
		char *next = memmem(at, (size_t)(end - at), mark, strlen(mark));
		size_t len = (size_t)((next ? next : end) - at);

		if (next)
			*next = '\0';
		request(at, len, box);
		at = next ? next + strlen(mark) : end;
	}
	boxes_put_back(boxes, box);
	boxes_close(boxes);
	close_contexts(contexts);
	return 0;
}
