/*
 * The terminal: colour, one live status line on stderr, and text from outside
 * made harmless. stdout is written with term_out, which reports a full disk or
 * a closed pipe instead of losing the answer.
 */
#ifndef AGENT_TERM_H
#define AGENT_TERM_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum term_style { TERM_PLAIN, TERM_BOLD, TERM_DIM, TERM_RED, TERM_GREEN, TERM_YELLOW, TERM_BLUE,
		  TERM_CYAN };

/* Colour on stderr; on stdout none until term_set_out. */
void term_set(bool color, bool quiet);
void term_set_out(bool color);

/* printf to stderr in a style; nothing when quiet (term_error always prints). */
void term_note(enum term_style style, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A question that waits for an answer: shown even when quiet. */
void term_ask(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void term_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Bytes from outside to stderr, control characters made visible; nothing when quiet. */
void term_visible(const char *bytes, size_t len);

/* The guest's own stderr: made visible on a terminal, exact elsewhere; never quiet. */
void term_guest_stderr(const char *bytes, size_t len);

/* The live line of a stage that takes its time: text, and every second how long
 * it has taken, until the next output of this module. */
void term_busy(const char *text);

/* The live line: replaced in place on a terminal, silent elsewhere. NULL erases it. */
void term_status(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * stdout: -1 with err on a write error (ERR_FAILED). When stdout is a terminal
 * the text is made visible first; else bytes go out as they are. A character
 * split between two calls is held back until its rest comes, or term_out_end.
 */
int term_out(const char *bytes, size_t len, struct error *err);
int term_outf(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same in a style, when stdout has colour. */
int term_out_style(enum term_style style, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Whatever was held back. */
int term_out_end(struct error *err);

/* Columns of the terminal on stderr or stdout; 80 when there is none. */
size_t term_columns(void);

/* Code to stderr, coloured by language, control characters made visible;
 * nothing when quiet. Ends with a newline. */
void term_code(const char *lang, const char *code, size_t len);

/* Code to stdout, coloured by language when stdout has colour. */
int term_out_code(const char *lang, const char *code, size_t len, struct error *err);

#endif
