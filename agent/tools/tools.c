/*
 * The live end of tools (tools.h): which there are, what the configuration says of each, and a call
 * of one. Names and globs decide here; what a server says of its own tools (that they only read,
 * that they are safe) decides nothing.
 */
#include "agent/tools/tools.h"

#include "agent/tools/child.h"
#include "agent/tools/mcp.h"
#include "base/clock.h"
#include "base/mem.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct tools {
	struct tool_ops ops;
	struct tools_row *rows;	    /* owned */
	struct mcp_server *servers; /* one for each row, of a server used; owned */
	size_t count;
	int cancel_fd;
	const char *key;   /* whose they are (tools_for) */
	struct json *list; /* of those; owned; NULL: not asked for yet */
};

/* --- names --- */

static bool is_named(const char *globs, const char *name)
{
	cleanup_free char *copy = mem_strdup(globs);
	char *rest = copy, *glob;

	while (rest && (glob = strsep(&rest, ", ")))
		if (*glob && !fnmatch(glob, name, 0))
			return true;
	return false;
}

static bool is_offered(const struct tools *t, const struct tools_row *row)
{
	return !t->key || !row->keys || is_named(row->keys, t->key);
}

/* A command by its name, or a server by what stands before the first point, and the rest of that in
 * *ret_tool (NULL: a command). */
static bool find(const struct tools *t, const char *name, size_t *ret, const char **ret_tool)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct tools_row *row = &t->rows[i];
		size_t len = strlen(row->name);

		if (!is_offered(t, row))
			continue;
		*ret = i;
		*ret_tool = NULL;
		if (!row->is_server && !strcmp(row->name, name))
			return true;
		*ret_tool = name + len + 1;
		if (row->is_server && !strncmp(row->name, name, len) && name[len] == '.' &&
		    name[len + 1])
			return true;
	}
	return false;
}

static int no_such(const struct tools *t, const char *name, struct error *err)
{
	cleanup_buf struct buf known = BUF_INIT((size_t)1 << 16);

	for (size_t i = 0; i < t->count; i++)
		if (is_offered(t, &t->rows[i]))
			buf_addf(&known, "%s%s%s", known.len ? ", " : "", t->rows[i].name,
				 t->rows[i].is_server ? ".*" : "");
	return error_set(err, ERR_USAGE, "there is no tool \"%.100s\"; there is: %.1500s", name,
			 known.data);
}

/* --- the end --- */

/* By the call's own time, and by the run's. */
static struct stop stop_of(const struct tools_row *row, int cancel_fd, int64_t until_ms)
{
	int64_t own = clock_mono_ms() + row->timeout_ms;

	return (struct stop){ cancel_fd, own < until_ms ? own : until_ms };
}

static enum screen_action action_of(const struct tools_row *row, const char *tool)
{
	if (!tool)
		return row->action;
	return is_named(row->deny, tool)    ? SCREEN_DENY :
	       is_named(row->confirm, tool) ? SCREEN_CONFIRM :
	       is_named(row->allow, tool)   ? SCREEN_ALLOW :
					      SCREEN_CONFIRM;
}

/* What is denied need not be there; a server is started to know what it has. */
static int action(void *self, const char *name, struct error *err)
{
	struct tools *t = self;
	const char *tool;
	size_t at;

	if (!find(t, name, &at, &tool))
		return no_such(t, name, err);
	enum screen_action action = action_of(&t->rows[at], tool);
	if (!tool || action == SCREEN_DENY)
		return (int)action;
	struct stop stop = stop_of(&t->rows[at], t->cancel_fd, INT64_MAX);
	if (mcp_begin(&t->servers[at], &stop, err) < 0)
		return -1;
	return mcp_tool(&t->servers[at], tool) ? (int)action : no_such(t, name, err);
}

/* What it printed, when it ended well. */
static int result_of(const struct tools_row *row, const struct child *c, int status,
		     struct json **ret, struct error *err)
{
	cleanup_free char *notes = child_notes(c);

	if (WIFSIGNALED(status))
		return error_set(err, ERR_FAILED, "%s was ended by signal %d%s", row->name,
				 WTERMSIG(status), notes);
	if (WEXITSTATUS(status) != 0)
		return error_set(err, ERR_FAILED, "%s ended with exit code %d%s", row->name,
				 WEXITSTATUS(status), notes);
	struct error why = ERROR_INIT;
	*ret = json_parse(c->output.data, c->output.len, 0, &why);
	return *ret ? 0 :
		      error_set(err, ERR_FAILED, "what %s printed is no JSON: %s", row->name,
				why.message);
}

