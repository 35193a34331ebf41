/* assay replay: the same loop with recorded ends, compared stage by stage. */
#include "agent/command.h"

#include "agent/compare.h"
#include "agent/console.h"
#include "agent/log.h"
#include "agent/provider.h"
#include "agent/render.h"
#include "agent/term.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define DIFFERENCE_SHOWN 300	/* bytes of either side */

enum tier { TIER_VIEW, TIER_PIPELINE, TIER_EXEC, TIER_MODEL };
static const char *const tier_names[] = { "view", "pipeline", "exec", "model" };

struct replay {
	const struct settings *given;	/* of this command line */
	struct settings settings;	/* the recorded ones on top */
	enum tier tier;
	struct audit *audit;
	struct sandbox *sandbox;
	struct llm live_llm, recorded_llm;
	struct live live;
	struct recording before, after;
	struct console console;
	struct loop loop;
	char run[ULID_LEN + 1];		/* the replay's own id; "" for a view */
};

/* --- the environment --- */

/* What runs code here now, against what ran it then. */
static struct json *environment_changes(struct replay *p)
{
	struct json *changes = json_array();
	const struct language *language;
	size_t i;

	for (i = 0; (language = language_at(i)); i++) {
		struct sandbox_environment was = { .language = NULL }, is = { .language = NULL };
		struct error ignored = ERROR_INIT;
		struct json *change;

		recorded_describe(&p->before, language, &was, &ignored);
		if (!was.digest || sandbox_describe(p->sandbox, language, &is, &ignored) < 0 ||
		    (is.digest && !strcmp(was.digest, is.digest)))
			continue;
		change = json_object();
		json_set_string(change, "language", language->name);
		json_set_string(change, "before", was.version);
		json_set_string(change, "after", is.version);
		json_set_string(change, "before_digest", was.digest);
		json_set_string(change, "after_digest", is.digest);
		json_append(changes, change);
	}
	return changes;
}

/* --- running again --- */

/* Budgets are those of then: whether the loop went on depends on what a program
 * took, and this host may be faster. */
static bool budget_is_recorded(const struct replay *p)
{
	return p->tier == TIER_EXEC && !p->before.from;
}

static int live_run(void *self, int attempt, const struct sandbox_job *job,
		    struct sandbox_result *ret, struct error *err)
{
	struct replay *p = self;
	struct sandbox_job again = *job;
	struct execute_ops ops;

	live_execute(&ops, &p->live);
	if (budget_is_recorded(p))
		again.limits.wall_ms =
			recorded_wall_limit(&p->before, attempt, job->limits.wall_ms);
	return ops.run(ops.self, attempt, &again, ret, err);
}

static double spent_ms(void *self, int attempt, const struct sandbox_result *result)
{
	struct replay *p = self;

	return budget_is_recorded(p) ?
	       recorded_spent_ms(&p->before, attempt, result->metrics.wall_ms) :
	       result->metrics.wall_ms;
}

static int live_parse(void *self, const char *stage, int attempt, const char *lang,
		      const char *code, size_t len, struct tree *ret, struct error *err)
{
	struct replay *p = self;
	struct execute_ops ops;

	live_execute(&ops, &p->live);
	return ops.parse(ops.self, stage, attempt, lang, code, len, ret, err);
}

/* Code runs live, but the prompts say what was installed and seen then. */
static int describe_as_recorded(void *self, const struct language *language,
				struct sandbox_environment *ret, struct error *err)
{
	struct replay *p = self;

	return recorded_describe(&p->before, language, ret, err);
}

static int inspect_as_recorded(void *self, const struct sandbox_file *file, int64_t wall_ms,
			       struct inspection *ret, struct error *err)
{
	struct replay *p = self;

	return recorded_inspect(&p->before, file, wall_ms, ret, err);
}

static int open_ends(struct replay *p, struct error *err)
{
	bool needs_model = p->tier == TIER_MODEL || p->before.from;

	if (needs_model && provider_open(&p->live_llm, &p->settings, err) < 0)
		return -1;
	recorded_llm(&p->recorded_llm, &p->before);
	p->before.live = &p->live_llm;
	p->loop = (struct loop){
		.settings = &p->settings,
		.llm = p->tier == TIER_MODEL ? &p->live_llm : &p->recorded_llm,
		.audit = p->audit,
		.cancel_fd = command_cancel_fd(),
		.kind = "replay",
		.session = p->before.row.session,
		.replay_of = p->before.row.id,
		.tier = tier_names[p->tier],
	};
	p->live = (struct live){ .sandbox = p->sandbox, .cancel_fd = command_cancel_fd() };
	if (p->tier == TIER_PIPELINE)
		recorded_execute(&p->loop.execute, &p->before);
	else
		p->loop.execute = (struct execute_ops){ live_run, spent_ms, describe_as_recorded,
						       live_parse, inspect_as_recorded, p };
	if (p->tier == TIER_MODEL || p->before.from)
		live_clock(&p->loop.clock, &p->live);
	else
		recorded_clock(&p->loop.clock, &p->before);
	recorded_approve(&p->loop.approve, &p->before);
	if (!p->given->json)
		console_progress(&p->loop.progress, &p->console);
	return 0;
}

