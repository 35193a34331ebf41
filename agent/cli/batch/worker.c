/*
 * A worker of a batch: a process that works on one task after the other and sends what
 * came of each. It writes no results and prints nothing.
 */
#include "agent/cli/batch/worker.h"

#include "agent/cli/batch/earlier.h"
#include "agent/cli/batch/key.h"
#include "agent/cli/batch/outcome.h"
#include "agent/cli/batch/pool.h"
#include "agent/cli/batch/rescore.h"
#include "agent/cli/command.h"
#include "agent/cli/session.h"
#include "agent/cli/terminal/console.h"
#include "agent/cli/terminal/term.h"
#include "audit/redact/redact.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int batch_send(int socket, const void *bytes, size_t len)
{
	struct error ignored = ERROR_INIT;

	return io_write_all(socket, bytes, len, &ignored);
}

int batch_receive(int socket, void *bytes, size_t len)
{
	char *at = bytes;

	while (len) {
		ssize_t got = io_read(socket, at, len);
		if (got <= 0)
			return -1;
		at += got;
		len -= (size_t)got;
	}
	return 0;
}

static int send_message(int socket, enum batch_kind kind, int retries, const void *bytes,
			size_t len)
{
	struct batch_header header = { .kind = kind, .retries = (uint32_t)retries, .len = len };

	if (batch_send(socket, &header, sizeof(header)) || batch_send(socket, bytes, len))
		return -1;
	return 0;
}

/* Members of the task that are the user's own, or NULL. */
static struct json *own_members(const struct json *object)
{
	struct json *own = NULL;

	for (const struct json *m = json_first(object); m; m = json_next(m)) {
		if (task_key_known(json_key(m)))
			continue;
		own = own ? own : json_object();
		json_set(own, json_key(m), json_copy(m));
	}
	return own;
}

/* A line of the results: whose it is, before and after what came of it. Takes rest. */
static struct json *line_of(const struct batch *batch, struct batch_unit unit, struct json *rest)
{
	const struct task_line *line = &batch->tasks->lines[unit.task];
	struct json *object = json_object(), *own = own_members(line->object);
	char key[BATCH_KEY_LEN + 1];

	batch_key(batch, line, key);
	json_set_string(object, "id", line->id);
	if (batch->repeats)
		json_set_int(object, "repeat", (int64_t)unit.repeat + 1);
	for (const struct json *member = json_first(rest); member; member = json_next(member))
		json_set(object, json_key(member), json_copy(member));
	if (own)
		json_set(object, "task", own);
	json_set_string(object, "key", key);
	json_free(rest);
	return object;
}

struct json *batch_refused(const struct batch *batch, struct batch_unit unit,
			   enum run_status status, const char *why)
{
	cleanup_loop_result struct loop_result none = {
		.status = status,
		.cost_micro_usd = -1,
		.reason = mem_strdup(why),
	};
	struct json *object = loop_result_json(&none);

	json_set_null(object, "run");
	return line_of(batch, unit, object);
}

static const char **tag_list(const struct settings *settings, const struct json *object)
{
	const struct option_values *given = &settings->options->given[OPT_TAG];
	const struct json *tags = json_get(object, "tags");
	const char **list = mem_alloc((given->count + json_count(tags) + 1) * sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; i < given->count; i++)
		list[n++] = given->values[i];
	for (const struct json *tag = json_first(tags); tag; tag = json_next(tag))
		if (json_string(tag))
			list[n++] = json_string(tag);
	return list;
}

struct work {
	const struct batch *batch;
	int socket;
	struct session session;
	struct batch_meter meter;
	struct batch_rescore *rescore; /* of the run at hand, or NULL */
};

/* Runs a task under its own limits. */
static int run_task(struct work *w, const struct task_line *line, const struct task *task,
		    struct loop_result *ret, struct error *err)
{
	const struct settings *settings = w->batch->settings;
	struct session *s = &w->session;
	cleanup_free const char **tags = tag_list(settings, line->object);
	struct policy own;

	policy_copy(&own, &s->policy);
	int rc = settings_apply_limits(&own, json_get(line->object, "limits"), err);
	if (!rc && w->rescore)
		rc = batch_rescore_policy(w->rescore, &own, err);
	s->loop.policy = &own;
	s->loop.tags = tags;
	if (!rc)
		rc = session_run(s, task, ret, err);
	s->loop.policy = &s->policy;
	s->loop.tags = NULL;
	policy_release(&own);
	return rc;
}

/* An error that every other task would end with, too: a key that is refused, a quota
 * that is used up, a cap without a price. What to do is in its message. */
static bool ends_batch(const struct work *w, enum error_kind kind)
{
	return kind == ERR_LOG || kind == ERR_CONFIG ||
	       (kind == ERR_PROVIDER && w->meter.failed == LLM_ERROR_QUOTA);
}

