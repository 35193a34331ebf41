/*
 * Running code, recorded (execution.h). It decides nothing about what came of it:
 * that is the stages' work.
 */
#include "agent/execution.h"

#include "agent/call_cells.h"
#include "agent/calls.h"
#include "agent/run.h"
#include "agent/stages/cell.h"
#include "base/clock.h"
#include "base/mem.h"
#include "verifier/shown.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So much longer than the program may take has its judge: it is the program's
 * end that is to be told of, not the judge's wait for it. */
#define JUDGE_MORE_MS 500

void execution_release(struct execution *x)
{
	struct cell *list;

	memcpy(&list, &x->harness.cells.list, sizeof(list));
	tests_release(&x->harness);
	free(list);
	sandbox_result_release(&x->result);
	failure_release(&x->failure);
}

/* --- budgets --- */

int execution_reserve(struct run *r, const char *stage, int64_t *wall_ms, bool *ret_cut,
		      struct error *err)
{
	const struct clock_ops *clock = &r->loop->clock;
	int64_t left;

	if (budget_reserve_exec(&r->budget, *wall_ms, wall_ms, err) < 0 ||
	    budget_deadline(&r->budget, clock->elapsed_ms(clock->self, stage, r->attempt), &left,
			    err) < 0)
		return -1;
	bool cut = left < *wall_ms;
	*wall_ms = cut ? left : *wall_ms;
	if (ret_cut)
		*ret_cut = cut;
	return 0;
}

int execution_stop(const struct run *r, struct stop *ret, struct error *err)
{
	const struct clock_ops *clock = &r->loop->clock;
	int64_t left;

	/* A recorded clock knows when the execution began, not what came after it. */
	if (budget_deadline(&r->budget,
			    clock->elapsed_ms(clock->self, stage_name(STAGE_EXECUTE), r->attempt),
			    &left, err) < 0)
		return -1;
	*ret = (struct stop){
		.cancel_fd = r->loop->cancel_fd,
		.deadline_ms = left == INT64_MAX ? left : clock_mono_ms() + left,
	};
	return 0;
}

int execution_check_deadline(const struct run *r, const struct sandbox_result *result, bool cut,
			     struct error *err)
{
	if (!cut || result->outcome != SANDBOX_TIMEOUT_WALL)
		return 0;
	return error_set(err, ERR_DEADLINE,
			 "the deadline of %" PRId64 " ms passed while the program ran",
			 r->budget.limits.deadline_ms);
}

int execution_check_stopped(const struct run *r, const struct sandbox_result *result, bool cut,
			    struct error *err)
{
	if (result->outcome == SANDBOX_CANCELLED)
		return error_set(err, ERR_CANCELLED, "interrupted while the program ran");
	return execution_check_deadline(r, result, cut, err);
}

/* --- the jobs --- */

struct inputs {
	struct sandbox_file *files; /* owned; what they point at is the run's */
	size_t count;
};

static void inputs_release(struct inputs *in)
{
	free(in->files);
}
#define cleanup_inputs __attribute__((cleanup(inputs_release)))

static void add_input(struct inputs *in, struct sandbox_file file)
{
	for (size_t i = 0; i < in->count; i++)
		if (!strcmp(in->files[i].path, file.path))
			return;
	in->files = mem_array(in->files, in->count + 1, sizeof(*in->files));
	in->files[in->count++] = file;
}

/* What programs of the context left, which does not run again with this one: newest first. */
static void add_left(struct inputs *in, const struct run *r, const struct language *language,
		     bool with_code)
{
	const struct context *c = r->context;

	for (size_t i = c ? c->count : 0; c && i > c->from; i--) {
		const struct context_cell *cell = &c->cells[i - 1];

		for (size_t f = 0; strcmp(cell->lang, language->name) && f < cell->file_count; f++)
			if (cell->files[f].bytes &&
			    (with_code || !cells_load(language, cell->files[f].path)))
				add_input(in, (struct sandbox_file){ cell->files[f].path,
								     cell->files[f].bytes,
								     cell->files[f].len });
	}
}

