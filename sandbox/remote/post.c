/*
 * One POST, and what is made of its answer. The service is a function of this tree that the user
 * has deployed (deploy/); whatever else answers is told of, not believed.
 */
#include "sandbox/remote/post.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FETCH_EVERY_MS 1000

struct post {
	char *url;
	struct call_headers headers;
	struct post_ways ways;
};

static void post_free(void *self)
{
	struct post *p = self;

	call_headers_release(&p->headers);
	free(p->url);
	free(p);
}

struct json *post_read(const struct buf *body, long status, struct error *err)
{
	struct error why = ERROR_INIT;
	cleanup_json struct json *answer = call_json(body->data, body->len, &why);

	if (status == 200 && json_get(answer, "assay_job"))
		return TAKE_PTR(answer);
	cleanup_free char *said =
		call_is_heavy(body->data, body->len) ? mem_strdup(why.message) : call_message(body);
	error_set(err, ERR_SANDBOX, "the service answers %ld%s%s%s", status, *said ? ": " : "",
		  said, status == 401 || status == 403 ? ": is the key the right one?" : "");
	err->begun = call_may_have_run(status);
	return NULL;
}

static void on_header(void *self, const char *line, size_t len)
{
	static const char name[] = "location:";
	char **location = self;

	if (len <= strlen(name) || strncasecmp(line, name, strlen(name)))
		return;
	size_t from = strlen(name);
	while (from < len && line[from] == ' ')
		from++;
	free(*location);
	*location = mem_strndup(line + from, strcspn(line + from, "\r\n"));
}

/* Scheme, host and port are the same, so that a credential stays where it was meant to go. */
static bool is_there(const char *url, const char *location)
{
	const char *host;
	size_t len = (size_t)(http_authority(url, &host) + (size_t)(host - url));

	return call_is_url(location) && !strncmp(url, location, len) &&
	       (location[len] == '/' || location[len] == '?');
}

/* What takes long, from where it is said to be, again and again. */
static int fetch(const struct post *p, struct http *http, const struct remote_ask *ask,
		 char **location, long *ret_status, struct buf *answer, struct error *err)
{
	const int64_t until_ms = clock_mono_ms() + ask->answer_ms;
	int64_t next_ms = clock_mono_ms();

	while (*ret_status == 303 && p->ways.is_fetched && clock_mono_ms() < until_ms) {
		cleanup_free char *url = TAKE_PTR(*location);
		const struct call call = { .url = url,
					   .headers = &p->headers,
					   .answer_ms = until_ms - clock_mono_ms(),
					   .cancel_fd = ask->cancel_fd,
					   .on_header = on_header,
					   .self = location };

		if (!url || !is_there(p->url, url)) {
			if (url)
				call_hide(&p->headers, url, strlen(url));
			error_set(err, ERR_SANDBOX,
				  "the service says that its answer is elsewhere: %.200s",
				  url ? url : "nowhere");
			err->begun = true;
			return -1;
		}
		bool cancelled = !call_pause(ask->cancel_fd, next_ms);
		next_ms = clock_mono_ms() + FETCH_EVERY_MS;
		if (cancelled || call_make(http, &call, ret_status, answer, err) < 0) {
			if (cancelled)
				error_set(err, ERR_CANCELLED, "cancelled");
			err->begun = true;
			return -1;
		}
	}
	return 0;
}

static struct json *ask(void *self, struct http *http, const struct remote_ask *ask,
			struct error *err)
{
	const struct post *p = self;
	cleanup_free char *body = json_print(ask->request), *location = NULL;
	cleanup_buf struct buf answer = BUF_INIT(CALL_ANSWER_MAX);
	const struct call call = {
		.url = p->url,
		.headers = &p->headers,
		.body = body,
		.body_len = strlen(body),
		.answer_ms = ask->answer_ms,
		.cancel_fd = ask->cancel_fd,
		.on_header = on_header,
		.self = &location,
	};
	long status;

	if (p->ways.wall_max_s && remote_check_wall(ask, p->ways.wall_max_s, err) < 0)
		return NULL;
	if (call_make(http, &call, &status, &answer, err) < 0 ||
	    fetch(p, http, ask, &location, &status, &answer, err) < 0)
		return NULL;
	return post_read(&answer, status, err);
}

static const struct remote_service service = { ask, post_free, false };

int post_open(void **ret_self, char *url, const struct call_headers *headers,
	      const struct post_ways *ways, struct sandbox_isolation *outer, struct error *err)
{
	struct post *p = mem_alloc(sizeof(*p));

	p->url = url;
	p->headers = *headers;
	p->ways = *ways;
	return remote_open(ret_self, &service, p, outer, err);
}
