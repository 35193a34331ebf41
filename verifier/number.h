/* Numbers as programs print them, found in text. */
#ifndef VERIFIER_NUMBER_H
#define VERIFIER_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* The next number at or after *at: optional sign, digits with commas between
 * groups of three, fraction, exponent; not the tail of a word ("x2") and not
 * the middle of a date. Moves *at past it. */
bool number_next(const char *text, size_t len, size_t *at, double *ret);

/* The last number of text. */
bool number_last(const char *text, size_t len, double *ret);

/* The sequence an output shows: the last number of each line that has one;
 * of a single such line, all its numbers. Caller frees. */
double *number_sequence(const char *text, size_t len, size_t *ret_count);

/* |a - b| <= tolerance; a negative tolerance means 1e-9 of the larger. */
bool number_close(double a, double b, double tolerance);

/* "3.14", "3.14±0.01", "3.14+-0.01"; tolerance -1 when not given. */
bool number_parse(const char *text, double *ret_value, double *ret_tolerance);

#endif
