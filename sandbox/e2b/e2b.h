/* A sandbox of E2B, or of what speaks its API. */
#ifndef SANDBOX_E2B_H
#define SANDBOX_E2B_H

#include "sandbox/backend.h"

extern const struct backend e2b_backend;

#endif
