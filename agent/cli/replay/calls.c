/*
 * A run that ended at a call which wanted a yes, and now goes on (--from end --tools): what its
 * calls came to is served back, the one that waited is asked for here, and those after it are made.
 * No call may be made twice, and no pattern that its record had approved may approve one.
 */
#include "agent/cli/replay/replay.h"

#include "agent/cli/app.h"
#include "agent/cli/terminal/term.h"
#include "agent/cli/tools_given.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOOL_RULES   "tool."
#define CONSENTS_MAX ((size_t)1 << 20)

static const struct tool_ops *live(const struct replay *p)
{
	return tools_end(p->live_tools);
}

static const struct json *list(void *self, struct error *err)
{
	struct tool_ops then;

	/* The prompts are those of then. */
	recorded_tools(&then, &((struct replay *)self)->before);
	return then.list(then.self, err);
}

static int action(void *self, const char *name, struct error *err)
{
	const struct tool_ops *ops = live(self);

	return ops->action(ops->self, name, err);
}

static int call(void *self, const char *name, const struct json *arguments, const struct stop *stop,
		struct json **ret, struct error *err)
{
	const struct tool_ops *ops = live(self);

	return ops->call(ops->self, name, arguments, stop, ret, err);
}

static struct json *served(void *self, int attempt)
{
	const struct replay *p = self;

	return recorded_calls(&p->before, attempt, false);
}

/* What was approved before the fork was approved then. */
static int ask(void *self, int attempt, const char *lang, const char *code, size_t len,
	       const struct screening *screening, enum approval *ret, char **ret_code,
	       char **ret_reason, struct error *err)
{
	struct replay *p = self;
	struct approve_ops ops;

	if (p->before.forked)
		approver_end(&ops, &p->approver);
	else
		recorded_approve(&ops, &p->before);
	return ops.ask(ops.self, attempt, lang, code, len, screening, ret, ret_code, ret_reason,
		       err);
}

static bool present(void *self)
{
	const struct replay *p = self;

	return p->approver.may_ask;
}

static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	const struct console *c = self;
	struct error ignored = ERROR_INIT;
	if (is_stderr)
		term_guest_stderr(c->term, bytes, len);
	else
		term_out(c->term, bytes, len, &ignored);
}

bool replay_goes_on(const struct replay *p)
{
	return p->live_tools != NULL;
}

/* Whether some tool's rule could match it. */
static bool may_be_of_tool(const char *pattern)
{
	size_t fixed = strcspn(pattern, "*?[\\");
	size_t len = strlen(TOOL_RULES);

	return !strncmp(pattern, TOOL_RULES, fixed < len ? fixed : len);
}

/* A log may come from anybody: what its run had approved beforehand of calls is no yes of who goes
 * on with it here, who says so anew. What screening had approved then is played back. */
static void take_consents(struct replay *p)
{
	cleanup_free char *then = TAKE_PTR(p->policy.allow);
	struct buf both = BUF_INIT(CONSENTS_MAX);
	char *rest = then, *pattern;

	while (rest && (pattern = strsep(&rest, ", ")))
		if (*pattern && !may_be_of_tool(pattern))
			buf_addf(&both, "%s,", pattern);
	if (p->given->policy.allow)
		buf_addstr(&both, p->given->policy.allow);
	p->policy.allow = buf_take(&both, NULL);
}

int replay_take_tools(struct replay *p, struct error *err)
{
	const char *from = p->before.from;
	bool waits = recording_waits(&p->before),
	     at_end = from && !strcmp(from, stage_name(STAGE_END));

	if (tools_given(p->given, &p->live_tools, err) < 0)
		return -1;
	if (p->live_tools && !(waits && at_end))
		return error_set(err, ERR_USAGE,
				 waits ? "--tools of a replay needs --from end: where the run "
					 "waits for a yes" :
					 "--tools of a replay is for a run that waits for a yes, "
					 "which run %s does not",
				 p->before.row.id);
	if (!p->live_tools && p->given->flags->given[OPT_ALLOW].count)
		return error_set(err, ERR_USAGE,
				 "--allow of a replay is for --from end --tools: all else was "
				 "approved then, or not");
	if (!p->live_tools)
		return 0;
	take_consents(p);
	recording_drop_waiting(&p->before);
	return 0;
}

void replay_open_tools(struct replay *p, const struct task *task)
{
	recorded_tools(&p->tools, &p->before);
	p->loop.tools = recording_has_tools(&p->before) ? &p->tools : NULL;
	if (!p->live_tools)
		return;
	p->tools =
		(struct tool_ops){ list, action, call, served, p, live(p)->calls, live(p)->bytes };
	p->approver = (struct approver){
		.term = p->console.term,
		.cancel_fd = p->given->app->cancel_fd,
		.task = task,
		.may_ask = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !p->given->json,
	};
	p->loop.approve = (struct approve_ops){ ask, p, present };
	if (!task->program || p->given->json)
		return;
	p->loop.progress.output = on_output;
	p->loop.progress.self = &p->console;
	p->live.progress = &p->loop.progress;
}
