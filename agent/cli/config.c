/*
 * The configuration file: sections, keys and values with their lines, checked against the
 * options. It interprets no value; a key that is unknown is an error with the nearest known one.
 */
#include "agent/cli/config.h"

#include "agent/cli/option.h"
#include "base/io.h"
#include "base/mem.h"

#include <ini.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_BYTES_MAX ((size_t)1 << 20)

/* Read in agent/cli/tools_given.c. */
static bool is_of_tools(const char *section)
{
	return !strcmp(section, "tools") || !strncmp(section, "tool ", 5) ||
	       !strncmp(section, "server ", 7);
}

/* Sections whose keys are the user's own words, not options. */
static bool is_free_section(const char *section)
{
	return !strcmp(section, "prices") || !strcmp(section, "keys") ||
	       !strncmp(section, "provider ", 9) || /* read in agent/cli/vendor.c */
	       is_of_tools(section);
}

static const char *nearest_key(const char *name)
{
	const char *names[OPT_COUNT];
	size_t n = 0;

	for (size_t i = 0; i < OPT_COUNT; i++)
		if (!(option_table[i].flags & OPTION_NO_CONFIG))
			names[n++] = option_table[i].name;
	return option_nearest(name, names, n);
}

static bool is_option(const char *name)
{
	for (size_t i = 0; i < OPT_COUNT; i++)
		if (!strcmp(option_table[i].name, name))
			return !(option_table[i].flags & OPTION_NO_CONFIG);
	return false;
}

struct load {
	struct config *config;
	const char *rest; /* of the text, not yet read */
	int line;
	const char *raw; /* the line that inih has, whole */
	size_t raw_len;
	struct error *err;
};

/* Gives inih one line, as fgets does; counts them, since Debian's inih is
 * built without line numbers for its handler. */
static char *next_line(char *line, int size, void *stream)
{
	struct load *load = stream;
	size_t len = strcspn(load->rest, "\n"), room = (size_t)size - 1;

	if (!*load->rest)
		return NULL;
	len += load->rest[len] == '\n';
	if (len > room) { /* inih cuts at its own line limit; say so instead */
		error_set(load->err, ERR_CONFIG, "%s:%d: line longer than %d bytes",
			  load->config->path, load->line + 1, size - 1);
		return NULL;
	}
	load->raw = load->rest;
	load->raw_len = len;
	memcpy(line, load->rest, len);
	line[len] = '\0';
	load->rest += len;
	load->line++;
	return line;
}

/*
 * A value to the end of its line: inih ends every one at " ;", where a comment begins, but that
 * may stand in a regular expression, of which half is not what was meant. Caller frees.
 */
static char *whole_value(const struct load *load, const char *value)
{
	const char *end = load->raw + load->raw_len;
	const char *p = memmem(load->raw, load->raw_len, value, strlen(value));
	const char *sign = load->raw + strcspn(load->raw, "=:\n");

	if (sign < end && (*sign == '=' || *sign == ':'))
		p = sign + 1 + strspn(sign + 1, " \t");
	if (!p || (size_t)(end - p) < strlen(value) || memcmp(p, value, strlen(value)))
		return mem_strdup(value);
	while (end > p && strchr(" \t\r\n", end[-1]))
		end--;
	return mem_strndup(p, (size_t)(end - p));
}

static int on_entry(void *user, const char *section, const char *name, const char *value)
{
	struct load *load = user;
	struct config *c = load->config;
	int line = load->line;

	if (*load->err->message)
		return 0;

	if (*section && strncmp(section, "profile ", 8) && !is_free_section(section)) {
		error_set(load->err, ERR_CONFIG,
			  "%s:%d: unknown section [%s]; known: [profile NAME], [provider NAME], "
			  "[prices], [keys], [tools], [tool NAME], [server NAME]",
			  c->path, line, section);
		return 0;
	}
	if (!is_free_section(section) && !is_option(name)) {
		const char *near = nearest_key(name);
		error_set(load->err, ERR_CONFIG, "%s:%d: unknown key \"%s\"%s%s%s", c->path, line,
			  name, near ? "; did you mean \"" : "", near ? near : "",
			  near ? "\"?" : "");
		return 0;
	}
	c->entries = mem_array(c->entries, c->count + 1, sizeof(*c->entries));
	c->entries[c->count++] =
		(struct config_entry){ mem_strdup(section), mem_strdup(name),
				       strcmp(name, "redact") && !is_of_tools(section) ?
					       mem_strdup(value) :
					       whole_value(load, value),
				       line };
	return 1;
}

static char *default_path(void)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (base && *base == '/')
		return mem_printf("%s/assay/config.ini", base);
	return home && *home ? mem_printf("%s/.config/assay/config.ini", home) : NULL;
}

int config_load(struct config *ret, const char *path, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(CONFIG_BYTES_MAX);
	struct config c = { .path = path ? mem_strdup(path) : default_path() };
	struct load load = { .config = &c, .err = err };

	if (!c.path) {
		*ret = c;
		return 0;
	}
	error_clear(err);
	int rc = io_read_file(c.path, &text, err);
	if (rc < 0 && !path &&
	    (err->errnum == ENOENT || err->errnum == ENOTDIR)) { /* nobody has to have one */
		error_clear(err);
		*ret = c;
		return 0;
	}
	if (rc < 0) {
		err->kind = ERR_CONFIG;
		config_release(&c);
		return -1;
	}
	load.rest = text.data;
	rc = ini_parse_stream(next_line, &load, on_entry, &load);
	if (rc && !*err->message)
		error_set(err, ERR_CONFIG, "%s:%d: neither \"[section]\" nor \"key = value\"",
			  c.path, rc);
	if (rc || *err->message) {
		config_release(&c);
		return -1;
	}
	c.found = true;
	*ret = c;
	return 0;
}

void config_release(struct config *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->entries[i].section);
		free(c->entries[i].name);
		free(c->entries[i].value);
	}
	free(c->entries);
	free(c->path);
	*c = (struct config){ .path = NULL };
}

const struct config_entry *config_find(const struct config *c, const char *section,
				       const char *name)
{
	const struct config_entry *found = NULL;

	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->entries[i].section, section) && !strcmp(c->entries[i].name, name))
			found = &c->entries[i];
	return found;
}
