/* The conversation of a terminal session. Internal to agent/. */
#ifndef AGENT_REPL_H
#define AGENT_REPL_H

#include "agent/session.h"

/* Files that a turn replaced, as they were; without bytes there was none. */
struct repl_files {
	struct task_file *files;	/* owned */
	size_t count;
};

struct repl {
	const struct settings *given;
	struct session session;
	char session_id[ULID_LEN + 1];
	struct task_turn *turns;	/* owned */
	struct repl_files *before;	/* owned; of each turn */
	size_t turn_count;
	struct task files;		/* attached, and the artifacts of turns before */
	char *last_question;		/* owned */
	struct loop_result last;	/* of the last question */
	bool has_last;
	char *tag;			/* owned */
	int64_t cost_micro_usd;
	struct llm_usage usage;
	bool quit;
};

/* One question through the loop; the answer on stdout. */
void repl_ask(struct repl *r, const char *question);

/* "/name argument" */
void repl_command(struct repl *r, const char *line);

/* --- agent/repl_turns.c --- */

/* The turn, and the files it wrote, for the questions to come. */
void repl_keep_turn(struct repl *r, const char *question, const struct loop_result *result);
/* The last turn is forgotten, and the files are as before it; false when there is none. */
bool repl_undo_turn(struct repl *r);
/* The conversation and its files are forgotten. */
void repl_reset(struct repl *r);

#endif
