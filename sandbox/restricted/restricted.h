/* RestrictedPython: a guest mode of the native sandbox. */
#ifndef SANDBOX_RESTRICTED_H
#define SANDBOX_RESTRICTED_H

#include "sandbox/backend.h"

extern const struct backend restricted_backend;

#endif
