/*
 * A program out of a context: the cells that the last one needs, written as one that stands
 * alone, and proven: it is run from nothing, in the log as any run, and what it prints is
 * compared. Where the cells thought needed do not give the same, all of them are tried.
 */
#ifndef AGENT_SAVE_H
#define AGENT_SAVE_H

#include "agent/live.h"
#include "agent/loop.h"

struct save {
	struct terminal *term;
	const struct loop *loop; /* with its ends; all is borrowed here */
	struct live *live;
	const struct context *context; /* the program is its last cell */
	const struct task *task;       /* whose files it had */
	const char *question, *answer; /* for .md and .ipynb; or NULL */
	const char *output;	       /* what it printed */
	size_t output_len;
	bool could_call;  /* its programs had tools (--tools) */
	const char *path; /* .ipynb and .md have their form; all else is the program */
};

struct saved {
	size_t used, count;	/* cells, of those there were */
	char *why_all;		/* why none could be left out; owned; or NULL */
	bool printed;		/* run from nothing it prints the same, at its end */
	size_t files;		/* of the last cell, that it leaves as they were */
	char *others;		/* those that it does not, in words; owned; NULL: none */
	bool same;		/* in print and files */
	char run[ULID_LEN + 1]; /* in which that was tried */
	char *reason;		/* how it ended when it did not end well; owned; or NULL */
};

/* The file is written whatever the trial says. */
int save_context(const struct save *s, struct saved *ret, struct error *err);
/* In words, on standard error. */
void save_tell(const struct save *s, const struct saved *saved);
/* In words, where the name of the file says another language than lang, which may be NULL. */
void save_tell_ending(struct terminal *term, const char *path, const char *lang);
void saved_release(struct saved *s);
#define cleanup_saved __attribute__((cleanup(saved_release)))

#endif
