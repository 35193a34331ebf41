/*
 * Outcomes by name, default limits, and the end of a result: what all backends share. No backend
 * is known here.
 */
#include "sandbox/sandbox.h"

#include "base/mem.h"
#include "base/name.h"

#include <stdlib.h>

static const char *const outcome_names[] = {
	[SANDBOX_EXIT] = "exit",
	[SANDBOX_SIGNAL] = "signal",
	[SANDBOX_TIMEOUT_WALL] = "timeout_wall",
	[SANDBOX_TIMEOUT_CPU] = "timeout_cpu",
	[SANDBOX_MEMORY] = "memory",
	[SANDBOX_OUTPUT_LIMIT] = "output_limit",
	[SANDBOX_DISK_LIMIT] = "disk_limit",
	[SANDBOX_PROCESS_LIMIT] = "process_limit",
	[SANDBOX_FORBIDDEN_SYSCALL] = "forbidden_syscall",
	[SANDBOX_SETUP_FAILED] = "setup_failed",
	[SANDBOX_CANCELLED] = "cancelled",
};

const char *sandbox_outcome_name(enum sandbox_outcome outcome)
{
	return outcome_names[outcome];
}

int sandbox_outcome_parse(const char *name)
{
	return name_find(outcome_names, ARRAY_SIZE(outcome_names), name);
}

void sandbox_limits_default(struct sandbox_limits *ret)
{
	const int64_t mib = 1 << 20;

	*ret = (struct sandbox_limits){
		.wall_ms = 10000,
		.cpu_ms = 10000,
		.memory_bytes = 512 * mib,
		.processes = 64,
		.open_files = 256,
		.disk_bytes = 64 * mib,
		.inodes = 16384,
		.stdout_bytes = mib,
		.stderr_bytes = mib,
		.artifact_bytes = 5 * mib,
		.artifacts = 32,
	};
}

void sandbox_result_release(struct sandbox_result *result)
{
	for (size_t i = 0; i < result->artifact_count; i++) {
		free(result->artifacts[i].path);
		free(result->artifacts[i].bytes);
		free(result->artifacts[i].why_not);
	}
	free(result->artifacts);
	free(result->forbidden);
	free(result->out.bytes);
	free(result->err.bytes);
	sandbox_isolation_release(&result->isolation);
	*result = (struct sandbox_result){ .exit_code = -1 };
}
