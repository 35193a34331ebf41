/* Splitting a command line into arguments as a shell does, without a shell. Pure. */
#ifndef LLM_SPLIT_H
#define LLM_SPLIT_H

#include "base/error.h"

/*
 * Blanks separate; '...' is literal; "..." keeps blanks, with \ before " \ $
 * and ` ; elsewhere \ takes the next character literally. Nothing is expanded.
 * NULL with ERR_USAGE for an open quote, a final \ or an empty command. The
 * result ends with NULL and is freed by split_free.
 */
char **split_command(const char *command, struct error *err);
void split_free(char **argv);

#endif
