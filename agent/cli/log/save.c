/*
 * assay log save: the program of a turn as one that stands alone, later. Of the run it takes what
 * is recorded, and the trial is a run of its own.
 */
#include "agent/cli/log/log.h"

#include "agent/cli/command.h"
#include "agent/cli/foreign.h"
#include "agent/cli/option_names.h"
#include "agent/cli/save.h"
#include "agent/record/recorded_cells.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct saving {
	struct sandbox *sandbox;
	struct audit *audit;
	struct live live;
	struct loop loop;
	struct policy policy;
	struct recording recording;
	struct recorded_task task;
	struct context context;
	char *output; /* owned */
	size_t output_len;
};

/* What its program printed. */
static int load_output(struct saving *v, struct error *err)
{
	const struct recording *r = &v->recording;
	const struct recorded_event *started, *done = context_execution(r, &started);

	if (!done)
		return error_set(err, ERR_USAGE,
				 "run %s left nothing: its program did not end well", r->row.id);
	return recording_blob(r, done->data, "stdout", &v->output, &v->output_len, err);
}

/* The trial needs what the program was given. */
static int check_files(const struct task *t, const char *run, struct error *err)
{
	for (size_t i = 0; i < t->file_count; i++)
		if (t->files[i].was && !t->files[i].input)
			return error_set(err, ERR_USAGE,
					 "run %s cannot be saved: /in/%s is gone, which its "
					 "program was given",
					 run, t->files[i].path);
	return 0;
}

/* The last cell is the run's own, or there is nothing to be saved. */
static int load(struct saving *v, const struct log *log, struct error *err)
{
	const struct context *c = &v->context;

	if (recording_load(&v->recording, v->audit, log->args[0], err) < 0)
		return -1;
	const char *id = v->recording.row.id;
	if (policy_of_record(&v->policy, &log->settings->policy, v->recording.row.config, err) <
		    0 ||
	    context_after(&v->recording, &v->context, err) < 0 ||
	    recording_task(&v->recording, &v->task, err) < 0 ||
	    check_files(&v->task.task, id, err) < 0 || load_output(v, err) < 0)
		return -1;
	if (!v->policy.sandbox)
		v->policy.sandbox = mem_strdup(log->settings->policy.sandbox);
	if (foreign_check(id, &v->policy, &log->settings->policy, err) < 0)
		return -1;
	if (c->count && !strncmp(c->cells[c->count - 1].id, id, strlen(id)))
		return 0;
	return error_set(err, ERR_USAGE, "run %s left nothing: its program did not end well", id);
}

/* The trial is in the sandbox that is recorded. */
static int open_ends(struct saving *v, const struct settings *s, struct error *err)
{
	if (command_open_sandbox_of(&v->sandbox, &v->policy, &s->means, 0, err) < 0)
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
	const struct audit_row *row = &v->recording.row;
	cleanup_free char *question =
		row->prompt ? mem_strndup(row->prompt, row->prompt_len) : NULL;
	cleanup_free char *answer = row->answer ? mem_strndup(row->answer, row->answer_len) : NULL;
	cleanup_saved struct saved saved = { .reason = NULL };
	const struct save s = {
		.loop = &v->loop,
		.live = &v->live,
		.context = &v->context,
		.task = &v->task.task,
		.question = question,
		.answer = answer,
		.output = v->output,
		.output_len = v->output_len,
		.could_call = recording_has_tools(&v->recording),
		.path = path,
	};

	(void)log;
	if (save_context(&s, &saved, err) < 0)
		return exit_code_of_error(err);
	save_tell(&s, &saved);
	return saved.same ? EXIT_OK : EXIT_FAILED;
}

int log_save(const struct log *log, struct error *err)
{
	const char *path = settings_text(log->settings, OPT_OUTPUT, NULL);
	struct saving v = { .sandbox = NULL };

	policy_copy(&v.policy, &log->settings->policy);
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
	recorded_task_release(&v.task);
	context_release(&v.context);
	recording_release(&v.recording);
	policy_release(&v.policy);
	free(v.output);
	audit_close(v.audit);
	sandbox_close(v.sandbox);
	return code;
}