static int run_loop(struct replay *p, struct error *err)
{
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	struct task task = { .id = NULL };
	int rc;

	if (recording_task(&p->before, &task, err) < 0)
		return -1;
	rc = open_ends(p, err);
	if (!rc)
		rc = loop_run(&p->loop, &task, &result, err);
	task_release(&task);
	if (!rc)
		memcpy(p->run, result.run, sizeof(p->run));
	return rc;
}

/* --- a run of `assay exec`: one execution, no loop --- */

static int execute_again(struct replay *p, const struct sandbox_job *job, struct error *err)
{
	struct execute_ops ops = { live_run, spent_ms, describe_as_recorded, live_parse,
				   inspect_as_recorded, p };
	struct audit_run run = {
		.kind = "exec",
		.replay_of = p->before.row.id,
		.tier = tier_names[p->tier],
		.prompt = p->before.row.prompt,
		.prompt_len = p->before.row.prompt_len,
	};
	cleanup_sandbox_result struct sandbox_result x = { .exit_code = -1 };
	cleanup_failure struct failure f = { .type = NULL };
	struct audit_end end = { .level = "ran", .cost_micro_usd = -1 };
	cleanup_journal struct journal j = { .audit = NULL };

	p->live = (struct live){ .sandbox = p->sandbox, .cancel_fd = command_cancel_fd() };
	if (p->tier == TIER_PIPELINE)
		recorded_execute(&ops, &p->before);
	if (journal_begin(&j, p->audit, &run, &p->settings, err) < 0 ||
	    journal_execution_start(&j, 1, job, err) < 0 ||
	    ops.run(ops.self, 1, job, &x, err) < 0)
		return -1;
	failure_find(job->language->name, job->language->file, &x, &f);
	end.status = x.outcome == SANDBOX_EXIT && !x.exit_code ? "success" : "failed";
	if (journal_execution(&j, 1, &x, &f, err) < 0 || journal_end(&j, &end, err) < 0)
		return -1;
	memcpy(p->run, j.run, sizeof(p->run));
	return 0;
}

/* An array of strings as main() is given one; the strings stay the array's. */
static const char **words_of(const struct json *list)
{
	const char **words = mem_array(NULL, json_count(list) + 1, sizeof(*words));
	const struct json *word;
	size_t n = 0;

	for (word = json_first(list); word; word = json_next(word))
		if (json_string(word))
			words[n++] = json_string(word);
	words[n] = NULL;
	return words;
}

static int run_exec(struct replay *p, struct error *err)
{
	const struct recorded_event *e = recording_find(&p->before, "execute", -1, "started");
	const char *name = e ? json_get_string(e->data, "language") : NULL;
	struct sandbox_job job = {
		.language = name ? language_find(name) : NULL,
		.limits = p->settings.limits,
	};
	cleanup_free char *code = NULL, *input = NULL;
	struct task files = { .id = NULL };
	cleanup_free struct sandbox_file *inputs = NULL;
	cleanup_free const char **argv = NULL, **env = NULL;
	int rc;

	if (!job.language)
		return error_set(err, ERR_USAGE,
				 "run %s never began to execute; only --tier view works",
				 p->before.row.id);
	job.argv = argv = words_of(json_get(e->data, "args"));
	job.env = env = words_of(json_get(e->data, "env"));
	if (recording_blob(&p->before, e->data, "code", &code, &job.code_len, err) < 0 ||
	    (json_get(e->data, "stdin") &&
	     recording_blob(&p->before, e->data, "stdin", &input, &job.stdin_len, err) < 0))
		return -1;
	rc = recording_files(&p->before, e->data, &files, err);
	inputs = task_inputs(&files);
	job.code = code;
	job.stdin_bytes = input;
	job.inputs = inputs;
	job.input_count = files.file_count;
	if (!rc)
		rc = execute_again(p, &job, err);
	task_release(&files);
	return rc;
}

/* --- telling --- */

