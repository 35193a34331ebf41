/*
 * Structured errors: what a failed run says about the code, for the repair
 * prompt and for `error` in exec --json.
 */
#ifndef VERIFIER_FAILURE_H
#define VERIFIER_FAILURE_H

#include "base/json.h"
#include "sandbox/sandbox.h"

enum failure_class {
	FAILURE_NONE,
	FAILURE_SYNTAX,
	FAILURE_EXCEPTION,
	FAILURE_IMPORT,
	FAILURE_TIMEOUT,
	FAILURE_MEMORY,
	FAILURE_FORBIDDEN,
	FAILURE_OUTPUT,
};

struct failure {
	enum failure_class class;
	char *type;    /* "ZeroDivisionError"; owned; may be NULL */
	char *message; /* owned; may be NULL */
	long line;     /* of the user's program, from 1; 0: unknown */
	long column;   /* from 1; 0: unknown */
};

/* From kernel facts first (outcome, forbidden calls), then from stderr by the
 * language's own format. Never fails: at worst class exception without type.
 * Outcome exit with code 0 is FAILURE_NONE. */
void failure_find(const char *lang, const char *file, const struct sandbox_result *result,
		  struct failure *ret);
void failure_release(struct failure *f);
#define cleanup_failure __attribute__((cleanup(failure_release)))
struct json *failure_json(const struct failure *f); /* caller frees */

/* One paragraph of advice for the repair prompt, static. */
const char *failure_advice(const char *lang, const struct failure *f);

#endif
