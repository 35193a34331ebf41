/*
 * Each figure of an answer looked up in its sources, and the first that is in none named. It errs
 * towards a fault: the output then stands where the prose was to.
 */
#include "verifier/ground/ground.h"

#include "base/mem.h"
#include "verifier/ground/ground_answer.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- words around a number --- */

/* A number without a sign may be negative in the output where one of these says so. */
static const char *const downward[] = {
	"below",  "under",	  "less",    "fewer",	     "loss",	      "lose",
	"losing", "lost",	  "deficit", "short",	     "fell",	      "fall",
	"drop",	  "decreas",	  "declin",  "down",	     "reduc",	      "shrink",
	"shrank", "shrunk",	  "minus",   "negative",     "overspen",      "overdra",
	"overr",  "exceed",	  "owe",     "debt",	     "behind",	      "worse",
	"lower",  "colder",	  "cooler",  "before",	     "ago",	      "earlier",
	"differ", "apart",	  "gap",     "between",	     "west",	      "south",
	"unter",  "weniger",	  "verlust", "sank",	     "gesunken",      "gefallen",
	"fehl",	  "niedriger",	  "perte",   "baiss",	     "moins",	      "dessous",
	"menos",  "p\u00e9rdida", "baj",     "\u00fcberzog", "r\u00fcckgang", "over budget",
	"saved",  "cut ",
};
/* Right before a number these turn it downward. */
static const char *const falling[] = {
	"fell",	     "dropped", "decreased", "declined", "shrank",
	"went down", "down by", "sank",	     "gefallen", "gesunken"
};

static bool has_any(const char *text, size_t len, const char *const words[], size_t count)
{
	cleanup_free char *copy = mem_strndup(text, len);

	for (size_t i = 0; i < count; i++)
		if (strcasestr(copy, words[i]))
			return true;
	return false;
}

static bool ends_clause(const char *text, size_t len, size_t at)
{
	if (strchr(";\n!?", text[at]))
		return true;
	return text[at] == '.' && (at + 1 >= len || strchr(" \n", text[at + 1]));
}

void answer_clause(const struct answer *a, size_t at, size_t *start, size_t *end)
{
	for (*start = at; *start && !ends_clause(a->text, a->len, *start - 1);)
		(*start)--;
	for (*end = at; *end < a->len && !ends_clause(a->text, a->len, *end);)
		(*end)++;
}

static bool says_downward(const struct answer *a, const struct figure *f)
{
	size_t start, end;

	answer_clause(a, f->start, &start, &end);
	return has_any(a->text + start, end - start, downward, ARRAY_SIZE(downward));
}

#define NEAR 20 /* bytes: "fell by about $" */

static bool says_falling(const struct answer *a, const struct figure *f)
{
	size_t start, end;

	answer_clause(a, f->start, &start, &end);
	start = f->start - start > NEAR ? f->start - NEAR : start;
	return has_any(a->text + start, f->start - start, falling, ARRAY_SIZE(falling)) &&
	       !has_any(a->known.text.data, a->known.text.len, downward, ARRAY_SIZE(downward));
}

static bool is_about(const struct answer *a, const struct figure *f)
{
	static const char *const words[] = {
		"about ",     "around ", "roughly ", "approximately ", "~",	"\u2248",
		"nearly ",    "almost ", "some ",    "etwa ",	       "rund ", "knapp ",
		"environ ",   "ca. ",	 "circa ",   "more than ",     "over ", "ungef\u00e4hr ",
		"\u00fcber ", "unos ",	 "casi "
	};
	size_t start = f->start > NEAR ? f->start - NEAR : 0;

	return has_any(a->text + start, f->start - start, words, ARRAY_SIZE(words));
}

/* --- one number --- */

/* What it may be off by: half of its last digit, or of its last that is no zero
 * where it is said to be about so much. */
