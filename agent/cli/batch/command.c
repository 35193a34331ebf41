/*
 * assay batch: what its options ask for, from the task file to the summary. It makes no call and
 * runs no code; a worker that dies costs its task alone.
 */
#include "agent/cli/command.h"

#include "agent/cli/batch/batch.h"
#include "agent/cli/batch/caps.h"
#include "agent/cli/batch/choose.h"
#include "agent/cli/batch/dispatch.h"
#include "agent/cli/batch/earlier.h"
#include "agent/cli/batch/key.h"
#include "agent/cli/batch/outcome.h"
#include "agent/cli/batch/pool.h"
#include "agent/cli/batch/report.h"
#include "agent/cli/batch/rescore.h"
#include "agent/cli/batch/results.h"
#include "agent/cli/batch/shard.h"
#include "agent/cli/batch/table.h"
#include "agent/cli/batch/watch.h"
#include "agent/cli/provider.h"
#include "agent/cli/terminal/term.h"
#include "audit/redact/redact.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/ulid.h"
#include "verifier/screen/rulebook.h"
#include "verifier/screen/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOBS_MAX    256
#define REPEATS_MAX 1000

/* --- options --- */

/* Known before a model is paid, not after: whether a report will have a place. */
static int check_place(const struct settings *s, enum option_id id, struct error *err)
{
	const char *path = settings_text(s, id, NULL), *name = option_table[id].name;
	cleanup_free char *copy = mem_strdup(path);

	if (!path)
		return 0;
	struct stat st;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return error_set(err, ERR_USAGE, "--%s %s: is a folder; name a file in it", name,
				 path);
	if (access(dirname(copy), W_OK) < 0)
		return error_set_errno(err, ERR_USAGE, errno, "--%s %s", name, path);
	return 0;
}

/* A folder that is not there allows nothing, which the results would tell one by one. */
static int check_folders(const struct task_place *place, struct error *err)
{
	for (size_t i = 0; i < place->allowed_count; i++) {
		struct stat st;

		if (stat(place->allowed[i], &st) < 0)
			return error_set_errno(err, ERR_USAGE, errno, "--files-from %s",
					       place->allowed[i]);
		if (!S_ISDIR(st.st_mode))
			return error_set(err, ERR_USAGE, "--files-from %s: is no folder",
					 place->allowed[i]);
	}
	return 0;
}

/* --- caps of the whole batch --- */

/* A cap on money that nobody can keep is told before anything is paid. */
static int check_prices(const struct settings *s, const struct batch_caps *caps, struct error *err)
{
	const char *flag = option_table[OPT_TOTAL_COST].name;

	if (caps->cost_micro_usd < 0 && s->policy.budget.cost_micro_usd < 0)
		return 0;
	if (caps->cost_micro_usd < 0)
		flag = option_table[OPT_MAX_COST].name;
	cleanup_json struct json *choice = provider_choice_json(s);
	if (json_get(choice, "error")) /* which the first worker tells */
		return 0;
	if (batch_check_price(s, json_get_string(choice, "model"), flag, err) < 0)
		return -1;
	for (int i = 0; i < ROLE_COUNT; i++)
		if (s->policy.roles[i].model &&
		    batch_check_price(s, s->policy.roles[i].model, flag, err))
			return -1;
	return 0;
}

/* What the results from before came to, of whatever task: it was paid for this file. */
static int count_spent(struct batch_caps *caps, const struct batch_results *r, struct error *err)
{
	double usd = 0;

	for (size_t i = 0; i < r->earlier.count; i++) {
		const struct batch_outcome *o = &r->earlier.lines[i];
		const int64_t tokens = o->input_tokens + o->output_tokens;

		caps->tokens_before += tokens;
		if (!isnan(o->cost_usd))
			usd += o->cost_usd;
		else if (tokens && caps->cost_micro_usd >= 0)
			return error_set(
				err, ERR_CONFIG,
				"--total-cost counts what %s has cost, and the cost of its "
				"\"%.60s\" is not known; --total-tokens needs no prices",
				r->path, o->id);
	}
	caps->cost_before = llround(usd * 1e6);
	return 0;
}

