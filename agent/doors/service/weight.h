/* What a JSON text of a client would take in memory, before it is parsed. */
#ifndef AGENT_DOORS_WEIGHT_H
#define AGENT_DOORS_WEIGHT_H

#include <stdbool.h>
#include <stddef.h>

/* A value costs some hundred bytes of memory, however short it is written. */
#define WEIGHT_VALUES_MAX 100000

/* Whether a text may have more values than are taken. */
bool weight_is_too_much(const char *text, size_t len);
/* The same, of so many. */
bool weight_is_above(const char *text, size_t len, size_t most);

#endif
