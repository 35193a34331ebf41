/*
 * The engine: a question becomes checked evidence.
 *
 *	(PLAN) -> CODE -> EXTRACT -> SCREEN -> APPROVE -> EXECUTE -> VERIFY
 *	          ^                                                  |
 *	          +---------------- REPAIR, within the budget <------+
 *
 * To run a task, fill a struct loop and a struct task, and call loop_run:
 *
 *	policy	what decides the run: policy_init, then what is to differ
 *	llm	an open model (llm/llm.h)
 *	execute, clock, approve
 *		the ends: what runs code, tells the time, says yes. agent/live.h has the
 *		first two over a sandbox, agent/record/player.h all of a run that is
 *		played back; who approves is for the embedding program to say
 *	audit	an open log (audit/audit.h); nothing runs unlogged
 *	cancel_fd	ends the run when it becomes readable; -1: nothing does
 *	kind	what the record calls the run: "ask"
 *
 * The other members may stay zero. All of it is borrowed, by loop_run alone and until
 * it returns: nothing is written to it and nothing of it is kept, so that one policy
 * and one task may serve many runs. A model, an end and a log serve one run at a time;
 * runs that share none of these may go on at once, in threads of one process. What
 * loop_run fills in is the caller's, to be released with loop_result_release.
 *
 * loop_run returns 0 whatever became of the question: how it ended is the result's
 * status, and ended_by says which error ended it, if one did. It returns -1 with err,
 * and without a result, when the run could not begin (ERR_CONFIG: a prompt cannot be
 * read; ERR_SANDBOX: no interpreter) or not be recorded (ERR_LOG).
 *
 * The engine reads no arguments, no environment and no standard input, writes to no
 * terminal and knows no exit codes. It is a state machine over a struct run
 * (agent/run.h); each stage writes a `started` record before its side effect and its
 * result after.
 */
#ifndef AGENT_LOOP_H
#define AGENT_LOOP_H

#include "agent/context.h"
#include "agent/means.h"
#include "agent/policy.h"
#include "agent/prompt/inspect.h"
#include "agent/record/journal.h"
#include "agent/result.h"
#include "agent/setting.h"
#include "agent/status.h"
#include "agent/task.h"
#include "audit/audit.h"
#include "llm/llm.h"
#include "sandbox/sandbox.h"
#include "verifier/check/check.h"
#include "verifier/failure.h"
#include "verifier/screen/rulebook.h"
#include "verifier/screen/screen.h"
#include "verifier/screen/tree.h"

/* --- the four ends --- */

struct execute_ops {
	int (*run)(void *self, int attempt, const struct sandbox_job *job,
		   struct sandbox_result *ret, struct error *err);
	/* Two at once, joined (sandbox_run_pair); both results, or neither. */
	int (*run_pair)(void *self, int attempt, const struct sandbox_job jobs[2],
			struct sandbox_result ret[2], struct error *err);
	/* What that took, as far as anything depends on it: the budgets, checks of it, what
	 * a model is told. Asked once a run, in order. */
	void (*took)(void *self, int attempt, const struct sandbox_result *result,
		     struct sandbox_metrics *ret);
	int (*describe)(void *self, const struct language *language,
			struct sandbox_environment *ret, struct error *err);
	/* What the language's own parser finds in code, for screening. stage is
	 * the one that is screened: "screen", "tests" or "cross_check". */
	int (*parse)(void *self, const char *stage, int attempt, const char *lang,
		     enum screen_profile profile, const char *code, size_t len, struct tree *ret,
		     struct error *err);
	/* The model is about to write a program, which will be parsed: a hint; may be NULL. */
	void (*expect)(void *self, const char *lang, enum screen_profile profile);
	/* What an input file that is no text holds, in words: agent/prompt/inspect.h. */
	int (*inspect)(void *self, const struct sandbox_file *file, int64_t wall_ms,
		       struct inspection *ret, struct error *err);
	void *self;
	/* What tells of programs to come (sandbox_foresee). NULL of those who run nothing new. */
	void (*foresee)(void *self, const struct language *language,
			const struct sandbox_hint *hint);
	/* Which cells the last of them needs (cells_slice), its own among them; false: nobody can
	 * tell. stage is the one that wants to know. NULL: nobody ever can. */
	bool (*needs)(void *self, const char *stage, int attempt, const struct language *language,
		      const struct cell *list, size_t count, bool *ret_used);
};

struct clock_ops {
	/* Since the run began, at this point of it. */
	int64_t (*elapsed_ms)(void *self, const char *stage, int attempt);
	void *self;
};

