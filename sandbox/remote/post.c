/*
 * One POST, and what is made of its answer. The service is a function of this tree that the user
 * has deployed (deploy/); whatever else answers is told of, not believed.
 */
#include "sandbox/remote/post.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct post {
	char *url;
	struct call_headers headers;
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
	return NULL;
}

static struct json *ask(void *self, struct http *http, const struct remote_ask *ask,
			struct error *err)
{
	const struct post *p = self;
	cleanup_free char *body = json_print(ask->request);
	cleanup_buf struct buf answer = BUF_INIT(CALL_ANSWER_MAX);
	const struct call call = {
		.url = p->url,
		.headers = &p->headers,
		.body = body,
		.body_len = strlen(body),
		.answer_ms = ask->answer_ms,
		.cancel_fd = ask->cancel_fd,
	};
	long status;

	return call_make(http, &call, &status, &answer, err) < 0 ? NULL :
								   post_read(&answer, status, err);
}

static const struct remote_service service = { ask, post_free, false };

int post_open(void **ret_self, char *url, const struct call_headers *headers,
	      struct sandbox_isolation *outer, struct error *err)
{
	struct post *p = mem_alloc(sizeof(*p));

	p->url = url;
	p->headers = *headers;
	return remote_open(ret_self, &service, p, outer, err);
}