static int open_pool(struct batch *batch, struct batch_caps *caps, const struct batch_results *r,
		     struct error *err)
{
	if (caps->tokens < 0 && caps->cost_micro_usd < 0)
		return 0;
	if (count_spent(caps, r, err) < 0)
		return -1;
	batch->pool = batch_pool_create(caps);
	return batch->pool ? 0 : error_set(err, ERR_FAILED, "no memory to share with the workers");
}

/* --- the whole --- */

/* What is told on standard output: the events' end has the summary, too. */
static int tell_summary(const struct batch *batch, const struct batch_results *r,
			struct batch_watch *watch, const struct json *summary, int64_t duration_ms,
			struct error *err)
{
	cleanup_free char *text = json_print(summary);
	struct terminal *term = &batch->settings->app->terminal;

	if (batch_watch_end(watch, summary, err) < 0)
		return -1;
	if (r->table && batch_table_show(term, r, err) < 0)
		return -1;
	if (!batch->settings->json)
		batch_report_tell(term, r, duration_ms);
	else if (watch->events != STDOUT_FILENO)
		return term_out_json(term, text, err);
	return 0;
}

/* Whether each task has a result, so that running the part again would do nothing. */
static bool is_complete(const struct batch_dispatch *d, const struct error *ended)
{
	return ended->kind == ERR_NONE && !command_signal() && !d->results->unfinished &&
	       d->results->count == d->choice->count &&
	       !d->batch->settings->options->given[OPT_LIMIT].count;
}

static int finish(const struct batch_dispatch *d, const char *manifest, int64_t began_ms,
		  const struct error *ended, struct error *err)
{
	const struct settings *s = d->batch->settings;
	const char *junit = settings_text(s, OPT_JUNIT, NULL);
	const char *csv = settings_text(s, OPT_CSV, NULL);
	const int64_t duration_ms = clock_mono_ms() - began_ms;

	d->results->not_run = d->choice->count - d->results->count;
	cleanup_json struct json *summary = batch_report_summary(d->results, duration_ms);
	if (tell_summary(d->batch, d->results, d->watch, summary, duration_ms, err) < 0 ||
	    (manifest && batch_shard_manifest(d->batch, manifest, d->choice->tasks,
					      is_complete(d, ended), summary, err) < 0) ||
	    (csv && batch_table_csv(d->results, csv, err) < 0))
		return -1;
	return junit ? batch_report_junit(d->results, junit, d->batch->path, err) : 0;
}

/* The log is there before any worker is, and only what takes secrets out is kept
 * of it: a connection may not be carried over into a worker. */
static int open_redactor(struct batch_dispatch *d, struct error *err)
{
	cleanup_audit struct audit *audit = NULL;

	if (command_open_log(&audit, d->batch->settings, LOG_RECORD, err) < 0)
		return -1;
	d->redactor = audit_take_redactor(audit);
	return 0;
}

/* Rules take some milliseconds to compile, for each worker the same: those of languages that tasks
 * name. What is wrong with them is told where they are needed. */
static void share_rules(const struct batch_dispatch *d)
{
	const struct settings *s = d->batch->settings;
	const char *usual = s->policy.lang;

	if (d->jobs < 2 || s->policy.screen_profile == SCREEN_OFF)
		return;
	rulebook_digest();
	for (size_t i = 0; i < d->choice->count; i++) {
		const struct task_line *line = &d->batch->tasks->lines[d->choice->units[i].task];
		const char *named = line->object ? json_get_string(line->object, "lang") : NULL;
		const char *name = named ? named : usual;
		const struct language *language = name ? language_find(name) : NULL;
		struct error ignored = ERROR_INIT;

		if (language)
			ruleset_builtin(language->name, &ignored);
	}
}

/* What the workers have in common, made before them. */
static int share(const struct settings *s, struct batch_results *results, size_t jobs,
		 struct error *err)
{
	s->app->log = results->log = audit_group_new();
	results->log_path = s->db_path;
	if (!s->app->log)
		return error_set(err, ERR_FAILED, "no memory to share between workers");
	size_t requests = 0, tokens = 0;
	if (batch_number(s, OPT_RPM, &requests, err) < 0 ||
	    batch_number(s, OPT_TPM, &tokens, err) < 0)
		return -1;
	return provider_share_limits(s->app, (int)jobs, (int64_t)requests, (int64_t)tokens, err);
}

