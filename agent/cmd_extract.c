/* assay extract: the code in a model's reply. */
#include "agent/command.h"

#include "agent/term.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/extract.h"

#include <string.h>
#include <unistd.h>

#define REPLY_BYTES_MAX ((size_t)64 << 20)

static int print_json(const struct extraction *x, struct error *err)
{
	cleanup_json struct json *object = extraction_json(x);
	cleanup_free char *text = json_print(object);

	return term_outf(err, "%s\n", text);
}

static int print_code(const struct settings *settings, const struct code_block *b,
		      struct error *err)
{
	if (settings->color_out || isatty(STDOUT_FILENO))
		return term_out_code(b->run_as ? b->run_as : b->lang, b->code, b->code_len, err);
	return term_out(b->code, b->code_len, err);
}

/* Why nothing, or something else than expected, would run. */
static void explain(const struct extraction *x)
{
	cleanup_buf struct buf text = BUF_INIT(1 << 20);
	size_t i;

	term_note(x->status == EXTRACT_OK ? TERM_GREEN : TERM_YELLOW, "%s",
		  extract_status_name(x->status));
	term_note(TERM_DIM, ": %zu block%s\n", x->count, x->count == 1 ? "" : "s");
	for (i = 0; i < x->count; i++) {
		const struct code_block *b = &x->blocks[i];

		buf_clear(&text);
		utf8_visible(&text, b->lang, strlen(b->lang));
		buf_addf(&text, "%s: %s", text.len ? "" : "(no language)",
			 b->chosen ? "chosen, " : "");
		if (b->why)	/* quotes the reply */
			utf8_visible(&text, b->why, strlen(b->why));
		term_note(TERM_DIM, "  lines %zu-%zu %s\n", b->start_line, b->end_line, text.data);
	}
}

int cmd_extract(const struct settings *settings, struct error *err)
{
	struct extract_options options = { .want_lang = settings->lang };
	cleanup_buf struct buf reply = BUF_INIT(REPLY_BYTES_MAX);
	cleanup_extraction struct extraction x = { .count = 0 };
	const struct code_block *chosen;

	if (command_read_argument(settings, &reply, err) < 0 ||
	    extract_code(reply.data, reply.len, &options, &x, err) < 0)
		return exit_code_of_error(err);
	chosen = extraction_chosen(&x);
	if (settings->json) {
		if (print_json(&x, err) < 0)
			return exit_code_of_error(err);
	} else {
		explain(&x);
		if (chosen && print_code(settings, chosen, err) < 0)
			return exit_code_of_error(err);
	}
	return x.status == EXTRACT_OK ? EXIT_OK : EXIT_FAILED;
}