/* The task's files, what other programs left, and what is left of the attempt before. */
static struct inputs inputs_of(const struct run *r, const struct language *language, bool with_code)
{
	struct inputs in = { task_inputs(r->task), r->task->file_count };

	add_left(&in, r, language, with_code);
	if (r->previous)
		add_input(&in, (struct sandbox_file){ RUN_PREVIOUS, r->previous, r->previous_len });
	return in;
}

struct sandbox_job execution_job(const struct run *r, const struct language *language,
				 const struct sandbox_file *inputs, const char *code, size_t len)
{
	const struct task_program *program = r->task->program;

	return (struct sandbox_job){
		.language = language,
		.code = code,
		.code_len = len,
		.argv = program ? program->argv : NULL,
		.env = program ? program->env : NULL,
		.state_from = program ? program->state_from : NULL,
		.stdin_bytes = r->task->stdin_bytes,
		.stdin_len = r->task->stdin_len,
		.inputs = inputs,
		.input_count = r->task->file_count,
		.limits = r->policy->limits,
	};
}

static struct cell *cells_before(const struct run *r, const struct execution *x, size_t *ret_count)
{
	if (!x->after)
		return context_cells(r->context, x->language->name, ret_count);
	struct cell *list = mem_array(NULL, x->after_count + 1, sizeof(*list));
	memcpy(list, x->after, x->after_count * sizeof(*list));
	*ret_count = x->after_count;
	return list;
}

/* The cells before it, and where it stands among them. */
static void enter(const struct run *r, struct execution *x)
{
	struct cells *c = &x->harness.cells;

	x->tests = "";
	x->harness.mode = TESTS_CELL;
	if (r->context)
		c->list = cells_before(r, x, &c->count);
	/* Nobody goes on from a look: the name of its attempt is the program's. */
	snprintf(x->id, sizeof(x->id), "%s/%d%s", r->result.run, r->attempt,
		 x->is_look ? "/look" : "");
}

/* Time to run them again is beyond the program's own. */
static void follow(const struct run *r, const struct execution *x, struct sandbox_job *job)
{
	const struct context *c = r->context;
	const struct context_cell *last = c ? context_last(c, x->language->name) : NULL;
	int64_t more = c ? context_allowance_ms(c, x->language->name) : 0;

	job->id = x->after ? NULL : x->id;
	job->state_from = last && !x->after ? last->id : NULL;
	job->unseen = x->after;
	job->rebuilds = true;
	job->rebuild_ms = more;
	if (c)
		context_raise_limits(c, r->language->name, &job->limits);
	run_allow_known(r, &job->limits);
}

static const char *stage_of(const struct execution *x)
{
	return stage_name(x->is_look ? STAGE_LOOK : STAGE_EXECUTE);
}

/* A look has its time for all of it: to make the state again is of the budget of executions, as
 * the look itself is. */
static int reserve_look(struct run *r, struct execution *x, struct sandbox_job *job,
			struct error *err)
{
	int64_t all_ms = job->limits.wall_ms + job->rebuild_ms;

	if (execution_reserve(r, stage_of(x), &all_ms, &x->cut, err) < 0)
		return -1;
	x->cut = x->cut && all_ms < job->limits.wall_ms;
	if (all_ms < job->limits.wall_ms)
		job->limits.wall_ms = all_ms;
	job->rebuild_ms = all_ms - job->limits.wall_ms;
	return 0;
}

