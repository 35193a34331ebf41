/*
 * Runs of the log checked and judged again: what the coder wrote and what its last
 * program printed are the record's; checks, tests and the judge are live, by what is
 * expected now. It asks no model for a program, and repairs nothing.
 */
#include "agent/cli/batch/rescore.h"

#include "agent/cli/batch/earlier.h"
#include "agent/cli/batch/outcome.h"
#include "agent/cli/session.h"
#include "agent/record/player.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define REPLY_BYTES_MAX ((size_t)64 << 20)
#define FENCE		"``````````" /* longer than any that a program has */
#define PLAN_BEGIN	"```json plan\n"
#define PLAN_END	"\n```"

struct batch_rescore {
	struct session *session;
	struct recording recording;
	struct recorded_task task;
	char *run;   /* its id; owned */
	int attempt; /* of the last program; 0: none ran */
	char *code;  /* of that program; owned; NULL: none */
	size_t code_len;
	const char *language; /* of it; static */
	bool played;	      /* what it printed */
	struct llm llm;
	struct execute_ops recorded, live; /* ends of this run, and the session's own */
};

/* --- tasks --- */

void batch_rescore_tasks(struct task_lines *ret, const struct batch_earlier *results)
{
	*ret = (struct task_lines){ .lines = NULL };
	for (size_t i = 0; i < results->count; i++) {
		const struct batch_outcome *o = results->index[i];

		/* In order of ids: of several runs the first stands for the task. */
		if (ret->count && !strcmp(ret->lines[ret->count - 1].id, o->id))
			continue;
		ret->lines = mem_one_more(ret->lines, ret->count, sizeof(*ret->lines));
		struct task_line *line = &ret->lines[ret->count++];
		*line = (struct task_line){ .line = i + 1,
					    .id = mem_strdup(o->id),
					    .object = json_object() };
		json_set_string(line->object, "prompt", o->run);
	}
}

int batch_rescore_task(struct batch_rescore *x, struct task *task, struct error *err)
{
	(void)err;
	*task = x->task.task;
	x->task.task = (struct task){ .id = NULL };
	free(task->mark);
	task->mark = NULL;
	return 0;
}

static bool same_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && (!a_len || !memcmp(a, b, a_len));
}

/* One that the record has not whole: the same if it is the one of then, by what identifies it. */
static bool same_input(const struct task_file *then, const struct task_file *now)
{
	const char *stamp = json_get_string(then->was, "stamp");

	return then->was && now->input && stamp && !strcmp(stamp, now->input->stamp);
}

static bool same_file(const struct task_file *then, const struct task_file *now)
{
	if (then->was || now->input)
		return same_input(then, now);
	return same_bytes(then->bytes, then->len, now->bytes, now->len);
}

static bool same_files(const struct task *a, const struct task *b)
{
	if (a->file_count != b->file_count)
		return false;
	for (size_t i = 0; i < a->file_count; i++)
		if (strcmp(a->files[i].path, b->files[i].path) ||
		    !same_file(&a->files[i], &b->files[i]))
			return false;
	return true;
}

int batch_rescore_check(struct batch_rescore *x, const struct task *task, struct error *err)
{
	const struct task *then = &x->task.task;

	if (!strcmp(then->prompt, task->prompt) && same_files(then, task) &&
	    same_bytes(then->stdin_bytes, then->stdin_len, task->stdin_bytes, task->stdin_len))
		return 0;
	return error_set(err, ERR_USAGE,
			 "run %s was asked something else (prompt, stdin or files): it cannot be "
			 "rescored, only asked again",
			 x->run);
}

int batch_rescore_policy(const struct batch_rescore *x, struct policy *policy, struct error *err)
{
	struct policy then;

	if (policy_of_record(&then, policy, x->recording.row.config, err) < 0)
		return error_wrap(err, "run %s", x->run);
	if (then.mode == MODE_CAREFUL || policy->mode == MODE_CAREFUL)
		policy->mode = then.mode == MODE_CAREFUL ? MODE_CAREFUL : MODE_USUAL;
	policy->roles[ROLE_REPAIR].off = true;
	policy->cross_check = false;
	policy_release(&then);
	return 0;
}

/* --- the model --- */

/* The text of the first reply of a stage; NULL when there is none. The caller frees. */
static char *reply_of(const struct batch_rescore *x, const char *stage)
{
	struct error ignored = ERROR_INIT;

	for (size_t i = 0; i < x->recording.count; i++) {
		char *text;
		const struct recorded_event *e = &x->recording.events[i];

		if (!strcmp(e->stage, stage) && !strcmp(e->phase, "done") &&
		    json_get(e->data, "text") &&
		    recording_blob(&x->recording, e->data, "text", &text, NULL, &ignored) == 0)
			return text;
	}
	return NULL;
}

/* The last program, under the plan of the first reply. */
static char *compose(const struct batch_rescore *x)
{
	char *first = reply_of(x, role_name(ROLE_CODE));
	cleanup_buf struct buf out = BUF_INIT(REPLY_BYTES_MAX);

	if (x->attempt <= 1 && first)
		return first;
	const char *plan = first ? strstr(first, PLAN_BEGIN) : NULL;
	const char *end = plan ? strstr(plan, PLAN_END) : NULL;
	if (end)
		buf_addf(&out, "%.*s%s\n\n", (int)(end - plan), plan, PLAN_END);
	buf_addf(&out, "%s%s\n", FENCE, x->language);
	buf_add(&out, x->code, x->code_len);
	buf_addf(&out, "\n%s\n", FENCE);
	free(first);
	return buf_take(&out, NULL);
}

