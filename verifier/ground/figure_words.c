/*
 * Numbers and months in words, in the languages that answers come in. A word that could be
 * something else is no number.
 */
#include "verifier/ground/figure.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Letters of any script: bytes past ASCII belong to a word. */
static bool letter_at(const char *text, size_t len, size_t at)
{
	return at < len && (isalpha((unsigned char)text[at]) || (unsigned char)text[at] >= 0xc3 ||
			    ((unsigned char)text[at] >= 0x80 && (unsigned char)text[at] < 0xc0));
}

static size_t word_end(const char *text, size_t len, size_t at)
{
	while (letter_at(text, len, at))
		at++;
	return at;
}

static bool is_word(const char *text, size_t at, size_t end, const char *word)
{
	return strlen(word) == end - at && !strncasecmp(text + at, word, end - at);
}

/* --- numbers --- */

static const struct {
	const char *word;
	int value;
} small[] = {
	{ "zero", 0 },	   { "one", 1 },	{ "two", 2 },	    { "three", 3 },
	{ "four", 4 },	   { "five", 5 },	{ "six", 6 },	    { "seven", 7 },
	{ "eight", 8 },	   { "nine", 9 },	{ "ten", 10 },	    { "eleven", 11 },
	{ "twelve", 12 },  { "thirteen", 13 },	{ "fourteen", 14 }, { "fifteen", 15 },
	{ "sixteen", 16 }, { "seventeen", 17 }, { "eighteen", 18 }, { "nineteen", 19 },
	{ "twenty", 20 },  { "thirty", 30 },	{ "forty", 40 },    { "fifty", 50 },
	{ "sixty", 60 },   { "seventy", 70 },	{ "eighty", 80 },   { "ninety", 90 },
};
static const struct {
	const char *word;
	long double value;
} large[] = { { "hundred", 1e2L }, { "thousand", 1e3L }, { "million", 1e6L }, { "billion", 1e9L } };

/* A number in words on its way: what is done, and the part below the next thousand. */
struct spelt {
	long double done, part, scale;
};

static bool take_word(const char *text, size_t at, size_t end, struct spelt *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(small); i++)
		if (is_word(text, at, end, small[i].word)) {
			s->part += small[i].value;
			s->scale = 1;
			return true;
		}
	for (size_t i = 0; s->part > 0 && i < ARRAY_SIZE(large); i++) {
		if (!is_word(text, at, end, large[i].word))
			continue;
		s->part *= large[i].value;
		s->scale = large[i].value;
		if (i) {
			s->done += s->part;
			s->part = 0;
		}
		return true;
	}
	return false;
}

static size_t skip_between(const char *text, size_t len, size_t at)
{
	size_t n = at < len && (text[at] == ' ' || text[at] == '-');

	if (n && len - at > 5 && !memcmp(text + at + n, "and ", 4))
		n += 4;
	return at + n;
}

bool figure_next_words(const char *text, size_t len, size_t *at, struct figure *ret)
{
	size_t start = *at, end;

	while (start < len) {
		struct spelt s = { .scale = 1 };
		size_t last = start;

		for (size_t i = start; letter_at(text, len, i); i = skip_between(text, len, end)) {
			end = word_end(text, len, i);
			if (!take_word(text, i, end, &s))
				break;
			last = end;
		}
		if (last > start) {
			*ret = (struct figure){
				.start = start, .end = last, .scale = 1, .count = 1
			};
			ret->readings[0].value = s.done + s.part;
			for (; s.scale >= 10; s.scale /= 10)
				ret->readings[0].decimals--;
			*at = last;
			return true;
		}
		start = letter_at(text, len, start) ? word_end(text, len, start) : start + 1;
	}
	*at = len;
	return false;
}

/* --- dates --- */

static const char *const months[][12] = {
	{ "january", "february", "march", "april", "may", "june", "july", "august", "september",
	  "october", "november", "december" },
	{ "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec" },
	{ "januar", "februar", "m\u00e4rz", "april", "mai", "juni", "juli", "august", "september",
	  "oktober", "november", "dezember" },
	{ "janvier", "f\u00e9vrier", "mars", "avril", "mai", "juin", "juillet", "ao\u00fbt",
	  "septembre", "octobre", "novembre", "d\u00e9cembre" },
	{ "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
	  "octubre", "noviembre", "diciembre" },
};

/* 1 to 12 and *at past the name, or 0. "may" and "march" are words, too. */
static int read_month(const char *text, size_t len, size_t *at)
{
	size_t end = word_end(text, len, *at), m;

	for (size_t i = 0; i < ARRAY_SIZE(months); i++)
		for (m = 0; m < 12; m++) {
			if (!is_word(text, *at, end, months[i][m]) ||
			    (i < 2 && islower((unsigned char)text[*at])))
				continue;
			*at = end + (end < len && text[end] == '.' && i == 1);
			return (int)m + 1;
		}
	return 0;
}

