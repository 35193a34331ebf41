/*
 * A line from a person: readline (GPL-3), loaded when first used, when built
 * for it; plain reading where it is missing or with make LINE_EDITOR=none.
 */
#ifndef AGENT_LINE_H
#define AGENT_LINE_H

#include "agent/cli/terminal/choices.h"
#include "agent/cli/terminal/paste.h"

#include <stdbool.h>

enum line_end {
	LINE_GIVEN,	  /* *ret_line is the text, the caller's */
	LINE_CLEARED,	  /* Ctrl-C: what was typed is gone */
	LINE_INTERRUPTED, /* Ctrl-C, and nothing was typed */
	LINE_EOF,	  /* Ctrl-D on an empty line */
};

/* Where the lines come from; the members are line.c's. */
struct line_source {
	struct terminal *term; /* which shows them; borrowed */
	int cancel_fd;	       /* becomes readable on Ctrl-C */
	int terminal;	  /* the terminal once more, for reads that never block; owned; or -1 */
	char *history;	  /* its file; owned; NULL: in memory only */
	bool interrupted; /* the line that is being read was given up */
	bool typed;	  /* and something stood in it */
	bool editor;	  /* readline reads them */
	struct chooser chooser; /* for Tab; find may be NULL */
	struct pastes pastes;
	char *folded; /* the last line as it was typed, when a paste is folded in it; owned */
};

/* Keeps history in a file (0600), across sessions; NULL path: in memory only. readline is
 * the process's: one source at a time. Until the source is closed what is typed while no line is
 * read waits, unseen, for the next one (keyboard.h). */
void line_open(struct line_source *s, struct terminal *term, int cancel_fd,
	       const char *history_path);
void line_close(struct line_source *s);

/* Enter sends; Alt-Enter and Ctrl-J start a new line; a paste never submits, and a long one stands
 * in the line as one word. */
enum line_end line_read(struct line_source *s, const char *prompt, char **ret_line);
void line_history_add(struct line_source *s, const char *line);

#endif
