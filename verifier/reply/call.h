/* The program in a tool call, as models write it: JSON of many shapes. */
#ifndef VERIFIER_CALL_H
#define VERIFIER_CALL_H

#include "base/json.h"

struct call {
	const char *code; /* in the JSON; NULL: it is no call of a program */
	const char *lang; /* canonical; NULL: not said */
};

void call_find(const struct json *value, struct call *ret);

/* The call in a text that is JSON, or holds it; line breaks in its strings, which
 * are no JSON, are read as what they are. NULL: none. Caller frees. */
struct json *call_parse(const char *text, size_t len);

#endif
