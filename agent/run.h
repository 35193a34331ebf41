/* What the loop's stages share: one question on its way. Internal to agent/. */
#ifndef AGENT_RUN_H
#define AGENT_RUN_H

#include "agent/budget.h"
#include "agent/loop.h"
#include "agent/plan.h"
#include "agent/prompt/prompt.h"

struct execution; /* agent/execution.h */

enum run_state {
	STATE_PLAN,
	STATE_CODE,
	STATE_EXTRACT,
	STATE_SCREEN,
	STATE_EXECUTE,
	STATE_VERIFY,
	STATE_REPAIR,
	STATE_DONE,
	STATE_NONE, /* no state: where what cannot happen would lead */
};

/* What a stage came to, which it returns; the table in agent/machine.c says where that
 * leads. */
enum step {
	STEP_ERROR = -1, /* err: ERR_LOG ends everything, others the run with their status */
	STEP_ON,	 /* its work is done */
	STEP_AGAIN,	 /* extract: another reply was asked for */
	STEP_REPAIR,	 /* the attempt failed, and there is room for another */
	STEP_END,	 /* the result says how the run ended */
	STEP_COUNT,
};

/* What the repairer is told about the attempt that failed. */
struct feedback {
	char *failure;		/* what happened, in sentences */
	char *told;		/* the same for the model, more or (where it must not know)
				 * less; or NULL */
	char *excerpt;		/* the failing line with its neighbours, or NULL */
	const char *advice;	/* static, or NULL */
	bool with_output;	/* show stdout and stderr */
	enum run_status status; /* of the run, should this have been the last attempt */
};

/* A struct X_memory is of the stage X alone, from one attempt to the next: its file writes, reads
 * and releases it (tests/layers sees to that). What several stages share stands in struct run. */

struct extract_memory {
	const struct language *language; /* that the program was taken as */
	bool asked_again; /* a reply without a program was answered with one request */
	char (*seen)[HASH_HEX_LEN + 1]; /* hashes of the programs so far; owned */
	size_t seen_count;
};

/* What the model looked at before it wrote the program, over all attempts. */
struct look_memory {
	int count;
	char *notes; /* each look's code and output, for the prompts; owned; or NULL */
};

/* And the stage verify, with the judge in it. */
struct verify_memory {
	size_t checks_at;	    /* where the checks' results begin among the result's */
	struct check_weight weight; /* of the plan's checks that passed */
	struct json *withdrawn; /* kinds of the plan's checks that the judge took back; or NULL */
	struct error not_asked; /* why a judge or tester could not be, the first; or ERR_NONE */
};

/* Of a program in a context. */
struct cell_memory {
	struct context_input *inputs; /* the task's files, for it; owned; NULL: not looked at yet */
	bool *needed;	   /* the earlier cells that its program needs; owned; NULL: all */
	struct json *left; /* the report of the final program's cell; owned; or NULL */
	char *joined;	   /* all of its cells as one program, for tests; owned; or NULL */
};

/* Of the coder's or repairer's words. */
struct write_memory {
	char *said; /* their beginning as it came, the plan included; owned; or NULL */
};

/* Of inputs that are somewhere. */
struct inputs_memory {
	int64_t begun_ms;    /* wall clock: what is older was read as it is */
	struct input **kept; /* the task's; owned, not what is in it */
	size_t count;
	struct input_digests *digests; /* of those, being computed; NULL: not */
};

/* Of images that are not sent. */
struct images_memory {
	bool told; /* which those are */
};

/* By its programs, of what loop->tools allows; agent/calls.c has it. */
struct called_memory {
	int64_t count, bytes;
};

struct run {
	const struct loop *loop;
	const struct task *task;
	const struct policy *policy;
	const struct means *means;
	struct journal journal;
	struct budget budget;

	struct prompt_source prompts;
	struct json *templates;	   /* their texts, for the record */
	struct json *environments; /* what can run here, as recorded */
	const struct json *tools;  /* what programs may call; borrowed; NULL: nothing */
	char mark[17];		   /* around what is data in the prompts: nobody can guess it */
	char *contract;		   /* what all prompts begin with: the sandbox, the inputs */
	char *history;		   /* the conversation before; "" without */
	char *requirements;	   /* the checks in words; "" without */

	const struct context *context; /* the task's; NULL: there is none, or it is lost */
	char *there;		       /* what is there in it, for the prompts; "" without */

	struct plan plan;
	struct check_list checks; /* the task's and the plan's */
	const struct language *language;

	int attempt; /* from 1 */
	char *reply; /* the coder's or repairer's words */
	size_t reply_len;
	bool reply_cut; /* it ended at its length limit, or the stream broke */
	char *code;	/* found in it */
	size_t code_len;
	struct sandbox_result execution;
	bool executed;
	struct failure failure;
	struct feedback feedback;
	/* Shared although each concerns few: the machine writes tried between two attempts and the
	 * prompts read it; the stage that words the repair writes previous and the next execution
	 * mounts it; the answer's stage or the judge's writes draft, the prompts and the end read
	 * it, and an execution makes it void. */
	char *tried;	/* how the attempts before that one failed, a line each; or NULL */
	char *previous; /* output of the attempt before, where the prompts had to cut it;
			 * the next program finds it in /in/previous-output. Or NULL */
	size_t previous_len;
	char *draft; /* the answer in prose, for the judge and the person; or NULL */

