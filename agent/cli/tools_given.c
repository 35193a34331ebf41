/*
 * What the configuration names for programs to call (tools_given.h). It reads sections and values,
 * and starts nothing; without --tools it reads none of them.
 */
#include "agent/cli/tools_given.h"

#include "agent/cli/app.h"
#include "base/hash.h"
#include "base/mem.h"
#include "llm/split.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define CALLS	     100
#define BYTES	     ((int64_t)16 << 20)
#define TIMEOUT_MS   30000
#define NAME_LEN_MAX 64

struct reading {
	const struct settings *settings;
	struct tools_options options;
	struct tools_row *rows; /* owned */
	int64_t timeout_ms;	/* of all that say nothing else */
	struct error *err;
};

static int bad(const struct reading *r, const struct config_entry *e, const char *wanted)
{
	return error_set(r->err, ERR_CONFIG, "%s:%d: [%s] %s: %s", r->settings->config.path,
			 e->line, e->section, e->name, wanted);
}

/* --- sections --- */

static const char *after(const char *section, const char *word)
{
	size_t len = strlen(word);

	return strncmp(section, word, len) ? NULL : section + len;
}

static bool is_usable(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '-')
			return false;
	return len > 0 && len <= NAME_LEN_MAX;
}

/* The row of its section, a new one where it has none. NULL: a name that cannot be. */
static struct tools_row *row_of(struct reading *r, const struct config_entry *e)
{
	const char *server = after(e->section, "server ");
	const char *name = server ? server : after(e->section, "tool ");
	size_t i;

	for (i = 0; i < r->options.count; i++)
		if (!strcmp(r->rows[i].name, name) && r->rows[i].is_server == !!server)
			return &r->rows[i];
	for (i = 0; i < r->options.count; i++)
		if (!strcmp(r->rows[i].name, name)) {
			bad(r, e, "there is a tool and a server of that name");
			return NULL;
		}
	if (!is_usable(name)) {
		bad(r, e, "a name has letters, digits, _ and -, 64 at most");
		return NULL;
	}
	r->rows = mem_array(r->rows, i + 1, sizeof(*r->rows));
	r->rows[i] =
		(struct tools_row){ .name = name, .is_server = server, .action = SCREEN_CONFIRM };
	r->options.count++;
	return &r->rows[i];
}

/* --- values --- */

static int take_command(struct reading *r, struct tools_row *row, const struct config_entry *e)
{
	char **argv = split_command(e->value, r->err);
	bool elsewhere = argv && *argv[0] != '/' && strchr(argv[0], '/');

	if (!argv)
		return bad(r, e, "a program and its arguments, quoted as a shell has them");
	split_free(argv);
	/* Another program in each folder, and whose folder that is nobody says. */
	if (elsewhere)
		return bad(r, e, "a program by its name, which PATH finds, or by a path from / on");
	row->command = e->value;
	return 0;
}

static int take_action(struct reading *r, struct tools_row *row, const struct config_entry *e)
{
	static const enum screen_action actions[] = { SCREEN_ALLOW, SCREEN_CONFIRM, SCREEN_DENY };

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (!strcmp(e->value, screen_action_name(actions[i]))) {
			row->action = actions[i];
			return 0;
		}
	return bad(r, e, "allow, confirm or deny");
}

static int take_arguments(struct reading *r, struct tools_row *row, const struct config_entry *e)
{
	struct error why = ERROR_INIT;
	cleanup_json struct json *schema = json_parse(e->value, strlen(e->value), 0, &why);

	if (json_type(schema) != JSON_OBJECT)
		return bad(r, e, "the JSON Schema of an object, on one line");
	row->arguments = e->value;
	return 0;
}

static int take_time(struct reading *r, int64_t *ret, const struct config_entry *e)
{
	return settings_parse_ms(e->value, ret) == 0 && *ret > 0 ? 0 :
								   bad(r, e, settings_wanted_time);
}

static int take_number(struct reading *r, int64_t *ret, number_parser *parse,
		       const struct config_entry *e, const char *wanted)
{
	return parse(e->value, ret) == 0 && *ret > 0 ? 0 : bad(r, e, wanted);
}

static int take_text(const char **ret, const struct config_entry *e)
{
	*ret = e->value;
	return 0;
}