static int read_task(struct work *w, struct batch_unit unit, struct task *ret, struct error *err)
{
	const struct batch *batch = w->batch;
	const struct task_line *line = &batch->tasks->lines[unit.task];
	const struct batch_outcome *old =
		batch->rescore ? batch_earlier_find(batch->rescore, line->id, unit.repeat) : NULL;

	if (old) {
		w->rescore = batch_rescore_begin(&w->session, old->run, err);
		if (!w->rescore)
			return -1;
	}
	if (batch->recorded_tasks)
		return batch_rescore_task(w->rescore, ret, err);
	if (task_from_json(ret, line->object, line->id, &batch->place, err) < 0)
		return -1;
	return old ? batch_rescore_check(w->rescore, ret, err) : 0;
}

/* What ended it was no fault of the task: the provider was not there, or the sandbox broke. */
static bool is_outage(const struct work *w, enum error_kind kind)
{
	return kind == ERR_SANDBOX ||
	       (kind == ERR_PROVIDER && llm_error_is_outage(w->meter.failed));
}

/* -1 with err when the batch cannot go on. */
static int do_task(struct work *w, struct batch_unit unit, struct json **ret_line,
		   struct error *err)
{
	const struct batch *batch = w->batch;
	const struct task_line *line = &batch->tasks->lines[unit.task];
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	struct task task = { .id = NULL };
	struct error why = ERROR_INIT;

	int rc = read_task(w, unit, &task, &why);
	if (!rc && !task.lang)
		task.lang = batch->settings->policy.lang;
	if (!rc)
		rc = task_add_flags(&task, batch->settings, &why);
	if (!rc)
		rc = run_task(w, line, &task, &result, &why);
	task_release(&task);
	if (!rc && (ends_batch(w, result.ended_by) || (w->meter.capped && result.reason)))
		return error_set(err, result.ended_by, "%s", result.reason);
	/* A sandbox that no run can begin in will not be there for the others either. */
	if (rc && (ends_batch(w, why.kind) || why.kind == ERR_SANDBOX)) {
		*err = why;
		return -1;
	}
	if (rc)
		error_wrap(&why, "%s:%zu", batch->path, line->line);
	*ret_line = rc ? batch_refused(batch, unit, run_status_of_error(why.kind), why.message) :
			 line_of(batch, unit, loop_result_json(&result));
	if (!rc && is_outage(w, result.ended_by))
		json_set_bool(*ret_line, "unfinished", true);
	if (!rc && session_save_artifacts(w->session.console.term, NULL, NULL, &result, &why) < 0)
		json_set_string(*ret_line, "error", why.message);
	return 0;
}

static void on_stage(void *self, const char *stage, int attempt)
{
	struct work *w = self;
	struct batch_stage now = { .attempt = attempt };

	strncpy(now.name, stage, sizeof(now.name) - 1);
	send_message(w->socket, BATCH_STAGE, 0, &now, sizeof(now));
}

/* To be asked about a call of a tool: a task whose program waits for a yes ends, and its run goes
 * on later (assay replay --from end --tools). */
static bool nobody_is(void *self)
{
	(void)self;
	return false;
}

/* One line a task, from the parent; the stages of many at once are noise. */
static int open_session(struct work *w, bool first, struct error *err)
{
	if (session_open(&w->session, w->batch->settings, "batch", err) < 0 ||
	    session_take_tools(&w->session, w->batch->settings, err) < 0)
		return -1;
	if (first)
		console_log(w->session.console.term, w->session.audit);
	w->session.loop.progress =
		(struct progress){ .stage = w->batch->watched ? on_stage : NULL, .self = w };
	w->session.loop.approve.present = nobody_is;
	if (first)
		term_hush(w->session.console.term, true);
	else
		term_set(w->session.console.term, false, true);
	w->session.loop.session = w->batch->session;
	w->meter.prices = &w->batch->settings->means.prices;
	batch_meter_wrap(&w->meter, &w->session.llm);
	return 0;
}

/* -1 when there is nothing more to do here. */
static int work_on(struct work *w, struct batch_unit unit)
{
	cleanup_json struct json *line = NULL;

	w->meter.repeat = unit.repeat;
	w->meter.retries = 0;
	w->meter.failed = LLM_ERROR_NONE;
	w->meter.capped = false;
	struct error err = ERROR_INIT;
	int rc = do_task(w, unit, &line, &err);
	/* Not before: the result refers to what was recorded. */
	batch_rescore_end(TAKE_PTR(w->rescore));
	if (rc < 0) {
		bool capped = w->meter.capped && !ends_batch(w, err.kind);

		send_message(w->socket, capped ? BATCH_CAPPED : BATCH_FATAL, 0, &err, sizeof(err));
		return capped ? 0 : -1;
	}
	cleanup_free char *text = redact_print(audit_redactor(w->session.audit), line);
	return send_message(w->socket, BATCH_RESULT, w->meter.retries, text, strlen(text));
}

void batch_worker(const struct batch *batch, int socket, size_t number, bool first)
{
	struct work w = { .batch = batch, .socket = socket };

	w.meter.pool = batch->pool;
	w.meter.worker = number;
	struct error err = ERROR_INIT;
	if (open_session(&w, first, &err) < 0) {
		send_message(socket, BATCH_FATAL, 0, &err, sizeof(err));
		_exit(0);
	}
	struct batch_unit unit;
	while (batch_receive(socket, &unit, sizeof(unit)) == 0 && work_on(&w, unit) == 0)
		;
	session_close(&w.session);
	_exit(0);
}
