/*
 * What a run took, as JSON and back: one form for records and for another assay. What is not known
 * is null, and nothing is made of it.
 */
#include "sandbox/sandbox.h"

#include "base/json.h"

#define MS_MAX 1e13 /* of three hundred years */

static void set_ms(struct json *object, const char *name, double ms)
{
	json_set(object, name, ms < 0 ? json_new_null() : json_new_number(ms));
}

static void set_count(struct json *object, const char *name, int64_t count)
{
	json_set(object, name, count < 0 ? json_new_null() : json_new_int(count));
}

struct json *sandbox_metrics_json(const struct sandbox_metrics *m)
{
	struct json *object = json_object();

	json_set_number(object, "wall_ms", m->wall_ms);
	set_ms(object, "user_ms", m->user_ms);
	set_ms(object, "system_ms", m->system_ms);
	set_count(object, "peak_memory_bytes", m->peak_memory_bytes);
	set_count(object, "peak_pids", m->peak_pids);
	set_count(object, "written_bytes", m->written_bytes);
	return object;
}

/* A time that can be; it may come from anybody. */
static double read_ms(const struct json *object, const char *key, double unknown)
{
	double ms = json_get_number(object, key, unknown);

	return ms >= 0 && ms <= MS_MAX ? ms : unknown;
}

static int64_t read_count(const struct json *object, const char *key)
{
	int64_t count = json_get_int(object, key, -1);

	return count < 0 ? -1 : count;
}

void sandbox_metrics_read(const struct json *object, struct sandbox_metrics *ret)
{
	*ret = (struct sandbox_metrics){
		.wall_ms = read_ms(object, "wall_ms", 0),
		.user_ms = read_ms(object, "user_ms", -1),
		.system_ms = read_ms(object, "system_ms", -1),
		.peak_memory_bytes = read_count(object, "peak_memory_bytes"),
		.peak_pids = read_count(object, "peak_pids"),
		.written_bytes = read_count(object, "written_bytes"),
	};
}
