/*
 * The terminal: colour, one live status line on stderr, and text from outside
 * made harmless. stdout is written with term_out, which reports a full disk or
 * a closed pipe instead of losing the answer.
 */
#ifndef AGENT_TERM_H
#define AGENT_TERM_H

#include "agent/cli/terminal/style.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A terminal shows what was written before the rest of a character came as
 * garbage: its beginning waits here. */
struct term_held {
	char bytes[4];
	size_t len;
};

/* Live lines at most. */
#define TERM_BLOCK_MAX 128

/* Of quiet. */
#define TERM_QUIET  1U
#define TERM_HUSHED 2U

/*
 * What is known of the terminal, and what stands on its last line. Zeroed it is one that has
 * no colour and nothing on it. Standard output and error are the process's; what is known of them
 * is the caller's (struct app), who says with each call which one it writes to.
 */
struct terminal {
	bool color, out_color, out_visible;
	unsigned quiet; /* TERM_QUIET: as the user said; TERM_HUSHED: till it is taken back */
	bool reader_left;
	size_t block_lines;			     /* of the live block that is shown */
	unsigned short block_widths[TERM_BLOCK_MAX]; /* and how wide each was drawn */
	struct term_held out, guest;
};

/* Colour on stderr; on stdout none until term_set_out. */
void term_set(struct terminal *term, bool color, bool quiet);
/* Quiet beside what term_set says, till it is taken back; returns what was before. */
bool term_hush(struct terminal *term, bool hushed);
void term_set_out(struct terminal *term, bool color);
/* Whether stderr has. */
bool term_has_color(const struct terminal *term);
/* From now on what stdout is given is made visible through a pipe too: text about hostile
 * text, for people (less -R obeys it, and so does a terminal that is shown the file). */
void term_set_out_visible(struct terminal *term);

/* printf to stderr in a style, control characters made visible; nothing when quiet
 * (term_error always prints). */
void term_note(struct terminal *term, enum term_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same as a line of its own, from column at on: on a terminal it is broken between words. */
void term_line(struct terminal *term, enum term_style style, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A question that waits for an answer: shown even when quiet. */
void term_ask(struct terminal *term, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void term_error(struct terminal *term, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Bytes from outside to stderr, control characters made visible; nothing when quiet. */
void term_visible(struct terminal *term, const char *bytes, size_t len);

/* The guest's own stderr: made visible on a terminal, exact elsewhere; never quiet. */
void term_guest_stderr(struct terminal *term, const char *bytes, size_t len);

/* The live line of a stage that takes its time: text, and every second how long
 * it has taken, until the next output of this module. Where lines cannot be replaced
 * (TERM=dumb) it is a line like others. */
void term_busy(struct terminal *term, const char *text);

/* The same below other live lines, which say what came so far; began_ms is clock_mono_ms's. Silent
 * where lines cannot be replaced. */
void term_live(struct terminal *term, const char *const *lines, size_t count, const char *status,
	       int64_t began_ms);

/* The live line: replaced in place on a terminal that can, silent elsewhere. NULL erases it. */
void term_status(struct terminal *term, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Live lines, as many as fit, replaced in place on a terminal that can, until the next
 * output of this module; silent elsewhere. */
void term_block(struct terminal *term, const char *const *lines, size_t count);
/* Whether there is such a terminal, and it is not to be quiet. */
bool term_can_block(const struct terminal *term);

/*
 * stdout: -1 with err on a write error (ERR_FAILED). When stdout is a terminal, or after
 * term_set_out_visible, the text is made visible first; else bytes go out as they are. A character
 * split between two calls is held back until its rest comes, or term_out_end.
 */
/* Who read standard output went away (log show | head): what there is left to say of
 * that is the exit code. */
bool term_reader_left(const struct terminal *term);

int term_out(struct terminal *term, const char *bytes, size_t len, struct error *err);
int term_outf(struct terminal *term, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* One JSON document and a newline. On a terminal it is the same document still:
 * what must not reach a terminal is written as escapes. */
int term_out_json(struct terminal *term, const char *json, struct error *err);
/* As term_outf in a style, when stdout has colour. */
int term_out_style(struct terminal *term, enum term_style style, struct error *err, const char *fmt,
		   ...) __attribute__((format(printf, 4, 5)));
/* Whatever was held back. */
int term_out_end(struct terminal *term, struct error *err);

/* Columns of the terminal on stderr or stdout, asked of the system each time; 80 when there is
 * none. */
size_t term_columns(void);
/* And its rows; 24 when there is none. */
size_t term_rows(void);

/* Code to stderr, coloured by language, control characters made visible;
 * nothing when quiet. Ends with a newline. */
void term_code(struct terminal *term, const char *lang, const char *code, size_t len);

/* Code to stdout, coloured by language when stdout has colour. */
int term_out_code(struct terminal *term, const char *lang, const char *code, size_t len,
		  struct error *err);

#endif
