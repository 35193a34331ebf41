/* Where the keeper is somewhere else. */
#ifndef NATIVE_REACH_H
#define NATIVE_REACH_H

#include "sandbox/native/internal.h"

/* Where a path really is and can be executed there; NULL: it is not. For the caller to free. */
int far_find(struct native *s, const char *path, char **ret_real, struct error *err);
/* As interpreter_find. */
int far_interpreter(struct native *s, const struct language *language, char **ret_path,
		    struct error *err);
/* Of what the interpreter said of itself, and of its bytes. */
void far_digest(struct native *s, const char *interpreter, const char *said, char ret[65]);

#endif
