/*
 * Whose number it is. Where the lines of the output begin with labels of their
 * own, and a clause of the answer names just one of them, a number in it that
 * only another's line has was taken from the wrong row. Clauses that name
 * several or none are left to the judge.
 */
#include "verifier/ground/ground_answer.h"

#include "base/mem.h"
#include "verifier/number.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ROWS_MAX 200

struct row {
	char *label;	    /* owned */
	struct answer line; /* the answer, with that line for its only source */
};

struct rows {
	struct row *rows; /* owned */
	size_t count;
	struct buf rest; /* all that is no row: it may be said of any */
	struct answer beside;
};

/* The words before the first number, without what sets them apart; NULL without. */
static char *label_of(const char *line, size_t len)
{
	struct number n;
	size_t at = 0;

	if (!number_next(line, len, &at, &n))
		return NULL;
	size_t end;
	for (end = n.start; end && strchr(" \t:,;=|(\"'[{$-", line[end - 1]);)
		end--;
	for (at = 0; at < end && strchr(" \t|(\"'[{-*", line[at]);)
		at++;
	return end - at > 1 && isalpha((unsigned char)line[at]) ? mem_strndup(line + at, end - at) :
								  NULL;
}

static bool has_label(const struct rows *rows, const char *label)
{
	for (size_t i = 0; i < rows->count; i++)
		if (!strcasecmp(rows->rows[i].label, label))
			return true;
	return false;
}

/* False when a label comes twice: then it tells no row. */
static bool add_row(struct rows *rows, const struct answer *a, const char *line, size_t len)
{
	cleanup_free char *label = label_of(line, len);
	const struct ground from = { .output = line, .output_len = len, .notes = "" };

	if (!label) {
		buf_add(&rows->rest, line, len);
		buf_addch(&rows->rest, '\n');
		return true;
	}
	if (rows->count == ROWS_MAX || has_label(rows, label))
		return false;
	rows->rows = mem_array(rows->rows, rows->count + 1, sizeof(*rows->rows));
	struct row *row = &rows->rows[rows->count++];
	*row = (struct row){ .label = TAKE_PTR(label), .line = *a };
	known_gather(&row->line.known, &from);
	return true;
}

static bool gather_rows(struct rows *rows, const struct answer *a)
{
	const char *at = a->from->output, *end = at + a->from->output_len, *nl;
	struct ground beside = *a->from;

	for (; at < end; at = nl + 1) {
		nl = memchr(at, '\n', (size_t)(end - at));
		nl = nl ? nl : end;
		if (!add_row(rows, a, at, (size_t)(nl - at)))
			return false;
	}
	beside.output = rows->rest.data;
	beside.output_len = rows->rest.len;
	rows->beside = *a;
	known_gather(&rows->beside.known, &beside);
	return rows->count > 1;
}

static void release_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->rows[i].label);
		known_release(&rows->rows[i].line.known);
	}
	free(rows->rows);
	known_release(&rows->beside.known);
	buf_release(&rows->rest);
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool is_said(const char *clause, const char *label)
{
	size_t n = strlen(label);
	const char *at = clause;

	for (; (at = strcasestr(at, label)); at++)
		if (!(at > clause && is_letter(at[-1])) && !is_letter(at[n]))
			return true;
	return false;
}

/* The one row that the clause around f is about, or NULL. */
static const struct row *row_of(const struct rows *rows, const struct answer *a,
				const struct figure *f)
{
	size_t start, end;

	answer_clause(a, f->start, &start, &end);
	cleanup_free char *clause = mem_strndup(a->text + start, end - start);
	const struct row *row = NULL;
	for (size_t i = 0; i < rows->count; i++) {
		if (!is_said(clause, rows->rows[i].label))
			continue;
		if (row)
			return NULL;
		row = &rows->rows[i];
	}
	return row;
}

static const struct row *taken_from(const struct rows *rows, const struct row *about,
				    const struct answer *a, const struct figure *f)
{
	long double is;

	if (answer_find(&about->line, f, &is) != FOUND_NOT ||
	    answer_find(&rows->beside, f, &is) != FOUND_NOT || answer_counts(a, f))
		return NULL;
	for (size_t i = 0; i < rows->count; i++)
		if (answer_find(&rows->rows[i].line, f, &is) != FOUND_NOT)
			return &rows->rows[i];
	return NULL;
}

static char *find_fault(const struct rows *rows, const struct answer *a)
{
	struct figure f;
	size_t at = 0;

	while (figure_next(a->text, a->len, &at, a->style, true, &f)) {
		const struct row *about = row_of(rows, a, &f);
		const struct row *from = about ? taken_from(rows, about, a, &f) : NULL;
		if (from)
			return mem_printf("the number %.*s for \"%.60s\", which the output has for "
					  "\"%.60s\"",
					  (int)(f.end - f.start), a->text + f.start, about->label,
					  from->label);
	}
	return NULL;
}

char *answer_fault_in_rows(const struct answer *a)
{
	struct rows rows = { .rest = BUF_INIT(BUF_MAX_DEFAULT),
			     .beside = { .known = { .text = BUF_INIT(1) } } };
	char *fault = gather_rows(&rows, a) ? find_fault(&rows, a) : NULL;

	release_rows(&rows);
	return fault;
}
