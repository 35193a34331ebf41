/*
 * The state machine (see loop.h): its table, and the run's beginning and end. A stage
 * does its work, writes its records and returns what that came to; everything that
 * ends a run goes through run_finish. It does no stage's work.
 */
#include "agent/attempt.h"
#include "agent/calls.h"
#include "agent/execution.h"
#include "agent/prompt/context.h"
#include "agent/prompt/images.h"
#include "agent/record/journal_task.h"
#include "agent/run.h"
#include "agent/stages/cell.h"
#include "agent/stages/execute.h"
#include "agent/stages/extract.h"
#include "agent/stages/inputs.h"
#include "agent/stages/judge.h"
#include "agent/stages/look.h"
#include "agent/stages/screen.h"
#include "agent/stages/verify.h"
#include "agent/stages/write.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Errors that are a way for a run to end, each with its status. */
static void finish_with_error(struct run *r, const struct error *err)
{
	r->result.ended_by = err->kind;
	r->result.begun = err->begun;
	run_finish(r, run_status_of_error(err->kind), err->message);
}

/* --- the state machine --- */

/* All transitions there are: which stage a state runs, and where what it comes to
 * leads. */
#define NONE STATE_NONE
static const struct {
	int (*stage)(struct run *r, struct error *err);
	enum run_state next[STEP_COUNT];
} states[STATE_DONE] = {
	/*				    on		   again	  repair	end */
	[STATE_PLAN] = { stage_plan, { STATE_CODE, NONE, NONE, STATE_DONE } },
	[STATE_CODE] = { stage_code, { STATE_EXTRACT, NONE, NONE, STATE_DONE } },
	[STATE_EXTRACT] = { stage_extract,
			    { STATE_SCREEN, STATE_EXTRACT, STATE_REPAIR, STATE_DONE } },
	[STATE_SCREEN] = { stage_screen, { STATE_EXECUTE, NONE, STATE_REPAIR, STATE_DONE } },
	[STATE_EXECUTE] = { stage_execute, { STATE_VERIFY, NONE, STATE_REPAIR, STATE_DONE } },
	[STATE_VERIFY] = { stage_verify, { NONE, NONE, STATE_REPAIR, STATE_DONE } },
	[STATE_REPAIR] = { stage_repair, { STATE_EXTRACT, NONE, NONE, STATE_DONE } },
};

/* A program that a person gives need not be written first. */
static enum run_state first_state(const struct run *r)
{
	const struct task_program *program = r->task->program;

	return !program ? STATE_PLAN : program->screened ? STATE_SCREEN : STATE_EXECUTE;
}

static int pause_after(struct run *r, struct error *err)
{
	const struct pause_ops *p = &r->loop->pause;

	if (!p->pause)
		return 0;
	return journal_commit(&r->journal, err) < 0 ? -1 : p->pause(p->self, r->result.run, err);
}

static int run_stages(struct run *r, struct error *err)
{
	enum run_state state = first_state(r);

	run_enter_context(r);
	int step = r->task->program ? STEP_ON : run_context(r, err);

	while (step >= 0 && state != STATE_DONE) {
		step = states[state].stage(r, err);
		if (step >= 0 && pause_after(r, err) < 0)
			step = STEP_ERROR;
		if (step >= 0)
			state = states[state].next[step];
		if (state == STATE_NONE)
			abort(); /* a fault of the stage: the table has no such step */
	}
	if (step < 0 && err->kind == ERR_LOG)
		return -1;
	if (step < 0)
		finish_with_error(r, err);
	return 0;
}

/* --- the run's record --- */

/* Sixteen digits that nobody whose text stands between them can know. */
static void make_mark(struct run *r)
{
	char ulid[ULID_LEN + 1];

	ulid_new(0, ulid);
	char hex[HASH_HEX_LEN + 1];
	hash_sha256(ulid, ULID_LEN, hex);
	memcpy(r->mark, hex, sizeof(r->mark) - 1);
	if (r->task->mark && strlen(r->task->mark) < sizeof(r->mark))
		strcpy(r->mark, r->task->mark);
}

