/*
 * assay log save: the program of a turn as one that stands alone, later. Of the run it takes what
 * is recorded, and the trial is a run of its own.
 */
#include "agent/cli/log/log.h"

#include "agent/cli/command.h"
#include "agent/cli/foreign.h"
#include "agent/cli/option_names.h"
#include "agent/cli/save.h"
#include "agent/cli/save_recorded.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct saving {
	struct sandbox *sandbox;
	struct audit *audit;
	struct live live;
	struct loop loop;
	struct policy policy;
	struct save_recorded recorded;
};

static int load(struct saving *v, const struct log *log, struct error *err)
{
	if (save_recorded_load(&v->recorded, v->audit, log->args[0], err) < 0)
		return -1;
	const struct audit_row *row = &v->recorded.recording.row;
	if (policy_of_record(&v->policy, &log->settings->policy, row->config, err) < 0)
		return -1;
	if (!v->policy.sandbox)
		v->policy.sandbox = mem_strdup(log->settings->policy.sandbox);
	return foreign_check(row->id, &v->policy, &log->settings->policy, err);
}

/* The trial is in the sandbox that is recorded. */
static int open_ends(struct saving *v, const struct settings *s, struct error *err)
{
	if (command_open_sandbox_of(&v->sandbox, &v->policy, s, 0, err) < 0)
		return -1;
	v->live = (struct live){ .sandbox = v->sandbox, .cancel_fd = s->app->cancel_fd };
	v->loop = (struct loop){
		.policy = &v->policy,
		.means = &s->means,
		.audit = v->audit,
		.cache_dir = sandbox_cache_dir(v->sandbox),
		.cancel_fd = s->app->cancel_fd,
		.names = &option_names,
		.exit_code = exit_code_of_run,
	};
	live_execute(&v->loop.execute, &v->live);
	live_clock(&v->loop.clock, &v->live);
	return 0;
}

static int save(struct saving *v, const struct log *log, const char *path, struct error *err)
{
	const struct audit_row *row = &v->recorded.recording.row;
	cleanup_free char *question =
		row->prompt ? mem_strndup(row->prompt, row->prompt_len) : NULL;
	cleanup_free char *answer = row->answer ? mem_strndup(row->answer, row->answer_len) : NULL;
	cleanup_saved struct saved saved = { .reason = NULL };
	const struct save s = {
		.term = log->term,
		.loop = &v->loop,
		.live = &v->live,
		.context = &v->recorded.context,
		.task = &v->recorded.task.task,
		.question = question,
		.answer = answer,
		.output = v->recorded.output,
		.output_len = v->recorded.output_len,
		.could_call = recording_has_tools(&v->recorded.recording),
		.path = path,
	};

	if (save_context(&s, &saved, err) < 0)
		return exit_code_of_error(err);
	save_tell(&s, &saved);
	return saved.same ? EXIT_OK : EXIT_FAILED;
}

int log_save(const struct log *log, struct error *err)
{
	const char *path = settings_text(log->settings, OPT_OUTPUT, NULL);
	struct saving v = { .sandbox = NULL };

	if (log->count != 1 || !path)
		error_set(err, ERR_USAGE,
			  "one RUN and -o FILE are needed: assay log save last -o program.py");
	int code;
	if (err->kind != ERR_NONE ||
	    command_open_log(&v.audit, log->settings, LOG_RECORD, err) < 0 ||
	    load(&v, log, err) < 0 || open_ends(&v, log->settings, err) < 0)
		code = exit_code_of_error(err);
	else
		code = save(&v, log, path, err);
	code = command_finish_log(v.audit, code, err);
	save_recorded_release(&v.recorded);
	policy_release(&v.policy);
	audit_close(v.audit);
	sandbox_close(v.sandbox);
	return code;
}
