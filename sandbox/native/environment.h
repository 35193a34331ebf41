/* What of the user's own a run sees. */
#ifndef NATIVE_ENVIRONMENT_H
#define NATIVE_ENVIRONMENT_H

#include "sandbox/native/internal.h"

/* What the options name. ERR_USAGE, which names it, when that is none. */
int environment_open(struct own_environment *ret, const struct sandbox_options *options,
		     struct error *err);
void environment_release(struct own_environment *e);
/* As it was named; NULL: the language has none of its own. */
const char *environment_from(const struct native *s, const struct language *language);
/* Whether what runs programs of that language is the user's own Python. */
bool environment_is_python(const struct native *s, const struct language *language);
/* What a guest sees as path, here. Caller frees; NULL: it is below none of the folders. */
char *environment_host_path(const struct native *s, const char *path);

#endif
