#include "agent/session.h"

#include "agent/command.h"
#include "agent/provider.h"
#include "agent/render.h"
#include "agent/term.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int session_open(struct session *ret, const struct settings *settings, const char *kind,
		 struct error *err)
{
	struct session *s = ret;

	*s = (struct session){ .settings = *settings };
	s->settings.provider = mem_strdup(settings->provider);
	s->settings.model = mem_strdup(settings->model);
	if (command_open_sandbox(&s->sandbox, err) < 0 ||
	    provider_open(&s->llm, &s->settings, err) < 0 ||
	    journal_open_log(&s->audit, settings, false, err) < 0) {
		session_close(s);
		return -1;
	}
	s->console.show_code = !settings->quiet;
	s->console.show_reasoning = settings->show_reasoning;
	s->loop = (struct loop){
		.settings = &s->settings,
		.llm = &s->llm,
		.audit = s->audit,
		.cancel_fd = command_cancel_fd(),
		.kind = kind,
	};
	console_progress(&s->loop.progress, &s->console);
	s->live = (struct live){
		.sandbox = s->sandbox,
		.cancel_fd = command_cancel_fd(),
		.progress = &s->loop.progress,
		.may_ask = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !settings->json,
	};
	live_execute(&s->loop.execute, &s->live);
	live_clock(&s->loop.clock, &s->live);
	live_approve(&s->loop.approve, &s->live);
	return 0;
}

void session_close(struct session *s)
{
	llm_close(&s->llm);
	audit_close(s->audit);
	sandbox_close(s->sandbox);
	free(s->settings.provider);
	free(s->settings.model);
	*s = (struct session){ .sandbox = NULL };
}

int session_run(struct session *s, const struct task *task, struct loop_result *ret,
		struct error *err)
{
	int rc;

	live_clock(&s->loop.clock, &s->live);
	rc = loop_run(&s->loop, task, ret, err);
	console_end_reasoning(&s->console);
	return rc;
}

int session_save_artifacts(const char *out, const struct loop_result *result, struct error *err)
{
	cleanup_free char *folder = out ? mem_strdup(out) : mem_printf("assay-out/%s", result->run);

	if (!result->executed)
		return 0;
	if (render_save_artifacts(&result->execution, folder, console_artifact, err) < 0)
		return -1;
	return 0;
}
