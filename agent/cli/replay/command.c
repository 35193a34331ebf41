/*
 * assay replay: the same loop with recorded ends, compared stage by stage. What is played
 * back is the engine's business (agent/record/player.h), what is told is tell.c's.
 */
#include "agent/cli/command.h"

#include "agent/cli/foreign.h"
#include "agent/cli/replay/replay.h"
#include "agent/cli/tools_given.h"
#include "agent/cli/log/log.h"
#include "base/mem.h"
#include "base/name.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char *const tier_names[] = { "view", "pipeline", "exec", "model" };

const char *replay_tier_name(enum replay_tier tier)
{
	return tier_names[tier];
}

void replay_tier_list(struct buf *out, const char *between, const char *last)
{
	name_list(out, tier_names, ARRAY_SIZE(tier_names), between, last);
}

/* --- running again --- */

static int run_loop(struct replay *p, const struct task *task, struct error *err)
{
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	int rc = replay_open_ends(p, task, err);

	if (!rc)
		rc = loop_run(&p->loop, task, &result, err);
	if (!rc)
		memcpy(p->run, result.run, sizeof(p->run));
	p->code = exit_code_of_run(result.status, result.ended_by);
	return rc;
}

/* --- what came of it --- */

static void report_release(struct replay_report *report)
{
	json_free(report->stages);
	json_free(report->first);
	json_free(report->changes);
}
#define cleanup_report __attribute__((cleanup(report_release)))

/* What follows from the first divergence is of its class. */
static void classify(const struct replay *p, struct replay_report *report)
{
	if (!report->first)
		return;
	report->class = divergence_of_stage(report->first, report->changes, p->again.in);
	const char *name = divergence_name(report->class);
	json_set_string(report->first, "class", name);
	if (p->again.ran)
		json_set_bool(report->first, "varies", p->again.varied);
	else
		json_set_null(report->first, "varies");
	for (struct json *row = json_first(report->stages); row; row = json_next(row))
		if (!json_get_bool(row, "same", false))
			json_set_string(row, "class", name);
}

static int compare(struct replay *p, struct error *err)
{
	cleanup_report struct replay_report report = { .cut_off = recording_cut_off(&p->before) };

	if (recording_load(&p->after, p->audit, p->run, err) < 0)
		return exit_code_of_error(err);
	if (p->step.quit)
		return replay_tell_quit(p, err) < 0 ? (int)exit_code_of_error(err) : p->code;
	compare_runs(&p->before, &p->after, &report.stages, &report.first);
	report.changes = replay_changes(p);
	classify(p, &report);
	if (replay_tell(p, &report, err) < 0)
		return exit_code_of_error(err);
	/* What ended the run is in its record: it is no failure of the report. */
	if (p->sink >= 0)
		error_clear(err);
	if (command_signal())
		return command_signal() == SIGTERM ? (int)EXIT_TERMINATED : (int)EXIT_INTERRUPTED;
	/* A fork is meant to differ: it is a run of its own, and ends as one. */
	if (p->before.from)
		return p->code;
	return report.first ? (int)EXIT_DIVERGED : (int)EXIT_OK;
}

static int view(struct replay *p, struct error *err)
{
	const struct log log = { p->given, p->source, p->given->options->args, 1, p->console.term };
	cleanup_report struct replay_report report = { .stages = NULL };

	if (!p->given->json)
		return log_show(&log, err);
	report.stages = json_array();
	report.changes = json_array();
	for (size_t i = 0; i < p->before.count; i++) {
		struct json *row = json_object();
		json_set_string(row, "stage", p->before.events[i].stage);
		json_set_string(row, "phase", p->before.events[i].phase);
		json_set_int(row, "attempt", p->before.events[i].attempt);
		json_set_bool(row, "same", true);
		json_set(row, "differences", json_array());
		json_set(row, "data", json_copy(p->before.events[i].data));
		json_append(report.stages, row);
	}
	return replay_tell(p, &report, err) < 0 ? (int)exit_code_of_error(err) : (int)EXIT_OK;
}

/* --- the command --- */

