/*
 * assay screen: static screening of code; nothing of it runs but its language's own parser, in
 * the sandbox. The exit code is the verdict's.
 */
#include "agent/cli/command.h"

#include "agent/cli/source.h"
#include "agent/cli/terminal/term.h"
#include "base/buf.h"
#include "base/mem.h"
#include "verifier/screen/screen.h"

#define CODE_BYTES_MAX ((size_t)16 << 20)

static enum term_style style_of(enum screen_action action)
{
	return action == SCREEN_ALLOW ? TERM_GREEN : action == SCREEN_DENY ? TERM_RED : TERM_YELLOW;
}

static int print_json(struct terminal *term, const struct screening *s, struct error *err)
{
	cleanup_json struct json *object = screening_json(s);
	cleanup_free char *text = json_print(object);

	return term_out_json(term, text, err);
}

static int print_findings(const struct settings *settings, const struct screening *s,
			  struct error *err)
{
	const char *path = settings->options->args[0];
	struct terminal *term = &settings->app->terminal;

	if (term_out_style(term, style_of(s->verdict), err, "%s", screen_action_name(s->verdict)) <
		    0 ||
	    term_outf(term, err, " (%s, profile %s)\n", s->lang, screen_profile_name(s->profile)) <
		    0)
		return -1;
	if (s->syntax_message && term_outf(term, err, "%s:%zu:%zu: %s: %s\n", path, s->syntax_line,
					   s->syntax_column, s->syntax_type, s->syntax_message) < 0)
		return -1;
	for (size_t i = 0; i < s->count; i++) {
		const struct screen_finding *f = &s->findings[i];

		if (term_outf(term, err, "%s:%zu:%zu: ", path, f->line, f->column) < 0 ||
		    term_out_style(term, style_of(f->action), err, "%s",
				   f->approved ? "approved" : screen_action_name(f->action)) < 0 ||
		    term_outf(term, err, ": %s [%s]\n    %s\n", f->message, f->rule, f->excerpt) <
			    0)
			return -1;
	}
	return 0;
}

int cmd_screen(const struct settings *settings, struct error *err)
{
	cleanup_buf struct buf code = BUF_INIT(CODE_BYTES_MAX);
	const struct screen_options options = { .profile = settings->policy.screen_profile,
						.rules = settings->policy.rules,
						.allow = settings->policy.allow };
	cleanup_screening struct screening s = { .count = 0 };
	cleanup_sandbox struct sandbox *sandbox = NULL;

	if (command_read_argument(settings, &code, err) < 0)
		return exit_code_of_error(err);
	const struct language *language =
		source_language(settings, settings->options->args[0], code.data, code.len, err);
	if (!language ||
	    (screen_needs_sandbox(language->name, options.profile) &&
	     command_open_sandbox_of(&sandbox, &settings->policy, settings, 0, err) < 0) ||
	    screen_program(sandbox, settings->app->cancel_fd, language->name, code.data, code.len,
			   &options, &s, err) < 0)
		return exit_code_of_error(err);
	if ((settings->json ? print_json(&settings->app->terminal, &s, err) :
			      print_findings(settings, &s, err)) < 0)
		return exit_code_of_error(err);
	return s.verdict == SCREEN_CONFIRM || s.verdict == SCREEN_DENY ? EXIT_DENIED : EXIT_OK;
}
