/*
 * What the lines of a notebook are in a cell of exec's (notebook_lines.h). A line stays one line,
 * names that it needs begin with "_" and so are none of the state's, and what cannot be had in a
 * sandbox is refused before anything runs.
 */
#include "agent/cli/notebook_lines.h"

#include "agent/cli/notebook_installs.h"
#include "agent/notebook.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SHELL "/bin/bash"

/* How magics are had; one that is not here is refused by its name. */
enum magic {
	MAGIC_UNKNOWN,
	MAGIC_NOTHING, /* of a display that is not here */
	MAGIC_TIME,
	MAGIC_COMMAND, /* the shell has one of that name */
	MAGIC_CD,
	MAGIC_ENV,
	MAGIC_INSTALL,
	MAGIC_REPEAT,
};

static const struct {
	const char *word;
	enum magic magic;
} magics[] = {
	{ "matplotlib", MAGIC_NOTHING },
	{ "config", MAGIC_NOTHING },
	{ "load_ext", MAGIC_NOTHING },
	{ "autoreload", MAGIC_NOTHING },
	{ "time", MAGIC_TIME },
	{ "%time", MAGIC_TIME },
	{ "timeit", MAGIC_REPEAT },
	{ "%timeit", MAGIC_REPEAT },
	{ "pip", MAGIC_INSTALL },
	{ "conda", MAGIC_INSTALL },
	{ "mamba", MAGIC_INSTALL },
	{ "uv", MAGIC_INSTALL },
	{ "cd", MAGIC_CD },
	{ "env", MAGIC_ENV },
	{ "set_env", MAGIC_ENV },
	{ "cat", MAGIC_COMMAND },
	{ "cp", MAGIC_COMMAND },
	{ "ls", MAGIC_COMMAND },
	{ "mkdir", MAGIC_COMMAND },
	{ "mv", MAGIC_COMMAND },
	{ "pwd", MAGIC_COMMAND },
	{ "rm", MAGIC_COMMAND },
	{ "rmdir", MAGIC_COMMAND },
};

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !strncmp(text, word, len);
}

static enum magic find_magic(const struct notebook_line *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if (is_word(line->word, line->word_len, magics[i].word))
			return magics[i].magic;
	return MAGIC_UNKNOWN;
}

static int refuse_install(size_t number, struct error *err)
{
	return error_set(err, ERR_USAGE,
			 "line %zu: nothing can be installed, since there is no network: leave the "
			 "line out, and name an environment that has the package (--python PATH)",
			 number);
}

/* --- commands --- */

/* "{name}" at at: its end; NULL: that is the shell's. */
static const char *value_end(const char *text, const char *at, const char *end)
{
	if (*at != '{' || (at > text && at[-1] == '$') || at + 1 == end ||
	    !(isalpha((unsigned char)at[1]) || at[1] == '_'))
		return NULL;
	for (at++; at < end; at++)
		if (!isalnum((unsigned char)*at) && *at != '_' && *at != '.')
			break;
	return at < end && *at == '}' ? at + 1 : NULL;
}

/* The text as the language has it, with values of names in it. */
static void add_text(struct buf *out, const char *text, size_t len)
{
	const char *from = text, *end = text + len;

	for (const char *at = text; at < end; at++) {
		const char *behind = value_end(text, at, end);

		if (!behind)
			continue;
		notebook_quote(out, from, (size_t)(at - from));
		buf_addf(out, " + str(%.*s) + ", (int)(behind - at) - 2, at + 1);
		from = behind;
		at = behind - 1;
	}
	notebook_quote(out, from, (size_t)(end - from));
}

/* What was printed before it comes before what it prints. */
static void add_begin(struct buf *out)
{
	buf_addstr(out, "import subprocess as _subprocess, sys as _sys; _sys.stdout.flush(); ");
}

static void add_command(struct buf *out, const char *text, size_t len)
{
	add_begin(out);
	buf_addstr(out, "_exit_code = _subprocess.call(['" SHELL "', '-c', ");
	add_text(out, text, len);
	buf_addstr(out, "])");
}

/* It is the right side of an assignment, before which nothing can stand. */
static void add_capture(struct buf *out, const char *text, size_t len)
{
	buf_addstr(out, "__import__('subprocess').run(['" SHELL "', '-c', ");
	add_text(out, text, len);
	buf_addstr(out, "], stdout=-1, text=True).stdout.splitlines()");
}

/* The first line of a script that installs something, by its number in the cell; 0: none does. */
static size_t find_install(const struct notebook_line *script)
{
	const char *found = notebook_installs(script->text, script->len);
	size_t number = script->number + 1;

	for (const char *at = script->text; found && at < found; at++)
		number += *at == '\n';
	return found ? number : 0;
}

