/* Base64 and hex digits, and what runs of them stand for. */
#ifndef AUDIT_DIGITS_H
#define AUDIT_DIGITS_H

#include "audit/redact/decoded.h"

#include <stdbool.h>
#include <stddef.h>

bool digits_is_base64(char c); /* of either alphabet of RFC 4648 */
bool digits_is_hex(char c);
unsigned digits_hex_value(char c); /* of a hex digit */

/* Calls see for every stretch of digits that is plain ASCII in one of its alignments: of
 * binary data hardly any. */
void digits_each(const char *text, size_t len, view_see *see, void *self);

/* RFC 7617: whether text is base64 of printable bytes with a colon among them. */
bool digits_is_login(const char *text, size_t len);

#endif
