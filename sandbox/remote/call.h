/*
 * One request to a service, over base/http: who speaks to one says where, with which headers, and
 * how long an answer may take. It is repeated only while nothing can have run: no connection came
 * about, or the service said that it takes nothing now (429).
 */
#ifndef SANDBOX_REMOTE_CALL_H
#define SANDBOX_REMOTE_CALL_H

#include "base/buf.h"
#include "base/http/http.h"

#define CALL_HEADERS_MAX 16
#define CALL_CONNECT_MS	 10000
#define CALL_ANSWER_MAX	 ((size_t)192 << 20)
#define CALL_VALUES_MAX	 100000 /* of an answer's JSON: each takes some hundred bytes here */

/* Header lines, owned; wiped when they are freed, since one holds a key. */
struct call_headers {
	char *list[CALL_HEADERS_MAX + 1];
	size_t count;
};
void call_header(struct call_headers *headers, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void call_headers_release(struct call_headers *headers);
#define cleanup_call_headers __attribute__((cleanup(call_headers_release)))

/* A service may quote the credential that it was sent: stars in its place. call_make does so in
 * what it keeps; whoever takes a body or a header line as it comes has to. */
void call_hide(const struct call_headers *headers, char *text, size_t len);

struct call {
	const char *method; /* NULL: POST with a body, else GET */
	const char *url;
	const struct call_headers *headers;
	const char *body; /* NULL: none */
	size_t body_len;
	int64_t answer_ms; /* for all of it, from the beginning */
	int cancel_fd;	   /* -1: none */
	/* What it makes has to be known, to be ended: once under way, cancel_fd does not end it. */
	bool is_making;
	/* Instead of the body's being kept: as it comes. False stops it. Before a try that is not
	 * the first, on_again: what came was no answer. */
	bool (*on_body)(void *self, const char *bytes, size_t len);
	void (*on_again)(void *self);				     /* where there is on_body */
	void (*on_header)(void *self, const char *line, size_t len); /* may be NULL */
	void *self;
};

/*
 * 0 with the status and the body, whatever the status is. -1: no answer came; ERR_CANCELLED when
 * cancel_fd ended it, else ERR_SANDBOX, which says whether the request had been sent and has begun
 * then: what it asked for may have been done.
 */
int call_make(struct http *http, const struct call *call, long *ret_status, struct buf *ret_body,
	      struct error *err);

/* A service that answers thus, and with no result, may have run something: no refusal is certain
 * but that of the request itself. */
bool call_may_have_run(long status);

/* How long to wait before a request is made again: the time that doubles with each try, or what the
 * service asks for by Retry-After, within bounds. */
int call_wait_ms(const char *retry_after, int try);

/* Until then by clock_mono_ms; a signal does not end it. False: cancelled. */
bool call_pause(int cancel_fd, int64_t until_ms);

/* What a service answered, parsed; NULL with ERR_SANDBOX: it is no JSON, or is heavy:
 * has more values than any answer has. */
bool call_is_heavy(const char *text, size_t len);
struct json *call_json(const char *text, size_t len, struct error *err);

/* What a service says of a refusal, as one line for people: of its JSON "message", "error" or
 * "detail", or else the beginning of the text. Caller frees. */
char *call_message(const struct buf *body);

/* NULL: no credential of this name is to be had. ERR_CONFIG when one could not be read, or holds
 * what no header can. Borrowed. */
struct sandbox_options;
int call_secret(const struct sandbox_options *options, const char *name, const char **ret,
		struct error *err);

/* A URL of http or https, without a name or password in it; its path may be empty. */
bool call_is_url(const char *url);

#endif
