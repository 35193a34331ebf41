/*
 * What the lines of a notebook (agent/notebook.h) are in a context of this wire: calls of what its
 * first cell has for them (begin.py). What they give to the shell is screened as its programs are.
 */
#include "agent/doors/e2b/e2b.h"

#include "agent/notebook.h"

#include <stdlib.h>
#include <string.h>

#define COMMANDS_MAX ((size_t)32 << 20)

static void add_call(struct buf *out, const char *method, const char *text, size_t len)
{
	buf_addf(out, "get_ipython().%s(", method);
	notebook_quote(out, text, len);
	buf_addch(out, ')');
}

static void add_command(struct buf *commands, const char *text, size_t len)
{
	buf_add(commands, text, len);
	buf_add(commands, "\n", 2); /* with the zero behind it */
}

static bool is_word(const struct notebook_line *line, const char *word)
{
	return line->word_len == strlen(word) && !strncmp(line->word, word, line->word_len);
}

static size_t first_word(const struct notebook_line *line)
{
	size_t len = 0;

	while (len < line->word_len && !strchr(" \t", line->word[len]))
		len++;
	return len;
}

/* What is timed stays a statement, which is screened as any. */
static void write_magic(const struct notebook_line *line, struct buf *out, struct buf *commands)
{
	if (is_word(line, "time") || is_word(line, "%time")) {
		buf_addstr(out, "get_ipython().time()");
		if (*line->word != '%' && line->len) {
			buf_addch(out, ';');
			buf_add(out, line->text, line->len);
		}
		return;
	}
	buf_addstr(out, "get_ipython().run_line_magic(");
	notebook_quote(out, line->word, line->word_len);
	buf_addstr(out, ", ");
	notebook_quote(out, line->text, line->len);
	buf_addch(out, ')');
	/* a shell's (begin.py, run_line_magic) */
	if (is_word(line, "pip") || is_word(line, "conda"))
		add_command(commands, line->word, line->word_len + line->len);
}

static int write_line(void *self, const struct notebook_line *line, struct buf *out,
		      struct error *err)
{
	struct buf *commands = self;

	(void)err;
	switch (line->kind) {
	case NOTEBOOK_COMMAND:
	case NOTEBOOK_CAPTURE:
	case NOTEBOOK_SCRIPT:
		add_call(out, line->kind == NOTEBOOK_CAPTURE ? "getoutput" : "system", line->text,
			 line->len);
		add_command(commands, line->text, line->len);
		break;
	case NOTEBOOK_MAGIC:
		write_magic(line, out, commands);
		break;
	case NOTEBOOK_HELP:
		buf_addstr(out, "help(");
		buf_add(out, line->text, line->len);
		buf_addch(out, ')');
		break;
	case NOTEBOOK_FILE:
		buf_addstr(out, "get_ipython().write_file(");
		notebook_quote(out, line->word, first_word(line));
		buf_addstr(out, ", ");
		notebook_quote(out, line->text, line->len);
		buf_addch(out, ')');
		break;
	}
	return 0;
}

char *e2b_cell(const char *given, char **ret_commands)
{
	struct buf commands = BUF_INIT(COMMANDS_MAX);
	struct error none = ERROR_INIT;
	char *code;

	notebook_cell(given, write_line, &commands, &code, &none);
	*ret_commands = commands.len ? buf_take(&commands, NULL) : NULL;
	buf_release(&commands);
	return code;
}
