/* Bodies of Piston and SandboxFusion: what is taken has its files below /in and no limit above the
 * server's, all else is refused as the client's mistake. */
#include "agent/doors/fusion/fusion.h"
#include "agent/doors/http/http.h"
#include "agent/doors/service/program.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int rc, struct program *p, const struct sandbox_limits *limits,
		  const struct sandbox_limits *most, const struct error *err)
{
	for (size_t i = 0; i < p->task.file_count; i++) {
		const char *path = p->task.files[i].path;

		if (!*path || *path == '/' || strstr(path, "//") || !strcmp(path, "..") ||
		    !strncmp(path, "../", 3) || strstr(path, "/../"))
			abort();
	}
	if (rc < 0 ? err->kind != ERR_USAGE || !*err->message :
		     limits->wall_ms > most->wall_ms || limits->memory_bytes > most->memory_bytes ||
			     limits->wall_ms <= 0 || limits->memory_bytes <= 0)
		abort();
	program_release(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct json *body = json_parse((const char *)data, size, 0, &err);
	struct program p = { .code = NULL };
	struct policy policy;

	if (!body)
		return 0;
	policy_init(&policy);
	struct sandbox_limits limits = policy.limits;
	err = (struct error)ERROR_INIT;
	int rc = fusion_read(&p, body, &limits, &err);
	check(rc, &p, &limits, &policy.limits, &err);
	err = (struct error)ERROR_INIT;
	rc = piston_read(&p, body, language_at(0), &policy, &limits, &err);
	check(rc, &p, &limits, &policy.limits, &err);
	policy_release(&policy);
	json_free(body);
	return 0;
}
