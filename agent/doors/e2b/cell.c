/*
 * Lines of a shell in a cell of Python (!command, name = !command, %magic, %%bash), as notebooks
 * have them, written as the calls that they mean. Which lines are some is told from the text: those
 * that begin a statement. What is in a string, in brackets or goes on from the line before is left.
 * Nothing is run here.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define CELL_MAX ((size_t)32 << 20)

struct scan {
	char quote; /* of the string that goes on over lines; 0: none */
	int depth;  /* of brackets */
	bool joined;
};

/* Past a string that begins at at, or to the end of the line. */
static const char *skip_string(struct scan *s, const char *at, const char *end)
{
	char quote = *at;
	bool three = end - at >= 3 && at[1] == quote && at[2] == quote;

	for (at += three ? 3 : 1; at < end; at++) {
		if (*at == '\\')
			at++;
		else if (*at == quote && !three)
			return at + 1;
		else if (*at == quote && end - at >= 3 && at[1] == quote && at[2] == quote)
			return at + 3;
	}
	s->quote = three ? quote : '\0';
	return end;
}

/* Past the end of a string that began on a line before. */
static const char *leave_string(struct scan *s, const char *at, const char *end)
{
	for (; at < end; at++) {
		if (*at == '\\') {
			at++;
		} else if (*at == s->quote && end - at >= 3 && at[1] == s->quote &&
			   at[2] == s->quote) {
			s->quote = '\0';
			return at + 3;
		}
	}
	return end;
}

/* What a line leaves for the next. */
static void scan_line(struct scan *s, const char *at, const char *end)
{
	s->joined = false;
	if (s->quote)
		at = leave_string(s, at, end);
	while (at < end && !s->quote && *at != '#') {
		if (*at == '"' || *at == '\'') {
			at = skip_string(s, at, end);
			continue;
		}
		s->depth += strchr("([{", *at) && *at ? 1 : 0;
		s->depth -= strchr(")]}", *at) && *at && s->depth ? 1 : 0;
		s->joined = *at == '\\' && at + 1 == end;
		at++;
	}
}

/* As Python writes a string. */
static void add_quoted(struct buf *out, const char *text, size_t len)
{
	buf_addch(out, '\'');
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\'' || text[i] == '\\')
			buf_addch(out, '\\');
		if ((unsigned char)text[i] < ' ')
			buf_addf(out, "\\x%02x", (unsigned)text[i]);
		else
			buf_addch(out, text[i]);
	}
	buf_addch(out, '\'');
}

static void add_call(struct buf *out, const char *method, const char *text, size_t len)
{
	buf_addf(out, "get_ipython().%s(", method);
	add_quoted(out, text, len);
	buf_addch(out, ')');
}

static void add_command(struct buf *commands, const char *text, size_t len)
{
	buf_add(commands, text, len);
	buf_add(commands, "\n", 2); /* with the zero behind it */
}

/* The name before " = !" in a line; 0: that is none. */
static size_t assigned(const char *at, const char *end)
{
	const char *name = at;

	if (!isalpha((unsigned char)*at) && *at != '_')
		return 0;
	while (at < end && (isalnum((unsigned char)*at) || strchr("_., ", *at)))
		at++;
	if (at == end || *at++ != '=')
		return 0;
	while (at < end && *at == ' ')
		at++;
	return at < end && *at == '!' ? (size_t)(at - name) : 0;
}

/* Whether a magic's line is a shell's (begin.py, run_line_magic). */
static bool is_command(const char *word, size_t len)
{
	return (len == 3 && !strncmp(word, "pip", len)) ||
	       (len == 5 && !strncmp(word, "conda", len));
}

/* %time STATEMENT, %%time: what is timed stays a statement, which is screened as any. */
static bool add_timed(struct buf *out, const char *word, size_t len, const char *end)
{
	bool cell = len == 5 && !strncmp(word, "%time", len);
	const char *rest = word + len;

	if (!cell && (len != 4 || strncmp(word, "time", len)))
		return false;
	buf_addstr(out, "get_ipython().time()");
	if (rest < end && !cell) {
		buf_addch(out, ';');
		buf_add(out, rest, (size_t)(end - rest));
	}
	return true;
}

