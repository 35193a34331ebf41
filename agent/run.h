/* What the loop's stages share: one question on its way. Internal to agent/. */
#ifndef AGENT_RUN_H
#define AGENT_RUN_H

#include "agent/budget.h"
#include "agent/loop.h"
#include "agent/plan.h"
#include "agent/prompt.h"

enum run_state {
	STATE_PLAN, STATE_CODE, STATE_EXTRACT, STATE_SCREEN, STATE_EXECUTE, STATE_VERIFY,
	STATE_REPAIR, STATE_ANSWER, STATE_DONE,
};

/* What the repairer is told about the attempt that failed. */
struct feedback {
	char *failure;		/* what happened, in sentences */
	char *told;		/* the same for the model, more or (where it must not know)
				 * less; or NULL */
	char *excerpt;		/* the failing line with its neighbours, or NULL */
	const char *advice;	/* static, or NULL */
	bool with_output;	/* show stdout and stderr */
	enum run_status status;	/* of the run, should this have been the last attempt */
};

struct run {
	const struct loop *loop;
	const struct task *task;
	const struct settings *settings;
	struct journal journal;
	struct budget budget;
	enum run_state state;

	struct json *environments;	/* what can run here, as recorded */
	char *contract;		/* the part of the prompts about the sandbox */
	char *previews;		/* how the input files begin; "" without */
	char *history;		/* the conversation before; "" without */
	char *requirements;	/* the checks in words; "" without */

	struct plan plan;
	struct check_list checks;	/* the task's and the plan's */
	const struct language *language;

	int attempt;		/* from 1 */
	char *reply;		/* the coder's or repairer's words */
	size_t reply_len;
	bool reply_cut;		/* it ended at its length limit, or the stream broke */
	char *code;		/* found in it */
	size_t code_len;
	const struct language *code_language;	/* that it was taken as */
	struct sandbox_result execution;
	bool executed;
	bool until_deadline;	/* the last execution's wall time was what the deadline left */
	struct failure failure;
	struct feedback feedback;
	char *tried;		/* how the attempts before that one failed, a line each; or NULL */
	bool disputed;		/* the model stands by code that the planner's checks fail */
	char (*seen)[HASH_HEX_LEN + 1];	/* hashes of the programs so far; owned */
	size_t seen_count;
	char *provider_failure;	/* a judge or tester that could not be asked; owned or NULL */

	struct loop_result result;
};

/* Every stage returns 0 and sets state, or -1 with err: ERR_LOG ends
 * everything, any other kind ends the run with its status. */

/* --- agent/context.c: what the prompts are filled with --- */
/* [{"language","interpreter","version","digest","packages"}] of what is installed. */
struct json *run_environments(const struct loop *loop, struct error *err);
int run_context(struct run *r, struct error *err);
void run_context_requirements(struct run *r);
/* Head and tail of text with the true size between them. */
void context_cut(struct buf *out, const char *bytes, size_t len, uint64_t total, size_t keep);
/* The failing line and its neighbours, marked, and where in the line; column 0
 * when that is not known. Caller frees. */
char *context_excerpt(const char *code, size_t len, long line, long column);

/* --- agent/preview.c: how the input files begin --- */
/* *ret: for the prompts, "" without files; owned by the caller. What is no text
 * is looked into in the sandbox. */
int run_previews(struct run *r, char **ret, struct error *err);

/* --- agent/stage_call.c: asking the model --- */
int stage_plan(struct run *r, struct error *err);
int stage_code(struct run *r, struct error *err);
int stage_repair(struct run *r, struct error *err);
int stage_answer(struct run *r, struct error *err);
/* One call of a role, logged, within the budget. The reply is released by the
 * caller. `prefill` continues a reply that was cut, or NULL. */
int run_call(struct run *r, enum role role, const struct prompt *prompt, const char *prefill,
	     struct llm_reply *ret, struct error *err);
/* The language that was asked for, by the task, the user or the plan; or NULL. */
const char *run_wanted_language(const struct run *r);
int run_prompt(struct run *r, enum role role, struct prompt *ret, struct error *err);

/* --- agent/stage_extract.c: from the reply to the program --- */
int stage_extract(struct run *r, struct error *err);
/* Whether the run's program is none of those before; it is one from now on. */
bool run_is_new(struct run *r);

/* --- agent/stage_screen.c: may it run? --- */
int stage_screen(struct run *r, struct error *err);
/* Other code under the same rules, for tests and the cross-check: *ret_allowed,
 * and why not in *ret_reason (owned). Whoever is asked may edit *code. */
int run_screen_code(struct run *r, const char *stage, char **code, size_t *len, bool *ret_allowed,
		    char **ret_reason, struct error *err);

/* --- agent/stage_execute.c: what happened --- */
int stage_execute(struct run *r, struct error *err);
/* Runs code, with the tests in harness unless they are NULL. */
struct tests;
int run_execute_code(struct run *r, const char *code, size_t len, const char *tests,
		     struct tests *harness, struct sandbox_result *ret, struct error *err);
/* The wall limit of what is about to run, cut to what the budgets leave. */
int run_reserve(struct run *r, const char *stage, struct sandbox_limits *limits, struct error *err);
/* ERR_DEADLINE when the last execution ended because the deadline had come. */
int run_check_deadline(const struct run *r, const struct sandbox_result *x, struct error *err);
/* Drops what an earlier attempt left behind, its checks included. */
void run_forget_execution(struct run *r);

/* --- agent/stage_tests.c: tests with the program --- */
/* Turns a pass of the tests beside the program into one apart from it, or into
 * `skipped`. t is that run's. */
int run_confirm_tests(struct run *r, const char *tests, struct tests *t, struct check_result *c,
		      struct error *err);
/* Tests that a model wrote: run, tried on a stub, confirmed, and their verdict added. */
int run_written_tests(struct run *r, const char *tests, struct error *err);

/* --- agent/stage_verify.c: what it is worth --- */
int stage_verify(struct run *r, struct error *err);
bool run_has_expectation(const struct run *r);
/* Whether a judge could overrule what speaks against the program: nothing but
 * what the planner guessed of its output, before anything had run. */
bool run_may_dispute(const struct run *r);
/* The program came back unchanged although checks of the plan fail: it may be
 * the plan that is wrong. Its checks decide nothing any more, not those that
 * passed either, and the judge is asked. */
int run_dispute(struct run *r, struct error *err);

/* --- agent/loop.c --- */
/* The attempt failed: repair when the budget has room, else the end. Takes
 * what feedback owns. */
int run_attempt_failed(struct run *r, struct feedback feedback);
void run_finish(struct run *r, enum run_status status, enum exit_code code, const char *reason);
/* An answer without a program ends the run: well when no more is required, else
 * for the reason given. Takes answer. */
void run_answer_directly(struct run *r, char *answer, const char *otherwise);
/* Adds a result to the record and shows it. Takes what result owns. */
void run_add_check(struct run *r, struct check_result *result);

#endif