enum approval { APPROVAL_YES, APPROVAL_NO, APPROVAL_EDITED };
struct approve_ops {
	/* APPROVAL_EDITED: *ret_code is the new program (owned). APPROVAL_NO:
	 * *ret_reason is for the model (owned, may be NULL); APPROVAL_YES: why nobody
	 * was asked, for the record, or NULL. */
	int (*ask)(void *self, int attempt, const char *lang, const char *code, size_t len,
		   const struct screening *screening, enum approval *ret, char **ret_code,
		   char **ret_reason, struct error *err);
	void *self;
	/* Whether there is anybody who could say yes, now; NULL: there is. */
	bool (*present)(void *self);
};

#define LOOP_TOOLS "tools" /* of a run's config: its programs could call tools */

/* What programs may call while they run (agent/calls.h): tools of the user's own. */
struct tool_ops {
	/* What there is, for the prompts: [{"name","description","inputSchema"}], borrowed; NULL
	 * with err. Of a record, what there was. */
	const struct json *(*list)(void *self, struct error *err);
	/* SCREEN_ALLOW, SCREEN_CONFIRM or SCREEN_DENY, by the user's configuration; -1: there is no
	 * such tool. */
	int (*action)(void *self, const char *name, struct error *err);
	/* Makes the call: 0 with *ret (owned), which is not for the program to be believed; -1 with
	 * err, whose message is for the program. NULL: nothing is ever called, all is out of a
	 * record. */
	int (*call)(void *self, const char *name, const struct json *arguments,
		    const struct stop *stop, struct json **ret, struct error *err);
	/* What the calls of that attempt came to before, in order, their arguments and results as
	 * text (call_value): they are answered so, and not made. An array, the caller's; NULL:
	 * none. */
	struct json *(*served)(void *self, int attempt);
	void *self;
	int64_t calls, bytes; /* of a run, at most: their number, arguments and results together */
};

/* What a person may watch. All members may be NULL. */
struct progress {
	void (*stage)(void *self, const char *stage, int attempt); /* begins */
	void (*text)(void *self, const char *stage, const char *bytes, size_t len);
	void (*reasoning)(void *self, const char *bytes, size_t len); /* never part of a reply */
	void (*code)(void *self, int attempt, const char *lang, const char *code, size_t len);
	void (*output)(void *self, bool is_stderr, const char *bytes, size_t len);
	void (*used)(void *self, int64_t memory_bytes); /* by a program that runs */
	void (*handed)(void *self);			/* a program, as in sandbox_watch */
	void (*result)(void *self, int attempt, const struct sandbox_result *result,
		       const struct failure *failure);
	void (*check)(void *self, const struct check_result *result);
	void (*note)(void *self, const char *line);
	void (*wait)(void *self, int64_t left_ms); /* as in llm_sink */
	void *self;
};

/* Somebody who follows a run stage by stage; pause may be NULL. */
struct pause_ops {
	/* After a stage, with all of it in the log, and no lock held: returns when the run is to
	 * go on. -1 with err ends it, as an error of a stage does; ERR_CANCELLED: enough was
	 * seen. */
	int (*pause)(void *self, const char *run, struct error *err);
	void *self;
};

/* --- running --- */

/* What a run stands on in place of what this program has, out of a record: its prompts'
 * texts by name, its rules. Either may be NULL: as it is here. */
struct basis {
	const struct json *prompts;
	const struct rulebook *rules;
};

struct loop {
	const struct policy *policy;
	const struct means *means; /* NULL: MEANS_INIT */
	struct llm *llm;	   /* NULL: only programs are given */
	struct execute_ops execute;
	struct clock_ops clock;
	struct approve_ops approve;
	const struct tool_ops *tools; /* NULL: programs can call nothing */
	struct progress progress;
	struct pause_ops pause;
	struct audit *audit;
	const struct basis *basis; /* NULL: nothing is out of a record */
	const char *cache_dir;	   /* where digests of inputs are kept; NULL: nowhere */
	int cancel_fd;
	const struct setting_names *names; /* of settings, for what is told; NULL: none */
	/* What the embedding program will end with, for the record. NULL: it records none.
	 */
	int (*exit_code)(enum run_status status, enum error_kind ended_by);
	const char *kind; /* "ask", "repl", "batch", "replay"; a program's is "exec" */
	const char *session, *replay_of, *tier; /* or NULL */
	const char *from; /* the stage that a fork goes on live from; or NULL */
	const char *const *tags;
};

/* 0 with a result whatever became of the question; -1 only when it could not
 * begin (a prompt that cannot be read, no interpreter) or be recorded (ERR_LOG). */
int loop_run(const struct loop *loop, const struct task *task, struct loop_result *ret,
	     struct error *err);

#endif
