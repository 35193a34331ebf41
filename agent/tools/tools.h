/*
 * Tools that the programs of runs may call, live: what the user's configuration names, commands
 * and servers of the Model Context Protocol. README.md here says how.
 */
#ifndef AGENT_TOOLS_TOOLS_H
#define AGENT_TOOLS_TOOLS_H

#include "agent/loop.h"

/* A section of the configuration; strings are borrowed until tools_close. */
struct tools_row {
	const char *name;
	bool is_server;
	const char *command;	 /* split into arguments without a shell */
	const char *description; /* of a command; or NULL */
	const char *arguments;	 /* of a command, its JSON Schema; or NULL */
	const char *env;	 /* names of variables that it gets, by commas; or NULL */
	/* Of a command: SCREEN_ALLOW, SCREEN_CONFIRM, SCREEN_DENY. */
	enum screen_action action;
	/* Of a server: names of its tools and globs of them, by commas; or NULL. What none names
	 * is to be confirmed. Denied wins over confirm, and that over allowed. */
	const char *allow, *confirm, *deny;
	const char *keys;   /* globs of those that it is for (tools_for), by commas; NULL: all */
	int64_t timeout_ms; /* of a call, and of a server's start */
};

struct tools_options {
	const struct tools_row *rows; /* copied */
	size_t count;
	int64_t calls, bytes; /* of a run, as struct tool_ops' */
	int cancel_fd;
};

struct tools;

/* Starts nothing: a command is started for each call, a server when it is needed first. */
struct tools *tools_open(const struct tools_options *options);
void tools_close(struct tools *t); /* ends what it started; NULL is allowed */
/* From now on they are for who has the key of that name (borrowed until the next); NULL: for the
 * user himself, who has all. */
void tools_for(struct tools *t, const char *key);
/* The end of a loop; borrowed until tools_close. One run at a time. */
const struct tool_ops *tools_end(struct tools *t);

#endif
