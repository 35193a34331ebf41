/*
 * What a job and a result are on the wire, written. Reading is wire_read.c's affair; neither side
 * decides here what a job may do.
 */
#include "sandbox/remote/wire.h"

#include "base/base64.h"
#include "base/mem.h"
#include "sandbox/probe.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT(name_)                                           \
	{                                                      \
#name_, offsetof(struct sandbox_limits, name_) \
	}

const struct wire_limit wire_limits[] = {
	LIMIT(wall_ms),	     LIMIT(cpu_ms),	    LIMIT(memory_bytes), LIMIT(processes),
	LIMIT(open_files),   LIMIT(disk_bytes),	    LIMIT(inodes),	 LIMIT(stdout_bytes),
	LIMIT(stderr_bytes), LIMIT(artifact_bytes), LIMIT(artifacts),	 { NULL, 0 },
};

void wire_set_bytes(struct json *object, const char *key, const void *bytes, size_t len)
{
	cleanup_free char *text = base64_text(bytes ? bytes : "", len);

	json_set_string(object, key, text);
}

struct json *wire_request(const char *action)
{
	struct json *object = json_object();

	json_set_int(object, "assay_job", WIRE_VERSION);
	json_set_string(object, "action", action);
	return object;
}

struct json *wire_error(const struct error *err)
{
	struct json *object = json_object(), *error = json_object();

	json_set_int(object, "assay_job", WIRE_VERSION);
	json_set_string(error, "kind", err->kind == ERR_USAGE ? "usage" : "sandbox");
	json_set_string(error, "message", err->message);
	if (err->begun)
		json_set_bool(error, "begun", true);
	json_set(object, "error", error);
	return object;
}

/* --- a job --- */

/* Words are bytes like any other: a file's name need not be text. */
static struct json *words(const char *const *list)
{
	struct json *array = list ? json_array() : json_new_null();

	for (; list && *list; list++) {
		cleanup_free char *text = base64_text(*list, strlen(*list));

		json_append(array, json_new_string(text));
	}
	return array;
}

static struct json *names(const char *const *list)
{
	struct json *array = json_array();

	for (; *list; list++)
		json_append(array, json_new_string(*list));
	return array;
}

static struct json *files(const struct sandbox_file *list, size_t count)
{
	struct json *array = json_array();

	for (size_t i = 0; i < count; i++) {
		struct json *file = json_object();

		wire_set_bytes(file, "path", list[i].path, strlen(list[i].path));
		wire_set_bytes(file, "base64", list[i].bytes, list[i].len);
		json_append(array, file);
	}
	return array;
}

/* What every run has, of whatever language: a runner knows no languages. */
static struct json *fixed_env(void)
{
	struct json *array = json_array();
	const struct language *l;

	for (size_t i = 0; (l = language_at(i)); i++)
		for (const char *const *e = language_probe(l)->env; *e; e++)
			json_append(array, json_new_string(*e));
	return array;
}

struct json *wire_job(const struct sandbox_job *job)
{
	struct json *object = json_object(), *limits = json_object();

	json_set_string(object, "language", job->language->name);
	json_set(object, "interpreters", names(job->language->interpreters));
	json_set_string(object, "file", job->language->file);
	json_set(object, "fixed_env", fixed_env());
	wire_set_bytes(object, "code", job->code, job->code_len);
	json_set(object, "argv", words(job->argv));
	if (job->stdin_bytes)
		wire_set_bytes(object, "stdin", job->stdin_bytes, job->stdin_len);
	json_set(object, "inputs", files(job->inputs, job->input_count));
	json_set(object, "extras", files(job->extras, job->extra_count));
	json_set_string(object, "entry", job->entry);
	json_set(object, "flags", words(job->flags ? job->flags : job->language->flags));
	json_set(object, "env", words(job->env));
	for (const struct wire_limit *l = wire_limits; l->name; l++) {
		int64_t value;

		memcpy(&value, (const char *)&job->limits + l->offset, sizeof(value));
		json_set_int(limits, l->name, value);
	}
	json_set(object, "limits", limits);
	return object;
}

/* --- a result --- */

static struct json *stream(const struct sandbox_stream *s)
{
	struct json *object = json_object();

	wire_set_bytes(object, "base64", s->bytes, s->len);
	json_set_int(object, "total", (int64_t)s->total);
	return object;
}

static struct json *artifacts(const struct sandbox_result *r)
{
	struct json *array = json_array();

	for (size_t i = 0; i < r->artifact_count; i++) {
		const struct sandbox_artifact *a = &r->artifacts[i];
		struct json *object = json_object();

		wire_set_bytes(object, "path", a->path, strlen(a->path));
		json_set_int(object, "size", (int64_t)a->size);
		if (a->kept)
			wire_set_bytes(object, "base64", a->bytes, (size_t)a->size);
		else
			json_set_string(object, "why_not", a->why_not);
		json_append(array, object);
	}
	return array;
}

static struct json *forbidden(const struct sandbox_result *r)
{
	struct json *array = json_array();

	for (size_t i = 0; i < r->forbidden_count; i++) {
		const struct sandbox_forbidden *f = &r->forbidden[i];
		struct json *object = json_object(), *args = json_array();

		json_set_string(object, "syscall", f->syscall);
		json_set_string(object, "arch", f->arch);
		json_set_int(object, "count", (int64_t)f->count);
		for (size_t n = 0; n < ARRAY_SIZE(f->args); n++) {
			cleanup_free char *hex = mem_printf("%llx", (unsigned long long)f->args[n]);

			json_append(args, json_new_string(hex));
		}
		json_set(object, "args", args);
		json_append(array, object);
	}
	return array;
}

static struct json *facts(const struct sandbox_isolation *i)
{
	struct json *array = json_array();

	for (size_t n = 0; n < i->count; n++) {
		struct json *object = json_object();

		json_set_string(object, "name", i->facts[n].name);
		json_set_string(object, "value", i->facts[n].value);
		if (i->facts[n].layer)
			json_set_string(object, "layer", i->facts[n].layer);
		json_append(array, object);
	}
	return array;
}

struct json *wire_result(const struct sandbox_result *r)
{
	struct json *object = json_object();

	json_set_string(object, "outcome", sandbox_outcome_name(r->outcome));
	json_set_int(object, "exit_code", r->exit_code);
	json_set_int(object, "signal", r->signal);
	json_set(object, "stdout", stream(&r->out));
	json_set(object, "stderr", stream(&r->err));
	json_set(object, "artifacts", artifacts(r));
	json_set(object, "forbidden", forbidden(r));
	json_set(object, "metrics", sandbox_metrics_json(&r->metrics));
	json_set(object, "facts", facts(&r->isolation));
	json_set_string(object, "detail", r->detail);
	return object;
}
