/*
 * Numbers in an output: the last one, the only one, sequences, and whether two are equal within
 * what was asked. The output's own writing is read, never the locale's.
 */
#include "verifier/number.h"

#include "base/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool digit_at(const char *text, size_t len, size_t at)
{
	return at < len && isdigit((unsigned char)text[at]);
}

static size_t skip_digits(const char *text, size_t len, size_t at)
{
	while (digit_at(text, len, at))
		at++;
	return at;
}

/* Past ",123" groups after one to three digits; at when there are none. */
static size_t skip_groups(const char *text, size_t len, size_t start, size_t at)
{
	/* In a list printed without blanks a comma parts its members. */
	if (at - start > 3 || (start && (text[start - 1] == '[' || text[start - 1] == ',')))
		return at;
	while (at < len && text[at] == ',' && digit_at(text, len, at + 1) &&
	       digit_at(text, len, at + 2) && digit_at(text, len, at + 3) &&
	       !digit_at(text, len, at + 4))
		at += 4;
	return at;
}

static size_t number_end(const char *text, size_t len, size_t start, bool *ret_whole)
{
	size_t at = skip_groups(text, len, start, skip_digits(text, len, start));

	*ret_whole = true;
	if (at < len && text[at] == '.' && (at > start || digit_at(text, len, at + 1))) {
		*ret_whole = !digit_at(text, len, at + 1); /* else the end of a sentence */
		at = skip_digits(text, len, at + 1);
	}
	if (at < len && (text[at] == 'e' || text[at] == 'E')) {
		size_t exponent = at + 1;
		if (exponent < len && (text[exponent] == '-' || text[exponent] == '+'))
			exponent++;
		if (digit_at(text, len, exponent)) {
			at = skip_digits(text, len, exponent);
			*ret_whole = false;
		}
	}
	return at;
}

static double number_value(const char *text, size_t len)
{
	char digits[400];
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < sizeof(digits); i++)
		if (text[i] != ',')
			digits[n++] = text[i];
	digits[n] = '\0';
	return strtod(digits, NULL);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether the character that ends at text[at] belongs to a word. What UTF-8
 * begins with C2 and E2 is signs, arrows and operators, the rest mostly letters. */
static bool word_before(const char *text, size_t at)
{
	size_t lead = at;

	if (!at)
		return false;
	if (isascii((unsigned char)text[at - 1]))
		return is_word(text[at - 1]);
	do
		lead--;
	while (lead && at - lead < 4 && ((unsigned char)text[lead] & 0xc0) == 0x80);
	return text[lead] != '\xc2' && text[lead] != '\xe2';
}

size_t number_word_before(const char *text, size_t at, const char *const words[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(words[i]);
		if (n <= at && !memcmp(text + at - n, words[i], n))
			return n;
	}
	return 0;
}

size_t number_minus_before(const char *text, size_t at)
{
	static const char *const minus[] = { "-", "\u2212", "\u2013", "\uff0d" };

	return number_word_before(text, at, minus, ARRAY_SIZE(minus));
}

size_t number_currency_before(const char *text, size_t at)
{
	static const char *const currencies[] = { "$", "\u20ac", "\u00a3", "\u00a5" };

	return number_word_before(text, at, currencies, ARRAY_SIZE(currencies));
}

/* Where the sign of what begins at start stands, start when it has none. A
 * minus after a word or a bracket is a dash or an operator. */
static size_t sign_start(const char *text, size_t start, bool *ret_negative)
{
	size_t n = number_minus_before(text, start), at = start - n;

	if (!n) {
		at -= number_currency_before(text, start);
		n = at < start ? number_minus_before(text, at) : 0;
		at -= n;
	}
	*ret_negative = n && !word_before(text, at) && !(at && text[at - 1] == ')');
	if (!n && start && text[start - 1] == '+' && !word_before(text, start - 1))
		return start - 1;
	return *ret_negative ? at : start;
}

/* The bytes of "nan" or "inf", as languages print them, at text[at]; 0 when none. */
static size_t special_len(const char *text, size_t len, size_t at, double *ret)
{
	static const char *const words[] = { "nan",	 "NaN", "NAN", "Infinity",
					     "infinity", "inf", "Inf", "INF" };

	if (!memchr("nNiI", text[at], 4) || (at && is_word(text[at - 1])))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i]);
		if (n > len - at || memcmp(text + at, words[i], n) ||
		    (n < len - at && is_word(text[at + n])))
			continue;
		*ret = i < 3 ? (double)NAN : (double)INFINITY;
		return n;
	}
	return 0;
}

