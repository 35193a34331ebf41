/*
 * POST /sandbox of another `assay serve` (agent/doors/http/sandbox.c): a whole job there, its
 * output as events while it runs, and its result at the end. When this side leaves, the other ends
 * the program. The key is sent to the URL that the user named and nowhere else.
 */
#include "sandbox/http/http.h"

#include "base/mem.h"
#include "sandbox/http/events.h"
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

/* --- asking --- */

static struct json *refused(long status, struct events *s, struct error *err)
{
	call_hide(s->headers, s->text.data, s->text.len);
	cleanup_buf struct buf all = BUF_INIT(1 << 16);
	cleanup_free char *printed = s->answer ? json_print(s->answer) : NULL;

	buf_addstr(&all, printed ? printed : s->text.data);
	cleanup_free char *said = call_message(&all);
	if (status == 401)
		error_set(err, ERR_SANDBOX,
			  "the server does not know this key: " KEY_NAME " is to be the one that "
			  "its first start printed");
	else if (status == 200) /* said as an event */
		error_set(err, ERR_SANDBOX, "the server refuses: %s",
			  *said ? said : "what it answers is not of an `assay serve`");
	else
		error_set(err, ERR_SANDBOX, "the server answers %ld%s%s", status, *said ? ": " : "",
			  said);
	err->begun = !s->answer && call_may_have_run(status);
	return NULL;
}

static struct json *ask(void *self, struct http *http, const struct remote_ask *ask,
			struct error *err)
{
	const struct service *s = self;
	cleanup_free char *body = json_print(ask->request);
	cleanup_call_headers struct call_headers headers = { .count = 0 };
	cleanup_events struct events stream = EVENTS_INIT(ask->watch, &headers);
	struct buf unused = BUF_INIT(0);
	struct call call = {
		.url = s->url,
		.headers = &headers,
		.body = body,
		.body_len = strlen(body),
		.answer_ms = ask->answer_ms,
		.cancel_fd = ask->cancel_fd,
		.on_body = events_take,
		.on_again = events_forget,
		.self = &stream,
	};

	call_header(&headers, "Content-Type: application/json");
	call_header(&headers, "Accept: text/event-stream");
	if (s->key)
		call_header(&headers, "X-API-Key: %s", s->key);
	struct json *answer = NULL;
	long status;
	if (call_make(http, &call, &status, &unused, err) == 0) {
		if (status == 200 && json_get(stream.answer, "assay_job"))
			answer = TAKE_PTR(stream.answer);
		else
			refused(status, &stream, err);
	}
	return answer;
}

/* --- opening --- */

static const struct remote_service service = { ask, service_free, true };

static int open_http(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	struct sandbox_isolation outer = { .count = 0 };

	if (!call_is_url(options->target))
		return error_set(err, ERR_USAGE,
				 "\"%.100s\" is no address of an `assay serve`: --sandbox "
				 "http:https://HOST:PORT, with its key in " KEY_NAME,
				 options->target);
	const char *key;
	if (call_secret(options, KEY_NAME, &key, err) < 0)
		return -1;
	size_t len = strlen(options->target);
	while (len > 0 && options->target[len - 1] == '/')
		len--;
	struct service *s = mem_alloc(sizeof(*s));
	s->url = mem_printf("%.*s/sandbox", (int)len, options->target);
	s->key = mem_strdup(key);
	sandbox_fact_add(&outer, "service", "assay serve", "outer");
	sandbox_fact_add(&outer, "machine", options->target, "outer");
	if (remote_open(ret_self, &service, s, &outer, err) < 0)
		return -1;
	struct remote *r = *ret_self;
	r->weaker = options->weaker;
	return 0;
}

const struct backend http_backend = {
	.name = "http",
	.summary = "another `assay serve`, reached over HTTP",
	.place = "on another machine",
	.target = ":URL",
	.needs_target = true,
	.elsewhere = true,
	.open = open_http,
	.run_pair = remote_run_pair,
	.wall = remote_wall,
	REMOTE_ROWS,
};
