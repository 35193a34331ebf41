/*
 * Commands: one table row each. The program (agent/cli/program.h) finds the row, parses
 * options, loads settings and calls run; a command returns its exit code, or fills err and
 * returns exit_code_of_error(err); the program prints the error. Answers and JSON go
 * to stdout, everything else to stderr.
 */
#ifndef AGENT_COMMAND_H
#define AGENT_COMMAND_H

#include "agent/cli/app.h"
#include "agent/cli/settings.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/signals.h"
#include "audit/audit.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

/* A subcommand, for its help. */
#define TOPIC_OPTIONS_MAX 16
struct command_topic {
	const char *name, *usage, *summary, *details, *example; /* as of a command */
	enum option_id options[TOPIC_OPTIONS_MAX]; /* beside those in general; ends with OPT_HELP */
};

struct command {
	enum command_bit bit;
	const char *name;    /* "" for the REPL */
	const char *usage;   /* after the name: "[PROMPT|-]" */
	const char *summary; /* one line */
	const char *details; /* paragraphs for --help, or NULL */
	const char *example; /* or NULL */
	int (*run)(const struct settings *settings, struct error *err);
	const struct command_topic *topics; /* ends with a NULL name; or NULL */
};
extern const struct command_topic log_topics[]; /* agent/cli/log/topics.c */

/* Ends with a NULL name. */
extern const struct command command_table[];
const struct command *command_find(const char *name);

/* One per command, a row each in command_table.c. */
int cmd_repl(const struct settings *settings, struct error *err);
int cmd_ask(const struct settings *settings, struct error *err);
int cmd_batch(const struct settings *settings, struct error *err);
int cmd_replay(const struct settings *settings, struct error *err);
int cmd_compare(const struct settings *settings, struct error *err);
int cmd_log(const struct settings *settings, struct error *err);
int cmd_exec(const struct settings *settings, struct error *err);
int cmd_extract(const struct settings *settings, struct error *err);
int cmd_screen(const struct settings *settings, struct error *err);
int cmd_complete(const struct settings *settings, struct error *err);
int cmd_doctor(const struct settings *settings, struct error *err);
int cmd_models(const struct settings *settings, struct error *err);
int cmd_config(const struct settings *settings, struct error *err);
int cmd_mcp(const struct settings *settings, struct error *err);
int cmd_serve(const struct settings *settings, struct error *err);
int cmd_completion(const struct settings *settings, struct error *err);

/* The policy's sandbox, with its cache under $XDG_CACHE_HOME/assay, with the environment of the
 * user's own that it names, and as many interpreters that wait at most. */
int command_open_sandbox_of(struct sandbox **ret, const struct policy *policy,
			    const struct settings *settings, size_t warm, struct error *err);
/* The same, which keeps as many states of a context at most; one of several that have as many
 * waiting together: all that are given that count (NULL: it is alone). */
int command_open_sandbox_among(struct sandbox **ret, const struct policy *policy,
			       const struct settings *settings, size_t warm, size_t states,
			       struct sandbox_warm_count *count, struct error *err);
/* Without any that waits; a container or a machine stays for all that is run in it. */
int command_open_sandbox_cold(struct sandbox **ret, const struct policy *policy,
			      const struct settings *settings, struct error *err);
/* To see what it can hold, whatever that is. */
int command_open_sandbox_to_look(struct sandbox **ret, const struct policy *policy,
				 const struct settings *settings, struct error *err);
/* The same for one job. */
int command_open_sandbox_once(struct sandbox **ret, const struct policy *policy,
			      const struct settings *settings, struct error *err);
/* And where a server of the user's listens, there (sandbox_open_at); a line says when not. */
int command_open_sandbox_at(struct sandbox **ret, const struct policy *policy,
			    const struct settings *settings, const char *socket, struct error *err);

/* What a command does with the log: only one that records runs makes it. LOG_CARRY reads one that
 * came from elsewhere: a bundle, a shard's. */
enum log_use { LOG_READ, LOG_CARRY, LOG_CHANGE, LOG_RECORD, LOG_RECORD_ONE };

/* Opens the log of the settings with every secret known for redaction. Its
 * queries end when the user interrupts, and, but for runs recorded (which have
 * deadlines of their own: audit_set_stop), by --deadline. */
int command_open_log(struct audit **ret, const struct settings *settings, enum log_use use,
		     struct error *err);
/* Closes a log that runs were recorded in, before the command ends with code; another code, and
 * err, when not all of it is on the disk. NULL allowed. */
int command_finish_log(struct audit *audit, int code, struct error *err);

/* Reads the one argument FILE or "-" (standard input) of extract, screen, exec:
 * ERR_USAGE when missing or more than one is given. */
struct buf;
int command_read_argument(const struct settings *settings, struct buf *out, struct error *err);

#endif
