/*
 * One of several parts of a batch, each run by itself, perhaps on a machine of its own:
 * which tasks it has, where it writes, and the manifest that says how far it is. A part
 * goes on where it stopped when it is run again; nothing here knows the other parts.
 */
#include "agent/cli/batch/shard.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS_MAX    100000
#define ID_HASH_BYTES 15 /* hex digits of a hash that fit into a number */

/* --- which one --- */

/* What engines tell the jobs of an array. */
static const struct {
	const char *index, *first, *step, *of; /* variables; first and step may be NULL */
	long base;			       /* the first index, without such a variable */
	const char *missing;		       /* what to do about a missing of */
} engines[] = {
	{ "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP",
	  "SLURM_ARRAY_TASK_COUNT", 0, "it comes with sbatch --array" },
	{ "JOB_COMPLETION_INDEX", NULL, NULL, "JOB_COMPLETIONS", 0,
	  "put the job's completions into the container's env under that name" },
	{ "AWS_BATCH_JOB_ARRAY_INDEX", NULL, NULL, "AWS_BATCH_JOB_ARRAY_SIZE", 0,
	  "it comes with an array job" },
	{ "CI_NODE_INDEX", NULL, NULL, "CI_NODE_TOTAL", 1, "it comes with parallel: N" },
};

static int read_variable(const char *name, long otherwise, long *ret, struct error *err)
{
	const char *text = name ? getenv(name) : NULL;

	*ret = otherwise;
	if (!text || !*text)
		return 0;
	errno = 0;
	char *end;
	*ret = strtol(text, &end, 10);
	if (errno || *end || *ret < 0 || *ret > INT32_MAX)
		return error_set(err, ERR_USAGE, "--shard auto: %s is \"%.60s\", which is no index",
				 name, text);
	return 0;
}

static int read_engine(size_t which, struct batch_shard *ret, struct error *err)
{
	long index, first, step, of;

	if (read_variable(engines[which].index, 0, &index, err) < 0 ||
	    read_variable(engines[which].first, engines[which].base, &first, err) < 0 ||
	    read_variable(engines[which].step, 1, &step, err) < 0 ||
	    read_variable(engines[which].of, 0, &of, err) < 0)
		return -1;
	if (!of)
		return error_set(err, ERR_USAGE, "--shard auto: %s is set, but not %s: %s",
				 engines[which].index, engines[which].of, engines[which].missing);
	index = step > 0 && (index - first) % step == 0 ? (index - first) / step : -1;
	if (index < 0 || index >= of || of > SHARDS_MAX)
		return error_set(
			err, ERR_USAGE,
			"--shard auto: %s=%s is not one of %ld that follow each other; name "
			"the part with --shard I/N",
			engines[which].index, getenv(engines[which].index), of);
	*ret = (struct batch_shard){ .index = (size_t)index + 1, .of = (size_t)of };
	return 0;
}

static int read_auto(struct batch_shard *ret, struct error *err)
{
	cleanup_buf struct buf names = BUF_INIT(1024);

	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		const char *text = getenv(engines[i].index);

		if (text && *text)
			return read_engine(i, ret, err);
		buf_addf(&names, "%s%s", i ? ", " : "", engines[i].index);
	}
	return error_set(err, ERR_USAGE,
			 "--shard auto: none of %s is set; name the part with --shard I/N",
			 names.data);
}

int batch_shard_read(struct batch_shard *ret, const struct settings *settings, struct error *err)
{
	const struct option_values *given = &settings->options->given[OPT_SHARD];
	const char *text = given->count ? given->values[0] : NULL;

	if (!text)
		return 0;
	if (!strcmp(text, "auto"))
		return read_auto(ret, err);
	unsigned long index, of;
	int end = 0;
	if (strspn(text, "0123456789/") != strlen(text) || strlen(text) > 20 ||
	    sscanf(text, "%lu/%lu%n", &index, &of, &end) != 2 || text[end] || index < 1 ||
	    index > of || of > SHARDS_MAX)
		return error_set(err, ERR_USAGE,
				 "--shard \"%.60s\": I/N expected, I from 1 to N, N at most %d, or "
				 "auto",
				 text, SHARDS_MAX);
	*ret = (struct batch_shard){ .index = index, .of = of };
	return 0;
}

