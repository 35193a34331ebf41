/*
 * Which tasks a batch runs: what its options name, less what has a result that stands.
 * It asks no model and reads no file but those that tasks name.
 */
#include "agent/cli/batch/choose.h"

#include "agent/cli/batch/caps.h"
#include "agent/cli/batch/earlier.h"
#include "agent/cli/batch/key.h"
#include "agent/cli/batch/outcome.h"
#include "agent/cli/batch/results.h"
#include "agent/cli/batch/shard.h"
#include "base/mem.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* A task as the options see it. */
struct candidate {
	uint32_t task;
	char rank[HASH_HEX_LEN + 1]; /* of the sample */
};

struct choosing {
	const struct batch *batch;
	struct candidate *candidates; /* owned */
	size_t count;
};

/* --- by name --- */

static int take_named(struct choosing *c, struct error *err)
{
	const struct task_lines *tasks = c->batch->tasks;
	const char *only = settings_text(c->batch->settings, OPT_ONLY, NULL);

	c->candidates = mem_array(NULL, tasks->count, sizeof(*c->candidates));
	for (size_t i = 0; i < tasks->count; i++)
		if (!only || !fnmatch(only, tasks->lines[i].id, 0))
			c->candidates[c->count++] = (struct candidate){ .task = (uint32_t)i };
	return c->count ? 0 :
			  error_set(err, ERR_USAGE, "--only \"%s\": no task has such an id", only);
}

/* --- a sample --- */

static int by_rank(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return strcmp(x->rank, y->rank);
}

static int by_task(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->task > y->task) - (x->task < y->task);
}

/* The size lowest by a hash of seed and id: the same ones whatever else the file has
 * gained in between, but for those that take their place. */
static void draw(struct choosing *c, size_t size, const char *seed)
{
	for (size_t i = 0; i < c->count; i++) {
		struct hash *h = hash_start();
		const char *id = c->batch->tasks->lines[c->candidates[i].task].id;

		hash_add(h, seed, strlen(seed) + 1);
		hash_add(h, id, strlen(id));
		hash_finish(h, c->candidates[i].rank);
	}
	qsort(c->candidates, c->count, sizeof(*c->candidates), by_rank);
	c->count = size;
	qsort(c->candidates, c->count, sizeof(*c->candidates), by_task);
}

static int take_sample(struct choosing *c, struct error *err)
{
	const struct settings *s = c->batch->settings;
	const char *seed = settings_text(s, OPT_SEED, NULL);
	size_t size = 0;

	if (batch_number(s, OPT_SAMPLE, &size, err) < 0)
		return -1;
	if (s->options->given[OPT_SEED].count && !size)
		return error_set(err, ERR_USAGE, "--seed needs --sample N");
	if (size && size < c->count)
		draw(c, size, seed);
	return 0;
}

/* --- a part --- */

static void take_shard(struct choosing *c)
{
	const struct batch *batch = c->batch;
	size_t n = 0;

	for (size_t i = 0; batch->shard.of && i < c->count; i++)
		if (batch_shard_has(&batch->shard, batch->tasks->lines[c->candidates[i].task].id))
			c->candidates[n++] = c->candidates[i];
	c->count = batch->shard.of ? n : c->count;
}

/* --- by results --- */

/* Whether what is there stands; counted either way. */
static bool is_settled(const struct batch *batch, struct batch_results *r, struct batch_unit unit)
{
	const struct task_line *line = &batch->tasks->lines[unit.task];
	bool retry = batch->settings->options->given[OPT_RETRY_FAILED].count;

	if (!batch_earlier_has(&r->earlier, line->id, unit.repeat))
		return false;
	char key[BATCH_KEY_LEN + 1];
	batch_key(batch, line, key);
	bool success = false;
	enum batch_standing standing =
		batch_earlier_settle(&r->earlier, line->id, unit.repeat, key, retry, &success);
	r->standing[standing]++;
	r->skipped += standing == STANDS;
	r->skipped_failed += standing == STANDS && !success;
	return standing == STANDS;
}

static bool has_run(const struct batch *batch, struct batch_unit unit)
{
	const struct batch_outcome *o =
		batch_earlier_find(batch->rescore, batch->tasks->lines[unit.task].id, unit.repeat);

	return o && o->run;
}

/* The runs of a task that are to do. */
static void take_runs(struct choosing *c, struct batch_choice *ret, struct batch_results *results,
		      uint32_t task)
{
	const size_t repeats = c->batch->repeats ? c->batch->repeats : 1;
	const bool sound = !c->batch->tasks->lines[task].problem;

	for (uint32_t i = 0; i < (sound ? repeats : 1); i++) {
		struct batch_unit unit = { .task = task, .repeat = i };

		if (c->batch->rescore && !has_run(c->batch, unit)) {
			ret->runless++;
			continue;
		}
		if (is_settled(c->batch, results, unit))
			continue;
		ret->units = mem_one_more(ret->units, ret->count, sizeof(*ret->units));
		ret->units[ret->count++] = unit;
		ret->sound += sound;
	}
}

static int take_unsettled(struct choosing *c, struct batch_choice *ret,
			  struct batch_results *results, struct error *err)
{
	size_t limit = c->count;

	if (batch_number(c->batch->settings, OPT_LIMIT, &limit, err) < 0)
		return -1;
	size_t tasks = 0;
	for (size_t i = 0; i < c->count && tasks < limit; i++) {
		size_t before = ret->count;

		take_runs(c, ret, results, c->candidates[i].task);
		tasks += ret->count > before;
	}
	return 0;
}

int batch_choose(struct batch_choice *ret, const struct batch *batch, struct batch_results *results,
		 struct error *err)
{
	struct choosing c = { .batch = batch };
	int rc = take_named(&c, err);

	if (!rc)
		rc = take_sample(&c, err);
	if (!rc)
		take_shard(&c);
	ret->tasks = c.count;
	if (!rc)
		rc = take_unsettled(&c, ret, results, err);
	free(c.candidates);
	return rc;
}
