/*
 * The program runs, within the budgets; how it ended is what the model is told. Only a program
 * that was screened comes here, and it runs by execution.h alone.
 */
#include "agent/stages/execute.h"

#include "agent/attempt.h"
#include "agent/execution.h"
#include "agent/prompt/quote.h"
#include "agent/run.h"
#include "agent/stages/cell.h"
#include "agent/stages/tests.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void run_forget_execution(struct run *r)
{
	for (size_t i = 0; i < r->result.check_count; i++)
		check_result_release(&r->result.checks[i]);
	r->result.check_count = 0;
	if (r->executed)
		sandbox_result_release(&r->execution);
	failure_release(&r->failure);
	r->execution = (struct sandbox_result){ .exit_code = -1 };
	r->failure = (struct failure){ .type = NULL };
	r->executed = false;
	free(r->draft);
	r->draft = NULL;
	r->result.level = LEVEL_NONE;
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
		buf_addf(out,
			 " It wrote %" PRIu64 " bytes to standard output and %" PRIu64
			 " to standard error.",
			 x->out.total, x->err.total);
}

/* What is there instead of a module that is not. */
static void describe_packages(struct buf *out, const struct run *r)
{
	const struct json *e = json_first(r->environments);

	while (e && strcmp(json_get_string(e, "language"), r->language->name))
		e = json_next(e);
	const char *packages = json_get_string(e, "packages");
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
	for (size_t i = 0; i < x->forbidden_count; i++)
		buf_addf(&out, x->forbidden[i].count > 1 ? "%s%s (%" PRIu64 " times)" : "%s%s",
			 i ? ", " : " System calls refused: ", x->forbidden[i].syscall,
			 x->forbidden[i].count);
	if (x->forbidden_count)
		buf_addch(&out, '.');
	struct sandbox_limits limits = r->policy->limits;
	if (r->context)
		context_raise_limits(r->context, r->language->name, &limits);
	describe_use(&out, x, f, &limits);
	if (f->class == FAILURE_IMPORT && r->environments)
		describe_packages(&out, r);
	return buf_take(&out, NULL);
}

/* Nothing printed, nothing written. */
static bool is_silent(const struct sandbox_result *x)
{
	return x->outcome == SANDBOX_EXIT && x->exit_code == 0 && !x->artifact_count &&
	       (!x->out.len || strspn(x->out.bytes, " \t\r\n") == x->out.len);
}

/* A program without a print may end in the expression that was asked for: it is
 * run once more to be shown that one's value. */
static int run_for_value(struct run *r, struct execution *x, struct error *err)
{
	struct execution again = {
		.code = r->code, .len = r->code_len, .tests = "", .harness = { .mode = TESTS_SHOW }
	};
	const struct sandbox_result *shown = &again.result;

	if (r->loop->tools || !is_silent(&x->result) || !tests_can_show(r->language))
		return 0;
	int rc = execution_run(r, &again, 1, err);
	rc = rc ? rc : execution_check_stopped(r, shown, again.cut, err);
	if (rc || shown->outcome != SANDBOX_EXIT || shown->exit_code != 0 || is_silent(shown)) {
		execution_release(&again);
		return rc;
	}
	execution_release(x);
	*x = again;
	return 0;
}

static int run_alone(struct run *r, struct execution *x, struct error *err)
{
	*x = (struct execution){ .code = r->code, .len = r->code_len, .cell = run_is_cell(r) };
	if (execution_run(r, x, 1, err) == 0 &&
	    (r->task->program || x->cell || run_for_value(r, x, err) == 0))
		return 0;
	execution_release(x);
	return -1;
}

static enum step ended_silently(struct run *r)
{
	return run_attempt_failed(
		r, (struct feedback){
			   .failure = mem_strdup(
				   "The program ended without an error, but printed nothing "
				   "and wrote no file."),
			   .advice = "Print the answer to standard output. A bare expression "
				     "prints nothing.",
			   .with_output = true,
			   .status = RUN_FAILED,
		   });
}

/* A program that is no attempt at an answer has done all that it was run for. */
static enum step ended_well(struct run *r)
{
	r->result.level = LEVEL_RAN;
	return r->task->program ? run_finish(r, RUN_SUCCESS, NULL) : STEP_ON;
}

static int executed(struct run *r, bool cut, struct check_result *c, struct error *err)
{
	const struct failure *f = &r->failure;

	if (r->waits)
		return run_finish(r, RUN_DENIED, r->waits);
	if (execution_check_stopped(r, &r->execution, cut, err) < 0)
		return -1;
	if (c->kind) {
		run_add_check(r, c);
		*c = (struct check_result){ .kind = NULL };
	}
	if (!r->task->program && !r->task->tests && !run_has_expectation(r) &&
	    is_silent(&r->execution))
		return ended_silently(r);
	if (r->execution.outcome == SANDBOX_EXIT && r->execution.exit_code == 0)
		return ended_well(r);
	return run_attempt_failed(
		r, (struct feedback){
			   .failure = describe_failure(r),
			   .excerpt = f->line > 0 ? context_excerpt(r->code, r->code_len, f->line,
								    f->column) :
						    NULL,
			   .advice = failure_advice(r->language->name, &r->failure),
			   .with_output = true,
			   .status = RUN_FAILED,
		   });
}

/* The program had no chance: what it was to start from could not be made again. */
static enum step state_lost(struct run *r, char *why)
{
	if (r->task->program) {
		cleanup_free char *reason = why;

		return run_finish(r, RUN_FAILED, reason);
	}
	return run_attempt_failed(
		r, (struct feedback){
			   .failure = why,
			   .advice = "Nothing of the earlier programs is there any more. Write a "
				     "program that stands alone: it reads and computes what it "
				     "needs itself.",
			   .with_output = true,
			   .status = RUN_FAILED,
		   });
}

/* What the environment of the user's own has not, said once. */
static void tell_notes(const struct run *r)
{
	const struct sandbox_environment *e = &r->execution.environment;
	const struct progress *p = &r->loop->progress;

	if (!p->note || !e->from || !e->notes || !*e->notes)
		return;
	cleanup_free char *line =
		mem_printf("%s: not to be had in the sandbox: %s", e->from, e->notes);
	p->note(p->self, line);
}

/* What came of it is the run's. */
static void keep(struct run *r, struct execution *x)
{
	const struct progress *p = &r->loop->progress;

	r->executed = true;
	r->execution = x->result;
	r->failure = x->failure;
	x->result = (struct sandbox_result){ .exit_code = -1 };
	x->failure = (struct failure){ .type = NULL };
	if (r->attempt == 1)
		tell_notes(r);
	if (p->result)
		p->result(p->self, r->attempt, &r->execution, &r->failure);
}

int stage_execute(struct run *r, struct error *err)
{
	struct check_result c = { .kind = NULL };

	run_forget_execution(r);
	struct execution x;
	if ((r->task->tests ? run_tests(r, r->task->tests, CHECK_TASK, &x, &c, err) :
			      run_alone(r, &x, err)) < 0)
		return -1;
	char *why = NULL;
	bool lost = x.cell && run_leave_cell(r, &x.result, &why);
	keep(r, &x);
	int rc = lost ? state_lost(r, TAKE_PTR(why)) : executed(r, x.cut, &c, err);
	execution_release(&x);
	check_result_release(&c); /* unless it is the run's by now */
	return rc;
}
