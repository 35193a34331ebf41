/*
 * One value of the settings: where it stands (flag, variable, profile, file, default), and its text
 * as a number, a size, a time or a switch. What a value means to a run is settings.c's.
 */
#include "agent/cli/settings_value.h"

#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- where a value comes from --- */

#define VARIABLE_SIZE 64

static void name_variable(const char *name, char ret[VARIABLE_SIZE])
{
	size_t n = (size_t)snprintf(ret, VARIABLE_SIZE, "ASSAY_");

	for (; *name && n < VARIABLE_SIZE - 1; name++)
		ret[n++] = *name == '-' ? '_' : (char)toupper((unsigned char)*name);
	ret[n] = '\0';
}

const char *settings_environment(const char *name)
{
	char variable[VARIABLE_SIZE];

	name_variable(name, variable);
	return getenv(variable);
}

/* The section of the profile in use, or NULL. Caller frees. */
char *settings_profile_section(const struct settings *s)
{
	const char *use = settings_text(s, OPT_USE, NULL);

	return use ? mem_printf("profile %s", use) : NULL;
}

/* The line of the configuration that sets an option, the profile's before the rest; NULL: none. */
static const struct config_entry *configured(const struct settings *s, enum option_id id)
{
	const char *name = option_table[id].name;
	cleanup_free char *section = id == OPT_USE ? NULL : settings_profile_section(s);
	const struct config_entry *entry = section ? config_find(&s->config, section, name) : NULL;

	return entry ? entry : config_find(&s->config, "", name);
}

const char *settings_text(const struct settings *s, enum option_id id, const char **ret_origin)
{
	const struct option_row *row = &option_table[id];
	const struct option_values *given = &s->flags->given[id];
	const char *ignored;

	if (!ret_origin)
		ret_origin = &ignored;
	*ret_origin = "flag";
	if (given->count)
		return given->values[given->count - 1];
	if (row->flags & OPTION_NO_CONFIG) {
		*ret_origin = "default";
		return row->fallback;
	}
	*ret_origin = "environment";
	const char *text = settings_environment(row->name);
	if (text && *text)
		return text;
	*ret_origin = "configuration";
	const struct config_entry *entry = configured(s, id);
	if (entry)
		return entry->value;
	*ret_origin = "default";
	return row->fallback;
}

static void add_value(struct option_values *v, const char *value)
{
	v->values = mem_array(v->values, v->count + 1, sizeof(*v->values));
	v->values[v->count++] = value;
}

/* Every line of a section that has the option. */
static void add_lines(const struct settings *s, const char *section, const char *name,
		      struct option_values *ret)
{
	for (size_t i = 0; i < s->config.count; i++) {
		const struct config_entry *e = &s->config.entries[i];

		if (!strcmp(e->section, section) && !strcmp(e->name, name))
			add_value(ret, e->value);
	}
}

static bool is_off(const char *text)
{
	return !strcasecmp(text, "false") || !strcasecmp(text, "no") || !strcmp(text, "0");
}

/* Options that are read as given: from the first place that has them. */
void settings_fill_options(struct settings *s)
{
	cleanup_free char *section = settings_profile_section(s);

	s->options = mem_alloc(sizeof(*s->options));
	*s->options = *s->flags;
	for (size_t i = 0; i < OPT_COUNT; i++) {
		const struct option_row *row = &option_table[i];
		const struct option_values *given = &s->flags->given[i];
		struct option_values *v = &s->options->given[i];
		const char *text = settings_environment(row->name);

		*v = (struct option_values){ .count = 0 };
		for (size_t j = 0; j < given->count; j++)
			add_value(v, given->values[j]);
		if (given->count || !(row->flags & OPTION_CALL))
			continue;
		if (text && *text)
			add_value(v, text);
		else if (section)
			add_lines(s, section, row->name, v);
		if (!v->count)
			add_lines(s, "", row->name, v);
		if (v->count && !(row->flags & OPTION_REPEAT))
			v->values[0] = v->values[v->count - 1];
		if (v->count && !row->arg && is_off(v->values[0]))
			v->count = 0;
	}
}

