/*
 * One execution: the one way in which the engine runs code. A program, or a
 * program and its judge as a pair (verifier/tests.h), is announced in the record,
 * run by the execute end (live or recorded), paid for out of the budgets, and
 * recorded with its failure. Whatever runs a program that is somebody's work (a
 * model's, a person's, tests, a second program) calls this, and nothing else does.
 */
#ifndef AGENT_EXECUTION_H
#define AGENT_EXECUTION_H

#include "base/stop.h"
#include "base/ulid.h"
#include "sandbox/sandbox.h"
#include "verifier/failure.h"
#include "verifier/tests.h"

#include <stdbool.h>
#include <stddef.h>

struct run; /* agent/run.h */

struct execution {
	/* What is to run, with the task's inputs. */
	const char *code; /* borrowed */
	size_t len;
	const struct language *language; /* it is written in; NULL becomes the run's */
	const char *tests; /* with these, in the harness's mode; NULL: by itself. Borrowed */
	struct tests harness;
	bool cell; /* in the run's context, which its program leaves a state to */
	/* After these in place of its cells in the language, made again from nothing, without code
	 * that others left, and leaving nothing. Borrowed; NULL: after those there are */
	const struct cell *after;
	size_t after_count;
	char id[ULID_LEN + 16]; /* what that state is called */
	bool is_look;		/* of the stage look (agent/stages/look.c) */
	int64_t wall_ms;	/* at most; 0: what the policy says */

	/* What came of it. */
	struct sandbox_result result;
	struct failure failure;
	bool cut; /* its wall time was what the deadline left */
};
void execution_release(struct execution *x);
#define cleanup_execution __attribute__((cleanup(execution_release)))

/*
 * Runs one, or (count 2) two at once, joined: the first is the program, the second
 * its judge. 0 when it ran, however it ended; -1 with ERR_BUDGET or ERR_DEADLINE
 * when nothing is left for it, with ERR_SANDBOX when it could not be run, which is
 * recorded as the outcome setup_failed, and with ERR_LOG.
 */
int execution_run(struct run *r, struct execution *x, size_t count, struct error *err);

/* The run's job of a program, with its inputs, which the caller has by task_inputs. */
struct sandbox_job execution_job(const struct run *r, const struct language *language,
				 const struct sandbox_file *inputs, const char *code, size_t len);

/* ERR_DEADLINE when an execution ended so because the deadline had come: its wall
 * time was cut to that. */
int execution_check_deadline(const struct run *r, const struct sandbox_result *result, bool cut,
			     struct error *err);

/* The same, and ERR_CANCELLED when the user ended it: what such an execution did says
 * nothing of the program. Of a pair the program is stopped when its judge has ended. */
int execution_check_stopped(const struct run *r, const struct sandbox_result *result, bool cut,
			    struct error *err);

/* *wall_ms cut to what the budgets leave to whatever is about to run; *ret_cut (may
 * be NULL): the deadline decided. */
int execution_reserve(struct run *r, const char *stage, int64_t *wall_ms, bool *ret_cut,
		      struct error *err);
/* When work on what the program printed must end: by the deadline, or when the
 * user wants it. ERR_DEADLINE when that has come. */
int execution_stop(const struct run *r, struct stop *ret, struct error *err);

#endif
