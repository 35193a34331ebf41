/*
 * Running tests with a solution: a small harness per language that counts the
 * assertions that were executed. A test run without one does not count.
 */
#ifndef VERIFIER_TESTS_H
#define VERIFIER_TESTS_H

#include "base/error.h"
#include "sandbox/sandbox.h"
#include "verifier/check.h"

#define TESTS_FILES_MAX 3

/* Turns job (solution in code) into a run of solution and tests: sets extras
 * and entry. Owns what they point at until tests_release. */
struct tests {
	bool stub;		/* set before tests_prepare: run the program emptied of what it does */
	struct sandbox_file files[TESTS_FILES_MAX];
	char *harness;		/* owned */
	char nonce[33];		/* names the report; new for every run */
	char report[64];	/* artifact path below /out */
};

int tests_prepare(struct tests *t, const struct language *language, const char *tests,
		  size_t tests_len, struct sandbox_job *job, struct error *err);
void tests_release(struct tests *t);

/* Judges the run: pass only when the outcome is exit 0 and the report, found
 * among the artifacts (and removed from them), tells of at least one executed
 * assertion and no failed one. */
void tests_judge(const struct tests *t, struct sandbox_result *result, enum check_source source,
		 struct check_result *ret);

#endif
