/* A service whose whole API is one POST: the request as JSON in, the answer as JSON out. */
#ifndef SANDBOX_REMOTE_POST_H
#define SANDBOX_REMOTE_POST_H

#include "sandbox/remote/call.h"
#include "sandbox/remote/remote.h"

struct post_ways {
	int64_t wall_max_s; /* of a program: the service ends it later; 0: as long as it likes */
	/* What takes long is answered by 303, and got from its Location when it is ready; only of
	 * the same scheme, host and port, for the headers have a credential. */
	bool is_fetched;
};

/* Its url and headers, both taken by post_open, as the facts of outer. */
int post_open(void **ret_self, char *url, const struct call_headers *headers,
	      const struct post_ways *ways, struct sandbox_isolation *outer, struct error *err);

/* An answer's JSON, of a body; NULL with err, which says what else came. */
struct json *post_read(const struct buf *body, long status, struct error *err);

#endif
