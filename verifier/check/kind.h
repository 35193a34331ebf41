/* The kinds of checks: one row each. Inside verifier/ only. */
#ifndef VERIFIER_CHECK_KIND_H
#define VERIFIER_CHECK_KIND_H

#include "base/buf.h"
#include "base/json.h"
#include "base/regex.h"
#include "sandbox/sandbox.h"
#include "verifier/verdict.h"

struct check_kind {
	const char *name;
	const char *example; /* on the command line */
	const char *help;    /* what it means, for people and for the planner */
	/* The same of one argument (describe.c): {} stands for it, {a} for a
	 * member, {a..b} for bounds; what is in brackets is left out where one of
	 * those in it is missing. NULL: as help. */
	const char *says;
	bool needs_arg;
	bool reads_output; /* says nothing when the output was cut */
	/* The argument in its one form, from what a person or a model wrote (text
	 * or JSON); NULL when it cannot be understood. Caller frees. */
	struct json *(*read)(const struct json *arg);
	/* Whether it holds; appends one sentence to why either way. */
	enum verdict (*evaluate)(const struct json *arg, const struct sandbox_result *result,
				 struct buf *why);
	bool (*vacuous)(const struct json *arg); /* NULL: never */
	bool holds_answer;			 /* its argument is the answer, or a part of it */
	/* Of patterns, in place of evaluate and vacuous: what they take is in the
	 * argument's hands. */
	enum verdict (*search)(const struct json *arg, const struct sandbox_result *result,
			       struct regex_effort *effort, struct buf *why);
	bool (*matches_all)(const struct json *arg, struct regex_effort *effort);
	bool sees_value; /* a wrong value of the right form can fail it (weigh.c) */
	bool sees_time;	 /* it looks at how long the run took */
};

const struct check_kind *check_kind_find(const char *name); /* NULL when unknown */
const struct check_kind *check_kind_at(size_t index);	    /* NULL past the end */

/* --- say.c --- */

/* What the program printed, never NULL; result->out.len bytes. */
const char *check_output(const struct sandbox_result *result);
enum verdict check_verdict(bool holds);
/* In quotes, cut, on one line, for a sentence. */
void check_say_bytes(struct buf *why, const char *s, size_t len);
void check_say_json(struct buf *why, const struct json *value);
/* What equal texts have in common: NFC, no blanks at line ends, no empty lines
 * at the end, \n as line ending. */
void check_canonical_text(struct buf *out, const char *s, size_t len);
/* Lines of that; they point into *ret_text. Caller frees both. */
char **check_split_lines(const struct sandbox_result *r, char **ret_text, size_t *ret_count);

/* --- near.c --- */

/* An output, and how far its near misses were made. */
struct check_near {
	char *text; /* canonical: no empty line at the end */
	size_t len;
	size_t numbers;
	char **lines, *split; /* they point into it */
	size_t line_count;
	size_t index;
};
void check_near_open(struct check_near *s, const struct sandbox_result *result);
void check_near_close(struct check_near *s);
/* The next near miss, into out, and whether it has a single number wrong; false past
 * the last. */
bool check_near_next(struct check_near *s, struct buf *out, bool *ret_single);

/* --- text.c, number.c, json.c: the rows' functions --- */

#define CHECK_READ(name) struct json *check_read_##name(const struct json *arg)
#define CHECK_EVALUATE(name)                                                                       \
	enum verdict check_evaluate_##name(const struct json *arg, const struct sandbox_result *r, \
					   struct buf *why)
#define CHECK_VACUOUS(name) bool check_vacuous_##name(const struct json *arg)
CHECK_READ(text);
CHECK_READ(regex);
CHECK_READ(count);
CHECK_READ(number);
CHECK_READ(range);
CHECK_READ(lines);
CHECK_READ(direction);
CHECK_READ(json);
CHECK_READ(field);
CHECK_EVALUATE(equals);
CHECK_EVALUATE(exact);
CHECK_EVALUATE(contains);
CHECK_EVALUATE(count);
CHECK_EVALUATE(number);
CHECK_EVALUATE(sum);
CHECK_EVALUATE(range);
CHECK_EVALUATE(lines);
CHECK_EVALUATE(unique);
CHECK_EVALUATE(nonnegative);
CHECK_EVALUATE(monotone);
CHECK_EVALUATE(sorted);
CHECK_EVALUATE(probabilities);
CHECK_EVALUATE(json);
CHECK_EVALUATE(field);
CHECK_VACUOUS(text);
CHECK_VACUOUS(range);
enum verdict check_search_regex(const struct json *arg, const struct sandbox_result *r,
				struct regex_effort *effort, struct buf *why);
bool check_matches_all_regex(const struct json *arg, struct regex_effort *effort);

/* --- artifact.c --- */
struct json *check_artifact_read(const struct json *arg);
enum verdict check_artifact_evaluate(const struct json *arg, const struct sandbox_result *result,
				     struct buf *why);

#endif
