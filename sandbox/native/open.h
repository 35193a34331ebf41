/* A connection, opened and closed. Contexts, servers and foresight are released before. */
#ifndef NATIVE_OPEN_H
#define NATIVE_OPEN_H

#include "sandbox/native/internal.h"

/* far is borrowed; NULL: the keeper is a child of ours. */
int native_open(struct native **ret, const struct sandbox_options *options,
		const struct native_far *far, struct error *err);
void native_close(struct native *s); /* NULL is allowed */
void native_finish(struct native *s);
/* s->second, started now if it was not. */
int native_second(struct native *s, struct error *err);

#endif
