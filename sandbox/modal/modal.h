/* A web endpoint of Modal that runs jobs (sandbox/remote/deploy/modal_app.py). */
#ifndef SANDBOX_MODAL_H
#define SANDBOX_MODAL_H

#include "sandbox/backend.h"

extern const struct backend modal_backend;

#endif