/* The arguments as one line of JSON on its standard input; what it prints is the result. */
static int call_command(const struct tools_row *row, const struct json *arguments,
			const struct stop *stop, struct json **ret, struct error *err)
{
	cleanup_free char *text = json_print(arguments);
	struct child c;

	if (child_start(&c, row->name, row->command, row->env, err) < 0)
		return -1;
	child_send(&c, text, strlen(text));
	child_send(&c, "\n", 1);
	int rc = 0;
	while (rc == 0 && c.out >= 0) {
		if (c.sending.len == 0)
			child_close_input(&c);
		rc = child_step(&c, stop, err);
	}
	child_close_input(&c);
	int status = 0;
	if (rc == 0)
		rc = child_wait(&c, stop, &status, err);
	if (rc == 0)
		rc = result_of(row, &c, status, ret, err);
	child_end(&c);
	return rc;
}

static int call(void *self, const char *name, const struct json *arguments, const struct stop *stop,
		struct json **ret, struct error *err)
{
	struct tools *t = self;
	const char *tool;
	size_t at;

	if (!find(t, name, &at, &tool))
		return no_such(t, name, err);
	struct stop until = stop_of(&t->rows[at], stop->cancel_fd, stop->deadline_ms);
	if (!tool)
		return call_command(&t->rows[at], arguments, &until, ret, err);
	if (mcp_begin(&t->servers[at], &until, err) < 0)
		return -1;
	return mcp_call(&t->servers[at], tool, arguments, &until, ret, err);
}

/* --- the list --- */

static void add_command(struct json *list, const struct tools_row *row)
{
	struct error ignored = ERROR_INIT; /* it was looked at when it was read */
	struct json *one = json_object(), *schema = NULL;

	if (row->arguments)
		schema = json_parse(row->arguments, strlen(row->arguments), 0, &ignored);
	json_set_string(one, "name", row->name);
	json_set_string(one, "description", row->description);
	json_set(one, "inputSchema", schema ? schema : json_new_null());
	json_append(list, one);
}

static int add_server(struct tools *t, size_t at, struct json *list, struct error *err)
{
	struct stop stop = stop_of(&t->rows[at], t->cancel_fd, INT64_MAX);

	if (mcp_begin(&t->servers[at], &stop, err) < 0)
		return -1;
	for (const struct json *tool = json_first(t->servers[at].tools); tool;
	     tool = json_next(tool)) {
		const char *name = json_get_string(tool, "name");
		cleanup_free char *full = mem_printf("%s.%s", t->rows[at].name, name);

		if (action_of(&t->rows[at], name) == SCREEN_DENY)
			continue;
		struct json *one = json_copy(tool);
		json_set_string(one, "name", full);
		json_append(list, one);
	}
	return 0;
}

static const struct json *list(void *self, struct error *err)
{
	struct tools *t = self;

	if (t->list)
		return t->list;
	cleanup_json struct json *all = json_array();
	for (size_t i = 0; i < t->count; i++)
		if (!is_offered(t, &t->rows[i]))
			continue;
		else if (!t->rows[i].is_server)
			add_command(all, &t->rows[i]);
		else if (add_server(t, i, all, err) < 0)
			return NULL;
	return t->list = TAKE_PTR(all);
}

struct tools *tools_open(const struct tools_options *options)
{
	struct tools *t = mem_alloc(sizeof(*t));

	*t = (struct tools){ .rows = mem_array(NULL, options->count, sizeof(*t->rows)),
			     .servers = mem_array(NULL, options->count, sizeof(*t->servers)),
			     .count = options->count,
			     .cancel_fd = options->cancel_fd };
	t->ops = (struct tool_ops){ list, action, call, NULL, t, options->calls, options->bytes };
	for (size_t i = 0; i < options->count; i++) {
		t->rows[i] = options->rows[i];
		t->servers[i] = (struct mcp_server){ .name = t->rows[i].name,
						     .command = t->rows[i].command,
						     .env = t->rows[i].env };
	}
	return t;
}

void tools_close(struct tools *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++)
		mcp_end(&t->servers[i]);
	free(t->servers);
	free(t->rows);
	json_free(t->list);
	free(t);
}

void tools_for(struct tools *t, const char *key)
{
	json_free(TAKE_PTR(t->list));
	t->key = key;
}

const struct tool_ops *tools_end(struct tools *t)
{
	return &t->ops;
}
