/*
 * Takes secrets out of text and bytes before anything is hashed or written.
 *
 * Exact values are found as they are and as JSON strings, percent-encoded,
 * base64 (any alignment, both alphabets) and hex write them; what looks like a
 * secret, or is called one, by the table of audit/redact/shape.h, in the same
 * encodings (view.h); a value cut off by the end too, when 8 bytes of it are there;
 * and what matches a pattern of the user's own, as it stands or in a JSON string. Overlapping finds
 * become one placeholder, [REDACTED:NAME:8 hex digits], the digits a salted hash of the value: the
 * same secret has the same placeholder throughout a database.
 */
#ifndef AUDIT_REDACT_H
#define AUDIT_REDACT_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

struct redactor;
/* Secrets to take out before writing. Values are exact; copied. A placeholder is stable:
 * [REDACTED:NAME:first 8 hex of SHA-256 of a per-database salt and the value]. */
struct audit_secret {
	const char *name; /* "OPENAI_API_KEY" */
	const char *value;
};

/* Shorter values would take words out of ordinary text, and are ignored. */
#define REDACT_MIN_LEN 8

/* Copies all it needs. salt is text. */
struct redactor *redactor_new(const struct audit_secret *secrets, size_t count, const char *salt);
/*
 * Takes out, too, what this pattern (base/regex.h) matches, or its first group when it has one.
 * A text in which it cannot be searched for within the limits goes whole. ERR_CONFIG or what
 * regex_compile says of a pattern that is none, or that matches the empty text.
 */
int redactor_add_pattern(struct redactor *redactor, const char *pattern, struct error *err);
int redact_check_pattern(const char *pattern, struct error *err); /* the same, added nowhere */
void redactor_free(struct redactor *redactor); /* wipes the values; NULL allowed */

/*
 * Appends bytes to out with every secret replaced, and returns how many
 * placeholders that took. With 0, nothing was appended: bytes are clean. A redactor
 * that is NULL finds nothing.
 */
size_t redact_bytes(const struct redactor *redactor, const char *bytes, size_t len,
		    struct buf *out);

/* How many bytes were looked at for that, those of what is decoded too: its time, counted. */
size_t redact_work(const struct redactor *redactor, const char *bytes, size_t len);

/*
 * The same for one JSON text: each string (keys too) is decoded, cleaned and
 * encoded again, so that no secret hides behind an escape and the result is
 * JSON still; a number that is a secret becomes a string.
 */
size_t redact_json(const struct redactor *redactor, const char *json, size_t len, struct buf *out);

/* A document as the log would keep it; redactor NULL: as it is. Caller frees. */
struct json;
char *redact_print(const struct redactor *redactor, const struct json *document);

#endif
