/* The program runs, within the budgets; how it ended is what the model is told. */
#include "agent/run.h"

#include "base/mem.h"
#include "verifier/tests.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void run_forget_execution(struct run *r)
{
	size_t i;

	for (i = 0; i < r->result.check_count; i++)
		check_result_release(&r->result.checks[i]);
	r->result.check_count = 0;
	if (r->executed)
		sandbox_result_release(&r->execution);
	failure_release(&r->failure);
	r->execution = (struct sandbox_result){ .exit_code = -1 };
	r->failure = (struct failure){ .type = NULL };
	r->executed = false;
	r->disputed = false;
	r->result.level = LEVEL_NONE;
}

int run_reserve(struct run *r, const char *stage, struct sandbox_limits *limits, struct error *err)
{
	const struct clock_ops *clock = &r->loop->clock;
	int64_t left;

	if (budget_reserve_exec(&r->budget, limits->wall_ms, &limits->wall_ms, err) < 0 ||
	    budget_deadline(&r->budget, clock->elapsed_ms(clock->self, stage, r->attempt), &left,
			    err) < 0)
		return -1;
	r->until_deadline = left < limits->wall_ms;
	limits->wall_ms = r->until_deadline ? left : limits->wall_ms;
	return 0;
}

int run_check_deadline(const struct run *r, const struct sandbox_result *x, struct error *err)
{
	if (!r->until_deadline || x->outcome != SANDBOX_TIMEOUT_WALL)
		return 0;
	return error_set(err, ERR_DEADLINE,
			 "the deadline of %" PRId64 " ms passed while the program ran",
			 r->budget.limits.deadline_ms);
}

int run_execute_code(struct run *r, const char *code, size_t len, const char *tests,
		     struct tests *harness, struct sandbox_result *ret, struct error *err)
{
	cleanup_free struct sandbox_file *inputs = task_inputs(r->task);
	const struct execute_ops *ops = &r->loop->execute;
	struct sandbox_job job = {
		.language = r->language,
		.code = code,
		.code_len = len,
		.stdin_bytes = r->task->stdin_bytes,
		.stdin_len = r->task->stdin_len,
		.inputs = inputs,
		.input_count = r->task->file_count,
		.limits = r->settings->limits,
	};

	if (tests && tests_prepare(harness, r->language, tests, strlen(tests), &job, err) < 0)
		return -1;
	if (run_reserve(r, "execute", &job.limits, err) < 0 ||
	    journal_execution_start(&r->journal, r->attempt, &job, err) < 0)
		return -1;
	if (r->loop->progress.stage)
		r->loop->progress.stage(r->loop->progress.self, "execute", r->attempt);
	if (ops->run(ops->self, r->attempt, &job, ret, err) < 0)
		return -1;
	if (tests)
		tests_collect(harness, ret);
	budget_settle_exec(&r->budget, ops->spent_ms(ops->self, r->attempt, ret));
	return 0;
}

/* What it used of what it had. */
static void describe_use(struct buf *out, const struct sandbox_result *x, const struct failure *f,
			 const struct sandbox_limits *limits)
{
	if (f->class == FAILURE_TIMEOUT)
		buf_addf(out,
			 " It had run for %.0f ms of %" PRId64 ", %.0f ms of them on the processor "
			 "(of %" PRId64 ").",
			 x->metrics.wall_ms, limits->wall_ms,
			 x->metrics.user_ms + x->metrics.system_ms, limits->cpu_ms);
	if (f->class == FAILURE_MEMORY && x->metrics.peak_memory_bytes > 0)
		buf_addf(out, " Its peak was %.1f MiB of %.1f MiB.",
			 (double)x->metrics.peak_memory_bytes / (1 << 20),
			 (double)limits->memory_bytes / (1 << 20));
	if (f->class == FAILURE_OUTPUT)
		buf_addf(out, " It wrote %" PRIu64 " bytes to standard output and %" PRIu64
			 " to standard error.", x->out.total, x->err.total);
}

/* What is there instead of a module that is not. */
static void describe_packages(struct buf *out, const struct run *r)
{
	const struct json *e = json_first(r->environments);
	const char *packages;

	while (e && strcmp(json_get_string(e, "language"), r->language->name))
		e = json_next(e);
	packages = json_get_string(e, "packages");
	buf_addf(out, " Beside the standard library, installed is: %s.",
		 packages && *packages ? packages : "nothing");
}

