/* The strict half of base/json.c: checks a text before cJSON reads it. */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define JSON_DEPTH_MAX 128 /* of arrays and objects */

/*
 * 0 when text is one JSON value by RFC 8259 that cJSON represents exactly.
 * *ret_big is set when a whole number beyond 2^53 occurs; that is an error
 * unless allow_big.
 */
int json_scan(const char *text, size_t len, bool allow_big, bool *ret_big, struct error *err);

/* Fails (-1, err) at the nth key, counted from 1, of a text that passed json_scan. */
int json_scan_blame_key(const char *text, size_t len, size_t nth, const char *why,
			struct error *err);

/* Length of the whole number at text when it is one beyond 2^53, else 0. */
size_t json_scan_big(const char *text, size_t len);

#endif