	struct extract_memory extract;
	struct look_memory look;
	struct verify_memory verify;
	struct cell_memory cell;
	struct write_memory write;
	struct inputs_memory inputs;
	struct images_memory images;

	struct called_memory called;
	char *calls; /* that its program made, for its cell (agent/call_cells.h); owned, or NULL */
	char *waits; /* a call stopped the program, since nobody could say yes; owned, or NULL */

	struct loop_result result;
};

/* A stage_X is what the table of agent/machine.c runs: it returns an enum step. */

/* --- agent/prompt/context.c: what the prompts are filled with --- */
/* [{"language","interpreter","version","digest","packages"}] of what is installed. */
struct json *run_environments(const struct loop *loop, struct error *err);
int run_context(struct run *r, struct error *err);
void run_context_requirements(struct run *r);
/* Head and tail of text with the true size between them. */
void context_cut(struct buf *out, const char *bytes, size_t len, uint64_t total, size_t keep);
/* A file's path, in a line of a prompt; as a string in quotes where it could be more than a path.
 */
void context_add_path(struct buf *out, const char *path);
/* Text that came from outside, between the run's marks; "" stays that. Caller frees. */
char *context_fence(const struct run *r, const char *text);
/* The failing line and its neighbours, marked, and where in the line; column 0
 * when that is not known. Caller frees. */
char *context_excerpt(const char *code, size_t len, long line, long column);

/* --- agent/prompt/preview.c: how the input files begin --- */
/* *ret: for the prompts, "" without files; owned by the caller. What is no text
 * is looked into in the sandbox. */
int run_previews(struct run *r, char **ret, struct error *err);

/* --- agent/stages/call.c: asking the model --- */
int stage_plan(struct run *r, struct error *err);
int stage_code(struct run *r, struct error *err);
int stage_repair(struct run *r, struct error *err);
/* What only some calls have to say; members may be NULL. */
struct prompt_extra {
	const char *failing; /* the plan's checks that the output fails */
	const char *again;   /* what was wrong with the reply before */
};
/* What the model said and is asked about that, after its prompt. */
struct follow_up {
	const char *said, *request;
};
/* One call of a role, logged, within the budget. The reply is released by the
 * caller. follow_up may be NULL. */
int run_call(struct run *r, enum role role, const struct prompt *prompt,
	     const struct follow_up *follow_up, struct llm_reply *ret, struct error *err);
/* Fills the prompt of a role and makes its call. */
int run_ask(struct run *r, enum role role, const struct prompt_extra *extra, struct llm_reply *ret,
	    struct error *err);
/* The language that was asked for, by the task, the user or the plan; or NULL. */
const char *run_wanted_language(const struct run *r);
int run_prompt(struct run *r, enum role role, const struct prompt_extra *extra, struct prompt *ret,
	       struct error *err);
/* Of each stream, in a prompt; the rest is said to be left out. */
#define RUN_OUTPUT_SHOWN ((size_t)6000)
#define RUN_PREVIOUS	 "previous-output" /* below /in */
/* The reply held no program (what came instead, in a sentence): asked for without
 * counting an attempt. */
int run_ask_again(struct run *r, const char *what, struct error *err);

/* The same, but that nothing was wrong with the reply before: request says what is new. */
int run_ask_on(struct run *r, const char *request, struct error *err);
void run_write_release(struct run *r);

/* --- agent/stages/look.c: the model looks first --- */
/* Runs the blocks of the reply that are marked "look" and has the model go on: STEP_AGAIN with its
 * next reply; STEP_ON when there was none that may run, with none left in the reply. */
int run_look(struct run *r, struct error *err);
/* Each look's code and output, for the prompts; borrowed; NULL: none. */
const char *run_look_notes(const struct run *r);
void run_look_release(struct run *r);

/* --- agent/stages/answer.c: the words the person reads --- */
/* Whether prose may stand where the output would: nobody demands more of the
 * answer than a verdict is worth, and somebody writes answers. */
bool run_may_word(const struct run *r);
/* What text says that nothing behind it does, as verifier/ground/ground.h words it; or
 * NULL. Caller frees. */
char *run_ungrounded(const struct run *r, const char *text);
/* Tells the person why the output stands where prose was to. */
void run_tell_ungrounded(const struct run *r, const char *fault);
/* Careful: has the answer written, into r->draft, unless the output is it. */
int run_write_answer(struct run *r, struct error *err);

/* --- agent/stages/judge.c: the model's verdict --- */
/* Has output and answer judged. Adds the verdict, takes back checks of the plan
 * that were wrong guesses, and keeps the judge's own wording in r->draft. */
