/*
 * A figure in text: its digits, grouping, sign, unit and exponent, in the readings it can have.
 * It finds; whether a figure may stand there is not decided here.
 */
#include "verifier/ground/figure.h"

#include "base/mem.h"
#include "verifier/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool digit_at(const char *text, size_t len, size_t at)
{
	return at < len && isdigit((unsigned char)text[at]);
}

static bool letter_at(const char *text, size_t len, size_t at)
{
	return at < len && (isalpha((unsigned char)text[at]) || (unsigned char)text[at] >= 0xc3);
}

static size_t skip_digits(const char *text, size_t len, size_t at)
{
	while (digit_at(text, len, at))
		at++;
	return at;
}

/* Bytes of the one of words at text[at], 0 when there is none. */
static size_t one_of(const char *text, size_t len, size_t at, const char *const words[],
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(words[i]);
		if (n <= len - at && !memcmp(text + at, words[i], n))
			return n;
	}
	return 0;
}

/* --- separators --- */

static size_t group_mark(const char *text, size_t len, size_t at, bool blanks)
{
	static const char *const marks[] = { "'", "\u2019", "\u00a0", "\u202f", "\u2009", "_" };

	if (at >= len)
		return 0;
	if (blanks && text[at] == ' ')
		return 1;
	return one_of(text, len, at, marks, ARRAY_SIZE(marks));
}

static bool three_digits(const char *text, size_t len, size_t at)
{
	return skip_digits(text, len, at) == at + 3;
}

/* Past all that may belong to one number. */
static size_t extent(const char *text, size_t len, size_t start, bool blanks)
{
	size_t at = skip_digits(text, len, start);

	for (;;) {
		size_t n = group_mark(text, len, at, blanks);
		if (n && three_digits(text, len, at + n))
			at += n + 3;
		else if (at < len && (text[at] == ',' || text[at] == '.') &&
			 digit_at(text, len, at + 1))
			at = skip_digits(text, len, at + 1);
		else
			return at;
	}
}

/* One way to read text[0, len), point parting the fraction. */
static bool read_as(const char *text, size_t len, char point, struct figure_reading *ret)
{
	char digits[64], group = point == '.' ? ',' : '.';
	size_t at = skip_digits(text, len, 0), n = at;

	if (at >= sizeof(digits) - 1)
		return false;
	memcpy(digits, text, at);
	size_t i;
	for (i = at; i < len && text[i] != point; i += 3) {
		size_t mark = text[i] == group ? 1 : group_mark(text, len, i, true);
		if (!mark || !at || at > 3 || text[0] == '0' || n + 4 > sizeof(digits) - 1 ||
		    !three_digits(text, len, i + mark))
			return false;
		i += mark;
		memcpy(digits + n, text + i, 3);
		n += 3;
	}
	*ret = (struct figure_reading){ .decimals = 0 };
	if (i < len) {
		if (skip_digits(text, len, i + 1) != len || n + len - i >= sizeof(digits) - 1)
			return false;
		digits[n++] = '.';
		memcpy(digits + n, text + i + 1, len - i - 1);
		n += len - i - 1;
		ret->decimals = (int)(len - i - 1);
	}
	digits[n] = '\0';
	ret->value = strtold(digits, NULL);
	return true;
}

void figure_read(const char *text, struct figure *f, enum figure_style style)
{
	const char *at = text + f->start;
	size_t len = f->end - f->start;

	f->count = 0;
	struct figure_reading r;
	if (style != FIGURE_COMMA && read_as(at, len, '.', &r))
		f->readings[f->count++] = r;
	if (style != FIGURE_POINT && read_as(at, len, ',', &r) &&
	    (!f->count || r.value != f->readings[0].value))
		f->readings[f->count++] = r;
}

/* --- what stands around it --- */

static const char *const minus_words[] = { "minus ", "Minus ", "negative ", "moins ", "menos " };

static bool is_negative(const char *text, size_t start)
{
	size_t at = start - number_currency_before(text, start);

	size_t n = number_word_before(text, at, minus_words, ARRAY_SIZE(minus_words));
	if (n)
		return at == n || !isalpha((unsigned char)text[at - n - 1]);
	n = number_minus_before(text, at);
	if (!n && at == start) {
		at -= number_currency_before(text, at);
		n = number_minus_before(text, at);
	}
	at -= n;
	return n && !(at && (isalnum((unsigned char)text[at - 1]) || text[at - 1] == ')' ||
			     text[at - 1] == '_'));
}

static const struct unit {
	const char *word;
	long double scale;
	bool sure;
	const char *stem; /* a text that has it speaks of such units */
} units[] = {
	{ "k", 1e3L, false, "k" },
	{ "thousand", 1e3L, true, "thousand" },
	{ "tsd", 1e3L, true, "tsd" },
	{ "tausend", 1e3L, true, "tausend" },
	{ "mille", 1e3L, true, "mille" },
	{ "mil", 1e3L, true, "mil" },
	{ "m", 1e6L, false, "m" },
	{ "mn", 1e6L, true, "mn" },
	{ "million", 1e6L, true, "million" },
	{ "millions", 1e6L, true, "million" },
	{ "mio", 1e6L, true, "mio" },
	{ "millionen", 1e6L, true, "million" },
	{ "millones", 1e6L, true, "mill" },
	{ "bn", 1e9L, true, "bn" },
	{ "b", 1e9L, false, "b" },
	{ "billion", 1e9L, true, "billion" },
	{ "billions", 1e9L, true, "billion" },
	{ "mrd", 1e9L, true, "mrd" },
	{ "milliarde", 1e9L, true, "milliard" },
	{ "milliarden", 1e9L, true, "milliard" },
	{ "milliard", 1e9L, true, "milliard" },
	{ "milliards", 1e9L, true, "milliard" },
	{ "trillion", 1e12L, true, "trillion" },
	{ "billionen", 1e12L, true, "billion" },
	{ "tn", 1e12L, true, "tn" },
	{ "kb", 1e3L, false, "kb" },
	{ "mb", 1e6L, false, "mb" },
	{ "gb", 1e9L, false, "gb" },
	{ "kib", 1024.0L, false, "kib" },
	{ "mib", 1048576.0L, false, "mib" },
	{ "gib", 1073741824.0L, false, "gib" },
};

