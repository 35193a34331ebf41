/*
 * Equality of two JSON values. cJSON_Compare visits each pair of members twice
 * on every level, 2^depth in all, looks members up one by one, and takes
 * neighbouring doubles for equal. Neither is changed.
 */
#include "base/json_node.h"

#include "base/json.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b)
{
	return strcmp(json_key(*(const struct json *const *)a),
		      json_key(*(const struct json *const *)b));
}

/* The members of object in the order of their keys; the caller frees. */
static const struct json **sorted(const struct json *object, size_t count)
{
	const struct json **members = mem_array(NULL, count, sizeof(struct json *));
	size_t i = 0;

	for (const struct json *child = json_first(object); child; child = json_next(child))
		members[i++] = child;
	qsort(members, count, sizeof(*members), by_key);
	return members;
}

static bool equal_objects(const struct json *a, const struct json *b, json_near *near)
{
	size_t count = json_count(a);

	if (count != json_count(b))
		return false;
	cleanup_free const struct json **left = sorted(a, count);
	cleanup_free const struct json **right = sorted(b, count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(json_key(left[i]), json_key(right[i])) ||
		    !json_equal_near(left[i], right[i], near))
			return false;
	return true;
}

static bool equal_arrays(const struct json *a, const struct json *b, json_near *near)
{
	a = json_first(a);
	b = json_first(b);
	for (; a && b; a = json_next(a), b = json_next(b))
		if (!json_equal_near(a, b, near))
			return false;
	return !a && !b;
}

static bool equal_numbers(const struct json *a, const struct json *b, json_near *near)
{
	cleanup_buf struct buf left = BUF_INIT(SIZE_MAX / 2);
	cleanup_buf struct buf right = BUF_INIT(SIZE_MAX / 2);

	if (!json_raw(a) && !json_raw(b))
		return json_number(a, 0) == json_number(b, 0) ||
		       (near && near(json_number(a, 0), json_number(b, 0)));
	json_print_number(&left, a);
	json_print_number(&right, b);
	return !strcmp(left.data, right.data);
}

static bool equal_strings(const struct json *a, const struct json *b)
{
	const char *left = json_raw(a), *right = json_raw(b);

	if (!left && !right)
		return !strcmp(json_string(a), json_string(b));
	return left && right && !strcmp(left, right);
}

bool json_equal_near(const struct json *a, const struct json *b, json_near *near)
{
	if (!a || !b)
		return a == b;
	if (json_type(a) != json_type(b))
		return false;
	switch (json_type(a)) {
	case JSON_NULL:
		return true;
	case JSON_BOOL:
		return json_bool(a, false) == json_bool(b, false);
	case JSON_NUMBER:
		return equal_numbers(a, b, near);
	case JSON_STRING:
		return equal_strings(a, b);
	case JSON_ARRAY:
		return equal_arrays(a, b, near);
	case JSON_OBJECT:
		return equal_objects(a, b, near);
	}
	return false;
}

bool json_equal(const struct json *a, const struct json *b)
{
	return json_equal_near(a, b, NULL);
}
