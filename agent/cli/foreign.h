/*
 * What a record may not decide where it is run again. A log may come from anybody: its runs have
 * what they had then, but nothing of who runs them again leaves this machine for one, and no limit
 * lets one take the machine.
 */
#ifndef AGENT_FOREIGN_H
#define AGENT_FOREIGN_H

#include "agent/policy.h"
#include "base/error.h"

/* ERR_USAGE: the recorded policy of a run is for a sandbox elsewhere, which would get inputs and a
 * key, or has a limit beyond what this machine has, and the settings of here (given) do not say
 * the same. */
int foreign_check(const char *run, const struct policy *recorded, const struct policy *given,
		  struct error *err);

#endif
