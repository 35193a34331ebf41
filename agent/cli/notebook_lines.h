/* Lines of a notebook (agent/notebook.h) in a cell that stands by itself: what they mean is written
 * with nothing but the language, so that a program that is saved of it runs anywhere. */
#ifndef AGENT_NOTEBOOK_LINES_H
#define AGENT_NOTEBOOK_LINES_H

#include "base/error.h"

#include <stdbool.h>

/* The cell as it is to run, and whether its time is wanted. ERR_USAGE that begins with the line
 * ("line 3: ...") for one that means nothing here. Caller frees. */
int notebook_lines(const char *code, char **ret, bool *ret_timed, struct error *err);

#endif
