/* What the completion scripts of all shells have in common. Internal to agent/cli/help/. */
#ifndef AGENT_COMPLETION_H
#define AGENT_COMPLETION_H

#include "agent/cli/help/help.h"

/* What stands after an option, or after a command's name. */
enum takes { TAKES_NOTHING, TAKES_WORDS, TAKES_FILES, TAKES_RUNS, TAKES_CONTEXTS, TAKES_TEXT };

/* Of an option's value; its words, blanks between them, are added to words. */
enum takes completion_value(const struct option_row *row, struct buf *words);
/* Of a command's arguments, the same. */
enum takes completion_arguments(const struct command *c, struct buf *words);
/* Of a subcommand's. */
enum takes completion_topic_arguments(const char *topic);

/* "--file -f --json", of a command; and the commands' names. */
void completion_options(struct buf *out, const struct command *c);
void completion_commands(struct buf *out);
/* "--file|-f", every option whose value is such, as a pattern of case; nothing when none is. */
void completion_pattern(struct buf *out, enum takes takes);
/* Of one. */
void completion_names(struct buf *out, const struct option_row *row, const char *between);

/* How runs are listed, the newest first, to be cut to their ids. */
#define COMPLETION_RUNS	   "log list --limit 40 2>/dev/null"
#define COMPLETION_ID_SIZE 8
/* And contexts, a name a line. */
#define COMPLETION_CONTEXTS "log contexts 2>/dev/null"

/* The scripts. */
void completion_bash(struct buf *out);
void completion_zsh(struct buf *out);
void completion_fish(struct buf *out);

#endif
