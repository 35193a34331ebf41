/*
 * Running tests with a solution: a small harness per language that counts the
 * assertions that were executed. A test run without one does not count.
 *
 * Solution and tests share an interpreter, as they must when tests call
 * functions; so a solution can forge what is reported there: replace assert,
 * return what equals everything, look for the expected values. Such a run is
 * believed when it fails, never when it passes. What passes is confirmed in two
 * further runs, each in a sandbox of its own: the solution alone makes the
 * calls that the tests made, without sight of them (ANSWER), and the tests are
 * run on its answers where the solution never was (CONFIRM), provided that they
 * make the very same calls. Assertions that the solution's own objects decide,
 * by an __eq__ for one, do not count. What cannot be told apart like that ends
 * as `skipped`, with the reason.
 */
#ifndef VERIFIER_TESTS_H
#define VERIFIER_TESTS_H

#include "base/error.h"
#include "sandbox/sandbox.h"
#include "verifier/check.h"

enum tests_mode {
	TESTS_TOGETHER,		/* solution, then tests */
	TESTS_STUB,		/* the same with the solution emptied of what it does */
	TESTS_ANSWER,		/* the solution, and the calls */
	TESTS_CONFIRM,		/* the tests, and the answers */
};

#define TESTS_FILES_MAX 5

/* What /out holds for the harness alone begins with this, in results and records:
 * how it is written may differ from run to run, and the report says what counts. */
#define TESTS_DATA_FOLDER ".assay-data/"

struct tests {
	enum tests_mode mode;	/* set before tests_prepare */
	const struct language *language;
	struct sandbox_file files[TESTS_FILES_MAX];
	char *harness;		/* owned */
	char report[64], data[64];	/* artifact paths below /out; new for every run */
	char *calls, *answers;	/* owned; NULL until a run has told them */
	size_t calls_len, answers_len;
};

/* Turns job (solution in code) into a run of this mode: sets extras and entry,
 * and in CONFIRM empties the code. Owns what they point at until it is called
 * again or tests_release. */
int tests_prepare(struct tests *t, const struct language *language, const char *tests,
		  size_t tests_len, struct sandbox_job *job, struct error *err);
void tests_release(struct tests *t);

/* After a live run: gives what the harness left among the artifacts names that
 * no guest can write, under which they are recorded and played back. */
void tests_collect(const struct tests *t, struct sandbox_result *result);

/* Judges a run that was collected and takes the harness's files out of its
 * artifacts. Pass only when the outcome is exit 0 and the report tells of at
 * least one executed assertion and no failed one. */
void tests_judge(struct tests *t, struct sandbox_result *result, enum check_source source,
		 struct check_result *ret);

/* Makes one run in t->mode, collected; as sandbox_run. */
typedef int tests_run_fn(void *self, struct tests *t, struct sandbox_result *ret,
			 struct error *err);

/* A pass of tests_judge in TOGETHER, confirmed or turned into `skipped`. */
int tests_confirm(struct tests *t, tests_run_fn *run, void *self, struct check_result *c,
		  struct error *err);

#endif
