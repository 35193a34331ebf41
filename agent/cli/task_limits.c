/*
 * The limits that a task brings along ("limits" of a batch line, /limits). Each is read as the
 * option of its name is; an unknown one, or one that is no limit, is an error and changes
 * nothing.
 */
#include "agent/cli/settings.h"

#include "base/mem.h"

#include <string.h>

enum limit_unit { UNIT_SECONDS, UNIT_BYTES, UNIT_COUNT };

struct task_limit {
	const char *name;
	bool budget;
	size_t offset;
	enum limit_unit unit;
};

static const struct task_limit task_limits[] = {
	{ "timeout", false, offsetof(struct sandbox_limits, wall_ms), UNIT_SECONDS },
	{ "cpu_seconds", false, offsetof(struct sandbox_limits, cpu_ms), UNIT_SECONDS },
	{ "memory", false, offsetof(struct sandbox_limits, memory_bytes), UNIT_BYTES },
	{ "disk", false, offsetof(struct sandbox_limits, disk_bytes), UNIT_BYTES },
	{ "pids", false, offsetof(struct sandbox_limits, processes), UNIT_COUNT },
	{ "output_bytes", false, offsetof(struct sandbox_limits, stdout_bytes), UNIT_BYTES },
	{ "max_attempts", true, offsetof(struct budget_limits, attempts), UNIT_COUNT },
	{ "max_calls", true, offsetof(struct budget_limits, calls), UNIT_COUNT },
	{ "max_tokens", true, offsetof(struct budget_limits, tokens), UNIT_COUNT },
	{ "max_exec_seconds", true, offsetof(struct budget_limits, exec_ms), UNIT_SECONDS },
};

static int limit_value(const struct json *value, enum limit_unit unit, int64_t *ret)
{
	const char *text = json_string(value);
	double number = json_number(value, -1);

	if (text)
		return unit == UNIT_SECONDS ? settings_parse_ms(text, ret) :
		       unit == UNIT_BYTES   ? settings_parse_bytes(text, ret) :
					      -1;
	if (!(number > 0) || number > 1e15)
		return -1;
	*ret = (int64_t)(unit == UNIT_SECONDS ? number * 1000 : number);
	return *ret > 0 ? 0 : -1;
}

const char *settings_limit_name(size_t n)
{
	return n < ARRAY_SIZE(task_limits) ? task_limits[n].name : NULL;
}

int settings_apply_limits(struct policy *p, const struct json *limits, struct error *err)
{
	for (const struct json *member = json_first(limits); member; member = json_next(member)) {
		size_t i;

		for (i = 0; i < ARRAY_SIZE(task_limits); i++)
			if (!strcmp(task_limits[i].name, json_key(member)))
				break;
		if (i == ARRAY_SIZE(task_limits))
			return error_set(
				err, ERR_USAGE,
				"limits: unknown limit \"%.60s\"; known: timeout, "
				"cpu_seconds, memory, disk, pids, output_bytes, max_attempts, "
				"max_calls, max_tokens, max_exec_seconds",
				json_key(member));
		int64_t value;
		if (limit_value(member, task_limits[i].unit, &value) < 0)
			return error_set(err, ERR_USAGE,
					 "limits: \"%s\" must be a number above zero",
					 task_limits[i].name);
		char *base = task_limits[i].budget ? (char *)&p->budget : (char *)&p->limits;
		memcpy(base + task_limits[i].offset, &value, sizeof(value));
		if (!strcmp(task_limits[i].name, "output_bytes"))
			p->limits.stderr_bytes = value;
	}
	return 0;
}
