/* What the loop's stages share: one question on its way. Internal to agent/. */
#ifndef AGENT_RUN_H
#define AGENT_RUN_H

#include "agent/budget.h"
#include "agent/loop.h"
#include "agent/plan.h"
#include "agent/prompt/prompt.h"

struct execution; /* agent/execution.h */

/* Below /in: output of the attempt before, where the prompts had to cut it. */
#define RUN_PREVIOUS "previous-output"

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

/* What a stage remembers from one attempt to the next is its own: a struct X_memory is known to the
 * file of the stage X alone, which makes and releases it. What several share stands in struct run.
 */
struct extract_memory; /* stages/extract.c */
struct look_memory;    /* stages/look.c */
struct verify_memory;  /* stages/verify.c */
struct judge_memory;   /* stages/judge.c */
struct cell_memory;    /* stages/cell.c: of a program in a context */
struct write_memory;   /* stages/write.c */
struct inputs_memory;  /* stages/inputs.c */
struct images_memory;  /* prompt/images.c */
struct called_memory;  /* calls.c */

/* What stages share. The machine begins and ends all of it; who writes besides is said above each
 * group, and nobody else does (tests/layers). */
struct run {
	/* Given to the run, and found out once. Written by: nobody. */
	const struct loop *loop;
	const struct task *task;
	const struct policy *policy;
	const struct means *means;
	struct prompt_source prompts;
	struct json *environments; /* what can run here, as recorded */
	const struct json *tools;  /* what programs may call; borrowed; NULL: nothing */
	char mark[17];		   /* around what is data in the prompts: nobody can guess it */

	/* What it has written and spent: by their own functions. Written by: nobody. */
	struct journal journal;
	struct budget budget;

	/* For the prompts, before the first. Written by: prompt/context. */
	char *contract;	    /* what all of them begin with: the sandbox, the inputs */
	char *history;	    /* the conversation before; "" without */
	char *requirements; /* the checks in words; "" without */

	/* Where the task goes on. Written by: stages/cell. */
	const struct context *context; /* the task's; NULL: there is none, or it is lost */
	char *there;		       /* what is there in it, for the prompts; "" without */

	/* What is asked for. Written by: stages/write. */
	struct plan plan;

	/* Which it is, from 1. Written by: stages/write, attempt. */
	int attempt;

	/* The task's checks, then the plan's. Written by: prompt/context, stages/write. */
	struct check_list checks;

	/* The coder's or repairer's words. A look is blanked out of them. Written by: stages/write.
	 */
	char *reply;
	size_t reply_len;
	bool reply_cut; /* it ended at its length limit, or the stream broke */

	/* What is asked for, until a reply has a program: then that one's. Written by:
	 * stages/write, stages/extract. */
	const struct language *language;

	/* The attempt's program, which who approves it may edit. Written by: stages/extract,
	 * stages/screen. */
	char *code;
	size_t code_len;

	/* What became of it. A program that is not valid has failed without an execution. Written
	 * by: stages/execute, stages/screen. */
	struct sandbox_result execution;
	bool executed;
	struct failure failure;

	/* What the model looked at before it wrote the program. Written by: stages/look. */
	char *looked; /* each look's code and output, for the prompts; owned; or NULL */

	/* The attempts before, for who repairs. Written by: attempt. */
	char (*seen)[HASH_HEX_LEN + 1]; /* hashes of the programs so far; owned */
	size_t seen_count;
	struct feedback feedback;
	char *tried; /* how those before the last failed, a line each; or NULL */

	/* Output of the attempt before, where the prompts had to cut it: the next program finds it
	 * in /in/previous-output. Written by: stages/write. */
	char *previous; /* or NULL */
	size_t previous_len;

	/* The answer in prose, for the judge and the person, which an execution makes void. Written
	 * by: stages/answer, stages/judge, stages/verify, stages/execute. */
	char *draft; /* or NULL */

	/* Calls that its program made. Written by: execution, calls, stages/cell. */
	struct called_memory *called;
	char *calls; /* for its cell (agent/call_cells.h); owned, or NULL */
	char *waits; /* a call stopped the program, since nobody could say yes; owned, or NULL */

	/* Of one stage each, as said above; owned. Written by: that. */
	struct extract_memory *extract;
	struct look_memory *look;
	struct verify_memory *verify;
	struct judge_memory *judge;
	struct cell_memory *cell;
	struct write_memory *write;
	struct inputs_memory *inputs;
	struct images_memory *images;

	/* What the run came to, gathered by all. Written by: anybody. */
	struct loop_result result;
};

#endif
