/* Words that decide whether something is a secret: in names, for values, and about them. */
#ifndef AUDIT_WORDS_H
#define AUDIT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* What may follow in a name without making it something else: "password_confirmation" is a
 * password, "password_length" is none. */
bool words_are_suffix(const char *text, size_t len);

/* What stands where a password could, and is none: "string", "null". */
bool words_stand_in(const char *value, size_t len);

/* What programs say of passwords, in words that nobody's own password is made of. */
bool words_are_said(const char *value, size_t len);

#endif
