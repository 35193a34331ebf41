/* Another `assay serve` as a sandbox: its walls, on its machine, for the jobs of this one. */
#ifndef SANDBOX_HTTP_H
#define SANDBOX_HTTP_H

#include "sandbox/backend.h"

extern const struct backend http_backend;

#endif