int run_judge(struct run *r, struct error *err);
bool run_has_judge(const struct run *r);
/* A call whose failure must not look like a verdict: noted, and the run's
 * status if nothing else verifies it. -1 only for what ends the run. */
int run_could_not_ask(struct run *r, const char *kind, enum check_source source, struct error *err);

/* --- agent/stages/extract.c: from the reply to the program --- */
int stage_extract(struct run *r, struct error *err);
/* Whether the run's program is none of those before; it is one from now on. */
bool run_is_new(struct run *r);
void run_extract_release(struct run *r);

/* --- agent/stages/screen.c: may it run? --- */
int stage_screen(struct run *r, struct error *err);
/* Other code under the same rules, for tests and the cross-check: *ret_allowed,
 * and why not in *ret_reason (owned). Whoever is asked may edit *code. */
int run_screen_code(struct run *r, const char *stage, char **code, size_t *len, bool *ret_allowed,
		    char **ret_reason, struct error *err);

/* --- agent/stages/execute.c: what happened --- */
int stage_execute(struct run *r, struct error *err);
/* Drops what an earlier attempt left behind, its checks included. */
void run_forget_execution(struct run *r);

/* --- agent/stages/cell.c: a program in a context --- */
/* Looks whether the state can be had, and what is in it. */
void run_enter_context(struct run *r);
/* Whether its program runs as a cell. */
bool run_is_cell(const struct run *r);
/* The earlier cells in its language, as who repairs reads them, and the judge, who is shown those
 * that the program needs; NULL: none. Caller frees. */
char *run_cells_text(const struct run *r, bool only_needed);
/* Finds those out. */
int run_find_needed(struct run *r, struct error *err);
/* Which of the earlier cells these are, as a stage's note: a replay reads it there. program: what
 * ran of them, or NULL. */
int run_record_needed(struct run *r, enum stage stage, const bool *needed, size_t count,
		      const struct audit_blob *program, struct error *err);
/* Program and tests are apart, and the tests see no state: this is the program with all that
 * it stands on. Borrowed until it is asked again. */
const char *run_joined(struct run *r, size_t *ret_len);
/* Why a passed check would say nothing: an earlier cell could have decided it. Caller frees. */
char *run_forged(const struct run *r);
/* Looks at what the program left. True: an earlier cell failed when it was run again, and
 * the next attempt starts from nothing; *ret_why says so (owned). */
bool run_leave_cell(struct run *r, struct sandbox_result *x, char **ret_why);
/* The work folder has what earlier programs left there: room for it among the artifacts, and
 * what is as they left it taken out of them again. */
void run_allow_known(const struct run *r, struct sandbox_limits *limits);
void run_drop_known(const struct run *r, struct sandbox_result *x);
/* The run is over, and well: what its program leaves becomes the result's. */
void run_keep_cell(struct run *r);
void run_cell_release(struct run *r);

/* --- agent/stages/again.c: a check that an earlier program could have decided --- */
struct again {
	char *without; /* the cells left out, in words; owned; NULL: it did not run again */
	bool same;     /* what it printed and left: they decided nothing of that */
};
/* Runs the program once more, without them, where that can be had. 0 however that came out. */
int run_again(struct run *r, struct again *ret, struct error *err);

/* --- agent/stages/tests.c: tests with the program --- */
/* The tests' verdict. *ret is the run that shows what the program did: its own,
 * or the one together when the pair was no pass. */
int run_tests(struct run *r, const char *tests, enum check_source source, struct execution *ret,
	      struct check_result *ret_check, struct error *err);
/* Tests that a model wrote: run, tried on a stub, and their verdict added. */
int run_written_tests(struct run *r, const char *tests, struct error *err);

/* --- agent/stages/verify.c: what it is worth --- */
int stage_verify(struct run *r, struct error *err);
bool run_has_expectation(const struct run *r);
void run_verify_release(struct run *r);

/* --- agent/stages/inputs.c: the inputs that stay where they are --- */
/* Begins to compute their digests, beside all that follows. */
void run_inputs_begin(struct run *r);
/* Waits for those, looks whether an input has changed since the run began, and has both in the
 * record. Nothing without such inputs. */
int run_inputs_end(struct run *r, struct error *err);
void run_inputs_release(struct run *r);

/* --- agent/machine.c --- */
/* The attempt failed: STEP_REPAIR when the budget has room, else STEP_END. Takes
 * what feedback owns. */
enum step run_attempt_failed(struct run *r, struct feedback feedback);
/* Puts into the result how the run ended: STEP_END. */
enum step run_finish(struct run *r, enum run_status status, const char *reason);
/* An answer without a program ends the run: well when no more is required, else
 * for the reason given. Takes answer. STEP_END. */
enum step run_answer_directly(struct run *r, char *answer, const char *why);
/* Adds a result to the record and shows it. Takes what result owns. */
void run_add_check(struct run *r, struct check_result *result);

#endif
