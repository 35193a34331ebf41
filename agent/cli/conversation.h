/* A conversation that the log has: what it takes to go on with it. */
#ifndef AGENT_CONVERSATION_H
#define AGENT_CONVERSATION_H

#include "agent/cli/option.h"
#include "agent/context.h"
#include "agent/loop.h"

struct terminal;

/* Of the turns before a question so many are sent with it, the newest. */
#define CONVERSATION_TURNS ((size_t)6)

struct conversation {
	char session[ULID_LEN + 1]; /* of its runs; that of its only run, where that has none */
	char run[ULID_LEN + 1];	    /* the last one */
	const char *lang;	    /* of its program; static; NULL: it has none */
	bool executed;		    /* that ran to an end, well or not */
	struct sandbox_artifact *artifacts; /* which it left, as far as the log has them; owned */
	size_t artifact_count;
	struct task_turn *turns; /* oldest first; owned */
	size_t turn_count;	 /* CONVERSATION_TURNS at most */
	struct task_file *files; /* what its last program was given and what it wrote; owned */
	size_t file_count;
	struct context context; /* what its programs left; owned; without cells: nothing */
	size_t cells, from;	/* of that, before the last turn */
};

/* As it was after that run, however the log names it; NULL: the newest question that has an end and
 * is no replay. ERR_USAGE when that is none or there is none, ERR_LOG when the log cannot be read.
 */
int conversation_load(struct terminal *term, struct audit *audit, const char *run,
		      struct conversation *ret, struct error *err);
/* That its record gives what comes more than these limits, and what: it may be from elsewhere. */
void conversation_tell_limits(struct terminal *term, const struct context *context,
			      const struct sandbox_limits *limits);
/* That secrets were taken out of the record of what is made again, if any were. */
void conversation_tell_secrets(struct terminal *term, int64_t redactions);
/* Whether options ask for one, and for which: *ret_run, or NULL for the last. ERR_USAGE when they
 * ask for both. */
int conversation_choose(const struct options *o, bool *ret_wanted, const char **ret_run,
			struct error *err);
void conversation_release(struct conversation *c);

/* The first line of a question, cut to what is left of the terminal's line, which "…" says. Owned.
 */
char *conversation_title(const char *question, size_t used);
/* A turn that is about to be forgotten is said to be. */
void conversation_tell_dropped(struct terminal *term, const struct task_turn *turn);

/* Its turns and files become the task's, which may have files of its own: those of the same name
 * stay. Its context is lent to the task. */
void conversation_give(struct conversation *c, struct task *task);

#endif
