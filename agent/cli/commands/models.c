/*
 * assay models: what the provider offers. The names are the server's, and shown as text from
 * outside. No model is asked anything.
 */
#include "agent/cli/command.h"

#include "agent/cli/provider.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <string.h>

static int print(const struct settings *settings, const struct json *models, struct error *err)
{
	struct terminal *term = &settings->app->terminal;

	if (settings->json) {
		cleanup_free char *text = json_print(models);
		return term_out_json(term, text, err);
	}
	for (const struct json *m = json_first(models); m; m = json_next(m)) {
		const char *id = json_get_string(m, "id"), *name = json_get_string(m, "name");

		if (term_outf(term, err, "%s", id ? id : "") < 0)
			return -1;
		if (id && name && strcmp(id, name) &&
		    term_out_style(term, TERM_DIM, err, "  %s", name) < 0)
			return -1;
		if (term_outf(term, err, "\n") < 0)
			return -1;
	}
	if (!json_count(models))
		term_note(term, TERM_YELLOW, "the server offers no model\n");
	return 0;
}

int cmd_models(const struct settings *settings, struct error *err)
{
	cleanup_json struct json *models = NULL;

	if (settings->options->arg_count)
		error_set(err, ERR_USAGE, "models takes no argument");
	else if (provider_models(settings, &models, err) == 0)
		print(settings, models, err);
	return exit_code_of_error(err);
}
