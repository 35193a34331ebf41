/*
 * A line from a person: readline (GPL-3), loaded when first used, when built
 * for it; plain reading where it is missing or with make LINE_EDITOR=none.
 */
#ifndef AGENT_LINE_H
#define AGENT_LINE_H

#include <stdbool.h>

enum line_end {
	LINE_GIVEN,		/* *ret_line is the text, the caller's */
	LINE_INTERRUPTED,	/* Ctrl-C: what was typed is gone */
	LINE_EOF,		/* Ctrl-D on an empty line */
};

/* Enter sends; Alt-Enter and Ctrl-J start a new line; a paste never submits.
 * cancel_fd becomes readable on Ctrl-C. */
enum line_end line_read(const char *prompt, int cancel_fd, char **ret_line);

/* Keeps history in a file (0600), across sessions; NULL path: in memory only. */
void line_history_open(const char *path);
void line_history_add(const char *line);

#endif
