/* SandboxFusion's notebooks: a body that is taken has cells that are texts, files below /in and no
 * limit above the server's, all else is refused as the client's mistake. */
#include "agent/doors/fusion/fusion.h"
#include "agent/policy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool leads_out(const char *path)
{
	return !*path || *path == '/' || strstr(path, "//") || !strcmp(path, "..") ||
	       !strncmp(path, "../", 3) || strstr(path, "/../");
}

static void check(const struct json *body, const struct sandbox_limits *limits,
		  const struct sandbox_limits *most, int64_t all_ms)
{
	for (const struct json *c = json_first(json_get(body, "cells")); c; c = json_next(c))
		if (!json_string(c))
			abort();
	if (limits->wall_ms <= 0 || limits->wall_ms > most->wall_ms || all_ms < 0 ||
	    limits->memory_bytes != most->memory_bytes)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	cleanup_json struct json *body = json_parse((const char *)data, size, 0, &err);
	struct task given = { .file_count = 0 };
	struct policy policy;
	int64_t all_ms = 0;

	if (!body)
		return 0;
	policy_init(&policy);
	struct sandbox_limits limits = policy.limits;
	err = (struct error)ERROR_INIT;
	int rc = fusion_read_notebook(body, &limits, &all_ms, &given, &err);
	for (size_t i = 0; i < given.file_count; i++)
		if (leads_out(given.files[i].path))
			abort();
	if (rc < 0 ? err.kind != ERR_USAGE || !*err.message : 0)
		abort();
	if (rc == 0)
		check(body, &limits, &policy.limits, all_ms);
	task_release(&given);
	policy_release(&policy);
	return 0;
}
