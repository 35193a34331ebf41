/* Watching a run on a terminal: the loop's progress, told on stderr. */
#ifndef AGENT_CONSOLE_H
#define AGENT_CONSOLE_H

#include "agent/cli/terminal/stream.h"
#include "agent/cli/terminal/term.h"
#include "agent/loop.h"

struct console {
	struct terminal *term; /* borrowed */
	struct stream stream;  /* of the stage shown */
	const char *label;
	int attempt;
	char *approach; /* that was told of this run; owned */
	char *code;	/* that was shown last; owned */
	size_t code_len;
	bool show_code, show_reasoning;
	bool reasoning; /* some was shown, and its line is not ended */
};

void console_progress(struct progress *ret, struct console *console);
void console_release(struct console *console);
/* Another run begins: nothing was shown of it. */
void console_begin(struct console *console);

/* Ends the line of reasoning that was shown, before anything else is. */
void console_end_reasoning(struct console *console);

/* A file the program wrote: saved where, or why not (artifacts_save). */
void console_artifact(struct terminal *term, const char *folder, const struct sandbox_artifact *a,
		      const char *why_not);

/* The beginning of what a program printed: on a terminal a few lines, cut to its width. whole: the
 * command that prints all of it, here and below. */
void console_output(struct terminal *term, const struct sandbox_stream *out, const char *whole);
/* All of it, as it was printed, on standard output, and after it what the program noted on its
 * standard error: 0, or -1 with err. */
int console_whole_output(struct terminal *term, const struct sandbox_result *result,
			 struct error *err);
/* The answer, on standard output. On a terminal, one that is the output itself is folded like
 * an output when it is very long, and a table that is too wide is cut to the width. */
int console_answer(struct terminal *term, const struct loop_result *result, const char *whole,
		   struct error *err);

/* The same of a run, unless its answer is just that. */
void console_evidence(struct terminal *term, const struct loop_result *result, const char *whole);

/* What the log cannot keep out, once for each time it was opened. */
void console_log(struct terminal *term, const struct audit *audit);

enum term_style console_status_style(enum run_status status);

/* The closing line of evidence: status, level, attempts, time, run. And why,
 * when it did not succeed. */
void console_conclusion(struct terminal *term, const struct loop_result *result);

#endif
