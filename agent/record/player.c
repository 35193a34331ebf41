/*
 * The ends of a run that is played: its sandbox, clock and approver; its model and its tools are in
 * player_llm.c and player_tools.c. A question that was never asked is a divergence; nothing live
 * stands in for it.
 */
#include "agent/record/player.h"

#include "agent/record/render.h"
#include "base/hash.h"
#include "base/mem.h"
#include "verifier/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	for (size_t i = 0; i < x->artifact_count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "artifact_%zu", i);
		if (x->artifacts[i].kept &&
		    recording_blob(r, data, name, &x->artifacts[i].bytes, NULL, err) < 0)
			return -1;
	}
	return 0;
}

/* What a cell left: whether it is one depends on it. */
static int play_state(const struct recording *r, const struct json *data, struct sandbox_result *x,
		      struct error *err)
{
	if (!json_get(data, JOURNAL_STATE))
		return 0;
	char *bytes;
	size_t len;
	if (recording_blob(r, data, JOURNAL_STATE, &bytes, &len, err) < 0)
		return -1;
	tests_add_state(x, bytes, len);
	return 0;
}

static int play_execution(void *self, int attempt, const struct sandbox_job *job,
			  struct sandbox_result *ret, struct error *err)
{
	struct recording *r = self;
	struct sandbox_result x = { .exit_code = -1 };
	struct recorded_event *e = recording_next_execution(r, "done", attempt);

	if (!e) {
		cleanup_free char *what = mem_printf(
			"ran a program (attempt %d) that the record did not run", attempt);

		return recording_lacks(r, ERR_SANDBOX, what, err);
	}
	e->used = true;
	if (render_execution_read(e->data, &x, err) < 0 ||
	    play_stream(r, e->data, "stdout", &x.out, err) < 0 ||
	    play_stream(r, e->data, "stderr", &x.err, err) < 0 ||
	    play_artifacts(r, e->data, &x, err) < 0 || play_state(r, e->data, &x, err) < 0) {
		sandbox_result_release(&x);
		return -1;
	}
	if (job->port)
		recorded_play_calls(r, attempt, job->port);
	*ret = x;
	return 0;
}

/* The two were recorded one after the other. */
static int play_pair(void *self, int attempt, const struct sandbox_job jobs[2],
		     struct sandbox_result ret[2], struct error *err)
{
	struct sandbox_result first = { .exit_code = -1 };

	if (play_execution(self, attempt, &jobs[0], &first, err) < 0)
		return -1;
	if (play_execution(self, attempt, &jobs[1], &ret[1], err) < 0) {
		sandbox_result_release(&first);
		return -1;
	}
	ret[0] = first;
	return 0;
}

int64_t recorded_wall_limit(struct recording *r, int attempt, int64_t otherwise_ms)
{
	struct recorded_event *e = recording_next_execution(r, "started", attempt);

	if (!e)
		return otherwise_ms;
	e->used = true;
	return json_get_int(e->data, "wall_limit_ms", otherwise_ms);
}

static bool blob_is(const struct json *data, const char *name, const char *bytes, size_t len)
{
	const char *recorded = json_get_string(json_get(data, name), "sha256");
	char hex[HASH_HEX_LEN + 1];

	hash_sha256(bytes ? bytes : "", bytes ? len : 0, hex);
	return recorded && !strcmp(recorded, hex);
}

static bool artifacts_are(const struct json *list, const struct sandbox_result *x)
{
	const struct json *a = json_first(list);
	size_t i;

	for (i = 0; i < x->artifact_count && a; i++, a = json_next(a)) {
		const char *path = json_get_string(a, "path");
		const char *sha256 = json_get_string(a, "sha256");

		if (!path || strcmp(path, x->artifacts[i].path) ||
		    strcmp(sha256 ? sha256 : "", x->artifacts[i].sha256))
			return false;
	}
	return i + (i < x->artifact_count && tests_is_state(x->artifacts[i].path)) ==
		       x->artifact_count &&
	       !a;
}

bool recorded_result_is(struct recording *r, int attempt, const struct sandbox_result *x)
{
	const struct recorded_event *e = recording_next_execution(r, "done", attempt);
	const char *outcome = e ? json_get_string(e->data, "outcome") : NULL;

	return !outcome || (!strcmp(outcome, sandbox_outcome_name(x->outcome)) &&
			    json_get_int(e->data, "exit_code", -1) == x->exit_code &&
			    blob_is(e->data, "stdout", x->out.bytes, x->out.len) &&
			    blob_is(e->data, "stderr", x->err.bytes, x->err.len) &&
			    artifacts_are(json_get(e->data, "artifacts"), x));
}

