#include "agent/recorded.h"

#include "agent/render.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOB_MAX ((size_t)1 << 30)

/* --- loading --- */

static int on_record(void *self, struct audit_record *record)
{
	struct recording *r = self;

	r->events = mem_array(r->events, r->count + 1, sizeof(*r->events));
	r->events[r->count++] = (struct recorded_event){
		.stage = mem_strdup(record->stage),
		.phase = mem_strdup(record->phase),
		.attempt = record->attempt,
		.data = record->data,
	};
	record->data = NULL;	/* kept here */
	return 0;
}

int recording_load(struct recording *ret, struct audit *audit, const char *which,
		   struct error *err)
{
	struct recording r = { .audit = audit };

	if (audit_find(audit, which, &r.row, err) < 0)
		return -1;
	if (audit_events(audit, r.row.id, on_record, &r, err) < 0) {
		recording_release(&r);
		return -1;
	}
	*ret = r;
	return 0;
}

void recording_release(struct recording *r)
{
	size_t i;

	for (i = 0; i < r->count; i++) {
		free(r->events[i].stage);
		free(r->events[i].phase);
		json_free(r->events[i].data);
	}
	free(r->events);
	free(r->divergence);
	audit_row_release(&r->row);
	*r = (struct recording){ .audit = NULL };
}

const struct recorded_event *recording_find(const struct recording *r, const char *stage,
					    int attempt, const char *phase)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		if (!strcmp(r->events[i].stage, stage) && !strcmp(r->events[i].phase, phase) &&
		    (attempt < 0 || r->events[i].attempt == attempt))
			return &r->events[i];
	return NULL;
}

/* The first event not played yet of that stage, phase (NULL: any) and attempt
 * that `is` holds for (NULL: any). */
static struct recorded_event *next_event(struct recording *r, const char *stage, const char *phase,
					 int attempt, bool (*is)(const struct recorded_event *))
{
	size_t i;

	for (i = 0; i < r->count; i++) {
		struct recorded_event *e = &r->events[i];

		if (!e->used && !strcmp(e->stage, stage) && e->attempt == attempt &&
		    (!phase || !strcmp(e->phase, phase)) && (!is || is(e)))
			return e;
	}
	return NULL;
}

/* --- the task --- */

int recording_blob(const struct recording *r, const struct json *data, const char *name,
		   char **ret_bytes, size_t *ret_len, struct error *err)
{
	cleanup_buf struct buf bytes = BUF_INIT(BLOB_MAX);
	size_t len;

	if (audit_blob_of(r->audit, data, name, &bytes, err) < 0)
		return -1;
	*ret_bytes = buf_take(&bytes, &len);
	if (ret_len)
		*ret_len = len;
	return 0;
}

int recording_files(const struct recording *r, const struct json *data, struct task *t,
		    struct error *err)
{
	const struct json *file;
	char name[32];

	for (file = json_first(json_get(data, "files")); file; file = json_next(file)) {
		struct task_file *f;

		snprintf(name, sizeof(name), "file_%zu", t->file_count);
		t->files = mem_array(t->files, t->file_count + 1, sizeof(*t->files));
		f = &t->files[t->file_count++];
		*f = (struct task_file){ .path = mem_strdup(json_string(file)) };
		if (recording_blob(r, data, name, &f->bytes, &f->len, err) < 0)
			return -1;
	}
	return 0;
}

static enum check_source source_of(const char *name)
{
	int i;

	for (i = CHECK_PLANNER; i <= CHECK_CROSS_CHECK; i++)
		if (name && !strcmp(check_source_name((enum check_source)i), name))
			return (enum check_source)i;
	return CHECK_PLANNER;
}

static int load_checks(const struct json *data, struct task *t, struct error *err)
{
	const struct json *check;

	for (check = json_first(json_get(data, "checks")); check; check = json_next(check)) {
		const struct json *arg = json_get(check, "arg");

		if (check_add(&t->checks, json_get_string(check, "kind"),
			      json_type(arg) == JSON_NULL ? NULL : arg,
			      source_of(json_get_string(check, "source")), err) < 0)
			return -1;
	}
	return 0;
}

