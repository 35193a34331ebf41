/* What a run came to (loop.h). */
#ifndef AGENT_RESULT_H
#define AGENT_RESULT_H

#include "agent/context.h"
#include "agent/status.h"
#include "base/error.h"
#include "base/ulid.h"
#include "llm/llm.h"
#include "sandbox/sandbox.h"
#include "verifier/check/check.h"
#include "verifier/failure.h"

struct loop_result {
	char run[ULID_LEN + 1];
	enum run_status status;
	enum error_kind ended_by; /* ERR_NONE: it came to its end */
	bool begun; /* what ended it had: a program ran, and what it did is not known */
	enum level level;
	char *carried_by; /* what the level rests on, in words; owned; NULL: nothing */
	char *answer;	  /* owned; NULL when there is none */
	int attempts;
	char *code; /* final program; owned; NULL when none */
	size_t code_len;
	const char *language;	     /* static; NULL when none */
	struct check_result *checks; /* owned */
	size_t check_count;
	bool executed;
	struct sandbox_result execution; /* of the final program, when executed */
	struct failure failure;
	/* What the final program leaves for those after it; owned. NULL: nothing, since it did
	 * not happen, or not in a context. */
	struct context_cell *cell;
	bool anew;		/* it started from nothing, because the state before it is lost */
	struct llm_usage usage; /* summed */
	int64_t cost_micro_usd; /* -1: unknown */
	int64_t duration_ms;
	struct json *changed_inputs; /* names of those that did; owned; NULL: none */
	struct json *cut_replies;    /* stages whose reply's stream broke off; owned; NULL: none */
	char *reason;		     /* why not success; owned; NULL */
	char *unapproved; /* the tool whose call it ended at for want of a yes; owned; NULL */
};
void loop_result_release(struct loop_result *r);
#define cleanup_loop_result __attribute__((cleanup(loop_result_release)))
/* The object of `assay ask --json`; caller frees. */
struct json *loop_result_json(const struct loop_result *r);

#endif
