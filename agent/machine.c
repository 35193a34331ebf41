/*
 * The state machine (see loop.h): its table, and the run's beginning and end. A stage
 * does its work, writes its records and returns what that came to; everything that
 * ends a run goes through run_finish. It does no stage's work.
 */
#include "agent/attempt.h"
#include "agent/execution.h"
#include "agent/prompt/context.h"
#include "agent/record/cells.h"
#include "agent/record/render.h"
#include "agent/run.h"
#include "agent/stages/cell.h"
#include "agent/stages/execute.h"
#include "agent/stages/extract.h"
#include "agent/stages/inputs.h"
#include "agent/stages/screen.h"
#include "agent/stages/verify.h"
#include "agent/stages/write.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void loop_result_release(struct loop_result *r)
{
	free(r->carried_by);
	free(r->answer);
	free(r->code);
	free(r->reason);
	free(r->unapproved);
	json_free(r->cut_replies);
	json_free(r->changed_inputs);
	for (size_t i = 0; i < r->check_count; i++)
		check_result_release(&r->checks[i]);
	free(r->checks);
	if (r->executed)
		sandbox_result_release(&r->execution);
	failure_release(&r->failure);
	context_cell_free(r->cell);
	*r = (struct loop_result){ .answer = NULL };
}

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

static struct json *checks_json(const struct check_list *list)
{
	struct json *array = json_array();

	for (size_t i = 0; i < list->count; i++) {
		struct json *check = json_object();
		json_set_string(check, "kind", list->checks[i].kind);
		json_set(check, "arg",
			 list->checks[i].arg ? json_copy(list->checks[i].arg) : json_new_null());
		json_set_string(check, "source", check_source_name(list->checks[i].source));
		json_append(array, check);
	}
	return array;
}

static struct json *turns_json(const struct task *task)
{
	struct json *array = json_array();

	for (size_t i = 0; i < task->turn_count; i++) {
		struct json *turn = json_object();
		json_set_string(turn, "question", task->turns[i].question);
		json_set_string(turn, "code", task->turns[i].code);
		if (task->turns[i].lang) /* a record of before has none */
			json_set_string(turn, "language", task->turns[i].lang);
		json_set_string(turn, "output", task->turns[i].output);
		json_set_string(turn, "notes", task->turns[i].notes);
		json_set_string(turn, "answer", task->turns[i].answer);
		json_append(array, turn);
	}
	return array;
}

/* The rules that screen the run, but for the user's own, which are settings. */
static char *rules_text(const struct run *r)
{
	const struct basis *basis = r->loop->basis;

	if (!basis || !basis->rules)
		return mem_strdup(rulebook_print());
	cleanup_json struct json *texts = rulebook_copy(basis->rules);
	return json_print(texts);
}

/* {"python":{"numpy":"1.24.2"}}: with what a version of a package can be told from another later.
 * It is the same for all runs of an environment, and stored once. NULL: nobody can say. */
static char *packages_text(const struct run *r)
{
	const struct execute_ops *ops = &r->loop->execute;
	cleanup_json struct json *all = json_object();
	const struct language *language;

	for (size_t i = 0; (language = language_at(i)); i++) {
		struct sandbox_environment e = { .language = NULL };
		struct error ignored = ERROR_INIT;

		if (ops->describe(ops->self, language, &e, &ignored) < 0 || !e.installed)
			continue;
		struct json *installed = json_parse(e.installed, strlen(e.installed), 0, &ignored);
		if (installed)
			json_set(all, language->name, installed);
	}
	return json_count(all) ? json_print(all) : NULL;
}

/* Which of the files nobody gave. */
static void add_made(struct json *data, const struct task *t)
{
	struct json *made = json_array();

	for (size_t i = 0; i < t->file_count; i++)
		if (t->files[i].made)
			json_append(made, json_new_string(t->files[i].path));
	if (json_count(made))
		json_set(data, "made", made);
	else
		json_free(made);
}

