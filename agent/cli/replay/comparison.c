/*
 * assay compare: the same recorded points gone on from live with each of several models,
 * some times over. A fork is what replay --from makes, in a process of its own
 * (children.c), and is recorded and linked as one; nothing here asks a model.
 */
#include "agent/cli/replay/comparison.h"

#include "agent/cli/batch/caps.h"
#include "agent/cli/batch/pool.h"
#include "agent/cli/command.h"
#include "agent/cli/log/log.h"
#include "agent/cli/replay/children.h"
#include "agent/cli/replay/replay.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORKS_MAX 100000

/* --- which is which --- */

const char *contender_name(const struct contender *c)
{
	static const enum way names[] = { WAY_MODEL, WAY_SCRIPT, WAY_MODEL_COMMAND, WAY_BASE_URL };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (c->by[names[i]])
			return c->by[names[i]];
	return c->by[WAY_PROVIDER];
}

size_t comparison_contender_at(const struct comparison *c, size_t i)
{
	return i % c->contender_count;
}

size_t comparison_repeat_at(const struct comparison *c, size_t i)
{
	return i / c->contender_count % c->repeats;
}

size_t comparison_run_at(const struct comparison *c, size_t i)
{
	return i / c->contender_count / c->repeats;
}

bool fork_outcome_success(const struct fork_outcome *f)
{
	return f->row.status && !strcmp(f->row.status, run_status_name(RUN_SUCCESS));
}

/* --- the models --- */

static const enum option_id way_options[WAY_COUNT] = {
	[WAY_MODEL] = OPT_MODEL,       [WAY_PROVIDER] = OPT_PROVIDER,
	[WAY_BASE_URL] = OPT_BASE_URL, [WAY_MODEL_COMMAND] = OPT_MODEL_COMMAND,
	[WAY_SCRIPT] = OPT_SCRIPT,
};

/* One for all, or one for each in their order. */
static int take_way(struct comparison *c, enum way way, struct error *err)
{
	const struct option_values *given = &c->settings->flags->given[way_options[way]];

	if (given->count > 1 && given->count != c->contender_count)
		return error_set(err, ERR_USAGE,
				 "--%s is given %zu times for %zu models: once is for all, else "
				 "each needs one, in their order",
				 option_table[way_options[way]].name, given->count,
				 c->contender_count);
	for (size_t i = 0; given->count && i < c->contender_count; i++)
		c->contenders[i].by[way] = given->values[given->count > 1 ? i : 0];
	return 0;
}

static int read_contenders(struct comparison *c, struct error *err)
{
	for (int i = 0; i < WAY_COUNT; i++) {
		size_t count = c->settings->flags->given[way_options[i]].count;

		if (count > c->contender_count)
			c->contender_count = count;
	}
	if (!c->contender_count)
		return error_set(err, ERR_USAGE,
				 "which models? --model NAME, once for each: "
				 "assay compare last -m A -m B");
	c->contenders = mem_array(NULL, c->contender_count, sizeof(*c->contenders));
	memset(c->contenders, 0, c->contender_count * sizeof(*c->contenders));
	for (int i = 0; i < WAY_COUNT; i++)
		if (take_way(c, (enum way)i, err) < 0)
			return -1;
	return 0;
}

/* --- the runs --- */

/* That each can be forked there is known before any model is asked. */
static int read_run(struct comparison *c, struct audit *audit, const char *which, struct error *err)
{
	struct recording recording = { .audit = NULL };
	int rc = recording_load(&recording, audit, which, err);

	if (!rc)
		rc = replay_check_from(&recording, c->from, err);
	if (!rc) {
		memcpy(c->runs[c->run_count], recording.row.id, sizeof(recording.row.id));
		for (size_t i = 0; i < c->run_count; i++)
			if (!strcmp(c->runs[i], recording.row.id))
				rc = error_set(err, ERR_USAGE, "run %s is named twice", c->runs[i]);
		c->run_count++;
	}
	recording_release(&recording);
	return rc;
}

static int read_runs(struct comparison *c, struct error *err)
{
	const struct options *options = c->settings->options;
	cleanup_audit struct audit *audit = NULL;

	if (!options->arg_count)
		return error_set(err, ERR_USAGE,
				 "a RUN is needed (an id, its beginning, or last): "
				 "assay compare last -m A -m B");
	if (command_open_log(&audit, c->settings, LOG_CHANGE, err) < 0)
		return -1;
	c->runs = mem_array(NULL, options->arg_count, sizeof(*c->runs));
	for (size_t i = 0; i < options->arg_count; i++)
		if (read_run(c, audit, options->args[i], err) < 0)
			return -1;
	return 0;
}

/* As of a batch: what all forks together may spend. */
static int read_caps(struct comparison *c, struct error *err)
{
	struct batch_caps caps;
	int64_t time_ms;

	if (batch_caps_read(c->settings, &caps, &time_ms, err) < 0)
		return -1;
	for (size_t i = 0; caps.cost_micro_usd >= 0 && i < c->contender_count; i++)
		if (c->contenders[i].by[WAY_MODEL] &&
		    batch_check_price(c->settings, c->contenders[i].by[WAY_MODEL],
				      option_table[OPT_TOTAL_COST].name, err) < 0)
			return -1;
	if (caps.tokens < 0 && caps.cost_micro_usd < 0)
		return 0;
	c->pool = batch_pool_create(&caps);
	return c->pool ? 0 : error_set(err, ERR_FAILED, "no memory to share with the forks");
}