void settings_free_options(struct options *o)
{
	for (size_t i = 0; o && i < OPT_COUNT; i++)
		free(o->given[i].values);
	free(o);
}

enum error_kind settings_place(const struct settings *s, enum option_id id, char **ret_place)
{
	const char *origin, *name = option_table[id].name;

	settings_text(s, id, &origin);
	if (!strcmp(origin, "flag")) {
		*ret_place = mem_printf("--%s", name);
		return ERR_USAGE;
	}
	const struct config_entry *line =
		!strcmp(origin, "configuration") ? configured(s, id) : NULL;
	if (line) {
		*ret_place = mem_printf("%s:%d: %s", s->config.path, line->line, name);
	} else {
		char variable[VARIABLE_SIZE];

		name_variable(name, variable);
		*ret_place = mem_strdup(variable);
	}
	return ERR_CONFIG;
}

int settings_bad(const struct settings *s, enum option_id id, const char *wanted, struct error *err)
{
	cleanup_free char *place = NULL;
	enum error_kind kind = settings_place(s, id, &place);

	return error_set(err, kind, "%s: \"%.100s\" is not %s", place, settings_text(s, id, NULL),
			 wanted);
}

/* --- types --- */

int settings_parse_ms(const char *text, int64_t *ret_ms)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !isfinite(value) || value < 0)
		return -1;
	double unit = 1000;
	if (!strcmp(end, "ms"))
		unit = 1;
	else if (!strcmp(end, "m"))
		unit = 60000;
	else if (!strcmp(end, "h"))
		unit = 3600000;
	else if (*end && strcmp(end, "s"))
		return -1;
	if (value * unit > 1e15)
		return -1;
	*ret_ms = (int64_t)llround(value * unit);
	return 0;
}

int settings_parse_bytes(const char *text, int64_t *ret_bytes)
{
	static const char units[] = "kmgt";
	char *end;
	double value = strtod(text, &end);

	if (end == text || !isfinite(value) || value < 0)
		return -1;
	const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	double factor = 1;
	if (unit) {
		factor = ldexp(1, 10 * (int)(unit - units + 1));
		end++;
		if (!strcasecmp(end, "ib") || !strcasecmp(end, "b"))
			end += strlen(end);
	}
	if (*end || value * factor > 1e15)
		return -1;
	*ret_bytes = (int64_t)(value * factor);
	return 0;
}

int settings_parse_count(const char *text, int64_t *ret)
{
	errno = 0;
	char *end;
	long long value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < 0)
		return -1;
	*ret = value;
	return 0;
}

const char settings_wanted_count[] = "a whole number, 1 or more";
const char settings_wanted_time[] = "a time (10, 1.5, 500ms, 2m) above zero";
const char settings_wanted_size[] = "a size (4096, 512K, 64M, 1G) above zero";

int settings_number(const struct settings *s, enum option_id id, number_parser *parse,
		    int64_t least, const char *wanted, int64_t *ret, struct error *err)
{
	const char *text = settings_text(s, id, NULL);

	if (!text)
		return 0;
	int64_t value;
	if (parse(text, &value) < 0 || value < least)
		return settings_bad(s, id, wanted, err);
	*ret = value;
	return 0;
}

int settings_switch(const struct settings *s, enum option_id id, bool *ret, struct error *err)
{
	const char *text = settings_text(s, id, NULL);

	if (!text || is_off(text))
		*ret = false;
	else if (!strcasecmp(text, "true") || !strcasecmp(text, "yes") || !strcmp(text, "1"))
		*ret = true;
	else
		return settings_bad(s, id, "true or false", err);
	return 0;
}

int settings_count(const struct settings *s, enum option_id id, int64_t *ret, struct error *err)
{
	return settings_number(s, id, settings_parse_count, 1, settings_wanted_count, ret, err);
}

int settings_amount(const struct settings *s, enum option_id id, int64_t *ret, struct error *err)
{
	return settings_number(s, id, settings_parse_count, 0, "a whole number, 0 or more", ret,
			       err);
}

int settings_bytes(const struct settings *s, enum option_id id, int64_t *ret, struct error *err)
{
	return settings_number(s, id, settings_parse_bytes, 1, settings_wanted_size, ret, err);
}
