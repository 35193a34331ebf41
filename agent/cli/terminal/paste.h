/* What was pasted into a line in one piece: long texts stand in it as one word. */
#ifndef AGENT_PASTE_H
#define AGENT_PASTE_H

#include <stddef.h>

struct pastes {
	char **texts; /* owned; the Nth is called "[pasted N: M lines]" */
	size_t count;
};
void pastes_release(struct pastes *p);

/* What to put into the line for a pasted text: itself when it is short, else the word that stands
 * for it. The caller frees. */
char *pastes_fold(struct pastes *p, const char *text, size_t len);

/* The line with all that its words stand for; NULL when none stands for anything. The caller
 * frees. */
char *pastes_unfold(const struct pastes *p, const char *line);

#endif
