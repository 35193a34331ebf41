/*
 * Where two texts part, and their lines, aligned by their longest common subsequence between the
 * first and the last line that differ. It may not take long for hostile texts: what is too large
 * for the table of that is not aligned.
 */
#include "base/diff.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT	  3
#define CELLS_MAX ((size_t)4 << 20) /* of the table */

struct diff_place diff_place(const char *a, size_t a_len, const char *b, size_t b_len)
{
	struct diff_place p = { .line = 1 };

	for (; p.at < a_len && p.at < b_len && a[p.at] == b[p.at]; p.at++)
		if (a[p.at] == '\n') {
			p.start = p.at + 1;
			p.line++;
		}
	return p;
}

struct line {
	const char *text;
	size_t len;
};

struct lines {
	struct line *lines; /* owned */
	size_t count;
};

static struct lines split(const char *text, size_t len)
{
	const char *end = text + len;
	struct lines x = { .lines = NULL };

	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t n = nl ? (size_t)(nl - text) : (size_t)(end - text);

		x.lines = mem_one_more(x.lines, x.count, sizeof(*x.lines));
		x.lines[x.count++] = (struct line){ text, n };
		text += n + (nl != NULL);
	}
	return x;
}

static bool same(const struct line *a, const struct line *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

struct diff {
	struct lines a, b;
	size_t head, tail; /* lines that both begin and end with */
	uint32_t *table;   /* [i][j]: length of what is common from i and j on; NULL: too large */
	size_t columns;
	const struct diff_bounds *bounds;
	struct buf *out;
	size_t written, left_out;
};

static void trim(struct diff *d)
{
	size_t least = d->a.count < d->b.count ? d->a.count : d->b.count;

	while (d->head < least && same(&d->a.lines[d->head], &d->b.lines[d->head]))
		d->head++;
	while (d->tail < least - d->head &&
	       same(&d->a.lines[d->a.count - 1 - d->tail], &d->b.lines[d->b.count - 1 - d->tail]))
		d->tail++;
}

static void fill_table(struct diff *d)
{
	size_t n = d->a.count - d->head - d->tail, m = d->b.count - d->head - d->tail;

	if (n + 1 > CELLS_MAX / (m + 1))
		return;
	d->columns = m + 1;
	d->table = mem_alloc((n + 1) * (m + 1) * sizeof(*d->table));
	for (size_t i = n; i-- > 0;)
		for (size_t j = m; j-- > 0;) {
			uint32_t down = d->table[(i + 1) * d->columns + j];
			uint32_t right = d->table[i * d->columns + j + 1];

			d->table[i * d->columns + j] =
				same(&d->a.lines[d->head + i], &d->b.lines[d->head + j]) ?
					d->table[(i + 1) * d->columns + j + 1] + 1 :
				down > right ? down :
					       right;
		}
}

/* --- the script: which lines go, stay and come --- */

struct step {
	char mark; /* ' ', '-' or '+' */
	size_t a, b;
};

struct script {
	struct step *steps; /* owned */
	size_t count;
};

static void add_step(struct script *s, char mark, size_t a, size_t b)
{
	s->steps = mem_one_more(s->steps, s->count, sizeof(*s->steps));
	s->steps[s->count++] = (struct step){ mark, a, b };
}

static bool comes_first(const struct diff *d, size_t i, size_t j)
{
	size_t row = (i - d->head) * d->columns, column = j - d->head;

	return d->table && d->table[row + column + 1] > d->table[row + d->columns + column];
}

/* From the trimmed head's last lines to the tail's first. */
static struct script make_script(const struct diff *d)
{
	size_t a_end = d->a.count - d->tail, b_end = d->b.count - d->tail;
	size_t i = d->head > CONTEXT ? d->head - CONTEXT : 0, j = i;
	struct script s = { .steps = NULL };

	while (i < a_end || j < b_end) {
		bool both = i < a_end && j < b_end;

		if (both && same(&d->a.lines[i], &d->b.lines[j]))
			add_step(&s, ' ', i++, j++);
		else if (i < a_end && !(both && comes_first(d, i, j)))
			add_step(&s, '-', i++, j);
		else
			add_step(&s, '+', i, j++);
	}
	for (size_t n = 0; n < CONTEXT && n < d->tail; n++)
		add_step(&s, ' ', i++, j++);
	return s;
}

/* --- writing --- */

static bool has_room(struct diff *d)
{
	if (d->written + 1 < d->bounds->lines) {
		d->written++;
		return true;
	}
	d->left_out++;
	return false;
}

static void put_line(struct diff *d, const struct step *s)
{
	const struct line *l = s->mark == '+' ? &d->b.lines[s->b] : &d->a.lines[s->a];
	size_t len = l->len < d->bounds->line_bytes ? l->len : d->bounds->line_bytes;

	if (!has_room(d))
		return;
	buf_addch(d->out, s->mark);
	buf_add(d->out, l->text, len);
	buf_addf(d->out, "%s\n", len < l->len ? "..." : "");
}

static void put_hunk(struct diff *d, const struct step *steps, size_t count)
{
	size_t gone = 0, come = 0;

	for (size_t i = 0; i < count; i++) {
		gone += steps[i].mark != '+';
		come += steps[i].mark != '-';
	}
	if (has_room(d))
		buf_addf(d->out, "@@ -%zu,%zu +%zu,%zu @@\n", steps->a + (gone > 0), gone,
			 steps->b + (come > 0), come);
	for (size_t i = 0; i < count; i++)
		put_line(d, &steps[i]);
}

/* Where the hunk of the change at i ends: before more than two contexts of lines that stay. */
static size_t hunk_end(const struct script *s, size_t i)
{
	size_t last = i;

	for (; i < s->count && i - last <= (size_t)2 * CONTEXT; i++)
		if (s->steps[i].mark != ' ')
			last = i;
	return last + 1 + CONTEXT < s->count ? last + 1 + CONTEXT : s->count;
}

static void put_script(struct diff *d, const struct script *s)
{
	size_t i = 0;

	while (i < s->count) {
		if (s->steps[i].mark == ' ') {
			i++;
			continue;
		}
		size_t start = i > CONTEXT ? i - CONTEXT : 0;
		size_t end = hunk_end(s, i);
		put_hunk(d, s->steps + start, end - start);
		i = end;
	}
	if (d->left_out)
		buf_addf(d->out, "... %zu more lines differ\n", d->left_out);
}

void diff_unified(const char *a, size_t a_len, const char *b, size_t b_len,
		  const struct diff_bounds *bounds, struct buf *out)
{
	struct diff d = { .bounds = bounds, .out = out };

	d.a = split(a, a_len);
	d.b = split(b, b_len);
	trim(&d);
	if (d.a.count != d.b.count || d.head < d.a.count) {
		fill_table(&d);
		struct script script = make_script(&d);
		put_script(&d, &script);
		free(script.steps);
	}
	free(d.table);
	free(d.a.lines);
	free(d.b.lines);
}
