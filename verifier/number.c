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
	if (at - start > 3)
		return at;
	while (at < len && text[at] == ',' && digit_at(text, len, at + 1) &&
	       digit_at(text, len, at + 2) && digit_at(text, len, at + 3) &&
	       !digit_at(text, len, at + 4))
		at += 4;
	return at;
}

static size_t number_end(const char *text, size_t len, size_t start)
{
	size_t at = skip_groups(text, len, start, skip_digits(text, len, start)), exponent;

	if (at < len && text[at] == '.' && (at > start || digit_at(text, len, at + 1)))
		at = skip_digits(text, len, at + 1);
	if (at < len && (text[at] == 'e' || text[at] == 'E')) {
		exponent = at + 1;
		if (exponent < len && (text[exponent] == '-' || text[exponent] == '+'))
			exponent++;
		if (digit_at(text, len, exponent))
			at = skip_digits(text, len, exponent);
	}
	return at;
}

static double number_value(const char *text, size_t len)
{
	char digits[400];
	size_t i, n = 0;

	for (i = 0; i < len && n + 1 < sizeof(digits); i++)
		if (text[i] != ',')
			digits[n++] = text[i];
	digits[n] = '\0';
	return strtod(digits, NULL);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

bool number_next(const char *text, size_t len, size_t *at, double *ret)
{
	size_t i = *at, end;

	for (; i < len; i++) {
		bool starts = digit_at(text, len, i) ||
			      (text[i] == '.' && digit_at(text, len, i + 1));
		bool negative;

		if (!starts)
			continue;
		if (i && isascii((unsigned char)text[i - 1]) && is_word(text[i - 1])) {
			i = skip_digits(text, len, i + 1) - 1;
			continue;
		}
		end = number_end(text, len, i);
		/* A minus after a word or a bracket is a dash or an operator. */
		negative = i && text[i - 1] == '-' &&
			   !(i > 1 && (is_word(text[i - 2]) || text[i - 2] == ')'));
		*ret = number_value(text + i, end - i);
		if (negative)
			*ret = -*ret;
		*at = end;
		return true;
	}
	*at = len;
	return false;
}

bool number_last(const char *text, size_t len, double *ret)
{
	size_t at = 0;
	bool any = false;

	while (number_next(text, len, &at, ret))
		any = true;
	return any;
}

static void append(double **list, size_t *count, double value)
{
	if ((*count & (*count - 1)) == 0)
		*list = mem_array(*list, *count ? *count * 2 : 1, sizeof(**list));
	(*list)[(*count)++] = value;
}

double *number_sequence(const char *text, size_t len, size_t *ret_count)
{
	double *list = NULL, value;
	size_t count = 0, start, end, at, only = 0, only_end = 0;
	const char *nl;

	for (start = 0; start < len; start = end + 1) {
		nl = memchr(text + start, '\n', len - start);
		end = nl ? (size_t)(nl - text) : len;
		if (!number_last(text + start, end - start, &value))
			continue;
		only = start;
		only_end = end;
		append(&list, &count, value);
	}
	if (count == 1) {
		count = 0;
		for (at = 0; number_next(text + only, only_end - only, &at, &value);)
			append(&list, &count, value);
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

bool number_parse(const char *text, double *ret_value, double *ret_tolerance)
{
	static const char *const signs[] = { "±", "+-", "+/-" };
	double value = 0, tolerance = -1;
	char *end;
	size_t i;

	value = strtod(text, &end);
	if (end == text || !isfinite(value))
		return false;
	for (i = 0; i < ARRAY_SIZE(signs); i++) {
		const char *rest = end + strspn(end, " ");

		if (strncmp(rest, signs[i], strlen(signs[i])) != 0)
			continue;
		rest += strlen(signs[i]);
		tolerance = strtod(rest, &end);
		if (end == rest || !(tolerance >= 0))
			return false;
		break;
	}
	if (end[strspn(end, " \n")])
		return false;
	*ret_value = value;
	*ret_tolerance = tolerance;
	return true;
}
