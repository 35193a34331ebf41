/* A service whose whole API is one POST: the request as JSON in, the answer as JSON out. */
#ifndef SANDBOX_REMOTE_POST_H
#define SANDBOX_REMOTE_POST_H

#include "sandbox/remote/call.h"
#include "sandbox/remote/remote.h"

/* Its url and headers, both taken by post_open, as the facts of outer. */
int post_open(void **ret_self, char *url, const struct call_headers *headers,
	      struct sandbox_isolation *outer, struct error *err);

/* An answer's JSON, of a body; NULL with err, which says what else came. */
struct json *post_read(const struct buf *body, long status, struct error *err);

#endif