/* To make a state again for a program takes of the deadline, and of nothing else. */
static int reserve(struct run *r, struct execution *x, struct sandbox_job *job, struct error *err)
{
	const struct clock_ops *clock = &r->loop->clock;

	if (x->is_look)
		return reserve_look(r, x, job, err);
	int64_t left;
	if (execution_reserve(r, stage_of(x), &job->limits.wall_ms, &x->cut, err) < 0 ||
	    budget_deadline(&r->budget, clock->elapsed_ms(clock->self, stage_of(x), r->attempt),
			    &left, err) < 0)
		return -1;
	left -= job->limits.wall_ms;
	if (job->rebuild_ms > left)
		job->rebuild_ms = left > 0 ? left : 0;
	return 0;
}

/* The jobs of count executions, within the budgets and announced. */
static int start(struct run *r, struct execution *x, size_t count, struct sandbox_job jobs[2],
		 const struct inputs *inputs, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		jobs[i] = execution_job(r, x[i].language, inputs->files, x[i].code, x[i].len);
		jobs[i].input_count = inputs->count;
		if (x[i].wall_ms && x[i].wall_ms < jobs[i].limits.wall_ms)
			jobs[i].limits.wall_ms = x[i].wall_ms;
		if (x[i].cell)
			follow(r, &x[i], &jobs[i]);
		if (x[i].tests && tests_prepare(&x[i].harness, x[i].language, x[i].tests,
						strlen(x[i].tests), &jobs[i], err) < 0)
			return -1;
	}
	if (reserve(r, x, &jobs[0], err) < 0)
		return -1;
	if (count > 1) {
		jobs[1].limits.wall_ms = jobs[0].limits.wall_ms + JUDGE_MORE_MS;
		x[1].cut = x[0].cut;
	}
	return journal_execution_start(&r->journal, stage_of(x), r->attempt, jobs, count, err);
}

/* --- running --- */

/* One whose program may call tools: again and again, as long as its calls stop it for a yes that
 * a person then gives. */
static int run_with_calls(struct run *r, struct execution *x, const struct sandbox_job *job,
			  struct error *err)
{
	const struct execute_ops *ops = &r->loop->execute;
	cleanup_free struct sandbox_file *extras =
		mem_array(NULL, job->extra_count + 1, sizeof(*extras));
	struct sandbox_job mine = *job;
	struct calls calls;

	calls_init(&calls, r, x->language, x->cell ? r->context : NULL);
	calls.looks = x->is_look;
	calls_enter(&calls, &mine, extras);
	bool again = true;
	int rc = 0;
	while (rc == 0 && again) {
		sandbox_result_release(&x->result);
		x->result = (struct sandbox_result){ .exit_code = -1 };
		rc = ops->run(ops->self, r->attempt, &mine, &x->result, err);
		if (rc == 0)
			rc = calls_leave(&calls, &again, err);
	}
	if (!x->is_look) {
		free(r->calls);
		r->calls = call_cells_lines(calls.now);
	}
	calls_release(&calls);
	return rc;
}

/* Its tests, and what the model looks at first, have no tools; but what cells before it called is
 * answered in all that runs after them. What ran before makes no call twice. */
static bool may_call(const struct run *r, const struct execution *x, size_t count)
{
	if (x->after)
		return false;
	return (x->cell && call_cells_any(r->context)) ||
	       (r->loop->tools && count == 1 && !x->is_look && (!x->tests || x->cell));
}