static bool starts_number(const char *text, size_t len, size_t at)
{
	return digit_at(text, len, at) || (text[at] == '.' && digit_at(text, len, at + 1));
}

bool number_next(const char *text, size_t len, size_t *at, struct number *ret)
{
	struct number n = { .whole = false };

	for (size_t i = *at; i < len; i++) {
		bool negative;

		n.end = i + special_len(text, len, i, &n.value);
		if (n.end == i) {
			if (!starts_number(text, len, i))
				continue;
			if (i && is_word(text[i - 1])) {
				i = skip_digits(text, len, i + 1) - 1;
				continue;
			}
			n.end = number_end(text, len, i, &n.whole);
			n.value = number_value(text + i, n.end - i);
		}
		n.start = sign_start(text, i, &negative);
		if (negative && !isnan(n.value))
			n.value = -n.value;
		*ret = n;
		*at = n.end;
		return true;
	}
	*at = len;
	return false;
}

bool number_last(const char *text, size_t len, struct number *ret)
{
	size_t at = 0;
	bool any = false;

	while (number_next(text, len, &at, ret))
		any = true;
	return any;
}

bool number_alone(const char *text, size_t len, double *ret)
{
	size_t at = 0;

	while (at < len && isspace((unsigned char)text[at]))
		at++;
	while (len > at && isspace((unsigned char)text[len - 1]))
		len--;
	text += at;
	len -= at;
	at = 0;
	struct number n;
	if (!number_next(text, len, &at, &n) || n.start || n.end != len)
		return false;
	*ret = n.value;
	return true;
}

bool number_digits(const char *text, size_t len, struct buf *out)
{
	size_t start = out->len, i;
	bool negative = false;

	for (i = 0; i < len && !isdigit((unsigned char)text[i]); i++)
		negative |= text[i] != '+';
	while (i + 1 < len && (text[i] == '0' || text[i] == ','))
		i++;
	for (; i < len; i++) {
		if (text[i] == ',' || (text[i] == '.' && i + 1 == len))
			continue;
		if (!isdigit((unsigned char)text[i]))
			return false;
		if (out->len == start && negative && text[i] != '0')
			buf_addch(out, '-');
		buf_addch(out, text[i]);
	}
	return out->len > start;
}

static void append(double **list, size_t *count, double value)
{
	if ((*count & (*count - 1)) == 0)
		*list = mem_array(*list, *count ? *count * 2 : 1, sizeof(**list));
	(*list)[(*count)++] = value;
}

double *number_sequence(const char *text, size_t len, size_t *ret_count)
{
	double *list = NULL;
	size_t count = 0, end, only = 0, only_end = 0;
	struct number n;

	for (size_t start = 0; start < len; start = end + 1) {
		const char *nl = memchr(text + start, '\n', len - start);
		end = nl ? (size_t)(nl - text) : len;
		if (!number_last(text + start, end - start, &n))
			continue;
		only = start;
		only_end = end;
		append(&list, &count, n.value);
	}
	if (count == 1) {
		count = 0;
		for (size_t at = 0; number_next(text + only, only_end - only, &at, &n);)
			append(&list, &count, n.value);
	}
	*ret_count = count;
	return list;
}

bool number_close(double a, double b, double tolerance)
{
	double scale = fmax(fabs(a), fabs(b));

	if (!isfinite(a) || !isfinite(b))
		return a == b;
	if (tolerance < 0)
		tolerance = scale * 1e-9 + 1e-12;
	/* A tolerance of 0.01 written in decimals must cover 3.14 and 3.15. */
	return fabs(a - b) <= tolerance + scale * 4e-16;
}

bool number_near(double a, double b)
{
	return a == b || ((a != floor(a) || b != floor(b)) && number_close(a, b, -1));
}

bool number_parse(const char *text, double *ret_value, double *ret_tolerance)
{
	static const char *const signs[] = { "±", "+-", "+/-" };
	char *end;

	double value = strtod(text, &end);
	if (end == text || !isfinite(value))
		return false;
	double tolerance = -1;
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		const char *rest = end + strspn(end, " ");

		if (strncmp(rest, signs[i], strlen(signs[i])))
			continue;
		rest += strlen(signs[i]);
		tolerance = strtod(rest, &end);
		if (end == rest || !(tolerance >= 0) || !isfinite(tolerance))
			return false;
		break;
	}
	if (end[strspn(end, " \n")])
		return false;
	*ret_value = value;
	*ret_tolerance = tolerance;
	return true;
}
