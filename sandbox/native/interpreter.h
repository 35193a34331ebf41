/* The interpreters of this host. */
#ifndef NATIVE_INTERPRETER_H
#define NATIVE_INTERPRETER_H

#include "sandbox/sandbox.h"

/* Real path of the language's interpreter, owned by the caller, or NULL. */
char *interpreter_find(const struct language *language);

#endif
