/* What base/json*.c know of each other and nobody else does. */
#ifndef BASE_JSON_NODE_H
#define BASE_JSON_NODE_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

struct json;

/* The whole numbers from -2^53 to 2^53 are the ones a double tells apart. */
#define JSON_EXACT_MAX INT64_C(9007199254740992)

/*
 * The text of a value that cJSON cannot hold: a whole number beyond 2^53, or a
 * string (quotes included) with a NUL inside. NULL for every other value.
 */
const char *json_raw(const struct json *value);

/* Appends as JSON text. The string must be valid UTF-8; NULs are escaped. */
void json_print_string(struct buf *out, const char *bytes, size_t len);
void json_print_number(struct buf *out, const struct json *value);

#endif
