/* What an answer may say: the numbers, dates and counts of its sources. Inside
 * verifier/ only (ground.c). */
#ifndef VERIFIER_GROUND_KNOWN_H
#define VERIFIER_GROUND_KNOWN_H

#include "base/buf.h"
#include "verifier/ground/figure.h"
#include "verifier/ground/source.h"

struct known {
	long double *values; /* with their signs; owned */
	size_t count;
	struct figure_date *dates; /* owned */
	size_t date_count;
	long counts[8]; /* of lines, of rows below a header, of numbers, of files ... */
	size_t counted;
	struct buf text;	    /* all the sources, a newline between */
	size_t of_output, of_notes; /* numbers each of them has */
};

void known_gather(struct known *k, const struct ground *from);
void known_release(struct known *k);
#define cleanup_known __attribute__((cleanup(known_release)))

#endif
