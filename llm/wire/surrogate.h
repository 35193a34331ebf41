/*
 * Characters cut in two. A server that cuts its text by UTF-16 units may send
 * "\ud83d" at the end of one event and "\ude00" at the start of the next;
 * neither is a character. Halves are carried through strict JSON and UTF-8 as
 * code points of the last private plane, and joined again here. Pure.
 */
#ifndef LLM_SURROGATE_H
#define LLM_SURROGATE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Appends JSON text to out with each escaped half that stands alone as its
 * carrier, and each escaped NUL as U+FFFD. True when there was any half.
 */
bool surrogate_carry(struct buf *out, const char *json, size_t len);

/*
 * Appends text, in which carriers may be, to out: halves that meet become
 * their character, others U+FFFD. *pending (0 at first) is a first half that
 * waits for the next text; it is given up by text that does not begin with a
 * second one. At the end call with len 0 and last true.
 */
void surrogate_join(struct buf *out, uint32_t *pending, const char *text, size_t len, bool last);

#endif
