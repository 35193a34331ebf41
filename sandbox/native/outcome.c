/*
 * What happened, from what the kernel counted and what we did ourselves: never
 * from an exit code, a signal or text, which are the guest's to choose.
 *
 * Forks refused at the limit make a run `process_limit` unless the guest coped
 * and exited 0; a fork bomb that our timeout ended is one too, since the limit
 * is what held it. A process the OOM killer took makes it `memory` even when
 * the parent exited 0: something of the work is missing. A shared mapping that
 * was refused at the limit takes nobody: it explains no more than the signal
 * that the program then died of. One that exits, or goes on until we end it,
 * was told and chose what to do.
 */
#include "sandbox/native/outcome.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define MIB(bytes) ((double)(bytes) / (1 << 20))

static bool ended_well(const struct protocol_result *facts)
{
	return facts->has_status && WIFEXITED(facts->wait_status) &&
	       WEXITSTATUS(facts->wait_status) == 0;
}

static enum sandbox_outcome of_kill(const struct protocol_result *facts)
{
	switch ((enum protocol_reason)facts->reason) {
	case PROTOCOL_KILL_WALL:
		return facts->pids_refused > 0 ? SANDBOX_PROCESS_LIMIT : SANDBOX_TIMEOUT_WALL;
	case PROTOCOL_KILL_CPU:
		return facts->pids_refused > 0 ? SANDBOX_PROCESS_LIMIT : SANDBOX_TIMEOUT_CPU;
	case PROTOCOL_KILL_OUTPUT:
		return SANDBOX_OUTPUT_LIMIT;
	case PROTOCOL_KILL_FORBIDDEN:
		return SANDBOX_FORBIDDEN_SYSCALL;
	case PROTOCOL_KILL_CANCELLED:
		return SANDBOX_CANCELLED;
	case PROTOCOL_KILL_MEMORY:
	case PROTOCOL_NOT_KILLED:
		break;
	}
	return SANDBOX_MEMORY;
}

static enum sandbox_outcome decide(const struct protocol_result *facts)
{
	if (facts->reason == PROTOCOL_KILL_FORBIDDEN || facts->reason == PROTOCOL_KILL_CANCELLED)
		return of_kill(facts);
	if (facts->oom_kills > 0 || facts->reason == PROTOCOL_KILL_MEMORY)
		return SANDBOX_MEMORY;
	if (facts->reason != PROTOCOL_NOT_KILLED)
		return of_kill(facts);
	if (facts->memory_refused > 0 && facts->has_status && WIFSIGNALED(facts->wait_status))
		return SANDBOX_MEMORY;
	if (facts->pids_refused > 0 && !ended_well(facts))
		return SANDBOX_PROCESS_LIMIT;
	if (facts->disk_full && !ended_well(facts))
		return SANDBOX_DISK_LIMIT;
	return facts->has_status && WIFEXITED(facts->wait_status) ? SANDBOX_EXIT : SANDBOX_SIGNAL;
}

/* How the guest's own process ended, appended to what we say about limits. */
static void add_ending(const struct sandbox_result *result, char *ret, size_t size)
{
	size_t len = strlen(ret);

	if (result->exit_code >= 0)
		snprintf(ret + len, size - len, "; the program exited with %d", result->exit_code);
}

static void explain(const struct protocol_result *facts, const struct sandbox_limits *limits,
		    bool memory_by_cgroup, struct sandbox_result *result)
{
	char *d = result->detail;
	size_t size = sizeof(result->detail);

	switch (result->outcome) {
	case SANDBOX_EXIT:
		if (facts->pids_refused > 0)
			snprintf(d, size, "the limit of %lld processes refused %llu forks",
				 (long long)limits->processes,
				 (unsigned long long)facts->pids_refused);
		return;
	case SANDBOX_SIGNAL:
		snprintf(d, size,
			 facts->has_status ? "ended by signal %d (%s)" :
					     "ended from outside by signal %d (%s)",
			 result->signal, strsignal(result->signal));
		return;
	case SANDBOX_TIMEOUT_WALL:
		snprintf(d, size, "killed after %.3g s", (double)limits->wall_ms / 1000);
		return;
	case SANDBOX_TIMEOUT_CPU:
		snprintf(d, size, "killed after %.3g s of CPU time", (double)limits->cpu_ms / 1000);
		return;
	case SANDBOX_MEMORY:
		snprintf(d, size, "memory limit of %.4g MiB reached%s", MIB(limits->memory_bytes),
			 memory_by_cgroup ? "" : " (seen by supervision)");
		break;
	case SANDBOX_OUTPUT_LIMIT:
		snprintf(d, size, "killed for writing %llu bytes of output",
			 (unsigned long long)(result->out.total + result->err.total));
		return;
	case SANDBOX_DISK_LIMIT:
		snprintf(d, size, "disk limit of %.4g MiB or %lld files reached",
			 MIB(limits->disk_bytes), (long long)limits->inodes);
		break;
	case SANDBOX_PROCESS_LIMIT:
		snprintf(d, size, "limit of %lld processes reached", (long long)limits->processes);
		break;
	case SANDBOX_FORBIDDEN_SYSCALL:
		snprintf(d, size, "killed for a system call of a foreign architecture");
		return;
	case SANDBOX_CANCELLED:
		snprintf(d, size, "cancelled");
		return;
	case SANDBOX_SETUP_FAILED:
		return;
	}
	add_ending(result, d, size);
}

void outcome_decide(const struct protocol_result *facts, const struct sandbox_limits *limits,
		    bool memory_by_cgroup, struct sandbox_result *result)
{
	result->exit_code = -1;
	result->signal = 0;
	if (!facts->has_status)
		result->signal = SIGKILL; /* init died, by us or from outside */
	else if (WIFEXITED(facts->wait_status))
		result->exit_code = WEXITSTATUS(facts->wait_status);
	else
		result->signal = WTERMSIG(facts->wait_status);
	result->outcome = decide(facts);
	explain(facts, limits, memory_by_cgroup, result);
}
