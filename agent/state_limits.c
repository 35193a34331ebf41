/*
 * Limits of a context's state (state_limits.h), a row each. What a record has of them may be
 * anybody's word: it raises a limit no further than to what a record may have of this machine.
 */
#include "agent/state_limits.h"

#include "base/mem.h"

#include <stddef.h>
#include <unistd.h>

#define LIMIT(name_, most_)                                           \
	{                                                             \
#name_, offsetof(struct sandbox_limits, name_), most_ \
	}

static const struct {
	const char *name;
	size_t offset; /* of an int64_t */
	int64_t most;  /* that a record raises it to; 0: by this machine's memory */
} rows[] = {
	LIMIT(memory_bytes, 0), LIMIT(processes, 4096), LIMIT(open_files, 65536),
	LIMIT(disk_bytes, 0),	LIMIT(inodes, 1 << 20),
};

static int64_t *at(struct sandbox_limits *limits, size_t row)
{
	return (int64_t *)(void *)((char *)limits + rows[row].offset);
}

static int64_t get(const struct sandbox_limits *limits, size_t row)
{
	return *(const int64_t *)(const void *)((const char *)limits + rows[row].offset);
}

/* Of memory and of files, which are in it, a quarter is left to others. */
static int64_t most_of(size_t row)
{
	if (rows[row].most)
		return rows[row].most;
	return (int64_t)sysconf(_SC_PHYS_PAGES) / 4 * 3 * sysconf(_SC_PAGESIZE);
}

void state_limits_raise(struct sandbox_limits *limits, const struct sandbox_limits *by)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t most = most_of(i), value = get(by, i) < most ? get(by, i) : most;

		if (get(limits, i) < value)
			*at(limits, i) = value;
	}
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