char *recorded_output(struct recording *r, int attempt, size_t *ret_len)
{
	const struct recorded_event *e = recording_next_execution(r, "done", attempt);

	*ret_len = 0;
	struct error ignored = ERROR_INIT;
	char *bytes = NULL;
	if (e && recording_blob(r, e->data, "stdout", &bytes, ret_len, &ignored) < 0)
		return NULL;
	return bytes;
}

void recorded_took(struct recording *r, int attempt, const struct sandbox_result *result,
		   struct sandbox_metrics *ret)
{
	struct recorded_event *e = recording_next_execution(r, "done", attempt);

	*ret = result->metrics;
	if (!e)
		return;
	e->used = true;
	if (json_get(e->data, "metrics"))
		sandbox_metrics_read(json_get(e->data, "metrics"), ret);
}

static void played_took(void *self, int attempt, const struct sandbox_result *result,
			struct sandbox_metrics *ret)
{
	(void)self;
	(void)attempt;
	*ret = result->metrics;
}

/* The first of those that the task was recorded with, or what a program that has none ran in; what
 * follows that one in the record has no language. */
static const struct json *environments_of(const struct recording *r)
{
	const struct recorded_event *e = recording_find(r, stage_name(STAGE_TASK), 0, "done");
	const struct json *list = json_get(e ? e->data : NULL, "environments");

	if (list)
		return json_first(list);
	e = recording_find(r, stage_name(STAGE_EXECUTE), -1, "done");
	return json_get(e ? e->data : NULL, "environment");
}

int recorded_describe(void *self, const struct language *language, struct sandbox_environment *ret,
		      struct error *err)
{
	const struct recording *r = self;
	const struct json *env = environments_of(r);

	(void)err;
	*ret = (struct sandbox_environment){ .language = language->name };
	for (; env; env = json_next(env)) {
		const char *name = json_get_string(env, "language");

		if (!name || strcmp(name, language->name))
			continue;
		ret->interpreter = json_get_string(env, "interpreter");
		ret->version = json_get_string(env, "version");
		ret->digest = json_get_string(env, "digest");
		ret->packages = json_get_string(env, "packages");
		ret->sandbox = json_get_string(env, "sandbox");
		ret->from = json_get_string(env, "from");
		ret->notes = json_get_string(env, "notes");
	}
	return 0;
}

/* What the parser found then; the rules are applied to it anew. */
static int play_parse(void *self, const char *stage, int attempt, const char *lang,
		      enum screen_profile profile, const char *code, size_t len, struct tree *ret,
		      struct error *err)
{
	struct recording *r = self;
	struct recorded_event *e =
		recording_next(r, stage, "done", attempt, recording_is_screening);

	(void)lang;
	(void)profile;
	(void)code;
	(void)len;
	if (e) {
		e->used = true;
		tree_from_json(json_get(e->data, "tree"), ret);
		return 0;
	}
	cleanup_free char *what =
		mem_printf("screened a program (%s, attempt %d) that the record did not screen",
			   stage, attempt);
	return recording_lacks(r, ERR_SANDBOX, what, err);
}

int recorded_inspect(void *self, const struct sandbox_file *file, int64_t wall_ms,
		     struct inspection *ret, struct error *err)
{
	const struct recording *r = self;

	(void)wall_ms;
	(void)err;
	for (size_t i = 0; i < r->count; i++) {
		const struct recorded_event *e = &r->events[i];
		const char *path = json_get_string(e->data, "file");
		const char *text = json_get_string(e->data, "text");

		if (strcmp(e->stage, stage_name(STAGE_INSPECT)) || strcmp(e->phase, "done") ||
		    !path || !text || strcmp(path, file->path))
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
	*ret = (struct execute_ops){ play_execution,	play_pair,  played_took,
				     recorded_describe, play_parse, NULL,
				     recorded_inspect,	r,	    NULL,
				     recorded_needs };
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
	struct recorded_event *e =
		recording_next(r, stage_name(STAGE_APPROVE), NULL, attempt, is_persons);

	(void)lang;
	(void)code;
	(void)len;
	(void)screening;
	*ret = APPROVAL_NO;
	if (!e) { /* Nobody said yes to this one. */
		*ret_reason = mem_strdup("the record holds no approval for this program");
		return 0;
	}
	e->used = true;
	const char *decision = json_get_string(e->data, "decision");
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
