/*
 * Strict JSON (RFC 8259) over cJSON. Everything else sees struct json.
 *
 * The parser rejects what cJSON lets pass: text after the value, duplicate
 * keys, invalid UTF-8, lone surrogates, "\u0000" (cJSON's strings end there),
 * nesting beyond JSON_DEPTH_MAX (base/json_scan.h), numbers beyond a double's range, and whole
 * numbers beyond 2^53 (unless JSON_BIG_AS_STRING asks for them as strings).
 * Keys match exactly. LC_NUMERIC must stay "C".
 *
 * Ownership: a json_parse, json_object, ... result is the caller's and is
 * freed with json_free; a value that was put into an object or array belongs
 * to it. Strings returned by getters live as long as their value.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };
enum json_flags {
	JSON_BIG_AS_STRING = 1,
	JSON_NUL_AS_FFFD = 2,	 /* "\u0000" becomes U+FFFD instead of an error */
	JSON_FIRST_OF_TWINS = 4, /* a key given twice is no error: the first counts */
};

/* NULL on failure; err (kind ERR_FAILED) names line and column, both from 1. */
struct json *json_parse(const char *text, size_t len, unsigned flags, struct error *err);
void json_free(struct json *value);
void json_cleanup(struct json **value);
#define cleanup_json __attribute__((cleanup(json_cleanup)))
struct json *json_copy(const struct json *value);

enum json_type json_type(const struct json *value); /* NULL pointer: JSON_NULL */
const char *json_type_name(enum json_type type);

/* Object member by exact key, NULL when absent or when value is no object. */
struct json *json_get(const struct json *object, const char *key);
size_t json_count(const struct json *value); /* members or elements; else 0 */
/* Iterates members and elements: first child, then its next sibling. O(1). */
struct json *json_first(const struct json *value);
struct json *json_next(const struct json *value);
const char *json_key(const struct json *value); /* of a member, else NULL */

/*
 * Typed access; the default or NULL when the value has another type. A string
 * made by json_new_bytes with a NUL inside is a JSON_STRING that json_string
 * answers NULL for; a parsed one never is.
 */
const char *json_string(const struct json *value);
double json_number(const struct json *value, double otherwise);
int64_t json_int(const struct json *value, int64_t otherwise); /* whole numbers only */
bool json_bool(const struct json *value, bool otherwise);
/* The same for a member: json_get_string(o, "k") is json_string(json_get(o, "k")). */
const char *json_get_string(const struct json *object, const char *key);
double json_get_number(const struct json *object, const char *key, double otherwise);
int64_t json_get_int(const struct json *object, const char *key, int64_t otherwise);
bool json_get_bool(const struct json *object, const char *key, bool otherwise);

struct json *json_object(void);
struct json *json_array(void);
struct json *json_new_null(void);
struct json *json_new_number(double n);	     /* NaN and infinities become null */
struct json *json_new_int(int64_t n);	     /* printed exactly */
struct json *json_new_string(const char *s); /* NULL becomes null */
/* Any bytes: invalid UTF-8 becomes U+FFFD, NUL is kept as \u0000 in print. */
struct json *json_new_bytes(const char *bytes, size_t len);

/* Each takes value and replaces an earlier member of that key. */
void json_set(struct json *object, const char *key, struct json *value);
void json_set_string(struct json *object, const char *key, const char *s);
void json_set_bytes(struct json *object, const char *key, const char *bytes, size_t len);
void json_set_int(struct json *object, const char *key, int64_t n);
void json_set_number(struct json *object, const char *key, double n);
void json_set_bool(struct json *object, const char *key, bool b);
void json_set_null(struct json *object, const char *key);
void json_append(struct json *array, struct json *value);
void json_remove(struct json *object, const char *key);

bool json_equal(const struct json *a, const struct json *b); /* exactly; member order ignored */
/* The same, but numbers that differ are equal when near says so. */
typedef bool json_near(double a, double b);
bool json_equal_near(const struct json *a, const struct json *b, json_near *near);

/* One line without blanks; members in insertion order; numbers read back as the
 * same double. Caller frees. */
char *json_print(const struct json *value);

#endif
