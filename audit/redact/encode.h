/* How else a secret may be written down: the forms that redaction looks for. */
#ifndef AUDIT_ENCODE_H
#define AUDIT_ENCODE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* JSON, JSON in JSON, JSON with "\/", percent and hex (both cases each), base64 (3 alignments,
 * 2 alphabets). */
#define ENCODE_FORMS 13

/* Appends the form of value; a base64 form has only the digits that value alone decides. */
void encode_form(unsigned form, const char *value, size_t len, struct buf *out);
bool encode_is_base64(unsigned form);
bool encode_base64_digit(char c);

/* The inside of a JSON string (RFC 8259), without its quotes. */
void encode_json(const char *text, size_t len, struct buf *out);
/* Its inverse; what is no escape is copied. */
void decode_json(const char *text, size_t len, struct buf *out);

#endif