static void load_turns(const struct json *data, struct task *t)
{
	const struct json *turn;

	for (turn = json_first(json_get(data, "turns")); turn; turn = json_next(turn)) {
		t->turns = mem_array(t->turns, t->turn_count + 1, sizeof(*t->turns));
		t->turns[t->turn_count++] = (struct task_turn){
			.question = mem_strdup(json_get_string(turn, "question")),
			.code = mem_strdup(json_get_string(turn, "code")),
			.output = mem_strdup(json_get_string(turn, "output")),
			.answer = mem_strdup(json_get_string(turn, "answer")),
		};
	}
}

int recording_task(const struct recording *r, struct task *ret, struct error *err)
{
	const struct recorded_event *e = recording_find(r, "task", 0, "done");
	struct task t = { .id = NULL };
	const char *lang;
	int rc;

	if (!e)
		return error_set(err, ERR_USAGE,
				 "run %s: its record has no task; only --tier view works",
				 r->row.id);
	t.id = mem_strdup(json_get_string(e->data, "id"));
	lang = json_get_string(e->data, "lang");
	t.lang = lang && language_find(lang) ? language_find(lang)->name : NULL;
	load_turns(e->data, &t);
	rc = recording_blob(r, e->data, "prompt", &t.prompt, NULL, err);
	if (!rc && json_get(e->data, "stdin"))
		rc = recording_blob(r, e->data, "stdin", &t.stdin_bytes, &t.stdin_len, err);
	if (!rc && json_get(e->data, "tests"))
		rc = recording_blob(r, e->data, "tests", &t.tests, NULL, err);
	if (!rc)
		rc = recording_files(r, e->data, &t, err);
	if (!rc)
		rc = load_checks(e->data, &t, err);
	if (rc) {
		task_release(&t);
		return -1;
	}
	*ret = t;
	return 0;
}

/* --- the model --- */

/* The next call the record holds, whatever its stage. */
static struct recorded_event *next_call(struct recording *r)
{
	size_t i;

	for (i = 0; i < r->count; i++) {
		struct recorded_event *e = &r->events[i];

		if (!e->used && !strcmp(e->phase, "done") && role_parse(e->stage) >= 0 &&
		    json_get(e->data, "text"))
			return e;
	}
	return NULL;
}

static int diverged(struct recording *r, const char *asked, const struct recorded_event *has,
		    struct error *err)
{
	if (!r->divergence)
		r->divergence =
			has ? mem_printf("the loop asked for %s where the record has %s", asked,
					 has->stage) :
			      mem_printf("the loop asked for %s where the record ends", asked);
	return error_set(err, ERR_PROVIDER, "%s", r->divergence);
}

static int play_reply(struct recording *r, const struct recorded_event *e,
		      const struct llm_sink *sink, struct llm_reply *ret, struct error *err)
{
	cleanup_json struct json *data = json_copy(e->data);
	const struct json *failure = json_get(data, "failure");
	struct llm_reply reply = { .text = NULL };
	char *text;
	size_t len;

	if (recording_blob(r, e->data, "text", &text, &len, err) < 0)
		return -1;
	json_set_string(data, "text", "");
	json_set_null(data, "reasoning");
	if (llm_reply_from_json(data, &reply, err) < 0) {
		free(text);
		return -1;
	}
	free(reply.text);
	reply.text = text;
	reply.text_len = len;
	if (sink && sink->text && len)
		sink->text(sink->self, text, len);
	*ret = reply;
	if (failure)
		return error_set(err, (enum error_kind)json_get_int(failure, "kind", ERR_PROVIDER),
				 "%s", json_get_string(failure, "message"));
	return 0;
}

static int play_call(void *self, const struct llm_request *request, const struct llm_sink *sink,
		     struct llm_reply *ret, struct error *err)
{
	struct recording *r = self;
	struct recorded_event *e = next_call(r);

