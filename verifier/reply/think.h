/* The tags models put around their thinking: <think>, <reasoning> and kin. */
#ifndef VERIFIER_THINK_H
#define VERIFIER_THINK_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the tag at s when it is one of them, else 0. */
size_t think_tag(const char *s, size_t len, bool closing);

/* A closing tag without its opening one counts only as the first or last thing
 * of its line: code that mentions the tag has it inside a string. Returns
 * where the text goes on, or NULL. */
const char *think_lone_end(const char *line, size_t len);

#endif
