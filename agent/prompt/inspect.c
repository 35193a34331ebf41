/*
 * Looking into an input that is no text, by a small program of ours in the sandbox. The file is
 * as hostile as code; what comes back is text from outside.
 */
#include "agent/prompt/inspect.h"

#include "base/embed.h"
#include "base/mem.h"

#define SOURCE	       "agent/prompt/inspect.py"
#define TEXT_BYTES_MAX 4000

static void inspector_limits(struct sandbox_limits *ret, int64_t wall_ms)
{
	sandbox_limits_default(ret);
	ret->wall_ms = wall_ms;
	ret->cpu_ms = wall_ms;
	ret->processes = 4;
	ret->stdout_bytes = TEXT_BYTES_MAX;
	ret->stderr_bytes = TEXT_BYTES_MAX;
	ret->artifacts = 0;
}

const struct language *inspect_language(void)
{
	return language_find("python");
}

int inspect_file(struct sandbox *sandbox, const struct sandbox_file *file, int64_t wall_ms,
		 int cancel_fd, struct inspection *ret, struct error *err)
{
	const struct embed *source = embed_find(SOURCE);
	const char *const argv[] = { file->path, NULL };
	struct sandbox_watch watch = { .cancel_fd = cancel_fd };
	cleanup_sandbox_result struct sandbox_result x = { .exit_code = -1 };
	struct sandbox_environment python;
	struct sandbox_job job = {
		.language = inspect_language(),
		.code = source->data,
		.code_len = embed_len(source),
		.argv = argv,
		.inputs = file,
		.input_count = 1,
		.ours = true,
	};

	if (sandbox_describe(sandbox, job.language, &python, err) < 0)
		return -1;
	if (!python.interpreter) {
		*ret = (struct inspection){ .text = mem_strdup("") };
		return 0;
	}
	inspector_limits(&job.limits, wall_ms);
	if (sandbox_run(sandbox, &job, &watch, &x, err) < 0)
		return error_wrap(err, "looking into /in/%s", file->path);
	if (x.outcome == SANDBOX_CANCELLED)
		return error_set(err, ERR_CANCELLED,
				 "interrupted while the input files were looked at");
	/* One that ended otherwise has still told what it had found until then. */
	*ret = (struct inspection){ mem_strndup(x.out.bytes, x.out.len), x.metrics.wall_ms,
				    x.outcome == SANDBOX_EXIT && x.exit_code == 0 };
	return 0;
}
