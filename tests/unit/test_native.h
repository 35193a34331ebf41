/* For tests that look behind the contract: the keeper's connection of an open sandbox. */
#ifndef TEST_NATIVE_H
#define TEST_NATIVE_H

#include "sandbox/native/internal.h"

static inline struct native *native_of(const struct sandbox *sandbox)
{
	return sandbox->self;
}

#endif