/* The task as an event: with it a replay needs nothing but the log. */
static int record_task(struct run *r, const struct json *texts, struct error *err)
{
	const struct task *t = r->task;
	cleanup_json struct json *data = json_object();
	cleanup_free struct sandbox_file *files = task_inputs(t);
	size_t kept = context_blobs(t->context);
	cleanup_free struct audit_blob *blobs =
		mem_array(NULL, 6 + t->file_count + kept, sizeof(*blobs));
	cleanup_free char *names = mem_alloc((t->file_count + 1) * JOURNAL_NAME_SIZE);
	cleanup_cells_text struct cells_text of_cells = { .names = NULL };
	cleanup_free char *templates = json_print(texts), *rules = rules_text(r);
	cleanup_free char *packages = packages_text(r);

	json_set_string(data, "id", t->id);
	json_set_string(data, "lang", t->lang);
	json_set(data, "checks", checks_json(&t->checks));
	json_set(data, "turns", turns_json(t));
	if (t->extra)
		json_set(data, "extra", json_copy(t->extra));
	json_set_string(data, "mark", r->mark);
	if (r->tools)
		json_set(data, LOOP_TOOLS, json_copy(r->tools));
	json_set(data, "environments", json_copy(r->environments));
	size_t n = 0;
	blobs[n++] = (struct audit_blob){ "prompt", "text/plain", t->prompt, strlen(t->prompt) };
	blobs[n++] = (struct audit_blob){ JOURNAL_TEMPLATES, "application/json", templates,
					  strlen(templates) };
	blobs[n++] = (struct audit_blob){ JOURNAL_RULES, "application/json", rules, strlen(rules) };
	if (packages)
		blobs[n++] = (struct audit_blob){ JOURNAL_PACKAGES, "application/json", packages,
						  strlen(packages) };
	if (t->stdin_bytes)
		blobs[n++] = (struct audit_blob){ "stdin", "application/octet-stream",
						  t->stdin_bytes, t->stdin_len };
	if (t->tests)
		blobs[n++] =
			(struct audit_blob){ "tests", "text/plain", t->tests, strlen(t->tests) };
	n += journal_add_files(data, files, t->file_count, blobs + n, names);
	add_made(data, t);
	context_record(data, t->context, blobs + n, &of_cells);
	return journal_queue(&r->journal, stage_name(STAGE_TASK), 0, "done", data, blobs, n + kept,
			     err);
}

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
	cleanup_free char *rules = r->task->program->screened ? rules_text(r) : NULL;

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
	return asks ? record_task(r, texts, err) : record_program(r, err);
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

static void run_release(struct run *r)
{
	run_verify_release(r);
	run_cell_release(r);
	run_write_release(r);
	run_inputs_release(r);
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

/* --- the result as JSON --- */

struct json *loop_result_json(const struct loop_result *r)
{
	struct json *object = json_object(), *checks = json_array(), *usage = json_object();
	struct json *execution =
		r->executed ? render_execution(&r->execution, &r->failure, true) : NULL;
	const struct json *artifacts = json_get(execution, "artifacts");

	json_set_string(object, "run", *r->run ? r->run : NULL);
	json_set_string(object, "status", run_status_name(r->status));
	json_set_string(object, "level", level_name(r->level));
	json_set_string(object, "carried_by", r->carried_by);
	json_set_string(object, "answer", r->answer);
	json_set_int(object, "attempts", r->attempts);
	if (r->code)
		json_set_bytes(object, "code", r->code, r->code_len);
	else
		json_set_null(object, "code");
	json_set_string(object, "language", r->language);
	for (size_t i = 0; i < r->check_count; i++)
		json_append(checks, check_result_json(&r->checks[i]));
	json_set(object, "checks", checks);
	json_set(object, "artifacts", artifacts ? json_copy(artifacts) : json_array());
	json_set(object, "execution", execution ? execution : json_new_null());
	json_set_int(usage, "input_tokens", r->usage.input_tokens);
	json_set_int(usage, "cached_tokens", r->usage.cached_tokens);
	json_set_int(usage, "output_tokens", r->usage.output_tokens);
	json_set_int(usage, "reasoning_tokens", r->usage.reasoning_tokens);
	json_set_string(usage, "source", llm_usage_source_name(r->usage.source));
	json_set(object, "usage", usage);
	if (r->cost_micro_usd >= 0)
		json_set_number(object, "cost_usd", (double)r->cost_micro_usd / 1e6);
	else
		json_set_null(object, "cost_usd");
	json_set_int(object, "duration_ms", r->duration_ms);
	json_set(object, "cut_replies", r->cut_replies ? json_copy(r->cut_replies) : json_array());
	json_set(object, "changed_inputs",
		 r->changed_inputs ? json_copy(r->changed_inputs) : json_array());
	json_set_string(object, "error", r->status == RUN_SUCCESS ? NULL : r->reason);
	return object;
}
