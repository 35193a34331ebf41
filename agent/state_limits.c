/*
 * Limits of a context's state (state_limits.h), a row each. Nothing is decided here of what a
 * program may have at most: that is the policy's, each time.
 */
#include "agent/state_limits.h"

#include "base/mem.h"

#include <stddef.h>

#define LIMIT(name_)                                           \
	{                                                      \
#name_, offsetof(struct sandbox_limits, name_) \
	}

static const struct {
	const char *name;
	size_t offset; /* of an int64_t */
} rows[] = {
	LIMIT(memory_bytes), LIMIT(processes), LIMIT(open_files), LIMIT(disk_bytes), LIMIT(inodes),
};

static int64_t *at(struct sandbox_limits *limits, size_t row)
{
	return (int64_t *)(void *)((char *)limits + rows[row].offset);
}

static int64_t get(const struct sandbox_limits *limits, size_t row)
{
	return *(const int64_t *)(const void *)((const char *)limits + rows[row].offset);
}

void state_limits_raise(struct sandbox_limits *limits, const struct sandbox_limits *by)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (get(limits, i) < get(by, i))
			*at(limits, i) = get(by, i);
}

struct json *state_limits_json(const struct sandbox_limits *limits)
{
	struct sandbox_limits usual;
	struct json *object = json_object();

	sandbox_limits_default(&usual);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (get(limits, i) != get(&usual, i))
			json_set_int(object, rows[i].name, get(limits, i));
	if (json_count(object))
		return object;
	json_free(object);
	return NULL;
}

bool state_limits_read(const struct json *object, struct sandbox_limits *ret)
{
	sandbox_limits_default(ret);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		*at(ret, i) = json_get_int(object, rows[i].name, get(ret, i));
		if (get(ret, i) < 0)
			return false;
	}
	return true;
}
