/* What `POST /sandbox` of an `assay serve` answers, as it comes: output events, and one result. */
#ifndef SANDBOX_HTTP_EVENTS_H
#define SANDBOX_HTTP_EVENTS_H

#include "base/buf.h"
#include "base/json.h"
#include "sandbox/remote/call.h"
#include "sandbox/sandbox.h"

struct events {
	struct buf text;     /* not yet cut into events */
	struct json *answer; /* the result, or what refuses; owned */
	const struct sandbox_watch *watch;
	const struct call_headers *headers; /* that an answer may quote; NULL: none */
	uint64_t heard[2]; /* bytes of standard output and error that the watch was told */
};
#define EVENTS_INIT(watch_, headers_)                                                       \
	{                                                                                   \
		.text = BUF_INIT(CALL_ANSWER_MAX), .watch = (watch_), .headers = (headers_) \
	}
void events_release(struct events *e);
#define cleanup_events __attribute__((cleanup(events_release)))

/* More of the body; self is a struct events. False: it is more than is taken. */
bool events_take(void *self, const char *bytes, size_t len);
/* What came is no answer, since the request is made again; self is a struct events. */
void events_forget(void *self);
/* What the server left out of its events, since the result has it: the end of each stream. */
void events_tell_rest(struct events *e, const struct sandbox_result *result);

#endif
