/*
 * Tools for a case of the loop: what the user's configuration says of each, what a call comes to,
 * and a program that calls them, by frames as its module would send them. Nothing is started.
 */
#ifndef TEST_LOOP_TOOLS_H
#define TEST_LOOP_TOOLS_H

#include "tests/unit/test_loop_ends.h"

#include "agent/call_frame.h"
#include "base/clock.h"

/* "tools {NAME: allow|confirm|deny}" */
struct case_tools {
	struct tool_ops ops;
	struct ends *ends;
	struct json *actions, *list; /* owned; NULL: the case has none */
};

static inline const struct json *tools_list(void *self, struct error *err)
{
	const struct case_tools *t = self;

	(void)err;
	return t->list;
}

static inline int tools_action(void *self, const char *name, struct error *err)
{
	const struct case_tools *t = self;
	const char *action = json_get_string(t->actions, name);

	if (!action)
		return error_set(err, ERR_USAGE, "there is no tool %s", name);
	return !strcmp(action, "allow")	  ? SCREEN_ALLOW :
	       !strcmp(action, "confirm") ? SCREEN_CONFIRM :
					    SCREEN_DENY;
}

static inline int tools_call(void *self, const char *name, const struct json *arguments,
			     const struct stop *stop, struct json **ret, struct error *err)
{
	struct case_tools *t = self;

	(void)arguments;
	(void)stop;
	cleanup_item struct item item;
	if (!take_item(t->ends, "tool", "tool", &item))
		return error_set(err, ERR_FAILED, "the case has no call here");
	if (strcmp(item.word, name))
		fault(t->ends, mem_printf("%s is called, and the case has %s", name, item.word));
	const char *error = json_get_string(item.with, "error");
	if (error)
		return error_set(err, ERR_FAILED, "%s", error);
	cleanup_free char *line = mem_strndup(item.body, strcspn(item.body, "\n"));
	*ret = json_new_string(line);
	return 0;
}

static inline bool tools_present(void *self)
{
	const struct ends *e = self;

	return !get(e->c, "nobody_there");
}

static inline void case_tools_open(struct case_tools *t, struct loop *loop, struct ends *e)
{
	const char *text = get(e->c, "tools"), *calls = get(e->c, "tool_calls");
	const char *bytes = get(e->c, "tool_bytes");
	struct error err = ERROR_INIT;

	*t = (struct case_tools){
		.ops = { .list = tools_list,
			 .action = tools_action,
			 .call = tools_call,
			 .self = t,
			 .calls = calls ? atoi(calls) : 100,
			 .bytes = bytes ? atoi(bytes) : 100000 },
		.ends = e,
		.actions = text ? json_parse(text, strlen(text), 0, &err) : NULL,
		.list = json_array(),
	};
	if (text && !t->actions)
		fail_msg("%s: %s", e->c->name, err.message);
	for (const struct json *a = json_first(t->actions); a; a = json_next(a)) {
		struct json *tool = json_object();

		json_set_string(tool, "name", json_key(a));
		json_append(t->list, tool);
	}
	if (!text)
		return;
	loop->tools = &t->ops;
	loop->approve.present = tools_present;
}

static inline void case_tools_close(struct case_tools *t)
{
	json_free(t->actions);
	json_free(t->list);
}

/* What the program of that item calls, "calls": [[NAME, {ARGUMENTS}], ...], until it is ended or
 * nobody hears it any more; "answered" and "unanswered" are of what it got. False: it was ended. */
static inline bool make_calls(struct ends *e, const struct item *item,
			      const struct sandbox_job *job)
{
	cleanup_buf struct buf all = BUF_INIT((size_t)1 << 20);
	const struct json *call = json_first(json_get(item->with, "calls"));
	enum sandbox_port_step step = SANDBOX_PORT_ON;

	buf_addstr(&all, "");
	if (call && !job->port) {
		fault(e, mem_strdup("the program can call nothing"));
		return true;
	}
	for (; call && step == SANDBOX_PORT_ON; call = json_next(call)) {
		cleanup_json struct json *frame = json_object();
		cleanup_buf struct buf sent = BUF_INIT((size_t)1 << 20);
		cleanup_buf struct buf got = BUF_INIT((size_t)1 << 20);

		json_set_string(frame, "tool", json_string(json_first(call)));
		json_set(frame, "arguments", json_copy(json_next(json_first(call))));
		calls_frame(&sent, frame);
		step = job->port->take(job->port->self, sent.data, sent.len,
				       clock_mono_ms() + 60000 + SANDBOX_PORT_MORE_MS, &got);
		if (got.len > CALLS_HEAD)
			buf_addf(&all, "%.*s\n", (int)(got.len - CALLS_HEAD),
				 got.data + CALLS_HEAD);
	}
	expect_text(e, item, "answered", true, all.data);
	expect_text(e, item, "unanswered", false, all.data);
	if (json_get_bool(item->with, "unheard", false) != (step == SANDBOX_PORT_CLOSED))
		fault(e, mem_printf("the program is %sheard after its calls",
				    step == SANDBOX_PORT_CLOSED ? "not " : ""));
	return step != SANDBOX_PORT_STOP;
}

#endif
