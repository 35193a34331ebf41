/* What is open already: standard input, a pipe of the shell's. */
#ifndef AGENT_PIPED_H
#define AGENT_PIPED_H

#include "agent/cli/settings.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* The descriptor that path names ("-", /dev/stdin, the /dev/fd/N of a <(…)); -1: none. */
int piped_descriptor(const char *path);

/* A file, or what path names of those: as io_read_file. A person may interrupt the wait for it, and
 * is told of it. */
int piped_read_file(const char *path, struct app *app, struct buf *out, struct error *err);

/* Is there anything to be read from standard input that no person types? A
 * closed one and one for writing only hold nothing. */
bool piped_stdin(void);

/* ERR_USAGE when the command line wants standard input to be two things. */
int piped_check_once(const struct settings *settings, struct error *err);
/* Does it name standard input anywhere, as the prompt, a file or the input? */
bool piped_is_taken(const struct settings *settings);

/* What a file given as path is called below /in, and where it is: "NAME=PATH"
 * is PATH as NAME, unless there is a file of that whole name. */
const char *piped_split_name(const char *path, char **ret_name);

#endif