static int run_jobs(struct run *r, struct execution *x, size_t count,
		    const struct sandbox_job jobs[2], struct error *err)
{
	const struct execute_ops *ops = &r->loop->execute;
	struct sandbox_result both[2] = { { .exit_code = -1 }, { .exit_code = -1 } };

	if (may_call(r, x, count))
		return run_with_calls(r, x, jobs, err);
	if ((count > 1 ? ops->run_pair(ops->self, r->attempt, jobs, both, err) :
			 ops->run(ops->self, r->attempt, jobs, both, err)) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		x[i].result = both[i];
	return 0;
}

/* Without what earlier cells took once more: that was paid for. A look pays for all of it. */
static double own_ms(const struct run *r, const struct execution *x, double wall_ms)
{
	const char *state = sandbox_fact(&x->result.isolation, "state");
	double before = 0;

	if (r->context && !x->is_look && !strcmp(state, "rebuilt"))
		before = (double)context_took_ms(r->context, x->language->name);
	return wall_ms > before + 1 ? wall_ms - before : wall_ms < 1 ? wall_ms : 1;
}

/* Those of a pair ran at the same time. */
static void settle(struct run *r, const struct execution *x, size_t count,
		   struct sandbox_metrics took[2])
{
	const struct execute_ops *ops = &r->loop->execute;
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		ops->took(ops->self, r->attempt, &x[i].result, &took[i]);
		if (own_ms(r, &x[i], took[i].wall_ms) > most)
			most = own_ms(r, &x[i], took[i].wall_ms);
	}
	budget_settle_exec(&r->budget, most);
}

/* Nothing ran, because our side failed: the result that says so. */
static void set_up_failed(const struct run *r, struct execution *x, const struct error *why)
{
	x->result = (struct sandbox_result){ .outcome = SANDBOX_SETUP_FAILED,
					     .exit_code = -1,
					     .environment.sandbox = r->policy->sandbox };
	snprintf(x->result.detail, sizeof(x->result.detail), "%.*s",
		 (int)sizeof(x->result.detail) - 1, why->message);
}

static int record(struct run *r, struct execution *x, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		char cell[CELL_NAME_SIZE];

		cells_name(x[i].harness.cells.count, cell);
		if (x[i].result.outcome != SANDBOX_SETUP_FAILED)
			failure_find(x[i].language->name, x[i].cell ? cell : x[i].language->file,
				     &x[i].result, &x[i].failure);
		if (journal_execution(&r->journal, stage_of(x), r->attempt, &x[i].result,
				      &x[i].failure, err) < 0)
			return -1;
	}
	return 0;
}

/* An execution that could not be run has an end in the record, too. */
static int record_set_up_failed(struct run *r, struct execution *x, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		set_up_failed(r, &x[i], err);
	struct error log = ERROR_INIT;
	if (record(r, x, count, &log) < 0)
		*err = log;
	return -1;
}

int execution_run(struct run *r, struct execution *x, size_t count, struct error *err)
{
	const struct progress *p = &r->loop->progress;
	cleanup_shown struct shown shown = { .env = NULL };

	for (size_t i = 0; i < count; i++) {
		x[i].result.exit_code = -1;
		if (!x[i].language)
			x[i].language = r->language;
		if (x[i].cell)
			enter(r, &x[i]);
	}
	cleanup_inputs struct inputs inputs = inputs_of(r, x->language, !x->after);
	struct sandbox_job jobs[2];
	if (start(r, x, count, jobs, &inputs, err) < 0)
		return -1;
	if (!x->tests) /* after the record, which holds what the program was given */
		shown_prepare(&shown, &jobs[0]);
	if (p->stage)
		p->stage(p->self, stage_of(x), r->attempt);
	if (run_jobs(r, x, count, jobs, err) < 0)
		return err->kind == ERR_SANDBOX ? record_set_up_failed(r, x, count, err) : -1;
	for (size_t i = 0; i < count; i++) {
		if (x[i].tests)
			tests_collect(&x[i].harness, &x[i].result);
		if (x[i].cell)
			run_drop_known(r, x[i].language, &x[i].result);
		if (x[i].after) /* no record is to say that it left a state */
			json_free(tests_take_state(&x[i].result));
	}
	struct sandbox_metrics took[2];
	settle(r, x, count, took);
	if (record(r, x, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		x[i].result.metrics = took[i];
	for (size_t i = 0; i < count; i++) /* played back: it could not be run then */
		if (x[i].result.outcome == SANDBOX_SETUP_FAILED)
			return error_set(err, ERR_SANDBOX, "%s", x[i].result.detail);
	return 0;
}
