/*
 * Limits of a context's state (state_limits.h), a row each. What a record has of them may be
 * anybody's word: it raises a limit no further than to what a record may have of this machine.
 */
#include "agent/state_limits.h"

#include "base/buf.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stddef.h>
#include <unistd.h>

#define TOLD_MAX 1024
#define LIMIT(name_, title_, most_)                                           \
	{                                                                     \
#name_, title_, offsetof(struct sandbox_limits, name_), most_ \
	}

static const struct {
	const char *name, *title;
	size_t offset; /* of an int64_t */
	int64_t most;  /* that a record raises it to; 0: by this machine's memory */
} rows[] = {
	LIMIT(memory_bytes, "memory", 0),	LIMIT(processes, "processes", 4096),
	LIMIT(open_files, "open files", 65536), LIMIT(disk_bytes, "disk", 0),
	LIMIT(inodes, "inodes", 1 << 20),
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

char *state_limits_told(const struct sandbox_limits *limits, const struct sandbox_limits *raised)
{
	struct buf out = BUF_INIT(TOLD_MAX);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t value = get(raised, i);

		if (value <= get(limits, i))
			continue;
		buf_addf(&out, "%s%s ", out.len ? ", " : "", rows[i].title);
		if (rows[i].most)
			buf_addf(&out, "%" PRId64, value);
		else
			buf_addf(&out, "%.1f MiB", (double)value / (1 << 20));
	}
	return out.len ? buf_take(&out, NULL) : NULL;
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