/* One that fails fails the cell, as in a notebook. */
static int add_script(struct buf *out, const struct notebook_line *line, struct error *err)
{
	if (line->word_len)
		return error_set(err, ERR_USAGE,
				 "line %zu: \"%.*s\" after the first word is not known here; the "
				 "cell is given to " SHELL " as it is",
				 line->number, (int)(line->word_len < 60 ? line->word_len : 60),
				 line->word);
	size_t number = find_install(line);
	if (number)
		return refuse_install(number, err);
	add_begin(out);
	buf_addstr(out, "_exit_code = _subprocess.check_call(['" SHELL "', '-c', ");
	notebook_quote(out, line->text, line->len);
	buf_addstr(out, "])");
	return 0;
}

/* --- magics --- */

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && strchr(" \t\r", *at))
		at++;
	return at;
}

static void add_cd(struct buf *out, const char *text, const char *end)
{
	buf_addstr(out, "import os as _os; _os.chdir(_os.path.expanduser(");
	if (text == end)
		notebook_quote(out, "~", 1);
	else
		add_text(out, text, (size_t)(end - text));
	buf_addstr(out, "))");
}

/* %env NAME=VALUE, or NAME VALUE. */
static int add_env(const struct notebook_line *line, const char *text, const char *end,
		   struct buf *out, struct error *err)
{
	const char *at = text;

	while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
		at++;
	if (at == text || at == end || !strchr("= ", *at))
		return error_set(err, ERR_USAGE, "line %zu: %%%.*s: NAME=VALUE expected",
				 line->number, (int)line->word_len, line->word);
	buf_addstr(out, "import os as _os; _os.environ[");
	notebook_quote(out, text, (size_t)(at - text));
	buf_addstr(out, "] = ");
	at = skip_blanks(at + 1, end);
	add_text(out, at, (size_t)(end - at));
	return 0;
}

static int refuse_magic(const struct notebook_line *line, enum magic magic, struct error *err)
{
	int len = (int)(line->word_len < 60 ? line->word_len : 60);

	if (magic == MAGIC_REPEAT)
		return error_set(err, ERR_USAGE,
				 "line %zu: %%%.*s runs a line many times and prints another time "
				 "each time: use %%time, which is told beside the output",
				 line->number, len, line->word);
	return error_set(
		err, ERR_USAGE,
		"line %zu: the magic %%%.*s is not known here: leave the line out, or write "
		"what it does",
		line->number, len, line->word);
}

static int add_magic(const struct notebook_line *line, bool *timed, struct buf *out,
		     struct error *err)
{
	const char *end = line->text + line->len, *text = skip_blanks(line->text, end);
	enum magic magic = find_magic(line);

	while (end > text && strchr(" \t\r", end[-1]))
		end--;
	switch (magic) {
	case MAGIC_NOTHING:
		buf_addstr(out, "pass");
		return 0;
	case MAGIC_TIME:
		*timed = true;
		if (*line->word == '%' || text == end)
			buf_addstr(out, "pass");
		else
			buf_add(out, text, (size_t)(end - text));
		return 0;
	case MAGIC_COMMAND:
		if (notebook_installs(line->text, line->len))
			return refuse_install(line->number, err);
		add_command(out, line->word, line->word_len + line->len);
		return 0;
	case MAGIC_CD:
		add_cd(out, text, end);
		return 0;
	case MAGIC_ENV:
		return add_env(line, text, end, out, err);
	case MAGIC_INSTALL:
		return refuse_install(line->number, err);
	case MAGIC_UNKNOWN:
	case MAGIC_REPEAT:
		break;
	}
	return refuse_magic(line, magic, err);
}

/* --- a file --- */

static void add_file(struct buf *out, const struct notebook_line *line)
{
	bool adds = line->word_len > 3 && !strncmp(line->word, "-a ", 3);
	const char *path = line->word + (adds ? 3 : 0);

	buf_addstr(out, "open(");
	notebook_quote(out, path, line->word_len - (adds ? 3 : 0));
	buf_addstr(out, adds ? ", 'a').write(" : ", 'w').write(");
	notebook_quote(out, line->text, line->len);
	buf_addstr(out, ")");
}

static int write_line(void *self, const struct notebook_line *line, struct buf *out,
		      struct error *err)
{
	bool *timed = self;

	switch (line->kind) {
	case NOTEBOOK_COMMAND:
	case NOTEBOOK_CAPTURE:
		if (notebook_installs(line->text, line->len))
			return refuse_install(line->number, err);
		if (line->kind == NOTEBOOK_COMMAND)
			add_command(out, line->text, line->len);
		else
			add_capture(out, line->text, line->len);
		break;
	case NOTEBOOK_MAGIC:
		return add_magic(line, timed, out, err);
	case NOTEBOOK_HELP:
		buf_addf(out,
			 "import pydoc as _pydoc; print(_pydoc.render_doc(%.*s, "
			 "renderer=_pydoc.plaintext))",
			 (int)line->len, line->text);
		break;
	case NOTEBOOK_SCRIPT:
		return add_script(out, line, err);
	case NOTEBOOK_FILE:
		add_file(out, line);
		break;
	}
	return 0;
}

int notebook_lines(const char *code, char **ret, bool *ret_timed, struct error *err)
{
	*ret_timed = false;
	return notebook_cell(code, write_line, ret_timed, ret, err);
}
