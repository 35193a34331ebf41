/* The kinds of checks: one row each. Inside verifier/ only. */
#ifndef VERIFIER_CHECK_KIND_H
#define VERIFIER_CHECK_KIND_H

#include "base/buf.h"
#include "base/json.h"
#include "verifier/check.h"

struct check_kind {
	const char *name;
	const char *example;	/* on the command line */
	const char *help;	/* what it means, for people and for the planner */
	bool needs_arg;
	bool reads_output;	/* says nothing when the output was cut */
	/* The argument in its one form, from what a person or a model wrote (text
	 * or JSON); NULL when it cannot be understood. Caller frees. */
	struct json *(*read)(const struct json *arg);
	/* Whether it holds; appends one sentence to why either way. */
	enum verdict (*evaluate)(const struct json *arg, const struct sandbox_result *result,
				 struct buf *why);
	bool (*vacuous)(const struct json *arg);	/* NULL: never */
};

const struct check_kind *check_kind_find(const char *name);	/* NULL when unknown */
const struct check_kind *check_kind_at(size_t index);		/* NULL past the end */

/* --- check_artifact.c --- */
struct json *check_artifact_read(const struct json *arg);
enum verdict check_artifact_evaluate(const struct json *arg, const struct sandbox_result *result,
				     struct buf *why);

#endif
