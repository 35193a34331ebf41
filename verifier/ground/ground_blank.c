/*
 * What stands in an answer in digits and is no number of its own: names, list marks, times, dates
 * the sources have. What is blanked is not looked up, so that nothing is blanked on a guess.
 */
#include "verifier/ground/ground_answer.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void blank(struct answer *a, size_t start, size_t end)
{
	memset(a->text + start, ' ', end - start);
}

static void blank_names(struct answer *a)
{
	for (size_t i = 0; i < a->from->name_count; i++) {
		size_t n = strlen(a->from->names[i]);
		for (char *at = a->text; n && (at = strstr(at, a->from->names[i])); at += n)
			blank(a, (size_t)(at - a->text), (size_t)(at - a->text) + n);
	}
}

/* "1. ", "2) " at the beginnings of lines, in their order. */
static void blank_list_marks(struct answer *a)
{
	long wanted = 1;
	size_t at = 0;

	while (at < a->len) {
		char *end;
		size_t start = at + strspn(a->text + at, " \t*-");

		long n = isdigit((unsigned char)a->text[start]) ?
				 strtol(a->text + start, &end, 10) :
				 0;
		if (n == wanted && (*end == '.' || *end == ')') && end[1] == ' ') {
			blank(a, start, (size_t)(end - a->text));
			wanted++;
		}
		const char *nl = memchr(a->text + at, '\n', a->len - at);
		at = nl ? (size_t)(nl - a->text) + 1 : a->len;
	}
}

/* Minutes of the day at text[at] and *at past them; -1 when no time stands there. */
static int read_time(const char *text, size_t len, size_t *at)
{
	size_t i = *at, n = i;

	while (n < len && isdigit((unsigned char)text[n]))
		n++;
	if (n == i || n - i > 2 || n + 2 >= len || text[n] != ':' ||
	    !isdigit((unsigned char)text[n + 1]) || !isdigit((unsigned char)text[n + 2]))
		return -1;
	int hour = (int)strtol(text + i, NULL, 10);
	int minute = (int)strtol(text + n + 1, NULL, 10);
	for (n += 3; n < len && (text[n] == ':' || isdigit((unsigned char)text[n]));)
		n++;
	*at = n;
	n += n < len && text[n] == ' ';
	if (len - n >= 2 && strchr("aApP", text[n]) && strchr("mM.", text[n + 1])) {
		hour = hour % 12 + (strchr("pP", text[n]) ? 12 : 0);
		*at = n + 2;
	}
	return hour < 24 && minute < 60 ? hour * 60 + minute : -1;
}

static bool has_time(const struct known *k, int time)
{
	size_t i = 0;

	for (; i < k->text.len; i++) {
		if (!isdigit((unsigned char)k->text.data[i]) ||
		    (i && isdigit((unsigned char)k->text.data[i - 1])))
			continue;
		size_t next = i;
		if (read_time(k->text.data, k->text.len, &next) == time)
			return true;
	}
	return false;
}

static void blank_times(struct answer *a)
{
	for (size_t i = 0; i < a->len; i++) {
		size_t end = i;
		if (!isdigit((unsigned char)a->text[i]) ||
		    (i && isdigit((unsigned char)a->text[i - 1])))
			continue;
		int time = read_time(a->text, a->len, &end);
		if (time >= 0 && has_time(&a->known, time))
			blank(a, i, end);
	}
}

static bool may_be(int said, int is)
{
	return !said || said == is;
}

static bool has_date(const struct known *k, const struct figure_date *d)
{
	for (size_t i = 0; i < k->date_count; i++) {
		const struct figure_date *is = &k->dates[i];

		if (!may_be(d->year, is->year))
			continue;
		if (may_be(d->month, is->month) && may_be(d->day, is->day))
			return true;
		if (is->other_month && may_be(d->month, is->other_month) &&
		    may_be(d->day, is->month))
			return true;
		if (d->other_month && d->other_month == is->month && d->month == is->day)
			return true;
	}
	return false;
}

/* Days that the sources have; where they have some, *ret is the first they have not. */
static bool blank_dates(struct answer *a, struct figure_date *ret)
{
	size_t at = 0;

	while (figure_next_date(a->text, a->len, &at, ret)) {
		if (has_date(&a->known, ret))
			blank(a, ret->start, ret->end);
		else if (a->known.date_count && ret->month && (ret->day || ret->year))
			return false;
	}
	return true;
}

bool answer_blank(struct answer *a, struct figure_date *ret)
{
	blank_names(a);
	blank_list_marks(a);
	blank_times(a);
	return blank_dates(a, ret);
}
