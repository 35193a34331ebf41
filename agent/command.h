/*
 * Commands: one table row each. main finds the row, parses options, loads
 * settings and calls run; a command returns its exit code, or fills err and
 * returns exit_code_of_error(err); main prints the error. Answers and JSON go
 * to stdout, everything else to stderr.
 */
#ifndef AGENT_COMMAND_H
#define AGENT_COMMAND_H

#include "agent/settings.h"
#include "agent/status.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

struct command {
	enum command_bit bit;
	const char *name;	/* "" for the REPL */
	const char *usage;	/* after the name: "[PROMPT|-]" */
	const char *summary;	/* one line */
	const char *details;	/* paragraphs for --help, or NULL */
	const char *example;	/* or NULL */
	int (*run)(const struct settings *settings, struct error *err);
};

/* Ends with a NULL name. */
extern const struct command command_table[];
const struct command *command_find(const char *name);

/* One per command, in agent/cmd_NAME.c. */
int cmd_repl(const struct settings *settings, struct error *err);
int cmd_ask(const struct settings *settings, struct error *err);
int cmd_batch(const struct settings *settings, struct error *err);
int cmd_replay(const struct settings *settings, struct error *err);
int cmd_log(const struct settings *settings, struct error *err);
int cmd_exec(const struct settings *settings, struct error *err);
int cmd_extract(const struct settings *settings, struct error *err);
int cmd_screen(const struct settings *settings, struct error *err);
int cmd_complete(const struct settings *settings, struct error *err);
int cmd_doctor(const struct settings *settings, struct error *err);
int cmd_models(const struct settings *settings, struct error *err);
int cmd_config(const struct settings *settings, struct error *err);
int cmd_completion(const struct settings *settings, struct error *err);

/* The whole program; returns the exit code. */
int command_main(int argc, char **argv);

/* A file descriptor that becomes readable on SIGINT or SIGTERM; made by
 * command_main, used as cancel_fd everywhere. command_signal says which came
 * (0: none); command_signal_clear forgets it (the REPL, after a Ctrl-C). */
int command_cancel_fd(void);
int command_signal(void);
void command_signal_clear(void);
/* Makes the descriptor readable without a signal. */
void command_cancel(void);
/* For a forked worker: a signal descriptor of its own, none pending. */
void command_signals_own(void);

/* The keeper's options: cache folder under $XDG_CACHE_HOME/assay. */
int command_open_sandbox(struct sandbox **ret, struct error *err);

/* Reads the one argument FILE or "-" (standard input) of extract, screen, exec:
 * ERR_USAGE when missing or more than one is given. */
struct buf;
int command_read_argument(const struct settings *settings, struct buf *out, struct error *err);

#endif
