/*
 * The answering side of wire.h, over any sandbox that is open here. Who may ask, and with what
 * limits, is decided by whoever calls this; a job is read as a stranger's.
 */
#include "sandbox/remote/wire.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static int check_limits(const struct sandbox_limits *has, const struct sandbox_limits *most,
			struct error *err)
{
	for (const struct wire_limit *l = wire_limits; l->name; l++) {
		int64_t value;

		memcpy(&value, (const char *)has + l->offset, sizeof(value));
		int64_t top;
		memcpy(&top, (const char *)most + l->offset, sizeof(top));
		if (value > top)
			return error_set(err, ERR_USAGE,
					 "a limit of %lld for %s is more than is allowed there: "
					 "%lld",
					 (long long)value, l->name, (long long)top);
	}
	return 0;
}

static int run_jobs(struct sandbox *s, struct wire_job *jobs, size_t count,
		    const struct sandbox_watch *watch, struct json *answer, struct error *err)
{
	struct sandbox_result results[2] = { { .exit_code = -1 }, { .exit_code = -1 } };
	const struct sandbox_job two[2] = { jobs[0].job, jobs[1].job };

	if ((count == 1 ? sandbox_run(s, &jobs[0].job, watch, results, err) :
			  sandbox_run_pair(s, two, watch, results, err)) < 0)
		return -1;
	struct json *list = json_array();
	for (size_t i = 0; i < count; i++) {
		json_append(list, wire_result(&results[i]));
		sandbox_result_release(&results[i]);
	}
	json_set(answer, "results", list);
	return 0;
}

static int run(struct sandbox *s, const struct json *request, size_t count,
	       const struct sandbox_limits *most, const struct sandbox_watch *watch,
	       struct json *answer, struct error *err)
{
	const struct json *list = json_get(request, "jobs"), *one = json_first(list);
	struct wire_job jobs[2] = { { .owned = NULL }, { .owned = NULL } };

	if (json_count(list) != count)
		return error_set(err, ERR_USAGE, "jobs: %zu expected", count);
	int status = 0;
	for (size_t i = 0; i < count && status == 0; i++, one = json_next(one)) {
		status = wire_read_job(&jobs[i], one, err);
		if (status == 0 && most)
			status = check_limits(&jobs[i].job.limits, most, err);
	}
	if (status == 0)
		status = run_jobs(s, jobs, count, watch, answer, err);
	wire_job_release(&jobs[0]);
	wire_job_release(&jobs[1]);
	return status;
}

/* Whoever asked may not do without what this side does without: so it is told before any job. */
static struct json *environment(const struct sandbox *s, const struct sandbox_environment *e)
{
	struct json *object = json_object();

	json_set_string(object, "interpreter", e->interpreter);
	json_set_string(object, "version", e->version);
	json_set_string(object, "digest", e->digest);
	json_set_string(object, "packages", e->packages);
	json_set_string(object, "installed", e->installed);
	json_set_string(object, "notes", e->notes);
	json_set_string(object, "sandbox", e->sandbox);
	if (e->from)
		json_set_string(object, "from", e->from);
	if (sandbox_not_held(s))
		json_set_string(object, "not_held", sandbox_not_held(s));
	return object;
}

/* Without a language: all that can be described, by name; where nothing can, why not. */
static int describe_all(struct sandbox *s, struct json *answer, struct error *err)
{
	struct json *all = json_object();
	const struct language *language;
	size_t count = 0;

	for (size_t i = 0; (language = language_at(i)); i++) {
		struct sandbox_environment e;

		error_clear(err);
		if (sandbox_describe(s, language, &e, err) < 0)
			continue;
		json_set(all, language->name, environment(s, &e));
		count++;
	}
	json_set(answer, "environments", all);
	if (count == 0)
		return -1;
	error_clear(err);
	return 0;
}

static int describe(struct sandbox *s, const struct json *request, struct json *answer,
		    struct error *err)
{
	const char *name = json_get_string(request, "language");
	const struct language *language = name ? language_find(name) : NULL;

	if (!json_get(request, "language"))
		return describe_all(s, answer, err);
	if (!language)
		return error_set(err, ERR_USAGE, "there is no language \"%.60s\" here",
				 name ? name : "");
	struct sandbox_environment e;
	if (sandbox_describe(s, language, &e, err) < 0)
		return -1;
	json_set(answer, "environment", environment(s, &e));
	return 0;
}

static int doctor(struct sandbox *s, struct json *answer, struct error *err)
{
	struct sandbox_layer *layers = NULL;
	size_t count;

	if (sandbox_doctor(s, &layers, &count, err) < 0)
		return -1;
	struct json *list = json_array();
	for (size_t i = 0; i < count; i++) {
		struct json *layer = json_object();

		json_set_string(layer, "name", layers[i].name);
		json_set_string(layer, "wanted", layers[i].wanted);
		json_set_string(layer, "in_force", layers[i].in_force);
		json_set_string(layer, "proof", layers[i].proof);
		json_set_string(layer, "remedy", layers[i].remedy);
		json_set_bool(layer, "ok", layers[i].ok);
		json_set_bool(layer, "required", layers[i].required);
		json_set_bool(layer, "for_speed", layers[i].is_for_speed);
		json_append(list, layer);
	}
	free(layers);
	json_set(answer, "layers", list);
	return 0;
}

static int wall(struct sandbox *s, const struct json *request, struct json *answer,
		struct error *err)
{
	const char *name = json_get_string(request, "wall");

	if (!name)
		return error_set(err, ERR_USAGE, "wall: a name expected");
	const char *text;
	if (sandbox_wall(s, name, &text, err) < 0)
		return -1;
	json_set_string(answer, "text", text);
	return 0;
}

struct json *sandbox_serve(struct sandbox *s, const struct json *request,
			   const struct sandbox_limits *most, const struct sandbox_watch *watch)
{
	const char *action = json_get_string(request, "action");
	cleanup_json struct json *answer = json_object();

	json_set_int(answer, "assay_job", WIRE_VERSION);
	action = action ? action : "";
	struct error err = ERROR_INIT;
	int status;
	if (json_get_int(request, "assay_job", 0) != WIRE_VERSION)
		status = error_set(&err, ERR_USAGE, "a job of another version of assay: this is %d",
				   WIRE_VERSION);
	else if (!strcmp(action, "run") || !strcmp(action, "pair"))
		status = run(s, request, *action == 'p' ? 2 : 1, most, watch, answer, &err);
	else if (!strcmp(action, "describe"))
		status = describe(s, request, answer, &err);
	else if (!strcmp(action, "doctor"))
		status = doctor(s, answer, &err);
	else if (!strcmp(action, "wall"))
		status = wall(s, request, answer, &err);
	else
		status = error_set(&err, ERR_USAGE, "\"%.60s\" is nothing to do", action);
	return status == 0 ? TAKE_PTR(answer) : wire_error(&err);
}
