/*
 * assay ask: one question. Nothing but the answer, or with --json its document, may go to stdout,
 * and what is printed is worth at least what the exit code says.
 */
#include "agent/cli/command.h"

#include "agent/cli/conversation.h"
#include "agent/cli/terminal/console.h"
#include "agent/cli/paths.h"
#include "agent/cli/piped.h"
#include "agent/cli/session.h"
#include "agent/cli/task_given.h"
#include "agent/cli/terminal/term.h"
#include "audit/redact/redact.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Who names a file and does not give it is answered from nothing. */
static void hint_at_files(struct terminal *term, const struct task *task)
{
	const char *at = task->prompt;
	size_t len;

	for (; *(at += strspn(at, " \t\r\n")); at += len) {
		cleanup_free char *path = NULL;

		len = strcspn(at, " \t\r\n");
		if ((path = paths_hinted(task, at, len)))
			term_note(term, TERM_YELLOW,
				  "%s is a file here that the code is not given; -f "
				  "%s gives it\n",
				  path, path);
	}
}

static int build_task(struct task *task, const struct settings *settings, struct error *err)
{
	const struct option_values *input = &settings->options->given[OPT_STDIN];

	if (piped_check_once(settings, err) < 0 ||
	    task_prompt_argument(task, settings->options, err) < 0 ||
	    task_add_flags(task, settings, err) < 0 || task_add_files(task, settings, err) < 0)
		return -1;
	task->lang = settings->policy.lang;
	if (settings->options->arg_count)
		hint_at_files(&settings->app->terminal, task);
	if (input->count)
		return task_set_stdin(task, input->values[0], settings->app, err);
	return task_take_piped(task, settings, err);
}

static int show(const struct session *s, const struct settings *settings,
		const struct loop_result *r, struct error *err)
{
	console_evidence(s->console.term, r, "assay log show last --stage execute");
	console_conclusion(s->console.term, r);
	if (settings->json) {
		cleanup_json struct json *object = loop_result_json(r);
		cleanup_free char *text = redact_print(audit_redactor(s->audit), object);
		return term_out_json(s->console.term, text, err);
	}
	if (!r->answer)
		return 0;
	size_t len = strlen(r->answer);
	if (term_out(s->console.term, r->answer, len, err) < 0)
		return -1;
	return len && r->answer[len - 1] == '\n' ? 0 : term_out(s->console.term, "\n", 1, err);
}

/* A question that could not begin has a document, too, and its usual exit code. */
static int could_not_begin(const struct settings *settings, const struct error *why)
{
	cleanup_loop_result struct loop_result none = {
		.status = run_status_of_error(why->kind),
		.cost_micro_usd = -1,
		.reason = mem_strdup(why->message),
	};
	struct error ignored = ERROR_INIT; /* why is what the user must hear of */

	if (settings->json) {
		cleanup_json struct json *object = loop_result_json(&none);
		cleanup_free char *text = json_print(object);
		term_out_json(&settings->app->terminal, text, &ignored);
	}
	return exit_code_of_error(why);
}

static int ask(struct session *s, const struct settings *settings, const struct task *task,
	       struct error *err)
{
	cleanup_loop_result struct loop_result result = { .answer = NULL };

	if (session_run(s, task, &result, err) < 0)
		return could_not_begin(settings, err);
	if (!settings->quiet) /* the conclusion says why the run ended so, once */
		*err = (struct error)ERROR_INIT;
	if (show(s, settings, &result, err) < 0 ||
	    session_save_artifacts(s->console.term, settings_text(settings, OPT_OUT, NULL),
				   settings->db_path, &result, err) < 0)
		return exit_code_of_error(err);
	return exit_code_of_run(result.status, result.ended_by);
}

int cmd_ask(const struct settings *settings, struct error *err)
{
	const struct option_values *tags = &settings->options->given[OPT_TAG];
	cleanup_free const char **tag_list = mem_alloc((tags->count + 1) * sizeof(*tag_list));
	struct conversation before = { .turns = NULL };
	struct task task = { .id = NULL };

	if (tags->count)
		memcpy(tag_list, tags->values, tags->count * sizeof(*tag_list));
	bool goes_on;
	const char *run;
	if (conversation_choose(settings->options, &goes_on, &run, err) < 0)
		return could_not_begin(settings, err);
	struct session session;
	if (build_task(&task, settings, err) < 0 ||
	    session_open(&session, settings, "ask", err) < 0) {
		task_release(&task);
		return could_not_begin(settings, err);
	}
	if (session_take_tools(&session, settings, err) < 0) {
		session_close(&session);
		task_release(&task);
		return could_not_begin(settings, err);
	}
	console_log(&settings->app->terminal, session.audit);
	if (goes_on) {
		if (conversation_load(&settings->app->terminal, session.audit, run, &before, err) <
		    0) {
			session_close(&session);
			task_release(&task);
			return could_not_begin(settings, err);
		}
		conversation_tell_limits(&settings->app->terminal, &before.context,
					 &session.policy.limits);
		conversation_give(&before, &task);
		session.loop.session = before.session;
	}
	session.loop.tags = tag_list;
	int code = ask(&session, settings, &task, err);
	code = command_finish_log(session.audit, code, err);
	session_close(&session);
	conversation_release(&before);
	task_release(&task);
	return code;
}
