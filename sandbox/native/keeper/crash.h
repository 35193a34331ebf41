/* Core dumps: that no crash starts the host's handler. */
#ifndef SANDBOX_KEEPER_CRASH_H
#define SANDBOX_KEEPER_CRASH_H

#include "sandbox/native/protocol.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A core_pattern that is a pipe starts the host's handler, as the host's root,
 * at a limit of 0; 1 is the kernel's word for "not even that" (fs/coredump.c). */
#define CORE_NONE 1

struct crash {
	int pattern;  /* the host's core_pattern; -1: none */
	bool limited; /* a guest can have the limit CORE_NONE */
};

void crash_open(struct crash *c);
/* -1 when a guest that crashes would start a program of the host. */
int crash_check(const struct crash *c, struct protocol_failure *failure);
/* The error that a guest gets which sets its limit on core files; 0: none. EPERM also
 * when what it asks for cannot be had, as before the run's proc is known (-1). */
int crash_answer_limit(int proc, pid_t thread, uint64_t address);

#endif
