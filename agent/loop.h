/*
 * The loop: a question becomes checked evidence.
 *
 *	PLAN -> CODE -> EXTRACT -> SCREEN -> APPROVE -> EXECUTE -> VERIFY -> ANSWER
 *	          ^                                                  |
 *	          +---------------- REPAIR, within the budget <------+
 *
 * An explicit state machine over a struct run. Each stage writes a `started`
 * record before its side effect and its result after. Model, sandbox, clock
 * and approver come as operation tables with exactly two implementations each:
 * live (agent/live.c) and recorded (agent/recorded.c); replay is this loop.
 */
#ifndef AGENT_LOOP_H
#define AGENT_LOOP_H

#include "agent/inspect.h"
#include "agent/journal.h"
#include "agent/settings.h"
#include "agent/status.h"
#include "audit/audit.h"
#include "llm/llm.h"
#include "sandbox/sandbox.h"
#include "verifier/check.h"
#include "verifier/failure.h"
#include "verifier/screen.h"
#include "verifier/tree.h"

/* --- the four ends --- */

struct execute_ops {
	int (*run)(void *self, int attempt, const struct sandbox_job *job,
		   struct sandbox_result *ret, struct error *err);
	/* What that took of the budget, in milliseconds. */
	double (*spent_ms)(void *self, int attempt, const struct sandbox_result *result);
	int (*describe)(void *self, const struct language *language,
			struct sandbox_environment *ret, struct error *err);
	/* What the language's own parser finds in code, for screening. stage is
	 * the one that is screened: "screen", "tests" or "cross_check". */
	int (*parse)(void *self, const char *stage, int attempt, const char *lang, const char *code,
		     size_t len, struct tree *ret, struct error *err);
	/* What an input file that is no text holds, in words: agent/inspect.h. */
	int (*inspect)(void *self, const struct sandbox_file *file, int64_t wall_ms,
		       struct inspection *ret, struct error *err);
	void *self;
};

struct clock_ops {
	/* Since the run began, at this point of it. */
	int64_t (*elapsed_ms)(void *self, const char *stage, int attempt);
	void *self;
};

enum approval { APPROVAL_YES, APPROVAL_NO, APPROVAL_EDITED };
struct approve_ops {
	/* APPROVAL_EDITED: *ret_code is the new program (owned). APPROVAL_NO:
	 * *ret_reason is for the model (owned, may be NULL). */
	int (*ask)(void *self, int attempt, const char *lang, const char *code, size_t len,
		   const struct screening *screening, enum approval *ret, char **ret_code,
		   char **ret_reason, struct error *err);
	void *self;
};

/* What a person may watch. All members may be NULL. */
struct progress {
	void (*stage)(void *self, const char *stage, int attempt);	/* begins */
	void (*text)(void *self, const char *stage, const char *bytes, size_t len);
	void (*reasoning)(void *self, const char *bytes, size_t len);	/* never part of a reply */
	void (*code)(void *self, int attempt, const char *lang, const char *code, size_t len);
	void (*output)(void *self, bool is_stderr, const char *bytes, size_t len);
	void (*result)(void *self, int attempt, const struct sandbox_result *result,
		       const struct failure *failure);
	void (*check)(void *self, const struct check_result *result);
	void (*note)(void *self, const char *line);
	void (*wait)(void *self, int64_t left_ms);	/* as in llm_sink */
	void *self;
};

/* --- a task --- */

struct task_file {
	char *path;	/* name under /in; owned */
	char *bytes;	/* owned */
	size_t len;
};

struct task_turn {
	char *question, *code, *output, *answer;	/* owned; code and output may be NULL */
};

struct task {
	char *id;			/* NULL outside a batch */
	char *prompt;			/* UTF-8; owned */
	const char *lang;		/* canonical, or NULL */
	struct task_file *files;
	size_t file_count;
	char *stdin_bytes;		/* NULL: none */
	size_t stdin_len;
	char *tests;			/* NULL: none */
	struct check_list checks;	/* of the user or the task */
	struct task_turn *turns;	/* the conversation before, oldest first */
	size_t turn_count;
	struct json *extra;		/* members of a batch line that are the user's own; owned */
};
void task_release(struct task *task);
void task_turn_release(struct task_turn *turn);
/* The files as a job takes them, borrowed from the task; the caller frees the array. */
struct sandbox_file *task_inputs(const struct task *task);

/* --- running --- */

struct loop {
	const struct settings *settings;
	struct llm *llm;
	struct execute_ops execute;
	struct clock_ops clock;
	struct approve_ops approve;
	struct progress progress;
	struct audit *audit;
	int cancel_fd;
	const char *kind;	/* "ask", "repl", "batch", "replay" */
	const char *session, *replay_of, *tier;	/* or NULL */
	const char *const *tags;
};

struct loop_result {
	char run[ULID_LEN + 1];
	enum run_status status;
	enum exit_code exit_code;
	enum level level;
	char *answer;		/* owned; NULL when there is none */
	int attempts;
	char *code;		/* final program; owned; NULL when none */
	size_t code_len;
	const char *language;	/* static; NULL when none */
	struct check_result *checks;	/* owned */
	size_t check_count;
	bool executed;
	struct sandbox_result execution;	/* of the final program, when executed */
	struct failure failure;
	struct llm_usage usage;		/* summed */
	int64_t cost_micro_usd;		/* -1: unknown */
	int64_t duration_ms;
	char *reason;		/* why not success; owned; NULL */
};
void loop_result_release(struct loop_result *r);
#define cleanup_loop_result __attribute__((cleanup(loop_result_release)))
/* The object of `assay ask --json`; caller frees. */
struct json *loop_result_json(const struct loop_result *r);

/* 0 with a result whatever became of the question; -1 only when it could not
 * begin (a prompt that cannot be read, no interpreter) or be recorded (ERR_LOG). */
int loop_run(const struct loop *loop, const struct task *task, struct loop_result *ret,
	     struct error *err);

/* agent/live.c: the live ends over a sandbox, and the terminal approver. */
struct live {
	struct sandbox *sandbox;
	int64_t begun_mono_ms;
	int cancel_fd;
	bool always;		/* "always for this session" was said */
	const struct progress *progress;
	bool may_ask;		/* stdin and stderr are terminals */
};
void live_execute(struct execute_ops *ret, struct live *live);
void live_clock(struct clock_ops *ret, struct live *live);
void live_approve(struct approve_ops *ret, struct live *live);

#endif
