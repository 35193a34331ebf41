/* The live ends of the loop: a real sandbox and the real clock. Who approves is the
 * embedder's to say. */
#include "agent/live.h"

#include "base/clock.h"
#include "verifier/cells.h"
#include "verifier/compiled.h"
#include "verifier/screen/screen.h"

#include <string.h>

/* --- execute --- */

static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	struct live *live = self;
	size_t *known = &live->known[is_stderr], skip = *known < len ? *known : len;

	*known -= skip;
	live->told[is_stderr] += len - skip;
	if (len > skip)
		live->progress->output(live->progress->self, is_stderr, bytes + skip, len - skip);
}

static void on_used(void *self, int64_t memory_bytes)
{
	const struct live *live = self;

	live->progress->used(live->progress->self, memory_bytes);
}

static void on_handed(void *self)
{
	const struct live *live = self;

	live->progress->handed(live->progress->self);
}

static int execute(void *self, int attempt, const struct sandbox_job *job,
		   struct sandbox_result *ret, struct error *err)
{
	struct live *live = self;
	struct sandbox_watch watch = {
		.output =
			live->progress && live->progress->output && !job->unseen ? on_output : NULL,
		.used = live->progress && live->progress->used ? on_used : NULL,
		.handed = live->progress && live->progress->handed ? on_handed : NULL,
		.self = live,
		.cancel_fd = live->cancel_fd,
	};

	cleanup_compiled struct compiled code = { .bytes = NULL };
	struct sandbox_job started = *job;

	(void)attempt;
	for (size_t i = 0; i < 2; i++) {
		live->told[i] = job->port && job->port->again ? live->told[i] : 0;
		live->known[i] = live->told[i];
	}
	if (job->entry) /* a harness of ours beside the program */
		compiled_job(live->sandbox, &started, &code);
	return sandbox_run(live->sandbox, &started, &watch, ret, err);
}

/* Nobody watches: what a pair prints is its own business until it is judged. */
static int execute_pair(void *self, int attempt, const struct sandbox_job jobs[2],
			struct sandbox_result ret[2], struct error *err)
{
	struct live *live = self;
	struct sandbox_watch watch = { .cancel_fd = live->cancel_fd };
	struct sandbox_job started[2] = { jobs[0], jobs[1] };

	(void)attempt;
	struct compiled code[2];
	for (size_t i = 0; i < 2; i++)
		compiled_job(live->sandbox, &started[i], &code[i]);
	int status = sandbox_run_pair(live->sandbox, started, &watch, ret, err);
	for (size_t i = 0; i < 2; i++)
		compiled_release(&code[i]);
	return status;
}

static int describe(void *self, const struct language *language, struct sandbox_environment *ret,
		    struct error *err)
{
	const struct live *live = self;

	return sandbox_describe(live->sandbox, language, ret, err);
}

static int parse(void *self, const char *stage, int attempt, const char *lang,
		 enum screen_profile profile, const char *code, size_t len, struct tree *ret,
		 struct error *err)
{
	const struct live *live = self;

	(void)stage;
	(void)attempt;
	return screen_read(live->sandbox, live->cancel_fd, lang, code, len, profile, ret, err);
}

static void expect(void *self, const char *lang, enum screen_profile profile)
{
	const struct live *live = self;

	screen_expect(live->sandbox, lang, profile);
}

static void foresee(void *self, const struct language *language, const struct sandbox_hint *hint)
{
	const struct live *live = self;
	struct sandbox_job job = { .language = language };

	sandbox_limits_default(&job.limits);
	sandbox_foresee(live->sandbox, &job, hint);
}

static bool needs(void *self, const char *stage, int attempt, const struct language *language,
		  const struct cell *list, size_t count, bool *ret_used)
{
	const struct live *live = self;
	cleanup_slice struct slice slice = { .count = 0 };

	(void)stage;
	(void)attempt;
	cells_slice(live->sandbox, live->cancel_fd, language, list, count, false, &slice);
	memcpy(ret_used, slice.used, count * sizeof(*ret_used));
	return true;
}

static int inspect(void *self, const struct sandbox_file *file, int64_t wall_ms,
		   struct inspection *ret, struct error *err)
{
	const struct live *live = self;

	if (!live->seen)
		return inspect_file(live->sandbox, file, wall_ms, live->cancel_fd, ret, err);
	return inspections_look(live->seen, live->sandbox, file, wall_ms, live->cancel_fd, ret,
				err);
}

static void took(void *self, int attempt, const struct sandbox_result *result,
		 struct sandbox_metrics *ret)
{
	(void)self;
	(void)attempt;
	*ret = result->metrics;
}

void live_execute(struct execute_ops *ret, struct live *live)
{
	*ret = (struct execute_ops){ execute, execute_pair, took, describe, parse,
				     expect,  inspect,	    live, foresee,  needs };
}

int live_check(const struct live *live, const struct policy *policy, const struct task *task,
	       struct error *err)
{
	if ((!task->tests && !policy->tests) || sandbox_can_pair(live->sandbox))
		return 0;
	return error_set(
		err, ERR_USAGE,
		"the %s sandbox cannot run a program and its tests apart from each other, "
		"and where one can see the other they prove nothing: leave the tests out, or "
		"take another sandbox",
		policy->sandbox);
}

/* --- clock --- */

static int64_t elapsed_ms(void *self, const char *stage, int attempt)
{
	const struct live *live = self;

	(void)stage;
	(void)attempt;
	return clock_mono_ms() - live->begun_mono_ms;
}

void live_clock(struct clock_ops *ret, struct live *live)
{
	live->begun_mono_ms = clock_mono_ms();
	*ret = (struct clock_ops){ elapsed_ms, live };
}
