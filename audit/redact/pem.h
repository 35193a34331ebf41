/* Private keys in armour (RFC 7468; OpenPGP and OpenSSH write theirs alike), whatever stands
 * before each line: a mark of quotation, a comment's, a file name, a time. */
#ifndef AUDIT_PEM_H
#define AUDIT_PEM_H

#include "audit/redact/shape.h"

#include <stdbool.h>
#include <stddef.h>

/* After "-----BEGIN " at body: whether that is a private key, and where it ends: behind the
 * end line, or, when that was cut off, behind the last line that can be part of it. */
bool pem_match(const char *text, size_t len, size_t body, struct shape_work *work, size_t *ret_end);

/* After "-----END " at body: the lines of a private key before it, back to `from` at most,
 * and the end line. */
bool pem_match_tail(const char *text, size_t len, size_t body, size_t from, struct shape_work *work,
		    size_t *ret_start, size_t *ret_end);

#endif
