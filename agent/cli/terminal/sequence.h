/* Sequences that a terminal obeys: links and the clipboard. They are made of our own paths and of
 * base64 alone; nothing from outside stands in one as it is. */
#ifndef AGENT_SEQUENCE_H
#define AGENT_SEQUENCE_H

#include "base/error.h"

#include <stddef.h>

struct terminal;

/* Text on stderr, which a terminal that can (OSC 8) shows as a link to the file at path. Both are
 * made visible; nothing when quiet. */
void sequence_link(struct terminal *term, const char *path, const char *text);

/* Text, made visible, to the terminal's clipboard (OSC 52). ERR_FAILED when it is too long for one
 * or there is no terminal that knows the sequence. */
int sequence_copy(struct terminal *term, const char *text, size_t len, struct error *err);

#endif
