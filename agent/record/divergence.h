/*
 * Of what kind a divergence is: what the differences, what is not as it was, and what a
 * program did when it was run once more say of its cause.
 */
#ifndef AGENT_DIVERGENCE_H
#define AGENT_DIVERGENCE_H

#include "base/json.h"

#include <stddef.h>

enum divergence {
	DIVERGED_BY_ENVIRONMENT, /* interpreter, packages or walls are others, and it shows */
	DIVERGED_BY_INPUT,	 /* what was given is not what was given then */
	DIVERGED_BY_TIME,	 /* the program tells the time, or how long it took */
	DIVERGED_BY_RANDOMNESS,	 /* it draws, or prints what the system drew: addresses, ids */
	DIVERGED_BY_ORDER,	 /* the same lines or words in another order */
	DIVERGED_BY_VALUE,	 /* another result, and nothing above tells why */
	DIVERGED_BY_STATUS,	 /* the run went or ended another way */
	DIVERGED_BY_RULES,
	DIVERGED_BY_PROMPT,
	DIVERGED_BY_VERSION, /* assay itself does another thing with the same record */
	DIVERGENCE_COUNT,
};
const char *divergence_name(enum divergence class);
int divergence_parse(const char *name); /* -1 when unknown */

/* A text and how it is known to be meant: what two runs of one program printed. */
struct divergence_texts {
	const char *before, *after;
	size_t before_len, after_len;
	const char *code; /* of the program; NULL: not known */
	size_t code_len;
};

/* In what two outputs of one program differ: time, randomness or order, or value when
 * nothing says one of these. */
enum divergence divergence_of_texts(const struct divergence_texts *t);

/*
 * The class of the first stage that differs (compare_runs). changes is the environment's
 * ([{"name"}], agent/cli/replay/changes.c); of an execution, varies is what it did when run
 * once more: one of time, randomness, order, or value when it did the same again or was not
 * run.
 */
#define DIVERGENCE_INPUT "input " /* how the name of an input's change begins */
enum divergence divergence_of_stage(const struct json *row, const struct json *changes,
				    enum divergence varies);

#endif
