/* What a language is here, or where the keeper is. */
#ifndef NATIVE_DESCRIBE_H
#define NATIVE_DESCRIBE_H

#include "sandbox/native/internal.h"

int native_describe(struct native *s, const struct language *language,
		    struct sandbox_environment *ret, struct error *err);
void describe_release(struct native *s);
/* Real path of the language's interpreter where its jobs run, for the caller to free; NULL: there
 * is none. */
int native_interpreter(struct native *s, const struct language *language, char **ret_path,
		       struct error *err);

#endif
