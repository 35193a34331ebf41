/* Numbers as programs print them, found in text. */
#ifndef VERIFIER_NUMBER_H
#define VERIFIER_NUMBER_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* A number as it stands in a text: text[start, end), its sign included. */
struct number {
	double value; /* "nan" and "inf" are numbers too: what holds of no such number fails */
	bool whole;   /* digits alone: no point, no exponent */
	size_t start, end;
};

/* Bytes of the one of words that ends at text[at], 0 when none does; of a minus sign that does; of
 * a currency sign. */
size_t number_word_before(const char *text, size_t at, const char *const words[], size_t count);
size_t number_minus_before(const char *text, size_t at);
size_t number_currency_before(const char *text, size_t at);

/* The next number at or after *at: optional sign (a Unicode minus too, before a
 * currency sign or after it), digits with commas between groups of three
 * (not in a list: "[1,234"), fraction, exponent; nan, inf, Infinity; not the
 * tail of a word ("x2") and not the middle of a date. Moves *at past it. */
bool number_next(const char *text, size_t len, size_t *at, struct number *ret);

/* The last number of text. */
bool number_last(const char *text, size_t len, struct number *ret);

/* The text, but for blanks around it, is one number and nothing else. */
bool number_alone(const char *text, size_t len, double *ret);

/* Appends the digits of a whole number in their one form: "-1,234" as -1234,
 * "007" as 7. False when text is no whole number: sign, digits and commas. */
bool number_digits(const char *text, size_t len, struct buf *out);

/* The sequence an output shows: the last number of each line that has one;
 * of a single such line, all its numbers. Caller frees. */
double *number_sequence(const char *text, size_t len, size_t *ret_count);

/* |a - b| <= tolerance; a negative tolerance means 1e-9 of the larger. */
bool number_close(double a, double b, double tolerance);

/* Two numbers of a document: whole ones exactly, others as number_close. */
bool number_near(double a, double b);

/* "3.14", "3.14±0.01", "3.14+-0.01", both finite; tolerance -1 when not given. */
bool number_parse(const char *text, double *ret_value, double *ret_tolerance);

#endif