/* A plan of a run that had none by itself. */
static char *plain_plan(const struct batch_rescore *x)
{
	return mem_printf("{\"needs_code\":true,\"language\":\"%s\",\"checks\":[]}",
			  x->language ? x->language : "");
}

static char *said_then(const struct batch_rescore *x, const char *stage)
{
	if (!strcmp(stage, role_name(ROLE_JUDGE)))
		return NULL;
	if (!strcmp(stage, role_name(ROLE_CODE)))
		return compose(x);
	char *text = reply_of(x, stage);
	return text || strcmp(stage, role_name(ROLE_PLAN)) ? text : plain_plan(x);
}

static int call(void *self, const struct llm_request *request, const struct llm_sink *sink,
		struct llm_reply *ret_reply, struct error *err)
{
	const struct batch_rescore *x = self;
	const struct llm *live = &x->session->llm;
	char *text = said_then(x, request->stage);

	if (!text)
		return live->ops->call(live->self, request, sink, ret_reply, err);
	*ret_reply = (struct llm_reply){
		.text = text,
		.text_len = strlen(text),
		.model = mem_strdup("recorded"),
		.stop = LLM_STOP_STOP,
		.usage = { .source = LLM_USAGE_REPORTED },
	};
	return 0;
}

static void free_nothing(void *self)
{
	(void)self;
}

/* --- what the program printed --- */

static int run(void *self, int attempt, const struct sandbox_job *job, struct sandbox_result *ret,
	       struct error *err)
{
	struct batch_rescore *x = self;

	if (x->played || !same_bytes(job->code, job->code_len, x->code, x->code_len))
		return x->live.run(x->live.self, attempt, job, ret, err);
	x->played = true;
	return x->recorded.run(x->recorded.self, x->attempt, job, ret, err);
}

static int run_pair(void *self, int attempt, const struct sandbox_job jobs[2],
		    struct sandbox_result ret[2], struct error *err)
{
	const struct batch_rescore *x = self;

	return x->live.run_pair(x->live.self, attempt, jobs, ret, err);
}

static void took(void *self, int attempt, const struct sandbox_result *result,
		 struct sandbox_metrics *ret)
{
	const struct batch_rescore *x = self;

	x->live.took(x->live.self, attempt, result, ret);
}

static int describe(void *self, const struct language *language, struct sandbox_environment *ret,
		    struct error *err)
{
	const struct batch_rescore *x = self;

	return x->live.describe(x->live.self, language, ret, err);
}

static int parse(void *self, const char *stage, int attempt, const char *lang,
		 enum screen_profile profile, const char *code, size_t len, struct tree *ret,
		 struct error *err)
{
	const struct batch_rescore *x = self;

	return x->live.parse(x->live.self, stage, attempt, lang, profile, code, len, ret, err);
}

static int inspect(void *self, const struct sandbox_file *file, int64_t wall_ms,
		   struct inspection *ret, struct error *err)
{
	const struct batch_rescore *x = self;

	return x->live.inspect(x->live.self, file, wall_ms, ret, err);
}

/* --- a run --- */

static const char *language_name_of(const char *name)
{
	const struct language *language = name ? language_find(name) : NULL;

	return language ? language->name : "";
}

/* The last program that ran. */
static int find_program(struct batch_rescore *x, struct error *err)
{
	const struct recorded_event *last = NULL;

	for (size_t i = 0; i < x->recording.count; i++) {
		const struct recorded_event *e = &x->recording.events[i];

		if (!strcmp(e->stage, stage_name(STAGE_EXECUTE)) && !strcmp(e->phase, "started") &&
		    (!last || e->attempt > last->attempt))
			last = e;
	}
	if (!last)
		return 0;
	x->attempt = last->attempt;
	x->language = language_name_of(json_get_string(last->data, "language"));
	return recording_blob(&x->recording, last->data, "code", &x->code, &x->code_len, err);
}

static int load(struct batch_rescore *x, struct error *err)
{
	if (recording_load(&x->recording, x->session->audit, x->run, err) < 0 ||
	    recording_task(&x->recording, &x->task, err) < 0 || find_program(x, err) < 0)
		return -1;
	cleanup_free char *reply = reply_of(x, role_name(ROLE_CODE));
	if (!x->code && !reply)
		return error_set(
			err, ERR_USAGE,
			"run %s holds no program and no answer: there is nothing to rescore",
			x->run);
	return 0;
}

struct batch_rescore *batch_rescore_begin(struct session *s, const char *run_id, struct error *err)
{
	static const struct llm_ops ops = { .call = call, .free = free_nothing };
	struct batch_rescore *x = mem_alloc(sizeof(*x));

	x->session = s;
	x->run = mem_strdup(run_id);
	x->live = s->loop.execute;
	if (load(x, err) < 0) {
		batch_rescore_end(x);
		return NULL;
	}
	recorded_execute(&x->recorded, &x->recording);
	x->llm = (struct llm){ .ops = &ops, .self = x, .provider = s->llm.provider };
	s->loop.llm = &x->llm;
	s->loop.replay_of = x->run;
	s->loop.execute =
		(struct execute_ops){ run, run_pair, took, describe, parse, NULL, inspect, x };
	return x;
}

void batch_rescore_end(struct batch_rescore *x)
{
	if (!x)
		return;
	x->session->loop.llm = &x->session->llm;
	x->session->loop.replay_of = NULL;
	x->session->loop.execute = x->live;
	recorded_task_release(&x->task);
	recording_release(&x->recording);
	free(x->code);
	free(x->run);
	free(x);
}
