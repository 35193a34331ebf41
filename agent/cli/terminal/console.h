/* Watching a run on a terminal: the loop's progress, told on stderr. */
#ifndef AGENT_CONSOLE_H
#define AGENT_CONSOLE_H

#include "agent/cli/terminal/term.h"
#include "agent/loop.h"

struct console {
	int64_t began_ms; /* of the stage shown */
	size_t bytes;	  /* streamed in it */
	const char *label;
	int attempt;
	bool show_code, show_reasoning;
	bool reasoning; /* some was shown, and its line is not ended */
};

void console_progress(struct progress *ret, struct console *console);

/* Ends the line of reasoning that was shown, before anything else is. */
void console_end_reasoning(struct console *console);

/* A file the program wrote: saved where, or why not (artifacts_save). */
void console_artifact(const char *folder, const struct sandbox_artifact *a, const char *why_not);

/* The beginning of what a program printed. */
void console_output(const struct sandbox_stream *out);

/* The same of a run, unless its answer is just that. */
void console_evidence(const struct loop_result *result);

/* What the log cannot keep out, once for each time it was opened. */
void console_log(const struct audit *audit);

enum term_style console_status_style(enum run_status status);

/* The closing line of evidence: status, level, attempts, time, run. And why,
 * when it did not succeed. */
void console_conclusion(const struct loop_result *result);

#endif