static int read_repeats(struct batch *batch, struct error *err)
{
	const struct settings *s = batch->settings;

	if (batch_number(s, OPT_REPEATS, &batch->repeats, err) < 0)
		return -1;
	for (size_t i = 0; batch->rescore && i < batch->rescore->count; i++)
		if (batch->rescore->lines[i].repeat >= batch->repeats &&
		    batch->rescore->lines[i].repeat)
			batch->repeats = batch->rescore->lines[i].repeat + 1;
	if (batch->repeats > REPEATS_MAX)
		return error_set(err, ERR_USAGE, "--repeat %zu: %d at most", batch->repeats,
				 REPEATS_MAX);
	if (s->options->given[OPT_VOTE].count && batch->repeats < 2)
		return error_set(err, ERR_USAGE, "--vote needs --repeat K, 2 or more");
	return 0;
}

static int read_options(struct batch_dispatch *d, struct error *err)
{
	const struct settings *s = d->batch->settings;

	d->jobs = 1;
	if (batch_number(s, OPT_JOBS, &d->jobs, err) < 0 ||
	    batch_number(s, OPT_MAX_ERRORS, &d->max_errors, err) < 0)
		return -1;
	if (s->options->given[OPT_FAIL_FAST].count)
		d->max_errors = 1;
	d->jobs = d->jobs < JOBS_MAX ? d->jobs : JOBS_MAX;
	if (check_place(s, OPT_JUNIT, err) < 0 || check_place(s, OPT_CSV, err) < 0)
		return -1;
	return check_folders(&d->batch->place, err);
}

static void tell_runless(struct terminal *term, const struct batch_choice *choice)
{
	if (choice->runless)
		term_note(term, TERM_YELLOW, "%zu %s no run in the results to rescore\n",
			  choice->runless, choice->runless == 1 ? "has" : "have");
}

static int run_batch(struct batch *batch, const char *manifest, struct batch_results *results,
		     struct batch_choice *choice, struct error *err)
{
	const struct settings *s = batch->settings;
	struct batch_watch watch = { .batch = batch, .results = results, .events = -1 };
	struct batch_dispatch d = {
		.batch = batch, .results = results, .choice = choice, .watch = &watch
	};
	int64_t began_ms = clock_mono_ms(), time_ms;
	struct batch_caps caps;

	if (read_repeats(batch, err) < 0 || read_options(&d, err) < 0 ||
	    batch_caps_read(s, &caps, &time_ms, err) < 0 || check_prices(s, &caps, err) < 0 ||
	    batch_settings_key(batch, batch->settings_key, err) < 0 ||
	    batch_results_begin(results, s, err) < 0 || open_pool(batch, &caps, results, err) < 0 ||
	    batch_choose(choice, batch, results, err) < 0 || open_redactor(&d, err) < 0)
		return -1;
	d.jobs = d.jobs < choice->sound ? d.jobs : choice->sound;
	d.deadline_ms = time_ms ? began_ms + time_ms : 0;
	tell_runless(&batch->settings->app->terminal, choice);
	results->repeats = batch->repeats;
	watch.jobs = d.jobs;
	watch.total = choice->count;
	int rc = batch_watch_begin(&watch, err);
	batch->watched = watch.live || watch.events >= 0;
	if (!rc)
		rc = batch_results_open(results, s, err);
	if (!rc && manifest)
		rc = batch_shard_manifest(batch, manifest, choice->tasks, false, NULL, err);
	if (!rc)
		rc = share(s, results, d.jobs, err);
	struct error ended = ERROR_INIT;
	if (!rc)
		share_rules(&d);
	if (!rc)
		rc = batch_dispatch(&d, &ended, err);
	redactor_free(d.redactor);
	if (!rc)
		rc = finish(&d, manifest, began_ms, &ended, err);
	batch_watch_release(&watch);
	if (!rc && ended.kind != ERR_NONE) {
		*err = ended;
		rc = -1;
	}
	return rc;
}

