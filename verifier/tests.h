/*
 * Deciding tests: a small harness per language that counts the assertions that
 * were executed. A test run without one does not count.
 *
 * A program that shares an interpreter with its tests can forge what is reported
 * there: replace assert, return what equals everything, look for the expected
 * values. So the two never meet. They run at once, each in walls of its own,
 * joined by two pipes (sandbox_run_pair): what a test calls of the program is
 * sent to it, and only plain data comes back, which the judge's side decodes to
 * built-in types of its own. The program answers where the tests have never
 * been; the judge reports where the program has never been.
 *
 * An assertion that the program's own objects decide (an __eq__ of its own, for
 * one) is neither passed nor dropped but undecided, and so is one that a function
 * of the program decides about another of its answers, or that the tests hold and
 * never made. One of them makes the verdict `skipped`. When the pair is no pass, both are run
 * together in one interpreter: a failure there is believed and tells most about itself; a pass
 * there is none.
 */
#ifndef VERIFIER_TESTS_H
#define VERIFIER_TESTS_H

#include "base/error.h"
#include "sandbox/sandbox.h"
#include "verifier/cells.h"
#include "verifier/check/check.h"

enum tests_mode {
	TESTS_PROGRAM,	/* of a pair: the program, which answers */
	TESTS_JUDGE,	/* of a pair: the tests, which ask */
	TESTS_TOGETHER, /* solution, then tests, in one interpreter */
	TESTS_STUB,	/* the same with the solution emptied of what it does */
	TESTS_SHOW,	/* no tests: the program, and its last expression's value */
	TESTS_CELL,	/* no tests: the program as a cell after others (verifier/cells.h) */
};

#define TESTS_FILES_MAX 3
#define TESTS_NONCE_LEN 32

struct tests {
	enum tests_mode mode; /* set before tests_prepare */
	const struct language *language;
	struct sandbox_file files[TESTS_FILES_MAX + 1];
	struct cells cells; /* of TESTS_CELL: its list is set before tests_prepare */
	char *harness;	    /* owned */
	char *resume;	    /* of TESTS_CELL, for a copy of its state; owned */
	char report[64];    /* artifact path below /out; new for every run */
};

/* Turns job (solution in code) into a run of this mode: sets extras and entry,
 * and in JUDGE empties the code, the standard input and /in of it. Owns what they
 * point at until it is called again or tests_release. */
/* ERR_USAGE when the language has none of this. */
int tests_prepare(struct tests *t, const struct language *language, const char *tests,
		  size_t tests_len, struct sandbox_job *job, struct error *err);
void tests_release(struct tests *t);
/* Whether TESTS_SHOW is to be had. */
bool tests_can_show(const struct language *language);
/* Whether TESTS_CELL is. */
bool tests_can_follow(const struct language *language);
/* The names of all for which it is, with commas. Caller frees. */
char *tests_that_follow(void);

/* What of a harness is new for every run, the nonce in the report's name: taken out of its
 * text, zeros in its place ("" when it has none), and given to what was made of that. False when
 * that has not the one place for it. */
void tests_take_nonce(char *text, size_t len, char ret[TESTS_NONCE_LEN + 1]);
bool tests_give_nonce(char *bytes, size_t len, const char *nonce);

/* After a live run: gives what the harness left among the artifacts names that
 * no guest can write, under which they are recorded and played back. */
void tests_collect(const struct tests *t, struct sandbox_result *result);

/* Judges a run that was collected and takes the harness's files out of its
 * artifacts. Pass only when the outcome is exit 0 and the report tells of at
 * least one executed assertion, of no failed and of no undecided one. */
void tests_judge(const struct tests *t, struct sandbox_result *result, enum check_source source,
		 struct check_result *ret);

/* What the harness of a cell says of it (verifier/cells.h) is the last artifact of a run that was
 * collected, under a name that no guest can write, and nobody's file. It is looked at, or taken
 * out; NULL: there is none that can be read. Caller frees. */
bool tests_is_state(const char *path);
struct json *tests_look_at_state(const struct sandbox_result *result);
struct json *tests_take_state(struct sandbox_result *result);
/* Puts it there, out of a record. Takes bytes. */
void tests_add_state(struct sandbox_result *result, char *bytes, size_t len);

/* The two results of a pair, both collected: the judge's, but no pass when the
 * program did not end well after it. A program that ended in the middle is told of. */
void tests_judge_pair(const struct tests *judge, const struct sandbox_result *program,
		      struct sandbox_result *judged, enum check_source source,
		      struct check_result *ret);

/* What a run together, made because the pair was no pass, makes of that: c becomes
 * its failure, or `skipped` with c's own reason, since its pass is none. */
void tests_weigh(struct check_result *c, struct check_result *together);

#endif
