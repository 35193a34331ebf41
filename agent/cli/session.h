/*
 * What asking needs, opened in the order that keeps the promises: the keeper
 * before any key is read, the log before anything can run, the model last.
 */
#ifndef AGENT_SESSION_H
#define AGENT_SESSION_H

#include "agent/cli/settings.h"
#include "agent/cli/terminal/approver.h"
#include "agent/cli/terminal/console.h"
#include "agent/live.h"
#include "agent/loop.h"

struct session {
	struct policy policy; /* of the settings, with the model that was found; owned */
	struct sandbox *sandbox;
	struct audit *audit;
	struct llm llm;
	struct live live;
	struct inspections seen; /* in inputs */
	struct approver approver;
	struct console console;
	struct tools *tools; /* NULL: none */
	struct loop loop;    /* ready for loop_run */
};

/* kind as in struct loop. The settings must outlive the session. */
int session_open(struct session *ret, const struct settings *settings, const char *kind,
		 struct error *err);
/* --tools, for commands that take it. */
int session_take_tools(struct session *s, const struct settings *settings, struct error *err);
void session_close(struct session *s);

/* Runs one task with fresh clock. */
int session_run(struct session *s, const struct task *task, struct loop_result *ret,
		struct error *err);

/* Saves the kept artifacts of a result to out or, NULL, to assay-out/RUN, and says so; what went to
 * out is noted beside the log (places.h), so that it can go with the run. */
int session_save_artifacts(struct terminal *term, const char *out, const char *db_path,
			   const struct loop_result *result, struct error *err);

/* The runs of a context are in one session of the log, which has its name. */
#define CONTEXT_SESSION	   "context "
#define CONTEXT_NAME_BYTES 100
/* The name in such a session, of those that --context takes, borrowed; NULL: it is none. */
const char *session_context(const char *session);

#endif
