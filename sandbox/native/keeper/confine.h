/* What takes rights away from a process, for good. */
#ifndef SANDBOX_KEEPER_CONFINE_H
#define SANDBOX_KEEPER_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

struct launch;

/* For this process and all it starts: nothing can be gained by exec. keep: what it has
 * now is kept over exec, as a template needs, till confine_drop_capabilities. */
int confine_fix_privileges(bool keep);
/* Whether that was done, but for ambient capabilities. */
bool confine_is_fixed(void);
int confine_drop_capabilities(void);
int confine_landlock_abi(void);
int confine_landlock(int abi);
int confine_fixed_rlimits(uint32_t filter);
int confine_job_rlimits(const struct launch *launch);
int confine_open_files(const struct launch *launch);
/* The listener's descriptor, or -1. */
int confine_seccomp(uint32_t filter);
/* The one that asks nobody. */
int confine_seccomp_plain(void);

#endif
