/* assay config: the settings in force and where each comes from. */
#include "agent/command.h"

#include "agent/term.h"
#include "base/mem.h"

#include <string.h>

static int print_path(const struct settings *settings, struct error *err)
{
	if (!settings->config.path)
		return error_set(err, ERR_CONFIG,
				 "the configuration has no place: HOME is not set");
	return term_outf(err, "%s\n", settings->config.path);
}

static bool shown(const struct option_row *row)
{
	return !(row->flags & OPTION_NO_CONFIG);
}

static int print_json(const struct settings *settings, struct error *err)
{
	cleanup_json struct json *object = json_object();
	cleanup_free char *text = NULL;
	struct json *array = json_array();
	size_t i;

	json_set_string(object, "path", settings->config.path);
	json_set_bool(object, "found", settings->config.found);
	for (i = 0; i < OPT_COUNT; i++) {
		struct json *one;
		const char *origin, *value;

		if (!shown(&option_table[i]))
			continue;
		one = json_object();
		value = settings_text(settings, (enum option_id)i, &origin);
		json_set_string(one, "name", option_table[i].name);
		json_set_string(one, "value", value);
		json_set_string(one, "origin", origin);
		json_append(array, one);
	}
	json_set(object, "settings", array);
	text = json_print(object);
	return term_outf(err, "%s\n", text);
}

static int print_table(const struct settings *settings, struct error *err)
{
	size_t i;

	if (settings->config.path)
		term_note(TERM_DIM, "# %s%s\n", settings->config.path,
			  settings->config.found ? "" : " (not there)");
	for (i = 0; i < OPT_COUNT; i++) {
		const char *origin, *value;

		if (!shown(&option_table[i]))
			continue;
		value = settings_text(settings, (enum option_id)i, &origin);
		if (!value)
			continue;
		if (term_outf(err, "%-18s = %-20s ", option_table[i].name, value) < 0 ||
		    term_out_style(strcmp(origin, "default") ? TERM_CYAN : TERM_DIM, err, "; %s\n",
				   origin) < 0)
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