	*ret = (struct llm_reply){ .text = mem_strdup("") };
	if (r->from && !strcmp(r->from, request->stage))
		r->forked = true;
	if (r->forked) {
		llm_reply_release(ret);
		return llm_call(r->live, request, sink, ret, err);
	}
	if (!e || strcmp(e->stage, request->stage))
		return diverged(r, request->stage, e, err);
	e->used = true;
	llm_reply_release(ret);
	*ret = (struct llm_reply){ .text = NULL };
	return play_reply(r, e, sink, ret, err);
}

static void free_nothing(void *self)
{
	(void)self;
}

void recorded_llm(struct llm *ret, struct recording *r)
{
	static const struct llm_ops ops = { play_call, free_nothing };

	*ret = (struct llm){ &ops, r, "recorded" };
}

/* --- the sandbox --- */

static int play_stream(const struct recording *r, const struct json *data, const char *name,
		       struct sandbox_stream *s, struct error *err)
{
	free(s->bytes);
	s->bytes = NULL;
	return recording_blob(r, data, name, &s->bytes, &s->len, err);
}

static int play_artifacts(const struct recording *r, const struct json *data,
			  struct sandbox_result *x, struct error *err)
{
	char name[32];
	size_t i;

	for (i = 0; i < x->artifact_count; i++) {
		snprintf(name, sizeof(name), "artifact_%zu", i);
		if (x->artifacts[i].kept &&
		    recording_blob(r, data, name, &x->artifacts[i].bytes, NULL, err) < 0)
			return -1;
	}
	return 0;
}

static int play_execution(void *self, int attempt, const struct sandbox_job *job,
			  struct sandbox_result *ret, struct error *err)
{
	struct recording *r = self;
	struct sandbox_result x = { .exit_code = -1 };
	struct recorded_event *e = next_event(r, "execute", "done", attempt, NULL);

	(void)job;
	if (!e) {
		if (!r->divergence)
			r->divergence =
				mem_printf("the loop ran a program (attempt %d) that the record "
					   "did not run",
					   attempt);
		return error_set(err, ERR_SANDBOX, "%s", r->divergence);
	}
	e->used = true;
	if (render_execution_read(e->data, &x, err) < 0 ||
	    play_stream(r, e->data, "stdout", &x.out, err) < 0 ||
	    play_stream(r, e->data, "stderr", &x.err, err) < 0 ||
	    play_artifacts(r, e->data, &x, err) < 0) {
		sandbox_result_release(&x);
		return -1;
	}
	*ret = x;
	return 0;
}

int64_t recorded_wall_limit(struct recording *r, int attempt, int64_t otherwise_ms)
{
	struct recorded_event *e = next_event(r, "execute", "started", attempt, NULL);

	if (!e)
		return otherwise_ms;
	e->used = true;
	return json_get_int(e->data, "wall_limit_ms", otherwise_ms);
}

double recorded_spent_ms(struct recording *r, int attempt, double otherwise_ms)
{
	struct recorded_event *e = next_event(r, "execute", "done", attempt, NULL);

	if (!e)
		return otherwise_ms;
	e->used = true;
	return json_get_number(json_get(e->data, "metrics"), "wall_ms", otherwise_ms);
}

static double played_spent_ms(void *self, int attempt, const struct sandbox_result *result)
{
	(void)self;
	(void)attempt;
	return result->metrics.wall_ms;
}

int recorded_describe(void *self, const struct language *language,
		      struct sandbox_environment *ret, struct error *err)
{
	const struct recording *r = self;
	const struct recorded_event *e = recording_find(r, "task", 0, "done");
	const struct json *env = json_first(json_get(e ? e->data : NULL, "environments"));

	(void)err;
	*ret = (struct sandbox_environment){ .language = language->name };
	for (; env; env = json_next(env)) {
		if (strcmp(json_get_string(env, "language"), language->name))
			continue;
		ret->interpreter = json_get_string(env, "interpreter");
		ret->version = json_get_string(env, "version");
		ret->digest = json_get_string(env, "digest");
		ret->packages = json_get_string(env, "packages");
	}
	return 0;
}