/* What a question is asked with, beside the settings. */
static int prepare_question(struct run *r, struct json *config, struct json **ret_texts,
			    struct error *err)
{
	struct json *texts = prompt_texts(&r->prompts, err);

	if (!texts)
		return -1;
	*ret_texts = texts;
	json_set(config, "prompts", prompt_hashes(texts));
	make_mark(r);
	if (r->loop->tools && !(r->tools = r->loop->tools->list(r->loop->tools->self, err)))
		return -1;
	r->environments = run_environments(r->loop, err);
	return r->environments ? 0 : -1;
}

/* A program that waits for a yes before it runs is in the record all the same. */
static int record_program(struct run *r, struct error *err)
{
	cleanup_free struct sandbox_file *files = task_inputs(r->task);
	const struct sandbox_job job = execution_job(r, r->language, files, r->code, r->code_len);
	cleanup_free char *rules =
		r->task->program->screened ? journal_rules_text(r->loop->basis) : NULL;

	return rules ? journal_program(&r->journal, &job, rules, err) : 0;
}

/* Which program the run is of, and which rules, where any screen it: by their hash, since what
 * is recorded of them may have a secret taken out. */
static void add_identity(const struct run *r, struct json *config)
{
	const struct basis *basis = r->loop->basis;

	json_set_string(config, "version", ASSAY_VERSION);
	if (r->loop->from)
		json_set_string(config, "from", r->loop->from);
	if (r->loop->tools)
		json_set_bool(config, LOOP_TOOLS, true);
	if (!r->task->program || r->task->program->screened)
		json_set_string(config, "rulebook",
				basis && basis->rules ? rulebook_name(basis->rules) :
							rulebook_digest());
}

static void take_program(struct run *r)
{
	const struct task_program *program = r->task->program;

	r->language = language_find(r->task->lang);
	r->code = mem_strndup(program->code, program->len);
	r->code_len = program->len;
	r->attempt = 1;
}

/* A program is run once, and for as long as its own limits let it. */
static struct budget_limits limits_of(const struct loop *loop, const struct task *task)
{
	struct budget_limits limits = loop->policy->budget;

	if (task->program) {
		limits.attempts = 1;
		limits.exec_ms = INT64_MAX;
	}
	return limits;
}

static int begin(struct run *r, struct error *err)
{
	const struct loop *loop = r->loop;
	cleanup_json struct json *config = policy_json(r->policy), *texts = NULL;
	bool asks = !r->task->program;
	struct audit_run run = {
		.kind = asks ? loop->kind : "exec",
		.session = loop->session,
		.item = r->task->id,
		.replay_of = loop->replay_of,
		.tier = loop->tier,
		.prompt = r->task->prompt,
		.prompt_len = strlen(r->task->prompt),
		.provider = asks ? loop->llm->provider : NULL,
		.model = asks ? r->policy->model : NULL,
		.config = config,
		.tags = loop->tags,
	};

	add_identity(r, config);
	if (asks && prepare_question(r, config, &texts, err) < 0)
		return -1;
	if (journal_begin(&r->journal, loop->audit, &run, r->policy, err) < 0)
		return -1;
	r->journal.context = r->task->context;
	memcpy(r->result.run, run.id, sizeof(r->result.run));
	return asks ? journal_task(r, texts, err) : record_program(r, err);
}

static int exit_code_of(const struct run *r)
{
	const struct loop_result *out = &r->result;

	return r->loop->exit_code ? r->loop->exit_code(out->status, out->ended_by) : -1;
}

