/* A program of several cells as a notebook (nbformat 4.4), with what they printed and drew. */
#ifndef AGENT_SAVE_NOTEBOOK_H
#define AGENT_SAVE_NOTEBOOK_H

#include "agent/context.h"
#include "audit/audit.h"
#include "verifier/cells.h"

struct notebook {	     /* all is borrowed */
	struct audit *audit; /* has what the cells before the last printed */
	const struct context *context;
	const char *question, *answer; /* or NULL */
	const char *output;	       /* what the last cell printed */
	size_t output_len;
};

/* Those of list that slice uses; list: all of the language of the last cell. Caller frees. */
char *save_notebook(const struct notebook *book, const struct slice *slice,
		    const struct cell *list);

#endif