bool batch_shard_has(const struct batch_shard *shard, const char *id)
{
	char hex[HASH_HEX_LEN + 1];

	hash_sha256(id, strlen(id), hex);
	hex[ID_HASH_BYTES] = '\0';
	return strtoull(hex, NULL, 16) % shard->of == shard->index - 1;
}

/* --- where it writes --- */

/* "dir/name.ext" -> "dir/name-02-of-16" and ending, or else the path's own. */
static char *path_of(const struct batch_shard *shard, const char *path, const char *ending)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	size_t stem = dot && dot > name ? (size_t)(dot - path) : strlen(path);
	int digits = snprintf(NULL, 0, "%zu", shard->of);

	return mem_printf("%.*s-%0*zu-of-%zu%s", (int)stem, path, digits, shard->index, shard->of,
			  ending ? ending : path + stem);
}

static void set_value(struct batch_shard_settings *s, enum option_id id, const char **value)
{
	const struct option_values one = { .values = value, .count = 1 };

	s->flags.given[id] = one;
	s->options.given[id] = one;
}

int batch_shard_settings(struct batch_shard_settings *ret, const struct batch_shard *shard,
			 const struct settings *settings, struct error *err)
{
	static const enum option_id ids[] = { OPT_OUT, OPT_JUNIT, OPT_CSV, OPT_EVENTS };
	struct batch_shard_settings *s = ret;

	_Static_assert(ARRAY_SIZE(ids) == ARRAY_SIZE(s->paths), "one path each");
	if (!settings->options->given[OPT_OUT].count)
		return error_set(err, ERR_USAGE,
				 "--shard needs --out FILE, beside which its results, log and "
				 "manifest are");
	const char *out = settings->options->given[OPT_OUT].values[0];
	*s = (struct batch_shard_settings){ .settings = *settings };
	s->flags = *settings->flags;
	s->options = *settings->options;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const char *path = settings_text(settings, ids[i], NULL);

		if (!path || !strcmp(path, "-"))
			continue;
		s->paths[i].path = path_of(shard, path, NULL);
		s->paths[i].value = s->paths[i].path;
		set_value(s, ids[i], &s->paths[i].value);
	}
	s->resume = "true";
	set_value(s, OPT_RESUME, &s->resume);
	s->db_path = settings_text(settings, OPT_DB, NULL) ?
			     path_of(shard, settings->db_path, NULL) :
			     path_of(shard, out, ".db");
	s->manifest = path_of(shard, out, ".manifest.json");
	s->settings.db_path = s->db_path;
	s->settings.flags = &s->flags;
	s->settings.options = &s->options;
	return 0;
}

void batch_shard_release(struct batch_shard_settings *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(s->paths); i++)
		free(s->paths[i].path);
	free(s->db_path);
	free(s->manifest);
	*s = (struct batch_shard_settings){ .manifest = NULL };
}

/* --- the manifest --- */

int batch_shard_manifest(const struct batch *batch, const char *path, size_t tasks, bool complete,
			 const struct json *summary, struct error *err)
{
	cleanup_json struct json *object = json_object();

	json_set_int(object, "shard", (int64_t)batch->shard.index);
	json_set_int(object, "of", (int64_t)batch->shard.of);
	json_set_string(object, "file", batch->path);
	json_set_string(object, "settings", batch->settings_key);
	json_set_int(object, "repeats", batch->repeats ? (int64_t)batch->repeats : 1);
	json_set_int(object, "tasks", (int64_t)tasks);
	json_set_int(object, "tasks_of_all", (int64_t)batch->tasks->count);
	json_set_string(object, "results", settings_text(batch->settings, OPT_OUT, NULL));
	json_set_string(object, "log", batch->settings->db_path);
	json_set_string(object, "session", batch->session);
	json_set_int(object, "written_ms", clock_wall_ms());
	json_set_bool(object, "complete", complete);
	json_set(object, "summary", summary ? json_copy(summary) : json_new_null());
	cleanup_free char *text = json_print(object);
	cleanup_free char *line = mem_printf("%s\n", text);
	return io_replace_file(path, line, strlen(line), 0644, err);
}
