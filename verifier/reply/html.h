/* Where a raw HTML block starts and ends (CommonMark 0.31, section 4.6). */
#ifndef VERIFIER_HTML_H
#define VERIFIER_HTML_H

#include <stdbool.h>
#include <stddef.h>

/* Type 1 to 7 of the block that starts with this line (leading blanks gone,
 * line ending gone), or 0. */
int html_block_start(const char *line, size_t len);
/* Whether a block of type 1 to 5 ends with this line. */
bool html_block_ends(int type, const char *line, size_t len);

#endif
