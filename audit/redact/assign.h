/* Secrets by the name that something is given, in whatever notation: "api_key": "...",
 * password=..., --token ..., <secret>...</secret>, X-API-Key: ..., netrc, pgpass, and the
 * userinfo of URLs. */
#ifndef AUDIT_ASSIGN_H
#define AUDIT_ASSIGN_H

#include "audit/redact/shape.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * As keyshape_match, of a row of these kinds: [*ret_start, *ret_end) is the value alone. On
 * false nothing is set. work grows by what it cost.
 */
bool assign_match(const struct shape *shape, struct shape_work *work, const char *text, size_t len,
		  size_t start, size_t body, size_t *ret_start, size_t *ret_end);

/* A member of a JSON object, decoded: the name of the row when the value is a secret, or
 * NULL. */
const struct shape *assign_member(const char *key, size_t key_len, const char *value, size_t len);

#endif
