/*
 * Which lines of a notebook's cell are its shell's, told from the text (notebook.h): those that
 * begin a statement. What is in a string, in brackets or goes on from the line before is left.
 * Nothing is run here.
 */
#include "agent/notebook.h"

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

void notebook_quote(struct buf *out, const char *text, size_t len)
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

/* "name?", "?name": of what something is asked; 0: that is no question. */
static size_t asked(const char *at, const char *end, const char **ret_name)
{
	while (end > at && strchr(" \t\r", end[-1]))
		end--;
	bool before = at < end && *at == '?';
	bool behind = end > at && end[-1] == '?';
	while (before && at < end && *at == '?')
		at++;
	while (behind && end > at && end[-1] == '?')
		end--;
	*ret_name = at;
	if ((!before && !behind) || at == end || isdigit((unsigned char)*at))
		return 0;
	for (; at < end; at++)
		if (!isalnum((unsigned char)*at) && *at != '_' && *at != '.')
			return 0;
	return (size_t)(end - *ret_name);
}

/* --- lines --- */

struct cell {
	notebook_writer *write;
	void *self;
	struct buf out;
	size_t number; /* of the line, from 1 */
};

/* %name TEXT; *first is the "%". */
static struct notebook_line magic(const char *first, const char *end)
{
	size_t word = strcspn(first + 1, " \t\r\n");

	if (word > (size_t)(end - first - 1))
		word = (size_t)(end - first - 1);
	return (struct notebook_line){ .kind = NOTEBOOK_MAGIC,
				       .word = first + 1,
				       .word_len = word,
				       .text = first + 1 + word,
				       .len = (size_t)(end - first) - 1 - word };
}

/* A line that begins a statement, and where its text begins; false: it is the language's own. */
static bool read_line(const char *at, const char *end, struct notebook_line *ret,
		      const char **ret_from)
{
	const char *first = at, *name;

	while (first < end && (*first == ' ' || *first == '\t'))
		first++;
	*ret_from = first;
	if (first == end)
		return false;
	if (*first == '%') {
		*ret = magic(first, end);
		return true;
	}
	size_t len = assigned(first, end);
	bool valued = len || (end - first > 1 && first[0] == '!' && first[1] == '!');
	if (*first == '!' || len) {
		*ret_from = first + len;
		len += !len && valued ? 2 : 1;
		*ret = (struct notebook_line){ .kind = valued ? NOTEBOOK_CAPTURE : NOTEBOOK_COMMAND,
					       .text = first + len,
					       .len = (size_t)(end - first) - len };
		return true;
	}
	len = asked(first, end, &name);
	*ret = (struct notebook_line){ .kind = NOTEBOOK_HELP, .text = name, .len = len };
	return len > 0;
}

/* Where the line ends that begins at at; one of a shell goes on behind a "\\". */
static const char *line_end(const char *at, bool joins, size_t *ret_lines)
{
	const char *end = at + strcspn(at, "\n");

	for (*ret_lines = 1; joins && *end && end > at && end[-1] == '\\'; (*ret_lines)++)
		end = end + 1 + strcspn(end + 1, "\n");
	return end;
}

static int write_line(struct cell *c, const char *at, struct notebook_line *line, const char *from,
		      struct error *err)
{
	line->number = c->number;
	buf_add(&c->out, at, (size_t)(from - at));
	return c->write(c->self, line, &c->out, err);
}

static int read_lines(struct cell *c, const char *code, struct error *err)
{
	struct scan s = { .quote = '\0' };
	const char *end;

	for (; *code; code = *end ? end + 1 : end) {
		struct notebook_line line;
		const char *from;
		bool inside = s.quote || s.depth || s.joined;
		size_t lines;

		end = line_end(code, false, &lines);
		if (inside || !read_line(code, end, &line, &from)) {
			scan_line(&s, code, end);
			buf_add(&c->out, code, (size_t)(end - code));
		} else {
			bool joins = line.kind == NOTEBOOK_COMMAND || line.kind == NOTEBOOK_CAPTURE;

			end = line_end(code, joins, &lines);
			if (joins)
				line.len = (size_t)(end - line.text);
			if (write_line(c, code, &line, from, err) < 0)
				return -1;
		}
		/* What follows stays in the line that it is in. */
		for (size_t i = *end ? 0 : 1; i < lines; i++)
			buf_addch(&c->out, '\n');
		c->number += lines;
	}
	return 0;
}

/* --- cells that are something else as a whole --- */

/* Behind the first line of a cell, where that begins with one of those words; NULL: it does not. */
static const char *behind(const char *code, const char *const *words, size_t count,
			  const char **ret_rest)
{
	code += strspn(code, " \t\r\n");
	size_t len = strcspn(code, " \t\r\n");
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == len && !strncmp(code, words[i], len)) {
			*ret_rest = code + len + strspn(code + len, " \t");
			code += strcspn(code, "\n");
			return *code ? code + 1 : code;
		}
	return NULL;
}

/* A program of the shell, or a file; false: it is neither. */
static bool read_whole(const char *code, struct notebook_line *ret)
{
	static const char *const shells[] = { "%%bash", "%%sh", "%%shell" };
	static const char *const files[] = { "%%writefile", "%%file" };
	const char *rest, *text = behind(code, shells, ARRAY_SIZE(shells), &rest);

	*ret = (struct notebook_line){ .kind = NOTEBOOK_SCRIPT, .number = 1 };
	for (size_t i = strspn(code, " \t\r\n"); i-- > 0;)
		ret->number += code[i] == '\n';
	if (!text) {
		text = behind(code, files, ARRAY_SIZE(files), &rest);
		ret->kind = NOTEBOOK_FILE;
	}
	if (!text)
		return false;
	ret->word = rest;
	ret->word_len = strcspn(rest, "\r\n");
	while (ret->word_len && strchr(" \t", rest[ret->word_len - 1]))
		ret->word_len--;
	ret->text = text;
	ret->len = strlen(text);
	return ret->kind == NOTEBOOK_SCRIPT || ret->word_len;
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

int notebook_cell(const char *given, notebook_writer *write, void *self, char **ret,
		  struct error *err)
{
	struct cell c = { .write = write, .self = self, .out = BUF_INIT(CELL_MAX), .number = 1 };
	cleanup_free char *code = unindented(given);
	struct notebook_line whole;
	int rc;

	if (read_whole(code, &whole))
		rc = write(self, &whole, &c.out, err);
	else
		rc = read_lines(&c, code, err);
	*ret = rc < 0 ? NULL : buf_take(&c.out, NULL);
	buf_release(&c.out);
	return rc;
}

const struct language *notebook_language(void)
{
	return language_find("python");
}
