/* The keeper in a container of Docker's or Podman's. The table is docker.c's whole interface. */
#ifndef SANDBOX_DOCKER_H
#define SANDBOX_DOCKER_H

#include "sandbox/backend.h"

extern const struct backend docker_backend;

#endif
