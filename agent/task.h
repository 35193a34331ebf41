/*
 * A task: the question and all that is given with it. Who fills one owns it and
 * what it points to, and releases it after the run.
 */
#ifndef AGENT_TASK_H
#define AGENT_TASK_H

#include "agent/input/input.h"
#include "base/error.h"
#include "base/json.h"
#include "sandbox/sandbox.h"
#include "verifier/check/check.h"

#include <stdbool.h>
#include <stddef.h>

struct task_file {
	char *path;	     /* name under /in; owned */
	char *bytes;	     /* owned; NULL where it is an input */
	size_t len;	     /* of an input its bytes when it was given */
	bool made;	     /* by a program of an earlier turn: nobody gave it */
	char *from;	     /* where it was read, and may be again; NULL: nowhere. Owned */
	struct input *input; /* it stays where it is: a large file, a folder; owned, or NULL */
	bool changed;	     /* of a record that has it whole: it was another at the run's end */
	struct json *was; /* of a record, what that has of it: input_json and its digest; owned, or
			     NULL */
};
void task_file_release(struct task_file *file);

struct task_turn {
	char *question, *code, *output, *answer; /* owned; code and output may be NULL */
	char *notes;	  /* what the program wrote to standard error; owned, or NULL */
	const char *lang; /* the program's, canonical; static; NULL: not known */
};

/* A program that a person gives as it is: no model is asked, nothing is checked. */
struct task_program {
	const char *code; /* borrowed, as all here */
	size_t len;
	const char *const *argv, *const *env; /* as struct sandbox_job's */
	const char *state_from;		      /* as struct sandbox_job's, or NULL */
	bool screened;			      /* by the policy's rules, before it runs */
};

struct context;

struct task {
	char *id;			    /* NULL outside a batch */
	char *prompt;			    /* UTF-8; owned */
	const char *lang;		    /* canonical, or NULL */
	const struct task_program *program; /* instead of a question; borrowed, or NULL */
	const struct context *context;	    /* it goes on in; borrowed. NULL: from nothing */
	struct task_file *files;
	size_t file_count;
	char *stdin_bytes; /* NULL: none */
	size_t stdin_len;
	char *tests;		  /* NULL: none */
	struct check_list checks; /* of the user or the task */
	struct task_turn *turns;  /* the conversation before, oldest first */
	size_t turn_count;
	char *mark;	    /* around data in the prompts of the run that is
			     * replayed; NULL: a new one. Owned */
	struct json *extra; /* members of a batch line that are the user's own; owned */
};
void task_release(struct task *task);
void task_turn_release(struct task_turn *turn);
/* Whether the answer is what the program printed, but for line ends at its end. */
bool task_turn_is_printed(const struct task_turn *turn);
/* Without the line ends at its end. */
size_t task_text_len(const char *text);
/* The files as a job takes them, borrowed from the task; the caller frees the array. */
struct sandbox_file *task_inputs(const struct task *task);

/* Prompt text must be UTF-8, not blank, and within a megabyte. */
int task_set_prompt(struct task *task, const char *text, size_t len, const char *where,
		    struct error *err);

#define TASK_INPUTS_MAX 1000

/* An input file of that name. Takes bytes. */
struct task_file *task_add_bytes(struct task *task, const char *name, char *bytes, size_t len);
/* One that stays where it is. Takes input. */
struct task_file *task_add_input(struct task *task, const char *name, struct input *input);
/* Its inputs that stay where they are; the caller frees the array, NULL when there is none. */
struct input **task_kept_inputs(const struct task *task, size_t *ret_count);

#endif
