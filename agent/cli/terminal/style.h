/* How a piece of text stands out on a terminal that has colours. */
#ifndef AGENT_STYLE_H
#define AGENT_STYLE_H

enum term_style {
	TERM_PLAIN,
	TERM_BOLD,
	TERM_DIM,
	TERM_RED,
	TERM_GREEN,
	TERM_YELLOW,
	TERM_BLUE,
	TERM_CYAN
};

#endif
