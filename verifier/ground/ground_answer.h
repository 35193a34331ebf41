/* An answer whose figures are looked up. Inside verifier/ only (ground*.c). */
#ifndef VERIFIER_GROUND_ANSWER_H
#define VERIFIER_GROUND_ANSWER_H

#include "verifier/ground/ground_known.h"

/* An answer on its way through; what is understood is blanked in text. */
struct answer {
	const struct ground *from;
	struct known known;
	char *text;
	size_t len;
	enum figure_style style;
};

/* The clause that text[at] stands in. */
void answer_clause(const struct answer *a, size_t at, size_t *start, size_t *end);

enum found { FOUND_NOT, FOUND_TURNED, FOUND };
/* Whether the sources have a figure of the answer; *ret_is the one of another sign. */
enum found answer_find(const struct answer *a, const struct figure *f, long double *ret_is);
/* Whether it can count lines, rows, files ... */
bool answer_counts(const struct answer *a, const struct figure *f);

/* --- ground_blank.c --- */
/* Blanks the names of files, list marks, times and days that the sources have. False
 * where they have days, but not *ret. */
bool answer_blank(struct answer *a, struct figure_date *ret);

/* --- ground_row.c --- */
/* A number that a sentence about one row of the output took from another; or NULL. */
char *answer_fault_in_rows(const struct answer *a);

#endif
