/*
 * Strings shaped like a key: sk-..., AKIA..., ghp_..., JWTs, PEM private keys.
 *
 * A table of prefix, alphabet and shortest length, matched by hand and not by
 * regular expressions: every rule is linear in the text whatever the text is,
 * needs nothing compiled when the log is opened, and cannot fail.
 */
#ifndef AUDIT_KEYSHAPE_H
#define AUDIT_KEYSHAPE_H

#include "audit/scan.h"

#include <stdbool.h>
#include <stddef.h>

/* A scanner for the prefixes; owner is the rule's number. Caller frees. */
struct scan *keyshape_scan_new(void);

const char *keyshape_name(size_t rule);

#define KEYSHAPE_RULES_MAX 48

/* State of one pass over one text; zeroed at its start. */
struct keyshape_pass {
	size_t dead_to[KEYSHAPE_RULES_MAX];
};

/*
 * Whether the prefix of rule at text[start, prefix_end) begins a key; then
 * [*ret_start, *ret_end) is what to take out.
 */
bool keyshape_match(struct keyshape_pass *pass, size_t rule, const char *text, size_t len,
		    size_t start, size_t prefix_end, size_t *ret_start, size_t *ret_end);

#endif
