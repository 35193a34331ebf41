/* A person's short answer, at the terminal. */
#ifndef AGENT_QUESTION_H
#define AGENT_QUESTION_H

#include <stddef.h>

/* One line of standard input, cut to size - 1 bytes: 1; 0 at its end; -1 when cancel_fd (-1:
 * there is none) became readable first. The question is for the caller to ask (term_ask). */
int question_read(int cancel_fd, char *line, size_t size);

#endif