static int record_end(struct run *r, struct error *err)
{
	const struct loop_result *out = &r->result;
	struct audit_end end = {
		.status = run_status_name(out->status),
		.level = level_name(out->level),
		.reason = out->reason,
		.answer = out->answer,
		.answer_len = out->answer ? strlen(out->answer) : 0,
		.code = out->code,
		.code_len = out->code_len,
		.output = out->executed ? out->execution.out.bytes : NULL,
		.output_len = out->executed ? out->execution.out.len : 0,
		.exit_code = exit_code_of(r),
		.attempts = out->attempts,
		.input_tokens = out->usage.input_tokens,
		.output_tokens = out->usage.output_tokens,
		.cost_micro_usd = out->cost_micro_usd,
	};

	return journal_end(&r->journal, &end, err);
}

/* Moves what the run found into its result. */
static void collect(struct run *r)
{
	struct loop_result *out = &r->result;

	run_keep_cell(r);
	out->attempts = r->attempt;
	out->code = TAKE_PTR(r->code);
	out->code_len = r->code_len;
	out->language = out->code ? r->language->name : NULL;
	out->executed = r->executed;
	out->execution = r->execution;
	out->failure = r->failure;
	r->execution = (struct sandbox_result){ .exit_code = -1 };
	r->executed = false;
	r->failure = (struct failure){ .type = NULL };
	out->usage = r->budget.usage;
	out->cost_micro_usd =
		r->budget.cost_known && r->budget.calls ? r->budget.spent_micro_usd : -1;
	out->duration_ms = r->loop->clock.elapsed_ms(r->loop->clock.self, stage_name(STAGE_END), 0);
	if (out->status != RUN_SUCCESS && out->status != RUN_UNVERIFIED && out->level > LEVEL_RAN)
		out->level = out->executed ? LEVEL_RAN : LEVEL_NONE;
}

/* What each stage remembers; that of inputs begins when there is a record. */
static void begin_memories(struct run *r)
{
	run_extract_begin(r);
	run_look_begin(r);
	run_verify_begin(r);
	run_judge_begin(r);
	run_cell_begin(r);
	run_write_begin(r);
	run_images_begin(r);
	run_called_begin(r);
}

static void release_memories(struct run *r)
{
	run_extract_release(r);
	run_look_release(r);
	run_verify_release(r);
	run_judge_release(r);
	run_cell_release(r);
	run_write_release(r);
	run_inputs_release(r);
	run_images_release(r);
	run_called_release(r);
}

static void run_release(struct run *r)
{
	release_memories(r);
	journal_release(&r->journal);
	json_free(r->environments);
	free(r->contract);
	free(r->history);
	free(r->there);
	free(r->calls);
	free(r->requirements);
	plan_release(&r->plan);
	check_list_release(&r->checks);
	free(r->reply);
	free(r->code);
	if (r->executed)
		sandbox_result_release(&r->execution);
	failure_release(&r->failure);
	feedback_release(&r->feedback);
	free(r->tried);
	free(r->looked);
	free(r->seen);
	free(r->draft);
	free(r->previous);
	free(r->waits);
	loop_result_release(&r->result);
}

int loop_run(const struct loop *loop, const struct task *task, struct loop_result *ret,
	     struct error *err)
{
	static const struct means usual = MEANS_INIT;
	const struct means *means = loop->means ? loop->means : &usual;
	struct run r = {
		.loop = loop,
		.task = task,
		.policy = loop->policy,
		.means = means,
		.execution = { .exit_code = -1 },
		.prompts = { means->prompts_dir, loop->basis ? loop->basis->prompts : NULL },
		.result = { .cost_micro_usd = -1 },
	};
	const struct budget_limits limits = limits_of(loop, task);

	begin_memories(&r);
	budget_init(&r.budget, &limits);
	r.budget.names = loop->names;
	if (task->program)
		take_program(&r);
	int rc = begin(&r, err);
	if (!rc) {
		run_inputs_begin(&r);
		rc = run_stages(&r, err);
	}
	if (!rc)
		rc = run_inputs_end(&r, err);
	if (!rc) {
		collect(&r);
		rc = record_end(&r, err);
	}
	if (!rc) {
		*ret = r.result;
		r.result = (struct loop_result){ .answer = NULL };
	}
	run_release(&r);
	return rc;
}
