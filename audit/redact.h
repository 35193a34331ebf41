/*
 * Takes secrets out of text and bytes before anything is hashed or written.
 *
 * Exact values are found as they are and as JSON strings, percent-encoded,
 * base64 (any alignment, both alphabets) and hex write them; key-shaped
 * strings by audit/keyshape.h; a value cut off by the end too, when 8 bytes of
 * it are there. Overlapping finds become one placeholder,
 * [REDACTED:NAME:8 hex digits], the digits a salted hash of the value: the
 * same secret has the same placeholder throughout a database.
 */
#ifndef AUDIT_REDACT_H
#define AUDIT_REDACT_H

#include "base/buf.h"

#include <stddef.h>

struct redactor;
struct audit_secret;

/* Shorter values would take words out of ordinary text, and are ignored. */
#define REDACT_MIN_LEN 8

/* Copies all it needs. salt is text. */
struct redactor *redactor_new(const struct audit_secret *secrets, size_t count, const char *salt);
void redactor_free(struct redactor *redactor);	/* wipes the values; NULL allowed */

/*
 * Appends bytes to out with every secret replaced, and returns how many
 * placeholders that took. With 0, nothing was appended: bytes are clean.
 */
size_t redact_bytes(const struct redactor *redactor, const char *bytes, size_t len,
		    struct buf *out);

/*
 * The same for one JSON text: each string (keys too) is decoded, cleaned and
 * encoded again, so that no secret hides behind an escape and the result is
 * JSON still; a number that is a secret becomes a string.
 */
size_t redact_json(const struct redactor *redactor, const char *json, size_t len,
		   struct buf *out);

#endif