/* The contents that two hashes stand for; false when they are no hashes. */
static bool load_texts(struct replay *p, const struct json *d, struct buf *before,
		       struct buf *after)
{
	const char *a = json_get_string(d, "before"), *b = json_get_string(d, "after");
	struct error ignored = ERROR_INIT;

	return a && b && strlen(a) == HASH_HEX_LEN && strlen(b) == HASH_HEX_LEN &&
	       audit_blob(p->audit, a, before, &ignored) == 0 &&
	       audit_blob(p->audit, b, after, &ignored) == 0;
}

static void tell_line(const char *mark, const struct buf *text, size_t at, bool cut)
{
	size_t len = at < text->len ? strcspn(text->data + at, "\n") : 0;

	term_note(TERM_PLAIN, "    %s%s", mark, cut ? "..." : "");
	term_visible(text->data + at, len < DIFFERENCE_SHOWN ? len : DIFFERENCE_SHOWN);
	term_note(TERM_PLAIN, "\n");
}

/* The first line where two texts part; of a long one, what is near the place. */
static void tell_texts(const char *field, const struct buf *before, const struct buf *after)
{
	size_t at, start = 0, line = 1;
	bool cut;

	for (at = 0; at < before->len && at < after->len && before->data[at] == after->data[at];
	     at++)
		if (before->data[at] == '\n') {
			start = at + 1;
			line++;
		}
	cut = at - start > DIFFERENCE_SHOWN / 2;
	if (cut)
		start = at - DIFFERENCE_SHOWN / 4;
	while (cut && start < at && (before->data[start] & 0xc0) == 0x80)
		start++;
	term_note(TERM_PLAIN, "  %s, line %zu:\n", field, line);
	tell_line("was ", before, start, cut);
	tell_line("is  ", after, start, cut);
}

static void tell_difference(struct replay *p, const struct json *d)
{
	cleanup_buf struct buf a = BUF_INIT((size_t)1 << 30), b = BUF_INIT((size_t)1 << 30);
	cleanup_free char *before = json_print(json_get(d, "before"));
	cleanup_free char *after = json_print(json_get(d, "after"));

	if (load_texts(p, d, &a, &b)) {
		tell_texts(json_get_string(d, "field"), &a, &b);
		return;
	}
	term_note(TERM_PLAIN, "  %s: ", json_get_string(d, "field"));
	term_visible(before, strnlen(before, DIFFERENCE_SHOWN));
	term_note(TERM_PLAIN, " -> ");
	term_visible(after, strnlen(after, DIFFERENCE_SHOWN));
	term_note(TERM_PLAIN, "\n");
}

static void tell_differences(struct replay *p, const struct json *row)
{
	const struct json *d;

	term_note(TERM_RED, "differs: %s %s, attempt %lld\n", json_get_string(row, "stage"),
		  json_get_string(row, "phase"), (long long)json_get_int(row, "attempt", 0));
	for (d = json_first(json_get(row, "differences")); d; d = json_next(d))
		tell_difference(p, d);
}

static int tell(struct replay *p, struct json *stages, struct json *first, struct json *changes,
		struct error *err)
{
	cleanup_json struct json *object = json_object();
	cleanup_free char *text = NULL;
	bool same = !first && !p->before.divergence;

	json_set_string(object, "run", p->before.row.id);
	json_set_string(object, "replay", *p->run ? p->run : NULL);
	json_set_bool(object, "same", same);
	json_set_string(object, "tier", tier_names[p->tier]);
	json_set(object, "stages", stages);
	json_set(object, "first_divergence", first ? first : json_new_null());
	json_set(object, "environment_changed", changes);
	if (p->given->json) {
		text = json_print(object);
		return term_outf(err, "%s\n", text);
	}
	if (json_count(changes))
		term_note(TERM_YELLOW, "the environment has changed since: %zu language(s)\n",
			  json_count(changes));
	if (same)
		return term_outf(err, "identical: %zu records of run %s, replayed as %s\n",
				 json_count(stages), p->before.row.id, p->run);
	if (!first)
		return term_outf(err, "diverged: %s\n", p->before.divergence);
	tell_differences(p, first);
	if (p->before.from)
		return term_outf(err, "forked at %s: run %s, %s, from run %s\n", p->before.from,
				 p->run, p->after.row.status, p->before.row.id);
	return term_outf(err, "diverged at %s: run %s, replayed as %s\n",
			 json_get_string(first, "stage"), p->before.row.id, p->run);
}