static int exit_code(const struct batch_results *r)
{
	if (command_signal())
		return command_signal() == SIGTERM ? (int)EXIT_TERMINATED : (int)EXIT_INTERRUPTED;
	if (r->unfinished)
		return exit_code_of_error(&(struct error){ .kind = r->cause });
	return r->failed || r->failed_before ? (int)EXIT_BATCH : (int)EXIT_OK;
}

/* With the tasks read, and the settings those of the part. */
static int run_tasks(struct batch *batch, const char *manifest, struct error *err)
{
	const struct option_values *folders = &batch->settings->options->given[OPT_FILES_FROM];
	struct batch_results results = { .fd = -1 };
	struct batch_choice choice = { .count = 0 };
	cleanup_free char *copy = mem_strdup(batch->path);
	char session[ULID_LEN + 1];

	ulid_new(clock_wall_ms(), session);
	batch->session = session;
	batch->place = (struct task_place){
		.folder = dirname(copy),
		.allowed = folders->values,
		.allowed_count = folders->count,
		.taking = task_taking_of(batch->settings),
	};
	int rc = run_batch(batch, manifest, &results, &choice, err);
	int code = exit_code(&results);
	struct error closing = ERROR_INIT;
	if (batch_results_close(&results, rc ? &closing : err) < 0)
		rc = -1;
	batch_pool_free(batch->pool);
	free(choice.units);
	return rc ? exit_code_of_error(err) : code;
}

/* The results of --rescore; none without it. */
static int read_rescored(struct batch *batch, struct batch_earlier *ret, struct error *err)
{
	const char *path = settings_text(batch->settings, OPT_RESCORE, NULL);
	const struct option_values *out = &batch->settings->options->given[OPT_OUT];

	if (!path)
		return 0;
	if (out->count && !strcmp(out->values[0], path))
		return error_set(err, ERR_USAGE,
				 "--rescore %s: its results are kept: name another file with --out",
				 path);
	cleanup_close int fd = io_open(path, O_RDONLY, 0);
	if (fd < 0)
		return error_set_errno(err, ERR_USAGE, errno, "--rescore %s", path);
	if (batch_earlier_read(ret, fd, path, true, err) < 0)
		return -1;
	batch->rescore = ret;
	return 0;
}

/* The tasks of FILE or, to be rescored, those of the results. */
static int read_tasks(struct batch *batch, struct task_lines *ret, struct error *err)
{
	const struct options *options = batch->settings->options;

	if (!options->arg_count && batch->rescore) {
		batch->recorded_tasks = true;
		batch->path = settings_text(batch->settings, OPT_RESCORE, NULL);
		batch_rescore_tasks(ret, batch->rescore);
		return 0;
	}
	if (options->arg_count != 1)
		return error_set(
			err, ERR_USAGE,
			"one FILE of tasks is needed: assay batch FILE (- is standard input)");
	batch->path = options->args[0];
	if (task_lines_read(ret, batch->path, &options->given[OPT_MAP], err) < 0)
		return -1;
	if (ret->unknown)
		term_note(&batch->settings->app->terminal, TERM_YELLOW, "%s\n", ret->unknown);
	return 0;
}

int cmd_batch(const struct settings *settings, struct error *err)
{
	struct batch batch = { .settings = settings };
	struct batch_shard_settings own = { .manifest = NULL };
	struct batch_earlier rescored = { .lines = NULL };
	struct task_lines tasks = { .lines = NULL };

	int rc = batch_shard_read(&batch.shard, settings, err);
	if (!rc && batch.shard.of) {
		rc = batch_shard_settings(&own, &batch.shard, settings, err);
		batch.settings = rc ? settings : &own.settings;
	}
	if (!rc)
		rc = read_rescored(&batch, &rescored, err);
	if (!rc)
		rc = read_tasks(&batch, &tasks, err);
	batch.tasks = &tasks;
	int code = rc ? (int)exit_code_of_error(err) : run_tasks(&batch, own.manifest, err);
	task_lines_release(&tasks);
	batch_earlier_release(&rescored);
	batch_shard_release(&own);
	return code;
}