static const char *const percents[] = { "%",	     "percent",	   "per cent", "Prozent",
					"pour cent", "por ciento", "pct" };

/* The power of ten after "x" or a multiplication sign: "1.2 x 10^6"; bytes, or 0. */
static size_t read_power(const char *text, size_t len, size_t at, long double *ret)
{
	static const char *const times[] = { "\u00d7", "\u00b7", "x", "*" };
	size_t i = at;

	while (i < len && text[i] == ' ')
		i++;
	size_t n = i < len ? one_of(text, len, i, times, ARRAY_SIZE(times)) : 0;
	i += n;
	while (n && i < len && text[i] == ' ')
		i++;
	if (!n || len - i < 4 || memcmp(text + i, "10^", 3))
		return 0;
	char *end;
	*ret = powl(10, strtold(text + i + 3, &end));
	return end == text + i + 3 ? 0 : (size_t)(end - text) - at;
}

static size_t read_exponent(const char *text, size_t len, size_t at, long double *ret)
{
	size_t i = at + 1;

	if (at >= len || (text[at] != 'e' && text[at] != 'E'))
		return read_power(text, len, at, ret);
	if (i < len && (text[i] == '-' || text[i] == '+'))
		i++;
	size_t end = skip_digits(text, len, i);
	if (end == i || end - i > 4 || letter_at(text, len, end))
		return 0;
	*ret = powl(10, strtol(text + at + 1, NULL, 10));
	return end - at;
}

static void read_unit(const char *text, size_t len, struct figure *f)
{
	size_t at = f->end;

	while (at < len && (text[at] == ' ' || text[at] == '-'))
		at++;
	at += at < len ? one_of(text, len, at, (const char *const[]){ "\u00a0", "\u202f" }, 2) : 0;
	if (at < len && one_of(text, len, at, percents, ARRAY_SIZE(percents))) {
		f->percent = true;
		return;
	}
	size_t end;
	for (end = at; letter_at(text, len, end);)
		end++;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strlen(units[i].word) != end - at ||
		    strncasecmp(units[i].word, text + at, end - at))
			continue;
		f->scale = units[i].scale;
		f->unit = units[i].stem;
		f->unit_sure = units[i].sure;
		return;
	}
}

static void apply_exponent(const char *text, size_t len, struct figure *f)
{
	long double power = 1;
	size_t n = read_exponent(text, len, f->end, &power);

	for (size_t i = 0; n && i < f->count; i++) {
		f->readings[i].value *= power;
		f->readings[i].decimals -= (int)lroundl(log10l(power));
	}
	f->end += n;
}

bool figure_next(const char *text, size_t len, size_t *at, enum figure_style style, bool blanks,
		 struct figure *ret)
{
	for (size_t i = *at; i < len; i++) {
		bool fraction = text[i] == '.' && digit_at(text, len, i + 1) &&
				!(i && isalnum((unsigned char)text[i - 1]));

		if (!digit_at(text, len, i) && !fraction)
			continue;
		*ret = (struct figure){ .start = i, .scale = 1 };
		ret->end = fraction ? skip_digits(text, len, i + 1) : extent(text, len, i, blanks);
		figure_read(text, ret, fraction ? FIGURE_POINT : style);
		ret->negative = is_negative(text, i);
		apply_exponent(text, len, ret);
		read_unit(text, len, ret);
		*at = ret->end;
		return true;
	}
	*at = len;
	return false;
}

/* --- the style of a text --- */

/* What one figure says of it. */
static enum figure_style style_by(const char *text, struct figure *f)
{
	figure_read(text, f, FIGURE_POINT);
	if (!f->count) {
		figure_read(text, f, FIGURE_COMMA);
		return f->count ? FIGURE_COMMA : FIGURE_EITHER;
	}
	figure_read(text, f, FIGURE_COMMA);
	return f->count ? FIGURE_EITHER : FIGURE_POINT;
}

static bool is_english(const char *text, size_t len)
{
	static const char *const words[] = { " the ", " is ", " of ",	" and ", " was ", " are ",
					     " has ", " in ", " with ", "The ",	 "It " };
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		found += memmem(text, len, words[i], strlen(words[i])) != NULL;
	return found >= 2;
}

enum figure_style figure_style_of(const char *text, size_t len)
{
	enum figure_style style = FIGURE_EITHER;
	struct figure f;
	size_t at = 0;

	while (figure_next(text, len, &at, FIGURE_EITHER, true, &f)) {
		enum figure_style now = style_by(text, &f);
		if (style != FIGURE_EITHER && now != FIGURE_EITHER && now != style)
			return FIGURE_EITHER;
		style = now != FIGURE_EITHER ? now : style;
	}
	if (style == FIGURE_EITHER && is_english(text, len))
		return FIGURE_POINT;
	return style;
}
