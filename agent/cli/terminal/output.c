/*
 * What a program printed, and the answer, for a person: folded and cut to what a terminal can show,
 * whole everywhere else. Nothing is lost: all of it is kept, and console_whole_output prints it.
 */
#include "agent/cli/terminal/console.h"

#include "agent/cli/terminal/term.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>
#include <unistd.h>

#define OUTPUT_SHOWN ((size_t)4000)
#define LINES_FOLDED ((size_t)12)   /* of an output behind an answer */
#define LINES_ANSWER ((size_t)100)  /* of one that is the answer */
#define NOTES_SHOWN  ((size_t)2000) /* bytes of standard error, in at most so many lines: */
#define NOTE_LINES   ((size_t)20)
#define LINE_BYTES   ((size_t)64 << 10)

/* The limit that keeps all of an output, in the words of the option. */
static void tell_cut(struct terminal *term, const struct sandbox_stream *s)
{
	if (!s->truncated)
		return;
	term_note(term, TERM_YELLOW,
		  "standard output is cut: %zu of %llu bytes were kept; --output-bytes %lluM keeps "
		  "all\n",
		  s->len, (unsigned long long)s->total, (unsigned long long)(s->total >> 20) + 1);
}

/* A line of text from outside, in at most so many columns; "…" stands for the rest. */
static void add_line(struct buf *out, const char *line, size_t len, size_t columns)
{
	cleanup_buf struct buf shown = BUF_INIT(LINE_BYTES * 8);

	utf8_visible(&shown, line, len < LINE_BYTES ? len : LINE_BYTES);
	size_t fits = utf8_fit(shown.data, shown.len, columns);
	if (fits < shown.len)
		fits = utf8_fit(shown.data, shown.len, columns - 1);
	buf_add(out, shown.data, fits);
	buf_addstr(out, fits < shown.len ? "…\n" : "\n");
}

/* How many bytes the first lines of text have; *ret_lines: how many lines come after them. */
static size_t first_lines(const char *text, size_t len, size_t lines, size_t *ret_left)
{
	*ret_left = 0;
	size_t at = 0, shown = 0;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\n' || i + 1 == len) {
			shown++;
			at = shown == lines ? i + 1 : at;
			*ret_left += shown > lines;
		}
	return shown <= lines ? len : at;
}

static void tell_folded(struct terminal *term, size_t lines, const char *whole)
{
	if (lines)
		term_note(term, TERM_DIM, "... %zu more line%s; %s has all\n", lines,
			  lines == 1 ? "" : "s", whole);
}

/* Behind a mark: it is no answer. */
static void show_folded(struct terminal *term, const struct sandbox_stream *s, const char *whole)
{
	size_t columns = term_columns(), left;

	size_t len = first_lines(s->bytes, s->len, LINES_FOLDED, &left);
	size_t end;
	for (size_t at = 0; at < len; at = end + 1) {
		cleanup_buf struct buf line = BUF_INIT(LINE_BYTES * 8);

		const char *nl = memchr(s->bytes + at, '\n', len - at);
		end = nl ? (size_t)(nl - s->bytes) : len;
		add_line(&line, s->bytes + at, end - at, columns > 12 ? columns - 3 : 9);
		term_note(term, TERM_DIM, "│ ");
		term_note(term, TERM_PLAIN, "%s", line.data);
	}
	tell_folded(term, left, whole);
}

static void show_beginning(struct terminal *term, const struct sandbox_stream *s)
{
	size_t shown = s->len < OUTPUT_SHOWN ? s->len : OUTPUT_SHOWN;

	if (!s->len)
		return;
	term_status(term, NULL);
	term_visible(term, s->bytes, shown);
	if (s->bytes[shown - 1] != '\n')
		term_note(term, TERM_PLAIN, "\n");
	if (shown < s->total)
		term_note(term, TERM_DIM,
			  "... %llu of %llu bytes not shown (assay log show --json)\n",
			  (unsigned long long)(s->total - shown), (unsigned long long)s->total);
}

void console_output(struct terminal *term, const struct sandbox_stream *s, const char *whole)
{
	if (s->len && isatty(STDERR_FILENO))
		show_folded(term, s, whole);
	else
		show_beginning(term, s);
}

int console_whole_output(struct terminal *term, const struct sandbox_result *r, struct error *err)
{
	if (term_out(term, r->out.bytes, r->out.len, err) < 0 || term_out_end(term, err) < 0 ||
	    (r->out.len && r->out.bytes[r->out.len - 1] != '\n' &&
	     term_out(term, "\n", 1, err) < 0))
		return -1;
	tell_cut(term, &r->out);
	if (!r->out.len)
		term_note(term, TERM_DIM, "it printed nothing\n");
	if (r->err.len)
		term_note(term, TERM_YELLOW, "the program noted:\n");
	term_visible(term, r->err.bytes, r->err.len);
	if (r->err.len && r->err.bytes[r->err.len - 1] != '\n')
		term_note(term, TERM_PLAIN, "\n");
	return 0;
}