static long double half_unit(const struct answer *a, const struct figure *f,
			     const struct figure_reading *r)
{
	long double unit = powl(10, -r->decimals);

	if (r->decimals <= 0 && is_about(a, f))
		while (unit * 20 <= r->value && fmodl(r->value, unit * 10) == 0)
			unit *= 10;
	return unit / 2;
}

static bool close_to(long double is, long double said, long double half)
{
	long double off = fabsl(is - said);

	if (off <= fabsl(is) * 1e-15L)
		return true;
	/* Rounded to nothing is no rounding. */
	return half * 2 <= is && off <= half * (1 + 1e-12L);
}

static enum found compare(const struct answer *a, const struct figure *f, long double said,
			  long double half, long double *ret_is)
{
	const struct known *k = &a->known;
	enum found best = FOUND_NOT;

	for (size_t i = 0; i < k->count; i++) {
		bool negative = k->values[i] < 0;

		if (!close_to(fabsl(k->values[i]), said, half))
			continue;
		if (said == 0 || (negative == f->negative && (negative || !says_falling(a, f))) ||
		    (negative && says_downward(a, f)))
			return FOUND;
		best = FOUND_TURNED;
		*ret_is = k->values[i];
	}
	return best;
}

/* Whether the sources speak of the unit themselves: "5.2" in a column of millions. */
static bool unit_is_given(const struct answer *a, const struct figure *f)
{
	return !f->unit || !f->unit_sure || strcasestr(a->known.text.data, f->unit);
}

/* Beyond what a long double holds the digits must be there. */
static bool digits_are_there(const struct answer *a, const struct figure *f)
{
	cleanup_buf struct buf digits = BUF_INIT(1024), all = BUF_INIT(BUF_MAX_DEFAULT);

	for (size_t i = f->start; i < f->end; i++)
		if (isdigit((unsigned char)a->text[i]))
			buf_addch(&digits, a->text[i]);
	for (size_t i = 0; i < a->known.text.len; i++)
		if (!strchr(",_'", a->known.text.data[i]))
			buf_addch(&all, a->known.text.data[i]);
	return strstr(all.data, digits.data) != NULL;
}

static enum found find_reading(const struct answer *a, const struct figure *f,
			       const struct figure_reading *r, long double *ret_is)
{
	long double half = half_unit(a, f, r);
	const struct {
		bool may;
		long double scale;
	} ways[] = {
		{ unit_is_given(a, f), 1 },
		{ f->scale != 1, f->scale },
		{ f->scale > 1 && !f->unit_sure, powl(1024, floorl(log10l(f->scale) / 3)) },
		{ f->percent, 0.01L },
	};

	if (r->value >= 1e18L && f->scale == 1 && r->decimals == 0)
		return digits_are_there(a, f) ? FOUND : FOUND_NOT;
	enum found best = FOUND_NOT;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!ways[i].may)
			continue;
		enum found now =
			compare(a, f, r->value * ways[i].scale, half * ways[i].scale, ret_is);
		best = now > best ? now : best;
	}
	return best;
}

bool answer_counts(const struct answer *a, const struct figure *f)
{
	size_t j;

	for (size_t i = 0; i < f->count && !f->negative && !f->percent && f->scale == 1; i++)
		for (j = 0; j < a->known.counted; j++)
			if (f->readings[i].value == (long double)a->known.counts[j])
				return true;
	return false;
}

/* "1st", "#3": a place among the lines. */
static bool is_place(const struct answer *a, const struct figure *f)
{
	static const char *const endings[] = { "st", "nd", "rd", "th" };
	const char *after = a->text + f->end;
	bool place = f->start && a->text[f->start - 1] == '#';

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		place |= !strncmp(after, endings[i], 2) && !isalpha((unsigned char)after[2]);
	return place && f->count && a->known.counted &&
	       f->readings[0].value <= (long double)a->known.counts[0];
}