/* The guest's error and its line; a limit's words were said already. */
static void describe_error(struct buf *out, const struct sandbox_result *x, const struct failure *f)
{
	bool own = x->outcome == SANDBOX_EXIT && f->class != FAILURE_FORBIDDEN;

	if (own && (f->type || f->message))
		buf_addf(out, " %s%s%s", f->type ? f->type : "", f->type && f->message ? ": " : "",
			 f->message ? f->message : "");
	if (f->line > 0)
		buf_addf(out, "%s line %ld.",
			 own && (f->type || f->message) ? ", in" : " The error was in", f->line);
	else if (own && (f->type || f->message))
		buf_addch(out, '.');
}

/* What happened, in sentences: facts of the kernel first, then the guest's words. */
static char *describe_failure(const struct run *r)
{
	const struct sandbox_result *x = &r->execution;
	const struct failure *f = &r->failure;
	struct buf out = BUF_INIT((size_t)1 << 20);
	size_t i;

	if (x->outcome == SANDBOX_EXIT)
		buf_addf(&out, "The program ended with exit code %d.", x->exit_code);
	else if (x->outcome == SANDBOX_SIGNAL)
		buf_addf(&out, "The program was ended by signal %d (%s).", x->signal,
			 strsignal(x->signal));
	else
		buf_addf(&out, "The program was stopped: %s (%s).",
			 *x->detail ? x->detail : "a limit was reached",
			 sandbox_outcome_name(x->outcome));
	describe_error(&out, x, f);
	for (i = 0; i < x->forbidden_count; i++)
		buf_addf(&out, x->forbidden[i].count > 1 ? "%s%s (%" PRIu64 " times)" : "%s%s",
			 i ? ", " : " System calls refused: ", x->forbidden[i].syscall,
			 x->forbidden[i].count);
	if (x->forbidden_count)
		buf_addch(&out, '.');
	describe_use(&out, x, f, &r->settings->limits);
	if (f->class == FAILURE_IMPORT)
		describe_packages(&out, r);
	return buf_take(&out, NULL);
}

/* It ended well. The task's tests, if it has any, have the first word. */
static int ended_well(struct run *r, struct tests *t, struct check_result *c, struct error *err)
{
	r->result.level = LEVEL_RAN;
	r->state = STATE_VERIFY;
	if (!c->kind)
		return 0;
	if (run_confirm_tests(r, r->task->tests, t, c, err) < 0)
		return -1;
	run_add_check(r, c);
	return 0;
}

static int executed(struct run *r, struct tests *t, struct check_result *c, struct error *err)
{
	const struct failure *f = &r->failure;

	if (r->execution.outcome == SANDBOX_CANCELLED)
		return error_set(err, ERR_CANCELLED, "interrupted while the program ran");
	if (run_check_deadline(r, &r->execution, err) < 0)
		return -1;
	if (r->execution.outcome == SANDBOX_EXIT && r->execution.exit_code == 0)
		return ended_well(r, t, c, err);
	if (c->kind) {
		run_add_check(r, c);
		*c = (struct check_result){ .kind = NULL };
	}
	return run_attempt_failed(r, (struct feedback){
		.failure = describe_failure(r),
		.excerpt = f->line > 0 ? context_excerpt(r->code, r->code_len, f->line, f->column) :
					 NULL,
		.advice = failure_advice(&r->failure),
		.with_output = true,
		.status = RUN_FAILED,
	});
}

int stage_execute(struct run *r, struct error *err)
{
	const struct progress *p = &r->loop->progress;
	struct tests t = { .mode = TESTS_TOGETHER };
	struct check_result c = { .kind = NULL };
	int rc;

	run_forget_execution(r);
	rc = run_execute_code(r, r->code, r->code_len, r->task->tests, &t, &r->execution, err);
	if (!rc) {
		r->executed = true;
		failure_find(r->language->name, r->language->file, &r->execution, &r->failure);
		rc = journal_execution(&r->journal, r->attempt, &r->execution, &r->failure, err);
		if (r->task->tests)
			tests_judge(&t, &r->execution, CHECK_TASK, &c);
	}
	if (!rc && p->result)
		p->result(p->self, r->attempt, &r->execution, &r->failure);
	if (!rc)
		rc = executed(r, &t, &c, err);
	if (rc)
		check_result_release(&c);
	tests_release(&t);
	return rc;
}
