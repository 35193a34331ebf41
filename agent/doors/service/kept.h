/*
 * Which contexts are open, in memory that outlives the process that opened them: one that takes the
 * place of a server that died finds them there, and what is in them in the log. What the dead one
 * wrote last is not believed: each row is looked at before it is used.
 */
#ifndef AGENT_DOORS_KEPT_H
#define AGENT_DOORS_KEPT_H

#include "base/ulid.h"

#include <stdbool.h>
#include <stdint.h>

#define CONTEXT_ID_LEN 28 /* "ctx-" and 24 hexadecimal digits */

struct kept_context {
	bool there;
	bool owned;		 /* else it is the user's own */
	char last[ULID_LEN + 1]; /* its last run; "": none; its owner writes it, at any time */
	char id[CONTEXT_ID_LEN + 1], owner[128], lang[32];
	int64_t opened_ms;
};

/* For a process and those forked after it, one at a time. NULL: there is no memory for it, and
 * nothing is kept. It ends with the last of them. */
struct kept_contexts *kept_new(void);
/* A row of its own; NULL where kept is, or has no room: then it ends with its process. */
struct kept_context *kept_add(struct kept_contexts *kept, const char *id, const char *owner,
			      const char *lang, int64_t opened_ms);
void kept_remove(struct kept_context *row); /* NULL allowed */
/* The next one after that (NULL: the first) that is whole; NULL: there is none. One that is not is
 * removed. */
struct kept_context *kept_next(struct kept_contexts *kept, struct kept_context *after);

#endif
