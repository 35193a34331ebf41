/* The sandbox of another machine, by its sshd. The table is ssh.c's whole interface. */
#ifndef SANDBOX_SSH_H
#define SANDBOX_SSH_H

#include "sandbox/backend.h"

extern const struct backend ssh_backend;

#endif
