/* Tasks out of files: JSONL, CSV, or one prompt per line. */
#ifndef AGENT_TASK_H
#define AGENT_TASK_H

#include "agent/loop.h"
#include "base/json.h"

/* A line of a batch file, read or refused. */
struct task_line {
	size_t line;		/* of the file, from 1 */
	char *id;		/* given, or "line-N"; owned */
	struct json *object;	/* as read, unknown keys kept; NULL when refused; owned */
	char *problem;		/* why refused, with the line number; owned; NULL when fine */
};

struct task_lines {
	struct task_line *lines;
	size_t count;
};

/* Reads a batch file by its extension (.jsonl .ndjson .csv, else one prompt
 * per line). Bad lines are kept as problems; only an unreadable file fails.
 * The second line of an id is a problem, and named line-N. */
int task_lines_read(struct task_lines *ret, const char *path, struct error *err);
void task_lines_release(struct task_lines *t);

/* Prompt text must be UTF-8, not blank, and within a megabyte. */
int task_set_prompt(struct task *task, const char *text, size_t len, const char *where,
		    struct error *err);

/* The prompt of ask and complete: the arguments joined by blanks, or standard
 * input for "-" or when it is no terminal and there are none. */
int task_prompt_argument(struct task *task, const struct options *options, struct error *err);

/* A task of an object: prompt, lang, files (relative to folder), stdin, tests,
 * expect, checks. A value not understood is an error that names its key; keys
 * not known go to extra. */
int task_from_json(struct task *ret, const struct json *object, const char *id, const char *folder,
		   struct error *err);

/* Reads path into files under its own base name: ERR_FAILED as io_read_file,
 * ERR_USAGE for a name given twice. */
int task_add_file(struct task *task, const char *path, struct error *err);
/* Those of the command line: -f. */
int task_add_files(struct task *task, const struct settings *settings, struct error *err);

/* The checks of the command line: --expect and its kin. */
int task_add_flags(struct task *task, const struct settings *settings, struct error *err);

#endif
