/* Thinking whose opening tag (base/think_tag.h) did not come with the reply. */
#ifndef VERIFIER_THINK_H
#define VERIFIER_THINK_H

#include <stddef.h>

/* A closing tag without its opening one counts only as the first or last thing
 * of its line: code that mentions the tag has it inside a string. Returns
 * where the text goes on, or NULL. */
const char *think_lone_end(const char *line, size_t len);

#endif