static int read_options(struct replay *p, struct error *err)
{
	const char *name = settings_text(p->given, OPT_TIER, NULL);
	int tier = name_find(tier_names, ARRAY_SIZE(tier_names), name);

	if (tier < 0) {
		cleanup_buf struct buf names = BUF_INIT(256);

		replay_tier_list(&names, ", ", " or ");
		return error_set(err, ERR_USAGE, "--tier \"%s\": %s", name, names.data);
	}
	p->tier = (enum replay_tier)tier;
	if (p->given->options->arg_count != 1)
		return error_set(err, ERR_USAGE,
				 "one RUN is needed (an id, its beginning, or last): "
				 "assay replay last");
	return replay_check_step(p, err);
}

/* The model of the record, but for what is named now. One that nobody named is
 * not looked for: it would be asked about somebody's run. */
static int take_model(struct replay *p, struct error *err)
{
	const struct settings *given = p->given;

	if (given->policy.provider || given->script || given->model_command) {
		free(p->policy.provider);
		p->policy.provider = mem_strdup(given->policy.provider);
	} else if (!p->policy.provider) {
		return error_set(err, ERR_USAGE,
				 "run %s names no provider; --provider, --script "
				 "or --model-command names one",
				 p->before.row.id);
	}
	if (given->policy.provider || given->policy.model) {
		free(p->policy.model);
		p->policy.model = mem_strdup(given->policy.model);
	}
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_environment(const struct policy *a, const struct policy *b)
{
	return same_text(a->python, b->python) && same_text(a->node_modules, b->node_modules);
}

/* The sandbox of the record, but for one named on this command line. What the
 * configuration names is for new runs; it was opened before the record was read.
 * One that is not here is missed only where code runs. */
static int take_sandbox(struct replay *p, struct error *err)
{
	const char *recorded = json_get_string(p->before.row.config, "sandbox");

	if (p->given->flags->given[OPT_SANDBOX].count) {
		free(p->policy.sandbox);
		p->policy.sandbox = mem_strdup(p->given->policy.sandbox);
	}
	if (!p->policy.sandbox && p->tier == TIER_PIPELINE) {
		p->policy.sandbox = mem_strdup(recorded);
		return 0;
	}
	if (!p->policy.sandbox) {
		cleanup_free char *names = sandbox_names();
		return error_set(err, ERR_USAGE,
				 "run %s ran in the sandbox \"%.60s\", which is "
				 "not here; --sandbox names another; there is: %s",
				 p->before.row.id, recorded, names);
	}
	if (p->tier == TIER_PIPELINE) /* nothing runs in it */
		return 0;
	if (foreign_check(p->before.row.id, &p->policy, &p->given->policy, err) < 0)
		return -1;
	if (!strcmp(p->policy.sandbox, sandbox_name(p->sandbox)) &&
	    same_environment(&p->policy, &p->given->policy))
		return 0;
	sandbox_close(TAKE_PTR(p->sandbox));
	return command_open_sandbox_cold(&p->sandbox, &p->policy, p->given, err);
}

/* Recorded settings, with the user's rules of a file named on this command line. */
static int take_recorded(struct replay *p, struct error *err)
{
	const struct settings *given = p->given;
	cleanup_json struct json *config = json_copy(p->before.row.config);

	if (given->flags->given[OPT_RULES].count)
		json_set_string(config, "rules", given->policy.rules->text);
	return policy_of_record(&p->policy, &given->policy, config, err);
}

/* Recorded settings, but for a model or a sandbox named now. */
static int take_settings(struct replay *p, struct error *err)
{
	const struct settings *given = p->given;
	const char *from = settings_text(given, OPT_FROM, NULL);
	bool other_model = p->tier == TIER_MODEL || from;

	if (take_recorded(p, err) < 0 || replay_take_basis(p, err) < 0 ||
	    replay_take_fork(p, err) < 0 || take_sandbox(p, err) < 0)
		return -1;
	return other_model && p->before.row.kind && strcmp(p->before.row.kind, "exec") ?
		       take_model(p, err) :
		       0;
}

/* Where a person stopped a program, nobody will stop it again: it would run to its limit, and end
 * another way. That is said before it runs. */
static int refuse_cancelled(const struct replay *p, struct error *err)
{
	for (size_t i = 0; i < p->before.count; i++) {
		const struct recorded_event *e = &p->before.events[i];
		const char *outcome = json_get_string(e->data, "outcome");

		if (outcome && !strcmp(outcome, sandbox_outcome_name(SANDBOX_CANCELLED)) &&
		    !recording_stops(&p->before, e->attempt))
			return error_set(err, ERR_FAILED,
					 "run %s was cancelled while its program ran (%s, attempt "
					 "%d), which cannot be run again to the same end; "
					 "--tier pipeline replays what was recorded",
					 p->before.row.id, e->stage, e->attempt);
	}
	return 0;
}

static void replay_release(struct replay *p)
{
	policy_release(&p->policy);
	console_release(&p->console);
	approvals_release(&p->approver.approvals);
	tools_close(p->live_tools);
	json_free(p->prompts);
	json_free(p->inputs);
	buf_release(&p->own_code);
	rulebook_free(p->rules);
	recording_release(&p->before);
	recording_release(&p->after);
	llm_close(&p->live_llm);
	replay_close_logs(p);
	sandbox_close(p->sandbox);
}

/* The exit code where there is no such run, or more than one: what looks for the version that broke
 * a run is not to take that for one. A log that cannot be read may well be the version's fault. */
static enum exit_code not_there(const struct error *err)
{
	return err->kind == ERR_USAGE ? EXIT_NOT_REPLAYED : exit_code_of_error(err);
}

static int replay(struct replay *p, struct error *err)
{
	cleanup_recorded_task struct recorded_task task = { .argv = NULL };

	p->stop = journal_stop(p->given->app->cancel_fd, &p->given->policy.budget);
	if (read_options(p, err) < 0)
		return exit_code_of_error(err);
	if (p->tier != TIER_VIEW &&
	    command_open_sandbox_cold(&p->sandbox, &p->given->policy, p->given, err) < 0)
		return exit_code_of_error(err);
	if (replay_open_logs(p, err) < 0 ||
	    recording_load(&p->before, p->source, p->given->options->args[0], err) < 0)
		return not_there(err);
	if (p->tier == TIER_VIEW)
		return view(p, err);
	if (take_settings(p, err) < 0)
		return err->kind == ERR_LOG ? (int)EXIT_NOT_REPLAYED : (int)exit_code_of_error(err);
	if (p->tier == TIER_EXEC && !p->before.from && refuse_cancelled(p, err) < 0)
		return EXIT_NOT_REPLAYED;
	if (recording_task(&p->before, &task, err) < 0) {
		if (err->kind == ERR_USAGE) /* there is none, and nothing is damaged */
			error_set(err, err->kind, "%s (--tier view)", err->message);
		return EXIT_NOT_REPLAYED;
	}
	if (replay_check_inputs(p, &task.task, err) < 0)
		return err->kind == ERR_USAGE ? (int)EXIT_NOT_REPLAYED :
						(int)exit_code_of_error(err);
	if (run_loop(p, &task.task, err) < 0 ||
	    (p->stop.deadline_ms != INT64_MAX && stop_check(&p->stop, err) < 0))
		return exit_code_of_error(err);
	return compare(p, err);
}

int replay_one(const struct settings *settings, int sink, struct error *err)
{
	struct replay p = { .given = settings,
			    .console = { .term = &settings->app->terminal },
			    .sink = sink,
			    .again.in = DIVERGED_BY_VALUE };
	int code = replay(&p, err);

	replay_release(&p);
	return code;
}

/* The log is read for its name, and closed, before it is opened to be replayed. */
static int replay_the_last_diverged(const struct settings *settings, struct error *err)
{
	cleanup_audit struct audit *audit = NULL;
	struct options options = *settings->options;
	struct settings own = *settings;
	char run[ULID_LEN + 1];
	const char *args[] = { run };

	if (options.arg_count) {
		error_set(err, ERR_USAGE, "a RUN or --last-diverged: not both");
		return exit_code_of_error(err);
	}
	if (command_open_log(&audit, settings, LOG_READ, err) < 0 ||
	    replay_last_diverged(audit, run, err) < 0)
		return not_there(err);
	audit_close(TAKE_PTR(audit));
	options.args = args;
	options.arg_count = 1;
	own.options = &options;
	return replay_one(&own, -1, err);
}

int cmd_replay(const struct settings *settings, struct error *err)
{
	if (replay_is_many(settings))
		return replay_many(settings, err);
	if (!settings->flags->given[OPT_LAST_DIVERGED].count)
		return replay_one(settings, -1, err);
	return replay_the_last_diverged(settings, err);
}
