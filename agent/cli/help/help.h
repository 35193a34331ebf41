/* Help texts, the man page and completions, all out of the tables. */
#ifndef AGENT_HELP_H
#define AGENT_HELP_H

#include "agent/cli/command.h"

/* To stdout; ERR_FAILED when it cannot be written. */
int help_program(struct terminal *term, struct error *err);
/* Of the subcommand of this name alone; of the command where it has none of that name, or name is
 * NULL. */
int help_subcommand(struct terminal *term, const struct command *command, const char *name,
		    struct error *err);
int help_version(struct terminal *term, struct error *err);

/* The options a command takes, grouped as in the table: each option_id once.
 * Returns the count; ret holds at most OPT_COUNT. */
size_t help_options(const struct command *command, const struct option_row **ret);

/* What the option is for, as the help, the man page and completions say it. */
void help_option_text(struct buf *out, const struct option_row *row);

/* What only some commands have to say: kinds of checks. Appends nothing for the others. */
void help_extra(const struct command *command, struct buf *out);

/* The man page in troff (man macros). */
void man_page(struct buf *out);

/* A completion script for bash, zsh or fish; -1 for another shell. */
int completion_script(const char *shell, struct buf *out);

#endif
