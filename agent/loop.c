/*
 * The state machine (see loop.h). A stage does its work, writes its records
 * and names the next state; everything that ends a run goes through
 * run_finish.
 */
#include "agent/run.h"

#include "agent/render.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIED_BYTES ((size_t)300)	/* of an earlier attempt's failure, in a prompt */

void loop_result_release(struct loop_result *r)
{
	size_t i;

	free(r->answer);
	free(r->code);
	free(r->reason);
	for (i = 0; i < r->check_count; i++)
		check_result_release(&r->checks[i]);
	free(r->checks);
	if (r->executed)
		sandbox_result_release(&r->execution);
	failure_release(&r->failure);
	*r = (struct loop_result){ .answer = NULL };
}

void run_add_check(struct run *r, struct check_result *result)
{
	struct loop_result *out = &r->result;

	if (r->loop->progress.check)
		r->loop->progress.check(r->loop->progress.self, result);
	out->checks = mem_array(out->checks, out->check_count + 1, sizeof(*out->checks));
	out->checks[out->check_count++] = *result;
}

void run_finish(struct run *r, enum run_status status, enum exit_code code, const char *reason)
{
	r->result.status = status;
	r->result.exit_code = code;
	free(r->result.reason);
	r->result.reason = mem_strdup(reason);
	r->state = STATE_DONE;
}

void run_answer_directly(struct run *r, char *answer, const char *otherwise)
{
	r->result.answer = answer;
	r->result.level = LEVEL_NONE;
	if (r->settings->require == LEVEL_NONE)
		run_finish(r, RUN_SUCCESS, EXIT_OK, NULL);
	else
		run_finish(r, RUN_UNVERIFIED, EXIT_FAILED, otherwise);
}

static void feedback_release(struct feedback *f)
{
	free(f->failure);
	free(f->told);
	free(f->excerpt);
	*f = (struct feedback){ .failure = NULL };
}

/* The first lines of what was told of the attempt before this one. */
static void remember_attempt(struct run *r)
{
	const char *told = r->feedback.told ? r->feedback.told : r->feedback.failure;
	size_t len = told ? strlen(told) : 0, shown = len < TRIED_BYTES ? len : TRIED_BYTES;
	char *before = r->tried;

	if (!told)
		return;
	shown = utf8_valid_prefix(told, shown);
	while (shown && told[shown - 1] == '\n')
		shown--;
	r->tried = mem_printf("%sAttempt %d: %.*s%s\n", before ? before : "", r->attempt - 1,
			      (int)shown, told, shown + 1 < len ? " ..." : "");
	free(before);
}

/* Why there was nothing to run, for whoever watches: a refusal, no code. What is
 * wrong with a program (it has an excerpt) or its run was shown when it was found. */
static void tell_not_run(const struct run *r)
{
	const struct progress *p = &r->loop->progress;

	if (p->note && !r->feedback.with_output && !r->feedback.excerpt)
		p->note(p->self, r->feedback.failure);
}

int run_attempt_failed(struct run *r, struct feedback feedback)
{
	bool denied = feedback.status == RUN_DENIED;

	remember_attempt(r);
	feedback_release(&r->feedback);
	r->feedback = feedback;
	if (r->attempt < r->budget.limits.attempts && !r->settings->roles[ROLE_REPAIR].off) {
		tell_not_run(r);
		r->state = STATE_REPAIR;
	} else {
		run_finish(r, feedback.status, denied ? EXIT_DENIED : EXIT_FAILED,
			   feedback.failure);
	}
	return 0;
}

/* Errors that are a way for a run to end, each with its status and code. */
static void finish_with_error(struct run *r, const struct error *err)
{
	run_finish(r, run_status_of_error(err), exit_code_of_error(err), err->message);
}

static int step(struct run *r, struct error *err)
{
	switch (r->state) {
	case STATE_PLAN:
		return stage_plan(r, err);
	case STATE_CODE:
		return stage_code(r, err);
	case STATE_EXTRACT:
		return stage_extract(r, err);
	case STATE_SCREEN:
		return stage_screen(r, err);
	case STATE_EXECUTE:
		return stage_execute(r, err);
	case STATE_VERIFY:
		return stage_verify(r, err);
	case STATE_REPAIR:
		return stage_repair(r, err);
	case STATE_ANSWER:
		return stage_answer(r, err);
	case STATE_DONE:
	default:
		return 0;
	}
}

/* --- the run's record --- */

static struct json *checks_json(const struct check_list *list)
{
	struct json *array = json_array(), *check;
	size_t i;

