/* What comes from outside, as it stands in a prompt. */
#ifndef AGENT_PROMPT_QUOTE_H
#define AGENT_PROMPT_QUOTE_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

struct run;

/* Head and tail of text with the true size between them. */
void context_cut(struct buf *out, const char *bytes, size_t len, uint64_t total, size_t keep);
/* A file's path, in a line of a prompt; as a string in quotes where it could be more than a path.
 */
void context_add_path(struct buf *out, const char *path);
/* Text that came from outside, between the run's marks; "" stays that. Caller frees. */
char *context_fence(const struct run *r, const char *text);
/* The failing line and its neighbours, marked, and where in the line; column 0
 * when that is not known. Caller frees. */
char *context_excerpt(const char *code, size_t len, long line, long column);

#endif