/* A line that begins a statement; false: it is Python. */
static bool add_shell_line(struct buf *out, struct buf *commands, const char *at, const char *end)
{
	const char *first = at;

	while (first < end && (*first == ' ' || *first == '\t'))
		first++;
	size_t name = first < end ? assigned(first, end) : 0;
	if (first == end || (*first != '!' && *first != '%' && !name))
		return false;
	buf_add(out, at, (size_t)(first - at) + name);
	if (*first == '%') {
		size_t word = strcspn(first + 1, " \t\r\n");

		if (word > (size_t)(end - first - 1))
			word = (size_t)(end - first - 1);
		if (add_timed(out, first + 1, word, end))
			return true;
		buf_addstr(out, "get_ipython().run_line_magic(");
		add_quoted(out, first + 1, word);
		buf_addstr(out, ", ");
		add_quoted(out, first + 1 + word, (size_t)(end - first) - 1 - word);
		buf_addch(out, ')');
		if (is_command(first + 1, word))
			add_command(commands, first + 1, (size_t)(end - first) - 1);
		return true;
	}
	first += name + 1;
	add_call(out, name ? "getoutput" : "system", first, (size_t)(end - first));
	add_command(commands, first, (size_t)(end - first));
	return true;
}

/* A cell that is a program of the shell as a whole: behind its first line; NULL: it is not. */
static const char *shell_cell(const char *code)
{
	static const char *const kinds[] = { "%%bash", "%%sh", "%%shell" };

	code += strspn(code, " \t\r\n");
	size_t len = strcspn(code, " \t\r\n");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i]) == len && !strncmp(code, kinds[i], len)) {
			code += strcspn(code, "\n");
			return *code ? code + 1 : code;
		}
	return NULL;
}

/* The indentation of the first line with something in it, which notebooks take from all. */
static size_t indent_of(const char *code, const char **ret_indent)
{
	const char *line = code + strspn(code, " \t\r\n");

	if (!*line)
		return 0;
	*ret_indent = line;
	while (*ret_indent > code && ((*ret_indent)[-1] == ' ' || (*ret_indent)[-1] == '\t'))
		(*ret_indent)--;
	return (size_t)(line - *ret_indent);
}

/* Caller frees. */
static char *unindented(const char *code)
{
	struct buf out = BUF_INIT(CELL_MAX);
	const char *indent = NULL;
	size_t len = indent_of(code, &indent);

	while (*code) {
		size_t line = strcspn(code, "\n");

		line += code[line] == '\n';
		if (len && line >= len && !strncmp(code, indent, len)) {
			code += len;
			line -= len;
		}
		buf_add(&out, code, line);
		code += line;
	}
	return buf_take(&out, NULL);
}

/* %%writefile PATH: behind that line, and the path, owned; NULL: it is another cell. */
static const char *file_cell(const char *code, char **ret_path)
{
	static const char word[] = "%%writefile";

	*ret_path = NULL;
	code += strspn(code, " \t\r\n");
	if (strncmp(code, word, strlen(word)) || !strchr(" \t", code[strlen(word)]))
		return NULL;
	code += strlen(word) + strspn(code + strlen(word), " \t");
	*ret_path = mem_strndup(code, strcspn(code, " \t\r\n"));
	code += strcspn(code, "\n");
	return *code ? code + 1 : code;
}

char *e2b_cell(const char *given, char **ret_commands)
{
	struct buf out = BUF_INIT(CELL_MAX), commands = BUF_INIT(CELL_MAX);
	cleanup_free char *plain = unindented(given), *path = NULL;
	const char *code = plain, *whole = shell_cell(code), *file = file_cell(code, &path);
	struct scan s = { .quote = '\0' };

	if (file) {
		buf_addstr(&out, "get_ipython().write_file(");
		add_quoted(&out, path, strlen(path));
		buf_addstr(&out, ", ");
		add_quoted(&out, file, strlen(file));
		buf_addch(&out, ')');
		code = "";
	} else if (whole) {
		add_call(&out, "system", whole, strlen(whole));
		add_command(&commands, whole, strlen(whole));
		code = "";
	}
	const char *end;
	for (; *code; code = *end ? end + 1 : end) {
		end = code + strcspn(code, "\n");
		if (s.quote || s.depth || s.joined || !add_shell_line(&out, &commands, code, end)) {
			scan_line(&s, code, end);
			buf_add(&out, code, (size_t)(end - code));
		}
		if (*end)
			buf_addch(&out, '\n');
	}
	*ret_commands = commands.len ? buf_take(&commands, NULL) : NULL;
	buf_release(&commands);
	return buf_take(&out, NULL);
}