static int compare(struct replay *p, struct error *err)
{
	struct json *stages, *first;
	bool same;

	if (recording_load(&p->after, p->audit, p->run, err) < 0)
		return exit_code_of_error(err);
	compare_runs(&p->before, &p->after, &stages, &first);
	same = !first && !p->before.divergence;
	if (tell(p, stages, first, environment_changes(p), err) < 0)
		return exit_code_of_error(err);
	if (command_signal())
		return command_signal() == SIGTERM ? (int)EXIT_TERMINATED : (int)EXIT_INTERRUPTED;
	/* A fork is meant to differ. */
	return same || p->before.from ? (int)EXIT_OK : (int)EXIT_DIVERGED;
}

static int view(struct replay *p, struct error *err)
{
	const struct log log = { p->given, p->audit, p->given->options->args, 1 };
	struct json *stages, *row;
	size_t i;

	if (!p->given->json)
		return log_show(&log, err);
	stages = json_array();
	for (i = 0; i < p->before.count; i++) {
		row = json_object();
		json_set_string(row, "stage", p->before.events[i].stage);
		json_set_string(row, "phase", p->before.events[i].phase);
		json_set_int(row, "attempt", p->before.events[i].attempt);
		json_set_bool(row, "same", true);
		json_set(row, "differences", json_array());
		json_set(row, "data", json_copy(p->before.events[i].data));
		json_append(stages, row);
	}
	return tell(p, stages, NULL, json_array(), err) < 0 ? (int)exit_code_of_error(err) :
							      (int)EXIT_OK;
}

/* --- the command --- */

static int read_options(struct replay *p, struct error *err)
{
	const char *name = settings_text(p->given, OPT_TIER, NULL);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tier_names); i++)
		if (!strcmp(tier_names[i], name))
			break;
	if (i == ARRAY_SIZE(tier_names))
		return error_set(err, ERR_USAGE, "--tier \"%s\": view, pipeline, exec or model",
				 name);
	p->tier = (enum tier)i;
	if (p->given->options->arg_count != 1)
		return error_set(err, ERR_USAGE,
				 "one RUN is needed (an id, its beginning, or last): "
				 "assay replay last");
	return 0;
}

/* Recorded settings, but for a model named now. */
static int take_settings(struct replay *p, struct error *err)
{
	const struct settings *given = p->given;
	const char *from = settings_text(given, OPT_FROM, NULL);
	bool other_model = p->tier == TIER_MODEL || from;

	p->settings = *given;
	p->settings.provider = p->settings.model = NULL;
	p->settings.model_options = NULL;
	p->settings.rules = NULL;
	p->settings.allow = NULL;
	memset(p->settings.roles, 0, sizeof(p->settings.roles));
	if (settings_from_json(&p->settings, p->before.row.config, err) < 0)
		return -1;
	if (from && role_parse(from) < 0)
		return error_set(err, ERR_USAGE,
				 "--from \"%s\": a stage that asks the model: plan, code, "
				 "repair, judge or answer",
				 from);
	p->before.from = from;
	if (other_model && (given->provider || given->model)) {
		free(p->settings.provider);
		free(p->settings.model);
		p->settings.provider = mem_strdup(given->provider);
		p->settings.model = mem_strdup(given->model);
	}
	return 0;
}

static void replay_release(struct replay *p)
{
	int i;

	for (i = 0; i < ROLE_COUNT; i++)
		free(p->settings.roles[i].model);
	free(p->settings.provider);
	free(p->settings.model);
	free(p->settings.allow);
	json_free(p->settings.model_options);
	settings_free_rules(&p->settings);
	recording_release(&p->before);
	recording_release(&p->after);
	llm_close(&p->live_llm);
	audit_close(p->audit);
	sandbox_close(p->sandbox);
}

static int replay(struct replay *p, struct error *err)
{
	bool exec;

	if (read_options(p, err) < 0)
		return exit_code_of_error(err);
	if ((p->tier != TIER_VIEW && command_open_sandbox(&p->sandbox, err) < 0) ||
	    journal_open_log(&p->audit, p->given, p->tier == TIER_VIEW, err) < 0 ||
	    recording_load(&p->before, p->audit, p->given->options->args[0], err) < 0)
		return exit_code_of_error(err);
	if (p->tier == TIER_VIEW)
		return view(p, err);
	if (take_settings(p, err) < 0)
		return exit_code_of_error(err);
	exec = !strcmp(p->before.row.kind, "exec");
	if ((exec ? run_exec(p, err) : run_loop(p, err)) < 0)
		return exit_code_of_error(err);
	return compare(p, err);
}

int cmd_replay(const struct settings *settings, struct error *err)
{
	struct replay p = { .given = settings };
	int code = replay(&p, err);

	replay_release(&p);
	return code;
}