/* A stage that asks for code has the call's record, too. */
static bool is_screening(const struct recorded_event *e)
{
	return json_get(e->data, "ruleset");
}

/* What the parser found then; the rules are applied to it anew. */
static int play_parse(void *self, const char *stage, int attempt, const char *lang,
		      const char *code, size_t len, struct tree *ret, struct error *err)
{
	struct recording *r = self;
	struct recorded_event *e = next_event(r, stage, "done", attempt, is_screening);

	(void)lang;
	(void)code;
	(void)len;
	if (e) {
		e->used = true;
		tree_from_json(json_get(e->data, "tree"), ret);
		return 0;
	}
	if (!r->divergence)
		r->divergence =
			mem_printf("the loop screened a program (%s, attempt %d) that the record "
				   "did not screen",
				   stage, attempt);
	return error_set(err, ERR_SANDBOX, "%s", r->divergence);
}

int recorded_inspect(void *self, const struct sandbox_file *file, int64_t wall_ms,
		     struct inspection *ret, struct error *err)
{
	const struct recording *r = self;
	size_t i;

	(void)wall_ms;
	(void)err;
	for (i = 0; i < r->count; i++) {
		const struct recorded_event *e = &r->events[i];
		const char *path = json_get_string(e->data, "file");
		const char *text = json_get_string(e->data, "text");

		if (strcmp(e->stage, "inspect") || strcmp(e->phase, "done") || !path || !text ||
		    strcmp(path, file->path))
			continue;
		*ret = (struct inspection){
			mem_strdup(text),
			json_get_number(json_get(e->data, "metrics"), "wall_ms", 0),
		};
		return 0;
	}
	*ret = (struct inspection){ .text = mem_strdup("") };
	return 0;
}

void recorded_execute(struct execute_ops *ret, struct recording *r)
{
	*ret = (struct execute_ops){ play_execution, played_spent_ms, recorded_describe, play_parse,
				     recorded_inspect, r };
}

/* --- the clock --- */

/* When the original was there; it decides deadlines as it did then. */
static int64_t play_elapsed(void *self, const char *stage, int attempt)
{
	const struct recording *r = self;
	const struct recorded_event *e = recording_find(r, stage, attempt, "started");

	if (!e && r->count)
		e = &r->events[r->count - 1];
	return e ? json_get_int(e->data, "elapsed_ms", 0) : 0;
}

void recorded_clock(struct clock_ops *ret, struct recording *r)
{
	*ret = (struct clock_ops){ play_elapsed, r };
}

/* --- the approver --- */

/* Beforehand, nobody was asked: the settings, which are played, too, said yes. */
static bool is_persons(const struct recorded_event *e)
{
	const char *decision = json_get_string(e->data, "decision");

	return !decision || strcmp(decision, "beforehand");
}

static int play_approval(void *self, int attempt, const char *lang, const char *code, size_t len,
			 const struct screening *screening, enum approval *ret, char **ret_code,
			 char **ret_reason, struct error *err)
{
	struct recording *r = self;
	struct recorded_event *e = next_event(r, "approve", NULL, attempt, is_persons);
	const char *decision;

	(void)lang;
	(void)code;
	(void)len;
	(void)screening;
	*ret = APPROVAL_NO;
	if (!e) {	/* Nobody said yes to this one. */
		*ret_reason = mem_strdup("the record holds no approval for this program");
		return 0;
	}
	e->used = true;
	decision = json_get_string(e->data, "decision");
	*ret_reason = mem_strdup(json_get_string(e->data, "reason"));
	if (decision && !strcmp(decision, "yes"))
		*ret = APPROVAL_YES;
	if (!decision || strcmp(decision, "edited"))
		return 0;
	*ret = APPROVAL_EDITED;
	return recording_blob(r, e->data, "code", ret_code, NULL, err);
}

void recorded_approve(struct approve_ops *ret, struct recording *r)
{
	*ret = (struct approve_ops){ play_approval, r };
}
