/*
 * Executions out of the log: the inverse of render_execution. The log may be damaged or of
 * another version: what does not fit is an error.
 */
#include "agent/record/render.h"

#include "base/mem.h"

#include <string.h>

static void copy_text(char *ret, size_t size, const struct json *object, const char *key)
{
	const char *text = json_get_string(object, key);

	snprintf(ret, size, "%s", text ? text : "");
}

static void read_forbidden(const struct json *array, struct sandbox_result *r)
{
	r->forbidden = mem_array(NULL, json_count(array) + 1, sizeof(*r->forbidden));
	for (const struct json *call = json_first(array); call; call = json_next(call)) {
		struct sandbox_forbidden *f = &r->forbidden[r->forbidden_count++];

		*f = (struct sandbox_forbidden){ .count =
							 (uint64_t)json_get_int(call, "count", 0) };
		copy_text(f->syscall, sizeof(f->syscall), call, "syscall");
		copy_text(f->arch, sizeof(f->arch), call, "arch");
	}
}

static void read_artifacts(const struct json *array, struct sandbox_result *r)
{
	r->artifacts = mem_array(NULL, json_count(array) + 1, sizeof(*r->artifacts));
	for (const struct json *object = json_first(array); object; object = json_next(object)) {
		struct sandbox_artifact *a = &r->artifacts[r->artifact_count++];
		const char *path = json_get_string(object, "path");
		const char *type = json_get_string(object, "type");

		*a = (struct sandbox_artifact){
			.path = mem_strdup(path ? path : ""),
			.size = (uint64_t)json_get_int(object, "size", 0),
			.type = type ? type : "",
			.kept = json_get_bool(object, "kept", false),
			.why_not = mem_strdup(json_get_string(object, "why_not")),
		};
		copy_text(a->sha256, sizeof(a->sha256), object, "sha256");
	}
}

static void read_stream(const struct json *value, const char *bytes, const char *truncated,
			struct sandbox_stream *ret)
{
	ret->total = (uint64_t)json_get_int(value, bytes, 0);
	ret->truncated = json_get_bool(value, truncated, false);
}

int render_execution_read(const struct json *value, struct sandbox_result *ret, struct error *err)
{
	const char *name = json_get_string(value, "outcome");
	int outcome = name ? sandbox_outcome_parse(name) : -1;
	const struct json *environment = json_get(value, "environment");
	struct sandbox_result r = { .exit_code = (int)json_get_int(value, "exit_code", -1),
				    .signal = (int)json_get_int(value, "signal", 0) };

	if (outcome < 0)
		return error_set(err, ERR_LOG, "the recorded execution has no known outcome");
	r.outcome = (enum sandbox_outcome)outcome;
	read_forbidden(json_get(value, "forbidden"), &r);
	read_artifacts(json_get(value, "artifacts"), &r);
	sandbox_metrics_read(json_get(value, "metrics"), &r.metrics);
	render_isolation_read(json_get(value, "isolation"), &r.isolation);
	read_stream(value, "stdout_bytes", "stdout_truncated", &r.out);
	read_stream(value, "stderr_bytes", "stderr_truncated", &r.err);
	r.environment.language = json_get_string(environment, "language");
	r.environment.interpreter = json_get_string(environment, "interpreter");
	r.environment.version = json_get_string(environment, "version");
	r.environment.digest = json_get_string(environment, "digest");
	r.environment.sandbox = json_get_string(environment, "sandbox");
	copy_text(r.detail, sizeof(r.detail), value, "detail");
	*ret = r;
	return 0;
}