/* A run of digits of that many at most, *at past it; -1 when there is none. */
static int read_digits(const char *text, size_t len, size_t *at, size_t most)
{
	size_t end = *at;
	int value = 0;

	while (end < len && isdigit((unsigned char)text[end]) && end - *at <= most)
		value = 10 * value + (text[end++] - '0');
	if (end == *at || end - *at > most)
		return -1;
	*at = end;
	return value;
}

static bool skip_one(const char *text, size_t len, size_t *at, const char *of)
{
	if (*at >= len || !strchr(of, text[*at]))
		return false;
	(*at)++;
	return true;
}

/* Blanks, commas, "of", "de" and the ending of an ordinal. */
static void skip_filler(const char *text, size_t len, size_t *at)
{
	static const char *const words[] = { "st", "nd", "rd", "th", "er", "of", "de", "the" };

	for (;;) {
		size_t i;

		while (*at < len && strchr(" ,.", text[*at]))
			(*at)++;
		size_t end = word_end(text, len, *at);
		for (i = 0; i < ARRAY_SIZE(words); i++)
			if (is_word(text, *at, end, words[i]))
				break;
		if (i == ARRAY_SIZE(words))
			return;
		*at = end;
	}
}

/* A year after a blank, when one stands there. */
static void read_year(const char *text, size_t len, size_t *at, struct figure_date *d)
{
	size_t next = *at;

	skip_filler(text, len, &next);
	int year = next > *at ? read_digits(text, len, &next, 4) : -1;
	if (year < 1000)
		return;
	d->year = year;
	*at = next;
}

/* "March 5, 2024", "March 2024" */
static bool from_month(const char *text, size_t len, size_t at, struct figure_date *d)
{
	d->month = read_month(text, len, &at);
	if (!d->month)
		return false;
	size_t next = at;
	skip_filler(text, len, &next);
	int day = next > at ? read_digits(text, len, &next, 2) : -1;
	if (day > 0 && day < 32) {
		d->day = day;
		at = next;
	}
	read_year(text, len, &at, d);
	d->end = at;
	return d->day || d->year;
}

/* "2024-03-05", "2024-03", "5.3.2024", "3/5/2024" */
static bool from_digits(const char *text, size_t len, size_t at, struct figure_date *d)
{
	size_t end = at;
	int first = read_digits(text, len, &end, 4);
	bool year_first = end - at == 4;
	char mark[2] = { end < len ? text[end] : '\0', '\0' };

	if (first < 0 || !*mark || !strchr("-/.", *mark))
		return false;
	end++;
	int second = read_digits(text, len, &end, 2);
	d->end = end;
	int third = -1;
	if (second > 0 && skip_one(text, len, &end, mark)) {
		third = read_digits(text, len, &end, year_first ? 2 : 4);
		d->end = third > 0 ? end : d->end;
	}
	if (year_first) {
		d->year = first;
		d->month = second;
		d->day = third > 0 ? third : 0;
		return first > 999 && second > 0 && second < 13 && d->day < 32 && *mark != '.' &&
		       (third > 0 || *mark == '-');
	}
	d->year = third;
	d->day = first;
	d->month = second;
	if (*mark != '.' && first < 13)
		d->other_month = first;
	if (second > 12 && d->other_month) {
		d->day = second;
		d->month = first;
		d->other_month = 0;
	}
	return third > 999 && first > 0 && d->day < 32 && d->month > 0 && d->month < 13;
}

/* "5 March 2024", "5th of March" */
static bool from_day(const char *text, size_t len, size_t at, struct figure_date *d)
{
	int day = read_digits(text, len, &at, 2);

	skip_filler(text, len, &at);
	d->day = day;
	d->month = day > 0 && day < 32 ? read_month(text, len, &at) : 0;
	if (!d->month)
		return false;
	read_year(text, len, &at, d);
	d->end = at;
	return true;
}

bool figure_next_date(const char *text, size_t len, size_t *at, struct figure_date *ret)
{
	size_t i = *at;

	while (i < len) {
		bool digit = isdigit((unsigned char)text[i]);
		size_t end = i;

		if (digit || letter_at(text, len, i)) {
			*ret = (struct figure_date){ .start = i };
			if (digit && from_digits(text, len, i, ret))
				break;
			*ret = (struct figure_date){ .start = i };
			if (digit ? from_day(text, len, i, ret) : from_month(text, len, i, ret))
				break;
		}
		while (end < len &&
		       (isdigit((unsigned char)text[end]) || letter_at(text, len, end)))
			end++;
		i = end > i ? end : i + 1;
	}
	*at = i < len ? ret->end : len;
	return i < len;
}
