/* Figures in prose: numbers and dates as people write them, in several languages.
 * Inside verifier/ only; what programs print is verifier/number.h's. */
#ifndef VERIFIER_FIGURE_H
#define VERIFIER_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

/* Which sign parts the fraction: known of a text, or not. */
enum figure_style { FIGURE_EITHER, FIGURE_POINT, FIGURE_COMMA };

struct figure_reading {
	long double value; /* without its sign */
	int decimals;
};

struct figure {
	size_t start, end; /* digits and separators, without sign and unit */
	struct figure_reading readings[2];
	size_t count;  /* 0: no one number ("1.2.3") */
	bool negative; /* a minus, or the word for it, stands before it */
	bool percent;
	long double scale; /* of the word or letter after it ("million"): 1 without */
	const char *unit;  /* that word, as a stem; NULL without */
	bool unit_sure;	   /* it can mean nothing else ("m" can be metres) */
};

/* Where the text says it: groups, fractions, words of English. */
enum figure_style figure_style_of(const char *text, size_t len);

/* The next figure at or after *at. With blanks, a blank may part groups ("1 234"). */
bool figure_next(const char *text, size_t len, size_t *at, enum figure_style style, bool blanks,
		 struct figure *ret);
/* The readings of text[f->start, f->end) alone, which has no unit. */
void figure_read(const char *text, struct figure *f, enum figure_style style);

/* The next number in words ("forty-two", "two million"), English, at or after *at. */
bool figure_next_words(const char *text, size_t len, size_t *at, struct figure *ret);

/* A day, as far as it is given: 0 is not given. */
struct figure_date {
	int year, month, day;
	int other_month; /* where day and month can be meant the other way round, else 0 */
	size_t start, end;
};
/* "2024-03-05", "5.3.2024", "3/5/2024", "5 March 2024", "March 5, 2024", "2024-03", "March
 * 2024"; names of months in English, German, French and Spanish. */
bool figure_next_date(const char *text, size_t len, size_t *at, struct figure_date *ret);

#endif
