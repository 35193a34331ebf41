/* Azure Container Apps: dynamic sessions, and a container of one's own. */
#ifndef SANDBOX_AZURE_H
#define SANDBOX_AZURE_H

#include "sandbox/backend.h"

extern const struct backend azure_backend;

#endif
