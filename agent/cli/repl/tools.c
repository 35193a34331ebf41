/*
 * /tools: what programs of the conversation may call, and whether they may. It calls nothing; to
 * list what servers have, those are started.
 */
#include "agent/cli/repl/repl.h"

#include "agent/cli/terminal/term.h"
#include "agent/cli/tools_given.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>

/* Its first line, without control characters. */
static char *about(const struct json *tool)
{
	const char *text = json_get_string(tool, "description");
	struct buf shown = BUF_INIT((size_t)1 << 20);

	utf8_visible(&shown, text ? text : "", text ? strcspn(text, "\n") : 0);
	return buf_take(&shown, NULL);
}

static void list(const struct repl *r)
{
	const struct tool_ops *ops = r->session.loop.tools;
	struct error err = ERROR_INIT;
	const struct json *tool = ops ? json_first(ops->list(ops->self, &err)) : NULL;

	if (!ops)
		term_line(r->term, TERM_DIM, 0,
			  "programs can call nothing; /tools on lets them, where the "
			  "configuration has [tool NAME] or [server NAME]");
	if (err.kind != ERR_NONE)
		term_error(r->term, "%s", err.message);
	for (; tool; tool = json_next(tool)) {
		const char *name = json_get_string(tool, "name");
		cleanup_free char *text = about(tool);
		int action = ops->action(ops->self, name, &err);

		term_line(r->term, TERM_PLAIN, 0, "  %s (%s) %s", name,
			  action < 0 ? "?" : screen_action_name((enum screen_action)action), text);
	}
}

void repl_tools(struct repl *r, const char *argument)
{
	struct session *s = &r->session;
	struct error err = ERROR_INIT;

	if (!strcmp(argument, "off")) {
		s->loop.tools = NULL;
		tools_close(TAKE_PTR(s->tools));
	} else if (*argument && strcmp(argument, "on")) {
		term_error(r->term, "/tools takes on, off or nothing");
		return;
	} else if (*argument && !s->tools && tools_read(r->given, &s->tools, &err) < 0) {
		term_error(r->term, "%s", err.message);
		return;
	} else if (s->tools) {
		s->loop.tools = tools_end(s->tools);
	}
	list(r);
}
