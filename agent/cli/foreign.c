/*
 * What a record may not decide where it is run again (foreign.h). It looks at settings alone: it
 * opens nothing, asks nobody, and changes no policy.
 */
#include "agent/cli/foreign.h"

#include "base/mem.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define PROCESSES_MAX 4096

/* What is kept of a run is kept by us, in no control group. */
static const struct {
	const char *option;
	size_t offset; /* of an int64_t in struct sandbox_limits */
} sizes[] = {
	{ "ASSAY_MEMORY", offsetof(struct sandbox_limits, memory_bytes) },
	{ "ASSAY_OUTPUT_BYTES", offsetof(struct sandbox_limits, stdout_bytes) },
	{ "ASSAY_OUTPUT_BYTES", offsetof(struct sandbox_limits, stderr_bytes) },
	{ NULL, offsetof(struct sandbox_limits, artifact_bytes) },
};

static int64_t at(const struct sandbox_limits *limits, size_t offset)
{
	int64_t value;

	memcpy(&value, (const char *)limits + offset, sizeof(value));
	return value;
}

/* A quarter of the machine is left to others. */
static int64_t most_bytes(void)
{
	return (int64_t)sysconf(_SC_PHYS_PAGES) / 4 * 3 * sysconf(_SC_PAGESIZE);
}

static int refuse(const char *run, const char *what, const char *option, int64_t value,
		  struct error *err)
{
	return error_set(err, ERR_USAGE,
			 "run %s was allowed %lld %s, which is more than a record may have of this "
			 "machine%s%s%s",
			 run, (long long)value, what, option ? "; " : "", option ? option : "",
			 option ? " allows as much" : "");
}

static int check_limits(const char *run, const struct sandbox_limits *recorded,
			const struct sandbox_limits *given, struct error *err)
{
	int64_t most = most_bytes();

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		int64_t value = at(recorded, sizes[i].offset);

		if (value > most && value > at(given, sizes[i].offset))
			return refuse(run, "bytes", sizes[i].option, value, err);
	}
	if (recorded->processes > PROCESSES_MAX && recorded->processes > given->processes)
		return refuse(run, "processes", "ASSAY_PIDS", recorded->processes, err);
	return 0;
}

int foreign_check(const char *run, const struct policy *recorded, const struct policy *given,
		  struct error *err)
{
	const char *sandbox = recorded->sandbox;

	if (sandbox && sandbox_is_elsewhere(sandbox) &&
	    (!given->sandbox || strcmp(given->sandbox, sandbox)))
		return error_set(err, ERR_USAGE,
				 "run %s ran on another machine, and no record sends inputs there: "
				 "ASSAY_SANDBOX=%.200s does; a replay takes --sandbox, too "
				 "(%s: here)",
				 run, sandbox, sandbox_name_at(0));
	return check_limits(run, &recorded->limits, &given->limits, err);
}
