/* What an answer may draw its numbers from: verifier/ground/ground.h. All is borrowed. */
#ifndef VERIFIER_GROUND_SOURCE_H
#define VERIFIER_GROUND_SOURCE_H

#include <stddef.h>

struct ground {
	const char *output;
	size_t output_len;
	const char *notes; /* on standard error */
	size_t notes_len;
	const char *question, *restated; /* or NULL */
	const char *const *names;	 /* of the files written */
	size_t name_count;
};

#endif
