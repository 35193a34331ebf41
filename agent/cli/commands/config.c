/*
 * assay config: the settings in force and where each comes from. It shows no key, only where one
 * would be found.
 */
#include "agent/cli/command.h"

#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <string.h>

static int print_path(const struct settings *settings, struct error *err)
{
	if (!settings->config.path)
		return error_set(err, ERR_CONFIG,
				 "the configuration has no place: HOME is not set");
	return term_outf(&settings->app->terminal, err, "%s\n", settings->config.path);
}

static bool shown(const struct option_row *row)
{
	return !(row->flags & OPTION_NO_CONFIG);
}

/* Of an option that may be repeated. */
static struct json *values_of(const struct settings *settings, size_t option)
{
	const struct option_values *given = &settings->options->given[option];
	struct json *array = json_array();

	for (size_t i = 0; i < given->count; i++)
		json_append(array, json_new_string(given->values[i]));
	return array;
}

static int print_json(const struct settings *settings, struct error *err)
{
	cleanup_json struct json *object = json_object();
	struct json *array = json_array();

	json_set_string(object, "path", settings->config.path);
	json_set_bool(object, "found", settings->config.found);
	for (size_t i = 0; i < OPT_COUNT; i++) {
		if (!shown(&option_table[i]))
			continue;
		struct json *one = json_object();
		const char *origin;
		const char *value = settings_text(settings, (enum option_id)i, &origin);
		json_set_string(one, "name", option_table[i].name);
		json_set_string(one, "value", value);
		if (option_table[i].flags & OPTION_REPEAT)
			json_set(one, "values", values_of(settings, i));
		json_set_string(one, "origin", origin);
		json_append(array, one);
	}
	json_set(object, "settings", array);
	cleanup_free char *text = json_print(object);
	return term_out_json(&settings->app->terminal, text, err);
}

static int print_row(struct terminal *term, const char *name, const char *value, const char *origin,
		     struct error *err)
{
	if (term_outf(term, err, "%-18s = %-20s ", name, value) < 0)
		return -1;
	return term_out_style(term, strcmp(origin, "default") ? TERM_CYAN : TERM_DIM, err, "; %s\n",
			      origin);
}

static int print_table(const struct settings *settings, struct error *err)
{
	struct terminal *term = &settings->app->terminal;

	if (settings->config.path)
		term_note(term, TERM_DIM, "# %s%s\n", settings->config.path,
			  settings->config.found ? "" : " (not there)");
	for (size_t i = 0; i < OPT_COUNT; i++) {
		const struct option_row *row = &option_table[i];
		const struct option_values *given = &settings->options->given[i];

		if (!shown(row))
			continue;
		const char *origin;
		const char *value = settings_text(settings, (enum option_id)i, &origin);
		/* One that may be repeated has a line for each, as in the file. */
		for (size_t j = 0; row->flags & OPTION_REPEAT && j + 1 < given->count; j++)
			if (print_row(term, row->name, given->values[j], origin, err) < 0)
				return -1;
		if (value && print_row(term, row->name, value, origin, err) < 0)
			return -1;
	}
	return 0;
}

int cmd_config(const struct settings *settings, struct error *err)
{
	const struct options *o = settings->options;
	bool path = o->arg_count == 1 && !strcmp(o->args[0], "path");

	if (o->arg_count && !path)
		error_set(err, ERR_USAGE, "config takes no argument but \"path\"");
	else if (path)
		print_path(settings, err);
	else if (settings->json)
		print_json(settings, err);
	else
		print_table(settings, err);
	return exit_code_of_error(err);
}
