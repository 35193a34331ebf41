/* The native backend: Linux namespaces and a system call filter, built by a keeper process. */
#ifndef SANDBOX_NATIVE_H
#define SANDBOX_NATIVE_H

#include "sandbox/backend.h"

extern const struct backend native_backend;

#endif
