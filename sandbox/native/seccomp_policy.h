/*
 * What the filter of system calls allows: the tables of seccomp_policy.c, for the filter compiler
 * (seccomp.c), which runs at build time. Lists end with NULL, rows with a NULL name.
 */
#ifndef SANDBOX_SECCOMP_POLICY_H
#define SANDBOX_SECCOMP_POLICY_H

#include <stdint.h>

#define LOW32 0xffffffffu

/* Allowed when the masked argument has the value. */
struct seccomp_row {
	const char *name;
	unsigned arg;
	uint64_t mask, value;
	unsigned second; /* another argument that must be this besides; 0: none */
	uint32_t second_value;
};

extern const char *const seccomp_allowed[];
extern const char *const seccomp_allowed_with_groups[]; /* besides, where control groups count */
extern const char *const seccomp_absent[];		/* ENOSYS */
extern const struct seccomp_row seccomp_conditional[];
extern const struct seccomp_row seccomp_conditional_with_groups[];
extern const struct seccomp_row seccomp_conditional_supervised[]; /* where no group counts */

#endif
