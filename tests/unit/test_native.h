/* For tests that look behind the contract: the keeper's connection of an open sandbox. */
#ifndef TEST_NATIVE_H
#define TEST_NATIVE_H

#include "sandbox/native/internal.h"

#include "base/io.h"

static inline struct native *native_of(const struct sandbox *sandbox)
{
	return sandbox->self;
}

/* As where there is no object that makes one. */
static inline void forget_templates(const struct sandbox *sandbox)
{
	if (native_of(sandbox)->object >= 0)
		io_close(native_of(sandbox)->object);
	native_of(sandbox)->object = -1;
}

#endif
