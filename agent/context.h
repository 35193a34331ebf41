/*
 * A context: the programs of a conversation or a script that happened, oldest first. A later
 * one of a language starts where the last one of that language ended (verifier/cells.h). A
 * program that failed, was refused or missed its checks never was: it is not here, and what
 * comes in its place starts from the same state. So to go back is to have fewer cells.
 */
#ifndef AGENT_CONTEXT_H
#define AGENT_CONTEXT_H

#include "agent/task.h"
#include "base/hash.h"
#include "verifier/cells.h"

struct context_input {
	char *path; /* below /in; owned */
	char sha256[HASH_HEX_LEN + 1];
};

struct context_cell {
	char *id;	  /* of its execution: "RUN/ATTEMPT"; owned */
	const char *lang; /* canonical; static */
	char *code;	  /* owned */
	size_t len;
	char *stdin_bytes; /* owned; NULL: none */
	size_t stdin_len;
	char printed[HASH_HEX_LEN + 1]; /* SHA-256 of its standard output */
	char *calls; /* of tools, that it made, as lines (agent/call_cells.h); owned; NULL: none */
	struct sandbox_limits limits; /* it had, of a state (agent/state_limits.h) */
	int64_t took_ms;	      /* by itself, without what was run again before it */
	char *there;		      /* what there was after it, in lines of the guest's; owned */
	struct context_input *inputs; /* it had; owned */
	size_t input_count;
	const char **left;	 /* their names, with a NULL after them; owned, but for the names */
	struct task_file *files; /* it left; without bytes one that was too large; owned */
	size_t file_count;
};
void context_cell_free(struct context_cell *cell); /* NULL is allowed */

/* Of what there is in one language, in a prompt. */
#define CONTEXT_THERE_BYTES ((size_t)6000)

/* More than these, or more bytes in all, are not kept: what comes then begins anew, and says so,
 * also where the state is in memory. The record of each execution has all that makes its state
 * again; one that went on from what is recorded nowhere could not be replayed. */
#define CONTEXT_CELLS_MAX 10000
#define CONTEXT_BYTES	  ((size_t)64 << 20)

/* What records say of the first cells, by groups of them in a row, so that a long context is not
 * written anew for each program: a text each, or NULL (agent/record/cells.c makes them). */
struct context_texts {
	char **groups;	     /* owned, as each */
	size_t count, cells; /* cells: in a group */
	size_t from;	     /* of the context that they are of */
};

struct context {
	char *name;		    /* owned */
	struct context_cell *cells; /* owned */
	size_t count;
	size_t from;		     /* those before are of a state that is no more */
	struct context_texts *texts; /* owned; of what is as it was; NULL: nothing was added */
};
void context_release(struct context *c);
/* A cell that happened; anew: from nothing, those before it are over. Takes the cell. */
void context_add(struct context *c, struct context_cell *cell, bool anew);
/* The last cell, taken out; NULL: there is none. */
struct context_cell *context_take_last(struct context *c);
/* As it was when it had so many cells, and began with that one. */
void context_go_back(struct context *c, size_t count, size_t from);
/* What its programs, their inputs and the files that they left have. */
size_t context_bytes(const struct context *c);
bool context_is_full(const struct context *c);
/* By which bound, in words; NULL: it is not. Caller frees. */
char *context_full_why(const struct context *c);
/* What the last cell says as well is forgotten of those before it: the bytes of files that it left
 * again, and inputs that it had, too. For a context that goes no step back. */
void context_thin(struct context *c);
/* The first n cells, which are of a state that is no more, are forgotten. */
void context_forget(struct context *c, size_t n);

/* Those of a language, borrowed from the context; the caller frees the array. */
struct cell *context_cells(const struct context *c, const char *lang, size_t *ret_count);
/* The last one of a language, or NULL. */
const struct context_cell *context_last(const struct context *c, const char *lang);
/* Whether these very bytes are of a file that a cell left: the record has them with it. */
bool context_left(const struct context *c, const void *bytes);
/* What running them again may take beyond the limits of the program after them. */
int64_t context_allowance_ms(const struct context *c, const char *lang);
/* Raised to what those of a language had, of what they have together. */
void context_raise_limits(const struct context *c, const char *lang, struct sandbox_limits *limits);
/* What programs of whichever language have beyond these, in words; NULL: nothing. Caller frees. */
char *context_raised(const struct context *c, const struct sandbox_limits *limits);
/* What they took then. */
int64_t context_took_ms(const struct context *c, const char *lang);
/* What a task's files are now, one each, in their order; caller frees. */
struct context_input *context_inputs(const struct task *task);
void context_inputs_free(struct context_input *inputs, size_t count);
/* Why the state cannot be had with these inputs: a cell had a file that is not there any more,
 * or is another now. NULL: it can. Caller frees. */
char *context_lost(const struct context *c, const struct context_input *now, size_t count);
/* What there is in each language, in lines; "" when nothing is. Caller frees. */
char *context_there(const struct context *c);

#endif