	for (i = 0; i < list->count; i++) {
		check = json_object();
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
	struct json *array = json_array(), *turn;
	size_t i;

	for (i = 0; i < task->turn_count; i++) {
		turn = json_object();
		json_set_string(turn, "question", task->turns[i].question);
		json_set_string(turn, "code", task->turns[i].code);
		json_set_string(turn, "output", task->turns[i].output);
		json_set_string(turn, "answer", task->turns[i].answer);
		json_append(array, turn);
	}
	return array;
}

/* The task as an event: with it a replay needs nothing but the log. */
static int record_task(struct run *r, struct error *err)
{
	const struct task *t = r->task;
	cleanup_json struct json *data = json_object();
	cleanup_free struct sandbox_file *files = task_inputs(t);
	cleanup_free struct audit_blob *blobs = mem_array(NULL, 3 + t->file_count, sizeof(*blobs));
	cleanup_free char *names = mem_alloc((t->file_count + 1) * JOURNAL_NAME_SIZE);
	size_t n = 0;

	json_set_string(data, "id", t->id);
	json_set_string(data, "lang", t->lang);
	json_set(data, "checks", checks_json(&t->checks));
	json_set(data, "turns", turns_json(t));
	if (t->extra)
		json_set(data, "extra", json_copy(t->extra));
	json_set(data, "environments", json_copy(r->environments));
	blobs[n++] = (struct audit_blob){ "prompt", "text/plain", t->prompt, strlen(t->prompt) };
	if (t->stdin_bytes)
		blobs[n++] = (struct audit_blob){ "stdin", "application/octet-stream",
						  t->stdin_bytes, t->stdin_len };
	if (t->tests)
		blobs[n++] =
			(struct audit_blob){ "tests", "text/plain", t->tests, strlen(t->tests) };
	journal_add_files(data, files, t->file_count, blobs + n, names);
	return journal_queue(&r->journal, "task", 0, "done", data, blobs, n + t->file_count, err);
}

static int begin(struct run *r, struct error *err)
{
	const struct loop *loop = r->loop;
	cleanup_json struct json *config = settings_json(r->settings);
	struct json *hashes = prompt_hashes(r->settings->prompts_dir, err);
	struct audit_run run = {
		.kind = loop->kind,
		.session = loop->session,
		.item = r->task->id,
		.replay_of = loop->replay_of,
		.tier = loop->tier,
		.prompt = r->task->prompt,
		.prompt_len = strlen(r->task->prompt),
		.provider = loop->llm->provider,
		.model = r->settings->model,
		.config = config,
		.tags = loop->tags,
	};

	if (!hashes)
		return -1;
	json_set(config, "prompts", hashes);
	r->environments = run_environments(loop, err);
	if (!r->environments)
		return -1;
	if (journal_begin(&r->journal, loop->audit, &run, r->settings, err) < 0)
		return -1;
	memcpy(r->result.run, run.id, sizeof(r->result.run));
	return record_task(r, err);
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
		.exit_code = (int)out->exit_code,
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
		r->budget.cost_known && r->budget.calls ? r->budget.cost_micro_usd : -1;
	out->duration_ms = r->loop->clock.elapsed_ms(r->loop->clock.self, "end", 0);
	if (out->status != RUN_SUCCESS && out->status != RUN_UNVERIFIED && out->level > LEVEL_RAN)
		out->level = out->executed ? LEVEL_RAN : LEVEL_NONE;
}

static void run_release(struct run *r)
{
	journal_release(&r->journal);
	json_free(r->environments);
	free(r->contract);
	free(r->previews);
	free(r->history);
	free(r->requirements);
	plan_release(&r->plan);
	check_list_release(&r->checks);
	free(r->reply);
	free(r->code);
	if (r->executed)
		sandbox_result_release(&r->execution);
	failure_release(&r->failure);
	feedback_release(&r->feedback);
	free(r->seen);
	free(r->tried);
	free(r->provider_failure);
	loop_result_release(&r->result);
}

static int run_stages(struct run *r, struct error *err)
{
	int rc = run_context(r, err);

	while (!rc && r->state != STATE_DONE)
		rc = step(r, err);
	if (rc && err->kind == ERR_LOG)
		return -1;
	if (rc)
		finish_with_error(r, err);
	return 0;
}

int loop_run(const struct loop *loop, const struct task *task, struct loop_result *ret,
	     struct error *err)
{
	struct run r = {
		.loop = loop,
		.task = task,
		.settings = loop->settings,
		.execution = { .exit_code = -1 },
		.result = { .cost_micro_usd = -1 },
	};
	int rc;

	budget_init(&r.budget, &loop->settings->budget);
	rc = begin(&r, err);
	if (!rc)
		rc = run_stages(&r, err);
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
	size_t i;

	json_set_string(object, "run", *r->run ? r->run : NULL);
	json_set_string(object, "status", run_status_name(r->status));
	json_set_string(object, "level", level_name(r->level));
	json_set_string(object, "answer", r->answer);
	json_set_int(object, "attempts", r->attempts);
	if (r->code)
		json_set_bytes(object, "code", r->code, r->code_len);
	else
		json_set_null(object, "code");
	json_set_string(object, "language", r->language);
	for (i = 0; i < r->check_count; i++)
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
	json_set_string(object, "error", r->status == RUN_SUCCESS ? NULL : r->reason);
	return object;
}