/* What both have, then what one of the two has. */
static int take(struct reading *r, struct tools_row *row, const struct config_entry *e)
{
	const char *key = e->name;

	if (!strcmp(key, "command"))
		return take_command(r, row, e);
	if (!strcmp(key, "timeout"))
		return take_time(r, &row->timeout_ms, e);
	if (!strcmp(key, "env"))
		return take_text(&row->env, e);
	if (!strcmp(key, "keys"))
		return take_text(&row->keys, e);
	if (row->is_server && !strcmp(key, "allow"))
		return take_text(&row->allow, e);
	if (row->is_server && !strcmp(key, "confirm"))
		return take_text(&row->confirm, e);
	if (row->is_server && !strcmp(key, "deny"))
		return take_text(&row->deny, e);
	if (!row->is_server && !strcmp(key, "description"))
		return take_text(&row->description, e);
	if (!row->is_server && !strcmp(key, "arguments"))
		return take_arguments(r, row, e);
	if (!row->is_server && !strcmp(key, "action"))
		return take_action(r, row, e);
	return bad(r, e,
		   row->is_server ?
			   "unknown; known: command, allow, confirm, deny, env, keys, timeout" :
			   "unknown; known: command, description, arguments, action, env, "
			   "keys, timeout");
}

static int take_common(struct reading *r, const struct config_entry *e)
{
	if (!strcmp(e->name, "calls"))
		return take_number(r, &r->options.calls, settings_parse_count, e,
				   settings_wanted_count);
	if (!strcmp(e->name, "bytes"))
		return take_number(r, &r->options.bytes, settings_parse_bytes, e,
				   settings_wanted_size);
	if (!strcmp(e->name, "timeout"))
		return take_time(r, &r->timeout_ms, e);
	return bad(r, e, "unknown; known: calls, bytes, timeout");
}

static bool is_ours(const struct config_entry *e)
{
	return !strcmp(e->section, "tools") || after(e->section, "tool ") ||
	       after(e->section, "server ");
}

/* One of two would hold, and which nobody should have to know. */
static int check_once(struct reading *r, const struct config_entry *e)
{
	const struct config_entry *before = r->settings->config.entries;

	while (before < e && (strcmp(before->section, e->section) || strcmp(before->name, e->name)))
		before++;
	if (before == e)
		return 0;
	cleanup_free char *wanted =
		mem_printf("said on line %d already: once is enough", before->line);
	return bad(r, e, wanted);
}

static int take_entry(struct reading *r, const struct config_entry *e)
{

	if (!is_ours(e))
		return 0;
	if (check_once(r, e) < 0)
		return -1;
	if (!strcmp(e->section, "tools"))
		return take_common(r, e);
	struct tools_row *row = row_of(r, e);
	return row ? take(r, row, e) : -1;
}

/* The line of the first that is said of it. */
static int line_of(const struct reading *r, const struct tools_row *row)
{
	for (size_t i = 0; i < r->settings->config.count; i++) {
		const struct config_entry *e = &r->settings->config.entries[i];
		const char *name = after(e->section, row->is_server ? "server " : "tool ");

		if (name && !strcmp(name, row->name))
			return e->line;
	}
	return 0;
}

static int check(struct reading *r)
{
	const char *path = r->settings->config.path;

	if (!r->options.count)
		return error_set(r->err, ERR_CONFIG,
				 "--tools: %s names none; it would be [tool NAME] or [server NAME] "
				 "there, with command = PROGRAM ARG...",
				 path ? path : "no configuration");
	for (size_t i = 0; i < r->options.count; i++) {
		struct tools_row *row = &r->rows[i];

		if (!row->command)
			return error_set(r->err, ERR_CONFIG, "%s:%d: [%s %s] has no command", path,
					 line_of(r, row), row->is_server ? "server" : "tool",
					 row->name);
		row->timeout_ms = row->timeout_ms ? row->timeout_ms : r->timeout_ms;
	}
	return 0;
}

int tools_read(const struct settings *settings, struct tools **ret, struct error *err)
{
	struct reading r = { .settings = settings,
			     .options = { .calls = CALLS,
					  .bytes = BYTES,
					  .cancel_fd = settings->app->cancel_fd },
			     .timeout_ms = TIMEOUT_MS,
			     .err = err };

	*ret = NULL;
	int rc = 0;
	for (size_t i = 0; i < settings->config.count && rc == 0; i++)
		rc = take_entry(&r, &settings->config.entries[i]);
	if (rc == 0)
		rc = check(&r);
	r.options.rows = r.rows;
	if (rc == 0)
		*ret = tools_open(&r.options);
	free(r.rows);
	return rc;
}

int tools_given(const struct settings *settings, struct tools **ret, struct error *err)
{
	bool wanted = false;

	*ret = NULL;
	if (settings_switch(settings, OPT_TOOLS, &wanted, err) < 0)
		return -1;
	return wanted ? tools_read(settings, ret, err) : 0;
}

int tools_hash(const struct settings *settings, struct hash *hash, struct error *err)
{
	bool wanted = false;

	if (settings_switch(settings, OPT_TOOLS, &wanted, err) < 0)
		return -1;
	for (size_t i = 0; wanted && i < settings->config.count; i++) {
		const struct config_entry *e = &settings->config.entries[i];

		if (!is_ours(e))
			continue;
		cleanup_free char *line = mem_printf("[%s] %s = %s", e->section, e->name, e->value);
		hash_add(hash, line, strlen(line) + 1);
	}
	return 0;
}
