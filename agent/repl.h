/* The conversation of a terminal session. Internal to agent/. */
#ifndef AGENT_REPL_H
#define AGENT_REPL_H

#include "agent/session.h"

struct repl {
	const struct settings *given;
	struct session session;
	char session_id[ULID_LEN + 1];
	struct task_turn *turns;	/* owned */
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

/* The conversation and its files are forgotten. */
void repl_reset(struct repl *r);

#endif
