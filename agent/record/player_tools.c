/*
 * The recorded end of tools: what calls came to in a run, out of its record. Nothing is ever called
 * here; a call that the record does not have is one that has no answer.
 */
#include "agent/record/player.h"

#include "agent/call.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool is_call(const struct recorded_event *e, int attempt)
{
	return !strcmp(e->stage, stage_name(STAGE_TOOL)) && !strcmp(e->phase, "done") &&
	       e->attempt == attempt;
}

/* Not made then, for want of a yes. */
static bool ended_there(const struct recorded_event *e)
{
	const char *decision = json_get_string(e->data, "decision");

	return decision && (!strcmp(decision, "waiting") || !strcmp(decision, "stopped"));
}

/* As it is in the record, for call_value; not there where it cannot be read. */
static void put_text(const struct recording *r, const struct json *data, const char *name,
		     struct json *entry)
{
	struct error ignored = ERROR_INIT;
	cleanup_free char *text = NULL;
	size_t len = 0;

	if (json_get(data, name) && recording_blob(r, data, name, &text, &len, &ignored) == 0)
		json_set_bytes(entry, name, text, len);
}

struct json *recorded_calls(const struct recording *r, int attempt, bool all)
{
	struct json *list = json_array();

	for (size_t i = 0; i < r->count; i++) {
		const struct recorded_event *e = &r->events[i];
		const struct json *error = json_get(e->data, "error");

		if (!is_call(e, attempt) || (!all && ended_there(e)))
			continue;
		struct json *entry = json_object();
		json_set_string(entry, "tool", json_get_string(e->data, "tool"));
		put_text(r, e->data, "arguments", entry);
		json_set_string(entry, "decision", json_get_string(e->data, "decision"));
		if (error)
			json_set(entry, "error", json_copy(error));
		else
			put_text(r, e->data, "result", entry);
		json_append(list, entry);
	}
	return list;
}

bool recording_stops(const struct recording *r, int attempt)
{
	for (size_t i = 0; i < r->count; i++)
		if (is_call(&r->events[i], attempt) && ended_there(&r->events[i]))
			return true;
	return false;
}

static const struct recorded_event *waiting(const struct recording *r)
{
	const struct recorded_event *last = NULL;

	for (size_t i = 0; i < r->count; i++)
		if (is_call(&r->events[i], r->events[i].attempt))
			last = &r->events[i];
	return last && ended_there(last) &&
			       !strcmp(json_get_string(last->data, "decision"), "waiting") ?
		       last :
		       NULL;
}

bool recording_waits(const struct recording *r)
{
	return waiting(r);
}

void recording_drop_waiting(struct recording *r)
{
	const struct recorded_event *e = waiting(r);

	for (size_t i = 0; e && i < r->count; i++)
		if (&r->events[i] > e && r->events[i].attempt == e->attempt &&
		    !strcmp(r->events[i].stage, stage_name(STAGE_EXECUTE)))
			r->events[i].used = true;
}

/* What there was, as the task has it. */
static const struct json *list(void *self, struct error *err)
{
	const struct recording *r = self;
	const struct recorded_event *e = recording_find(r, stage_name(STAGE_TASK), 0, "done");
	const struct json *tools = json_get(e ? e->data : NULL, LOOP_TOOLS);

	if (!tools)
		error_set(err, ERR_LOG, "the record does not say which tools there were");
	return tools;
}

static int action(void *self, const char *name, struct error *err)
{
	(void)self;
	return error_set(err, ERR_USAGE, "%s: nothing is called in a replay", name);
}

static struct json *served(void *self, int attempt)
{
	return recorded_calls(self, attempt, true);
}

void recorded_tools(struct tool_ops *ret, struct recording *r)
{
	*ret = (struct tool_ops){ list, action, NULL, served, r, INT64_MAX, INT64_MAX };
}

bool recording_has_tools(const struct recording *r)
{
	return json_get_bool(r->row.config, LOOP_TOOLS, false);
}

/* The calls that its program made, as if it made them: they are answered, and recorded, by who
 * answers any. */
void recorded_play_calls(const struct recording *r, int attempt, const struct sandbox_port *port)
{
	cleanup_json struct json *calls = recorded_calls(r, attempt, true);
	enum sandbox_port_step step = SANDBOX_PORT_ON;
	static const char own_turn[] =
		"\0\0\0\n{\"cell\":0}"; /* what ran before it is not played */
	struct buf nothing = BUF_INIT(CALLS_HEAD);

	port->take(port->self, own_turn, sizeof(own_turn) - 1, INT64_MAX, &nothing);
	buf_release(&nothing);
	for (const struct json *call = json_first(calls); call && step == SANDBOX_PORT_ON;
	     call = json_next(call)) {
		cleanup_buf struct buf frame = BUF_INIT(2 * CALLS_ARGUMENTS_MAX);
		cleanup_buf struct buf answer = BUF_INIT(BUF_MAX_DEFAULT);
		cleanup_json struct json *value = json_object();

		json_set_string(value, "tool", json_get_string(call, "tool"));
		json_set(value, "arguments", call_value(call, "arguments"));
		calls_frame(&frame, value);
		step = port->take(port->self, frame.data, frame.len, INT64_MAX, &answer);
	}
}