/* Without the line ends that a program prints and a writer does not. */
static size_t text_len(const char *text, size_t len)
{
	while (len && strchr("\r\n", text[len - 1]))
		len--;
	return len;
}

/* Behind a mark, so that no line of it looks like one of ours. */
static void show_notes(struct terminal *term, const struct sandbox_stream *err, const char *whole)
{
	size_t len = text_len(err->bytes, err->len);
	cleanup_buf struct buf line = BUF_INIT(65536);

	if (!len)
		return;
	term_status(term, NULL);
	term_note(term, TERM_YELLOW, "the program noted:\n");
	size_t at;
	size_t lines;
	for (at = 0, lines = 0; at < len && at < NOTES_SHOWN && lines < NOTE_LINES; lines++) {
		const char *nl = memchr(err->bytes + at, '\n', len - at);
		size_t end = nl ? (size_t)(nl - err->bytes) : len;

		size_t shown = end < NOTES_SHOWN ? end : NOTES_SHOWN;
		buf_clear(&line);
		utf8_visible(&line, err->bytes + at, shown - at);
		term_note(term, TERM_YELLOW, "  %s\n", line.data);
		at = shown == end ? end + 1 : shown;
	}
	if (at < len)
		term_line(term, TERM_DIM, 0, "  ... %llu of %llu bytes not shown; %s has all",
			  (unsigned long long)(err->total - at), (unsigned long long)err->total,
			  whole);
}

/* The answer is what the program printed. */
static bool is_output(const struct loop_result *r)
{
	const struct sandbox_stream *out = &r->execution.out;
	size_t len = r->executed ? text_len(out->bytes, out->len) : 0;

	return r->executed && r->answer && text_len(r->answer, strlen(r->answer)) == len &&
	       !memcmp(r->answer, out->bytes, len);
}

void console_evidence(struct terminal *term, const struct loop_result *r, const char *whole)
{
	const struct sandbox_stream *out = &r->execution.out;

	/* What was skipped or assumed belongs to the answer. */
	if (r->executed && r->answer)
		show_notes(term, &r->execution.err, whole);
	if (r->executed)
		tell_cut(term, out);
	if (r->executed && !is_output(r))
		console_output(term, out, whole);
}

/* Columns: a tab, a bar, or two blanks in a row within the line. Sentences have none of them. */
static bool has_columns(const char *line, size_t len)
{
	size_t at = 0;

	while (at < len && line[at] == ' ')
		at++;
	for (; at + 1 < len; at++)
		if (line[at] == '\t' || line[at] == '|' || (line[at] == ' ' && line[at + 1] == ' '))
			return true;
	return false;
}

/* Lines of a table that a terminal would wrap; what is no table is read better wrapped than cut. */
static bool is_wide(const char *text, size_t len, size_t columns)
{
	size_t wide = 0, of_table = 0, end;

	for (size_t at = 0; at < len; at = end + 1) {
		const char *nl = memchr(text + at, '\n', len - at);

		end = nl ? (size_t)(nl - text) : len;
		if (utf8_width(text + at, end - at) <= columns)
			continue;
		wide++;
		of_table += has_columns(text + at, end - at);
	}
	return wide > 1 && of_table == wide;
}

static int out_cut(struct terminal *term, const char *text, size_t len, size_t columns,
		   struct error *err)
{
	size_t end;

	for (size_t at = 0; at < len; at = end + 1) {
		cleanup_buf struct buf line = BUF_INIT(LINE_BYTES * 8);
		const char *nl = memchr(text + at, '\n', len - at);

		end = nl ? (size_t)(nl - text) : len;
		add_line(&line, text + at, end - at, columns);
		if (term_out(term, line.data, line.len, err) < 0)
			return -1;
	}
	return 0;
}

int console_answer(struct terminal *term, const struct loop_result *r, const char *whole,
		   struct error *err)
{
	size_t len = r->answer ? strlen(r->answer) : 0, columns = term_columns(), shown = len;
	bool fold = is_output(r) && isatty(STDOUT_FILENO);

	if (!len)
		return 0;
	size_t left = 0;
	if (fold)
		shown = first_lines(r->answer, len, LINES_ANSWER, &left);
	bool wide = fold && is_wide(r->answer, shown, columns);
	if ((wide ? out_cut(term, r->answer, shown, columns, err) :
		    term_out(term, r->answer, shown, err)) < 0)
		return -1;
	if (!wide && r->answer[shown - 1] != '\n' && term_out(term, "\n", 1, err) < 0)
		return -1;
	tell_folded(term, left, whole);
	if (wide)
		term_note(term, TERM_DIM, "cut to this terminal's width; %s has all\n", whole);
	return 0;
}
