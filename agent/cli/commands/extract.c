/*
 * assay extract: the code in a model's reply, on stdout, as it would run. Nothing of it runs, and
 * no model is asked.
 */
#include "agent/cli/command.h"

#include "agent/cli/terminal/term.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/reply/extract.h"

#include <string.h>
#include <unistd.h>

#define REPLY_BYTES_MAX ((size_t)64 << 20)

static int print_json(struct terminal *term, const struct extraction *x, struct error *err)
{
	cleanup_json struct json *object = extraction_json(x);
	cleanup_free char *text = json_print(object);

	return term_out_json(term, text, err);
}

static int print_code(const struct settings *settings, const struct program *p, struct error *err)
{
	if (settings->color_out || isatty(STDOUT_FILENO))
		return term_out_code(&settings->app->terminal, p->lang ? p->lang : "", p->code,
				     p->code_len, err);
	return term_out(&settings->app->terminal, p->code, p->code_len, err);
}

/* Why nothing, or something else than expected, would run. */
static void explain(struct terminal *term, const struct extraction *x)
{
	cleanup_buf struct buf text = BUF_INIT(1 << 20);

	term_note(term, x->status == EXTRACT_OK ? TERM_GREEN : TERM_YELLOW, "%s",
		  extract_status_name(x->status));
	term_note(term, TERM_DIM, ": %zu block%s\n", x->count, x->count == 1 ? "" : "s");
	for (size_t i = 0; i < x->count; i++) {
		const struct code_block *b = &x->blocks[i];

		buf_clear(&text);
		utf8_visible(&text, b->lang, strlen(b->lang));
		buf_addf(&text, "%s: %s", text.len ? "" : "(no language)",
			 b->chosen ? "chosen, " : "");
		if (b->why) /* quotes the reply */
			utf8_visible(&text, b->why, strlen(b->why));
		term_note(term, TERM_DIM, "  lines %zu-%zu %s\n", b->start_line, b->end_line,
			  text.data);
	}
}

int cmd_extract(const struct settings *settings, struct error *err)
{
	struct extract_options options = { .want_lang = settings->policy.lang };
	cleanup_buf struct buf reply = BUF_INIT(REPLY_BYTES_MAX);
	cleanup_extraction struct extraction x = { .count = 0 };

	if (command_read_argument(settings, &reply, err) < 0 ||
	    extract_code(reply.data, reply.len, &options, &x, err) < 0)
		return exit_code_of_error(err);
	if (settings->json) {
		if (print_json(&settings->app->terminal, &x, err) < 0)
			return exit_code_of_error(err);
	} else {
		explain(&settings->app->terminal, &x);
		if (x.program.code && print_code(settings, &x.program, err) < 0)
			return exit_code_of_error(err);
	}
	/* What ask would run is found, be its fence closed or not. */
	return x.status == EXTRACT_OK || x.status == EXTRACT_UNCLOSED ? EXIT_OK : EXIT_FAILED;
}