static int read_options(struct comparison *c, struct error *err)
{
	const char *from = settings_text(c->settings, OPT_FROM, NULL);

	c->from = from ? from : role_name(ROLE_CODE);
	int64_t repeats = 1;
	if (settings_count(c->settings, OPT_REPEATS, &repeats, err) < 0 ||
	    read_contenders(c, err) < 0 || read_runs(c, err) < 0)
		return -1;
	if (repeats > (int64_t)(FORKS_MAX / c->contender_count / c->run_count))
		return error_set(err, ERR_USAGE, "more than %d forks; --repeat fewer", FORKS_MAX);
	if (read_caps(c, err) < 0)
		return -1;
	c->repeats = (size_t)repeats;
	c->fork_count = c->run_count * c->repeats * c->contender_count;
	c->forks = mem_array(NULL, c->fork_count, sizeof(*c->forks));
	memset(c->forks, 0, c->fork_count * sizeof(*c->forks));
	return 0;
}

/* --- a fork --- */

static void take_text(char **member, const char *text)
{
	if (text)
		*member = mem_strdup(text);
}

/* In a child, which ends without freeing: the settings are its own then. */
static int work(void *self, size_t i, int fd, struct error *err)
{
	const struct comparison *c = self;
	const struct contender *who = &c->contenders[comparison_contender_at(c, i)];
	const char *args[] = { c->runs[comparison_run_at(c, i)] };
	const char *from = c->from, *tier = replay_tier_name(TIER_EXEC);
	struct options options = *c->settings->options, flags = *c->settings->flags;
	struct settings own = *c->settings;
	struct batch_meter meter = {
		.pool = c->pool,
		.worker = i % BATCH_WORKERS_MAX,
		.prices = &c->settings->means.prices,
	};

	own.app->meter = c->pool ? &meter : NULL; /* the child's own app, too */
	options.args = args;
	options.arg_count = 1;
	flags.given[OPT_FROM] = (struct option_values){ &from, 1 };
	flags.given[OPT_TIER] = (struct option_values){ &tier, 1 };
	own.options = &options;
	own.flags = &flags;
	own.json = true;
	take_text(&own.policy.provider, who->by[WAY_PROVIDER]);
	take_text(&own.policy.model, who->by[WAY_MODEL]);
	take_text(&own.model_command, who->by[WAY_MODEL_COMMAND]);
	take_text(&own.base_url, who->by[WAY_BASE_URL]);
	take_text(&own.script, who->by[WAY_SCRIPT]);
	return replay_one(&own, fd, err);
}

/* One that could not be made is no run of its model: nothing would be compared. */
static int ended(void *self, size_t i, const struct child_end *end, struct error *err)
{
	struct comparison *c = self;
	const char *fork = json_get_string(end->report, "replay");
	const char *error = json_get_string(end->report, "error");

	batch_pool_lost(c->pool, i % BATCH_WORKERS_MAX); /* when it died in a call */
	if (!fork) {
		c->failed = end->code > 0 ? end->code : EXIT_FAILED;
		return error_set(err, ERR_FAILED, "%s from run %s: %s",
				 contender_name(&c->contenders[comparison_contender_at(c, i)]),
				 c->runs[comparison_run_at(c, i)],
				 error	      ? error :
				 end->problem ? end->problem :
						"it was recorded nowhere");
	}
	snprintf(c->forks[i].fork, sizeof(c->forks[i].fork), "%s", fork);
	c->ended++;
	return 0;
}

static void watch(void *self)
{
	const struct comparison *c = self;

	if (!c->settings->json)
		term_status(&c->settings->app->terminal, "%zu of %zu forks", c->ended,
			    c->fork_count);
}

/* --- all of them --- */

/* What the log has of those that were made. */
static int read_forks(struct comparison *c, struct error *err)
{
	cleanup_audit struct audit *audit = NULL;

	if (command_open_log(&audit, c->settings, LOG_READ, err) < 0)
		return -1;
	for (size_t i = 0; i < c->fork_count; i++) {
		struct fork_outcome *f = &c->forks[i];

		if (!*f->fork)
			continue;
		if (audit_find(audit, f->fork, &f->row, err) < 0)
			return -1;
		if (!log_took(&f->row, &f->duration_ms))
			f->duration_ms = 0;
	}
	return 0;
}

/* What was made before something ended the rest is told, too. */
static int compare(struct comparison *c, struct error *err)
{
	const struct children children = { c->settings, c->fork_count, work, ended, watch, c };
	struct error problem = ERROR_INIT;
	int rc = children_run(&children, err);

	if (c->ended && (read_forks(c, &problem) < 0 || comparison_tell(c, &problem) < 0) && !rc) {
		*err = problem;
		rc = -1;
	}
	if (rc < 0)
		return c->failed ? c->failed : (int)exit_code_of_error(err);
	for (size_t i = 0; i < c->fork_count; i++)
		if (!fork_outcome_success(&c->forks[i]))
			return EXIT_BATCH;
	return EXIT_OK;
}

int cmd_compare(const struct settings *settings, struct error *err)
{
	struct comparison c = { .settings = settings };
	int code = read_options(&c, err) < 0 ? (int)exit_code_of_error(err) : compare(&c, err);

	for (size_t i = 0; i < c.fork_count; i++)
		if (*c.forks[i].row.id)
			audit_row_release(&c.forks[i].row);
	free(c.forks);
	free(c.runs);
	free(c.contenders);
	batch_pool_free(c.pool);
	return code;
}
