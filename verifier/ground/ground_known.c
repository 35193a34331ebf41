/*
 * What the sources hold: their numbers, dates, and what can be counted in them. Gathered once an
 * answer; it judges nothing.
 */
#include "verifier/ground/ground_known.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void add(struct known *k, long double value, bool negative)
{
	if ((k->count & (k->count - 1)) == 0)
		k->values = mem_array(k->values, k->count ? k->count * 2 : 1, sizeof(*k->values));
	k->values[k->count++] = negative ? -value : value;
}

static void add_date(struct known *k, const struct figure_date *d)
{
	if ((k->date_count & (k->date_count - 1)) == 0)
		k->dates = mem_array(k->dates, k->date_count ? k->date_count * 2 : 1,
				     sizeof(*k->dates));
	k->dates[k->date_count++] = *d;
}

static void add_readings(struct known *k, const struct figure *f)
{
	for (size_t i = 0; i < f->count; i++) {
		long double value = f->readings[i].value;

		add(k, value, f->negative);
		if (f->unit_sure)
			add(k, value * f->scale, f->negative);
		if (f->percent)
			add(k, value / 100, f->negative);
	}
}

/* A list printed without blanks: "[100,200,300]", "1;2"; or what is no number: "1.2.3". */
static void add_parts(struct known *k, const char *text, const struct figure *f)
{
	size_t at = f->start, end;

	while (at < f->end) {
		struct figure part = { .start = at, .scale = 1 };

		for (end = at; end < f->end && text[end] != ',' &&
			       (f->count || isdigit((unsigned char)text[end]));)
			end++;
		part.end = end;
		figure_read(text, &part, FIGURE_POINT);
		add_readings(k, &part);
		at = end + 1;
	}
}

/* "x2" is a name; "EUR500" is money. */
static bool is_name_tail(const char *text, size_t start)
{
	size_t i = start;

	while (i && isupper((unsigned char)text[i - 1]))
		i--;
	if (start - i == 3 && !(i && isalnum((unsigned char)text[i - 1])))
		return false;
	return start && (isalpha((unsigned char)text[start - 1]) || text[start - 1] == '_');
}

static size_t gather_text(struct known *k, const char *text, size_t len, bool blanks)
{
	enum figure_style style = figure_style_of(text, len);

	/* Programs print a point; what has no such reading is read as it can be. */
	style = style == FIGURE_COMMA ? style : FIGURE_POINT;
	struct figure f;
	size_t at = 0, found = 0;
	while (figure_next(text, len, &at, style, blanks, &f)) {
		if (is_name_tail(text, f.start))
			continue;
		if (!f.count)
			figure_read(text, &f, FIGURE_EITHER);
		found++;
		add_readings(k, &f);
		if (memchr(text + f.start, ',', f.end - f.start) || !f.count)
			add_parts(k, text, &f);
	}
	for (at = 0; figure_next_words(text, len, &at, &f);)
		add_readings(k, &f);
	struct figure_date d;
	for (at = 0; figure_next_date(text, len, &at, &d);)
		add_date(k, &d);
	/* It is searched as a C string. */
	for (at = 0; at < len; at++)
		buf_addch(&k->text, text[at] ? text[at] : ' ');
	buf_addch(&k->text, '\n');
	return found;
}

static long lines_of(const char *text, size_t len)
{
	const char *at = text, *end = text + len, *nl;
	long count = 0;

	for (; at < end; at = nl + 1) {
		nl = memchr(at, '\n', (size_t)(end - at));
		nl = nl ? nl : end;
		count += strspn(at, " \t\r") < (size_t)(nl - at);
	}
	return count;
}

static long members_of(const char *text, size_t len)
{
	long commas = 0;

	for (size_t i = 0; i < len; i++)
		commas += text[i] == ',';
	return commas ? commas + 1 : 0;
}

/* One of something is no count: a single value is one line, too. */
static void count(struct known *k, long n)
{
	if (n > 1 && k->counted < sizeof(k->counts) / sizeof(k->counts[0]))
		k->counts[k->counted++] = n;
}

static void count_all(struct known *k, const struct ground *from)
{
	long lines = lines_of(from->output, from->output_len), negative = 0;

	for (size_t i = 0; i < k->count; i++)
		negative += k->values[i] < 0;
	count(k, lines);
	count(k, lines - 1);
	count(k, (long)from->name_count);
	count(k, lines_of(from->notes, from->notes_len));
	count(k, negative);
	if (lines == 1) {
		count(k, members_of(from->output, from->output_len));
		count(k, (long)k->of_output);
	} else {
		count(k, lines - negative);
	}
}

void known_gather(struct known *k, const struct ground *from)
{
	*k = (struct known){ .text = BUF_INIT(BUF_MAX_DEFAULT) };
	k->of_output = gather_text(k, from->output, from->output_len, false);
	count_all(k, from);
	k->of_notes = gather_text(k, from->notes, from->notes_len, false);
	for (size_t i = 0; i < from->name_count; i++)
		gather_text(k, from->names[i], strlen(from->names[i]), false);
	if (from->question)
		gather_text(k, from->question, strlen(from->question), true);
	if (from->restated)
		gather_text(k, from->restated, strlen(from->restated), true);
}

void known_release(struct known *k)
{
	free(k->values);
	free(k->dates);
	buf_release(&k->text);
	*k = (struct known){ .text = BUF_INIT(1) };
}
