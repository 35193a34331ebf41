/*
 * One call of a tool: what the log has of it, what the program is answered, and the same again when
 * the program runs again. It decides nothing but whether a call is the one that was made before.
 */
#include "agent/call.h"

#include "agent/run.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX ((size_t)2000)

void call_release(struct call *call)
{
	free(call->text);
	free(call->message);
	json_free(call->result);
}

bool call_stops(const struct call *call)
{
	return !strcmp(call->decision, "waiting") || !strcmp(call->decision, "stopped");
}

/* --- what is sent back --- */

struct json *call_error_json(const char *kind, const char *message)
{
	struct json *error = json_object();

	json_set_string(error, "kind", kind);
	json_set_bytes(error, "message", message, strlen(message));
	return error;
}

void call_put_answer(const struct call *call, struct buf *answer)
{
	cleanup_json struct json *value = json_object();

	if (call->kind)
		json_set(value, "error", call_error_json(call->kind, call->message));
	else
		json_set(value, "result", json_copy(call->result));
	calls_frame(answer, value);
}

void call_fail(struct call *call, const char *decision, const char *kind, const char *message)
{
	size_t len = strlen(message), keep = len < MESSAGE_MAX ? len : MESSAGE_MAX;

	keep = keep < len ? utf8_valid_prefix(message, keep) : keep;
	call->decision = decision;
	call->kind = kind;
	free(call->message);
	call->message = mem_strndup(message, keep);
	json_free(TAKE_PTR(call->result));
}

/* --- the record --- */

static struct json *event_of(const struct calls *c, const struct call *call)
{
	struct json *data = json_object();

	json_set_int(data, "call", (int64_t)c->count);
	json_set_string(data, "tool", call->tool);
	return data;
}

int calls_record_start(struct calls *c, const struct call *call)
{
	cleanup_json struct json *data = event_of(c, call);
	const struct audit_blob blob = { "arguments", "application/json", call->text,
					 strlen(call->text) };

	json_set_string(data, "decision", call->decision);
	return journal_event(&c->run->journal, stage_name(STAGE_TOOL), c->run->attempt, "started",
			     data, &blob, 1, &c->failed);
}

int calls_record_done(struct calls *c, const struct call *call)
{
	cleanup_json struct json *data = event_of(c, call);
	cleanup_free char *result = call->result ? json_print(call->result) : NULL;
	struct json *metrics = json_object();
	struct audit_blob blobs[2] = { { "arguments", "application/json", call->text,
					 strlen(call->text) } };

	json_set_string(data, "decision", call->decision);
	if (call->kind)
		json_set(data, "error", call_error_json(call->kind, call->message));
	json_set_number(metrics, "wall_ms", call->wall_ms);
	if (call->served) /* of a run that goes on: it was made in another */
		json_set_bool(metrics, "served", true);
	json_set(data, "metrics", metrics);
	if (result)
		blobs[1] =
			(struct audit_blob){ "result", "application/json", result, strlen(result) };
	return journal_queue(&c->run->journal, stage_name(STAGE_TOOL), c->run->attempt, "done",
			     data, blobs, result ? 2 : 1, &c->failed);
}

void calls_remember(struct calls *c, const struct call *call)
{
	struct json *entry = json_object();

	cleanup_free char *result = call->kind ? NULL : json_print(call->result);

	json_set_string(entry, "tool", call->tool);
	json_set_string(entry, "arguments", call->text);
	json_set_string(entry, "decision", call->decision);
	if (call->kind)
		json_set(entry, "error", call_error_json(call->kind, call->message));
	else
		json_set_string(entry, "result", result);
	json_append(c->now, entry);
}

/* --- out of the record --- */

struct json *call_value(const struct json *entry, const char *name)
{
	const char *text = json_get_string(entry, name);
	struct error ignored = ERROR_INIT;
	struct json *value = text ? json_parse(text, strlen(text), 0, &ignored) : NULL;

	return value ? value : json_new_null();
}

static const char *known_decision(const char *name)
{
	static const char *const all[] = { "allowed", "beforehand", "yes",     "denied",
					   "waiting", "stopped",    "refused", "diverged" };

	for (size_t i = 0; name && i < ARRAY_SIZE(all); i++)
		if (!strcmp(name, all[i]))
			return all[i];
	return "refused";
}

static const char *known_kind(const char *name)
{
	static const char *const all[] = { "denied", "unknown", "invalid", "limit",
					   "failed", "timeout", "diverged" };

	for (size_t i = 0; name && i < ARRAY_SIZE(all); i++)
		if (!strcmp(name, all[i]))
			return all[i];
	return "failed";
}

static bool is_same(const struct json *was, const struct json *arguments, const struct call *call)
{
	const char *tool = json_get_string(was, "tool");

	return tool && !strcmp(tool, call->tool) && json_equal(arguments, call->arguments);
}

/* The same, of a record, where the arguments are without their secrets. */
static bool is_recorded(const struct calls *c, const struct json *was, const struct call *call)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	cleanup_json struct json *arguments = call_value(was, "arguments"), *clean = NULL;
	struct call cleaned = *call;

	if (is_same(was, arguments, call))
		return true;
	if (!redact_bytes(audit_redactor(c->run->journal.audit), call->text, strlen(call->text),
			  &text))
		return false;
	struct error ignored = ERROR_INIT;
	clean = json_parse(text.data, text.len, 0, &ignored);
	cleaned.arguments = clean;
	return clean && is_same(was, arguments, &cleaned);
}

/* expected: what it was before; NULL: nothing. */
static void diverge(struct calls *c, struct call *call, const struct json *expected)
{
	const char *was = json_get_string(expected, "tool");
	cleanup_free char *message =
		was ? mem_printf("call %zu was of %s with other arguments, or of another tool, "
				 "when this program ran before: it does not do the same twice, and "
				 "nothing is called",
				 c->count, was) :
		      mem_printf("call %zu was not made when this program ran before, and nothing "
				 "is called in a replay",
				 c->count);

	call_fail(call, "diverged", "diverged", message);
	c->closed = true;
}

bool calls_answer(const struct calls *c, const struct json *was, struct call *call)
{
	const struct json *error = json_get(was, "error");
	const char *message = json_get_string(error, "message");

	if (!is_recorded(c, was, call))
		return false;
	if (error)
		call_fail(call, "refused", known_kind(json_get_string(error, "kind")),
			  message ? message : "");
	else
		call->result = call_value(was, "result");
	call->decision = known_decision(json_get_string(was, "decision"));
	return true;
}

bool calls_serve(struct calls *c, struct call *call)
{
	const struct json *was = c->next;

	if (!was && c->run->loop->tools->call) {
		/* A yes is to what the person saw. */
		if (c->approved != c->count ||
		    is_same(c->granted, json_get(c->granted, "arguments"), call))
			return false;
		diverge(c, call, c->granted);
		return true;
	}
	if (!calls_answer(c, was, call)) {
		diverge(c, call, was);
		return true;
	}
	c->next = json_next(was);
	call->served = c->run->loop->tools->call != NULL;
	if (call_stops(call)) {
		c->wanted = json_copy(was);
		json_set(c->wanted, "arguments", call_value(was, "arguments"));
	}
	if (call->kind && (!strcmp(call->kind, "limit") || !strcmp(call->kind, "diverged")))
		c->closed = true;
	return true;
}
