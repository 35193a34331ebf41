/*
 * Deterministic checks on what a program printed or wrote, evaluated here in
 * C. One table of kinds; the same words in the planner's plan, on the command
 * line (--check KIND:ARG) and in task files.
 */
#ifndef VERIFIER_CHECK_H
#define VERIFIER_CHECK_H

#include "base/error.h"
#include "base/json.h"
#include "base/regex.h"
#include "sandbox/sandbox.h"
#include "verifier/verdict.h"

#include <stdbool.h>
#include <stddef.h>

enum check_source {
	CHECK_PLANNER,
	CHECK_USER,
	CHECK_TASK,
	CHECK_TESTS,
	CHECK_JUDGE,
	CHECK_CROSS_CHECK,
};
const char *check_source_name(enum check_source source);

struct check {
	const char *kind; /* a row of the table, static */
	struct json *arg; /* owned; NULL when the kind takes none */
	enum check_source source;
};

struct check_result {
	const char *kind; /* static */
	enum check_source source;
	enum verdict verdict;
	char *detail; /* one sentence with expected and actual; owned */
};

struct check_list {
	struct check *checks; /* owned */
	size_t count;
};

/* arg is copied. Unknown kinds and arguments of the wrong form are ERR_USAGE
 * errors that name the kind and show an example. */
int check_add(struct check_list *list, const char *kind, const struct json *arg,
	      enum check_source source, struct error *err);
/* "lines:10", "regex:^a", "nonnegative": text after the first colon is the
 * argument, read as the kind wants it. */
int check_add_text(struct check_list *list, const char *text, enum check_source source,
		   struct error *err);
/* [{"kind":..., "arg":...}, ...]; bad members, and all beyond CHECK_PLAN_MAX, are
 * left out and counted. */
#define CHECK_PLAN_MAX 100
size_t check_add_plan(struct check_list *list, const struct json *checks);
/* A task's "expect" object. */
int check_add_expect(struct check_list *list, const struct json *expect, enum check_source source,
		     struct error *err);
void check_list_release(struct check_list *list);

/*
 * What all checks of one output may take for their patterns. A model, or a task,
 * may bring any number of them, each good for a second. In the four that
 * follow, effort may be NULL: the one check then has as much for itself.
 */
#define CHECK_PATTERNS_US 10000000

/* True when no output could fail it (regex ".*", contains ""): such a check
 * is skipped and never lifts a level. */
bool check_is_vacuous(const struct check *check, struct regex_effort *effort);

/* What would pass it without answering anything ("any whole number"), in
 * words, static; NULL when it rejects some of every such kind of output. A
 * check that the planner proposed proves something only then. */
const char *check_passed_by(const struct check *check, struct regex_effort *effort);

/* How much the planner's checks that pass say of this result, together (the rule
 * and its reasons: weigh.c). */
struct check_weight {
	bool carries;		/* level checked may rest on them */
	size_t wrong, rejected; /* near misses of the result; those that some check fails */
	size_t singles, singles_rejected; /* those with a single number wrong */
	char by[256];			  /* the kinds that reject some: "sum, lines" */
};
void check_weigh(const struct check_list *list, const struct sandbox_result *result,
		 struct regex_effort *effort, struct check_weight *ret);

/* Never fails: what cannot be evaluated is VERDICT_ERROR with a reason. */
void check_evaluate(const struct check *check, const struct sandbox_result *result,
		    struct regex_effort *effort, struct check_result *ret);
/* Whether a second program printed what the first one did, as "equals" means
 * it, whatever bytes that is. */
void check_outputs_agree(const struct sandbox_result *first, const struct sandbox_result *second,
			 struct check_result *ret);
void check_result_release(struct check_result *r);
struct json *check_result_json(const struct check_result *r); /* caller frees */

/* What a source proves when it passes (weigh.c): tests/cross_check CHECKED, and
 * the planner together with its other checks; user/task EXPECTED, judge JUDGED. */
enum level check_source_level(enum check_source source);

/* True when a check of this kind looks at how long the run took: another run that does the same may
 * take another time. */
bool check_sees_time(const char *kind);
/* True when a check of this kind names the answer itself: from outside the
 * model, it must not be shown to it. */
bool check_holds_answer(const char *kind);

/* How the output misses a check that holds the answer, without a byte of it:
 * sentences, each after a blank; nothing when there is nothing to say. */
void check_hint(struct buf *out, const struct check *check, const struct sandbox_result *result);

/* What a check wants, in words: "the output has exactly this many lines: 10". */
void check_describe(struct buf *out, const struct check *check);

/* The words for help and prompts: "lines N: exactly N lines of output" ... */
void check_describe_kinds(struct buf *out);
/* The examples alone, with commas between them, of those that hold no answer. */
void check_list_kinds(struct buf *out);

#endif
