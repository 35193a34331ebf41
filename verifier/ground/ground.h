/*
 * Whether an answer in prose says only numbers that it was given: those of the
 * output, of the notes beside it, of the files' names and of the question,
 * however they are written (rounded, grouped, scaled, as a percentage, as a
 * date), and with the sign they have there.
 */
#ifndef VERIFIER_GROUND_H
#define VERIFIER_GROUND_H

#include "verifier/ground/source.h"

/* NULL when all is found. Otherwise the first number at fault and where it was
 * looked for, after "had": "the number 43, which is neither in the output (1
 * number) nor in the question". Caller frees. */
char *ground_fault(const struct ground *from, const char *answer);

#endif