/* A whole word with digits in it ("H2O", "2.5-coder", "1.2.3") that a source has. */
static bool is_named(const struct answer *a, const struct figure *f)
{
	size_t start = f->start, end = f->end;

	while (start && (isalnum((unsigned char)a->text[start - 1]) || a->text[start - 1] == '_'))
		start--;
	while (end < a->len && (isalnum((unsigned char)a->text[end]) || a->text[end] == '_'))
		end++;
	bool letters = start < f->start || end > f->end;
	if (!letters && f->count)
		return false;
	cleanup_free char *word = mem_strndup(a->text + start, end - start);
	return strcasestr(a->known.text.data, word) != NULL;
}

enum found answer_find(const struct answer *a, const struct figure *f, long double *ret_is)
{
	enum found best = FOUND_NOT;

	for (size_t i = 0; i < f->count; i++) {
		enum found now = find_reading(a, f, &f->readings[i], ret_is);
		best = now > best ? now : best;
	}
	if (best != FOUND &&
	    (is_named(a, f) || (best == FOUND_NOT && (answer_counts(a, f) || is_place(a, f)))))
		best = FOUND;
	return best;
}

/* --- all of them --- */

static char *say_where(const struct answer *a, const char *what, size_t start, size_t end)
{
	const struct known *k = &a->known;
	struct buf out = BUF_INIT(4096);

	buf_addf(&out, "the %s ", what);
	buf_add(&out, a->text + start, end - start < 80 ? end - start : 80);
	buf_addf(&out, ", which is neither in the output (%zu number%s)", k->of_output,
		 k->of_output == 1 ? "" : "s");
	if (a->from->notes_len)
		buf_addf(&out, ", its notes on standard error (%zu)", k->of_notes);
	if (a->from->name_count)
		buf_addstr(&out, ", the names of its files");
	buf_addstr(&out, " nor in the question");
	return buf_take(&out, NULL);
}

static char *say_turned(const struct answer *a, const struct figure *f, long double is)
{
	return mem_printf("the number %s%.*s, which is %.12Lg in the output or the question: its "
			  "sign was turned",
			  f->negative ? "-" : "", (int)(f->end - f->start), a->text + f->start, is);
}

/* Numbers up to twelve in words count things, and are no claim of the data's. */
static char *fault_in_words(struct answer *a)
{
	struct figure f;
	long double is;
	size_t at = 0;

	while (figure_next_words(a->text, a->len, &at, &f))
		if (f.readings[0].value > 12 && answer_find(a, &f, &is) == FOUND_NOT)
			return say_where(a, "number", f.start, f.end);
	return NULL;
}

static char *fault_in_figures(struct answer *a)
{
	struct figure f;
	long double is = 0;
	size_t at = 0;
	bool blanks = true;

	while (figure_next(a->text, a->len, &at, a->style, blanks, &f)) {
		enum found found = answer_find(a, &f, &is);

		/* What could be one grouped number may be several. */
		if (found != FOUND && blanks && memchr(a->text + f.start, ' ', f.end - f.start)) {
			at = f.start;
			blanks = false;
			continue;
		}
		if (found == FOUND_TURNED)
			return say_turned(a, &f, is);
		if (found == FOUND_NOT)
			return say_where(a, "number", f.start, f.end);
		blanks = true;
	}
	return NULL;
}

char *ground_fault(const struct ground *from, const char *answer)
{
	cleanup_free char *text = mem_strdup(answer);
	struct answer a = { .from = from, .text = text, .len = strlen(text) };

	known_gather(&a.known, from);
	a.style = figure_style_of(text, a.len);
	struct figure_date date;
	char *fault = answer_blank(&a, &date) ? NULL : say_where(&a, "date", date.start, date.end);
	fault = fault ? fault : fault_in_figures(&a);
	fault = fault ? fault : fault_in_words(&a);
	fault = fault ? fault : answer_fault_in_rows(&a);
	known_release(&a.known);
	return fault;
}
