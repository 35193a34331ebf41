/*
 * The four ends of a live run, opened in the order that is safe and closed in the reverse: the
 * sandbox starts before a key is read. Nothing here decides how a run goes.
 */
#include "agent/cli/session.h"

#include "agent/cli/artifacts.h"
#include "agent/cli/option_names.h"
#include "agent/cli/places.h"
#include "agent/cli/command.h"
#include "agent/cli/provider.h"
#include "agent/cli/tools_given.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int session_open(struct session *ret, const struct settings *settings, const char *kind,
		 struct error *err)
{
	struct session *s = ret;

	*s = (struct session){ .console = { .term = &settings->app->terminal } };
	policy_copy(&s->policy, &settings->policy);
	int64_t warm = 0, states = 0;
	if (settings_amount(settings, OPT_WARM, &warm, err) < 0 ||
	    settings_amount(settings, OPT_STATES, &states, err) < 0 ||
	    command_open_sandbox_among(&s->sandbox, &settings->policy, settings, (size_t)warm,
				       (size_t)states, NULL, err) < 0 ||
	    provider_open(&s->llm, settings, &s->policy, err) < 0 ||
	    command_open_log(&s->audit, settings, LOG_RECORD, err) < 0) {
		session_close(s);
		return -1;
	}
	s->console.show_code = !settings->quiet;
	s->console.show_reasoning = settings->show_reasoning;
	s->loop = (struct loop){
		.policy = &s->policy,
		.means = &settings->means,
		.llm = &s->llm,
		.audit = s->audit,
		.cache_dir = sandbox_cache_dir(s->sandbox),
		.cancel_fd = settings->app->cancel_fd,
		.names = &option_names,
		.exit_code = exit_code_of_run,
		.kind = kind,
	};
	console_progress(&s->loop.progress, &s->console);
	s->live = (struct live){
		.sandbox = s->sandbox,
		.cancel_fd = settings->app->cancel_fd,
		.progress = &s->loop.progress,
		.seen = &s->seen,
	};
	s->approver = (struct approver){
		.term = &settings->app->terminal,
		.cancel_fd = settings->app->cancel_fd,
		.may_ask = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !settings->json,
	};
	live_execute(&s->loop.execute, &s->live);
	live_clock(&s->loop.clock, &s->live);
	approver_end(&s->loop.approve, &s->approver);
	return 0;
}

int session_take_tools(struct session *s, const struct settings *settings, struct error *err)
{
	if (tools_given(settings, &s->tools, err) < 0)
		return -1;
	s->loop.tools = s->tools ? tools_end(s->tools) : NULL;
	if (s->tools && (s->policy.tests || s->policy.cross_check))
		return error_set(err, ERR_USAGE,
				 "--tools and %s exclude each other: two programs that check one "
				 "another have nobody else to call",
				 s->policy.tests ? "--tests" : "--cross-check");
	return 0;
}

void session_close(struct session *s)
{
	approvals_release(&s->approver.approvals);
	console_release(&s->console);
	if (s->sandbox)
		sandbox_finish(s->sandbox); /* which is beside the rest */
	llm_close(&s->llm);
	audit_close(s->audit);
	sandbox_close(s->sandbox);
	tools_close(s->tools);
	policy_release(&s->policy);
	inspections_release(&s->seen);
	*s = (struct session){ .sandbox = NULL };
}

int session_run(struct session *s, const struct task *task, struct loop_result *ret,
		struct error *err)
{
	const struct stop stop = journal_stop(s->loop.cancel_fd, &s->loop.policy->budget);

	if (live_check(&s->live, s->loop.policy, task, err) < 0)
		return -1;
	live_clock(&s->loop.clock, &s->live);
	s->approver.task = task;
	console_begin(&s->console);
	audit_set_stop(s->audit, &stop);
	int rc = loop_run(&s->loop, task, ret, err);
	s->approver.task = NULL;
	console_end_reasoning(&s->console);
	return rc;
}

int session_save_artifacts(struct terminal *term, const char *out, const char *db_path,
			   const struct loop_result *result, struct error *err)
{
	cleanup_free char *folder = out ? mem_strdup(out) : artifacts_folder(result->run);
	cleanup_json struct json *names = NULL;

	if (!result->executed)
		return 0;
	if (out)
		names = artifacts_to_save(&result->execution, folder);
	if (artifacts_save(&result->execution, folder, console_artifact, term, err) < 0)
		return -1;
	return json_count(names) && db_path ?
		       places_add(db_path, result->run, folder, TAKE_PTR(names), err) :
		       0;
}

const char *session_context(const char *session)
{
	const size_t before = strlen(CONTEXT_SESSION);

	if (!session || strncmp(session, CONTEXT_SESSION, before))
		return NULL;
	const char *name = session + before;
	size_t len = strlen(name);
	if (!len || len > CONTEXT_NAME_BYTES || strspn(name, " "))
		return NULL;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return NULL;
	return name;
}
