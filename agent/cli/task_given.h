/* Tasks as people give them: by the command line, or in files of JSONL, CSV, or one
 * prompt per line. */
#ifndef AGENT_TASK_GIVEN_H
#define AGENT_TASK_GIVEN_H

#include "agent/cli/settings.h"
#include "agent/task.h"
#include "base/json.h"

/* A line of a batch file, read or refused. */
struct task_line {
	size_t line;	     /* of the file, from 1 */
	char *id;	     /* given, or "line-N"; owned */
	struct json *object; /* as read, unknown keys kept; NULL when refused; owned */
	char *problem;	     /* why refused, with the line number; owned; NULL when fine */
};

struct task_lines {
	struct task_line *lines;
	size_t count;
	char *unknown; /* a sentence about keys that are not known; owned; NULL: none */
};

/* Reads a batch file, "-" standard input, by its extension (.jsonl .ndjson .json .csv
 * .tsv .tab .txt) or, with another, by how it begins; what is nothing else is one
 * prompt per line. map: the values of --map. Bad lines are kept as problems; only an
 * unreadable file or header, and a map that does not fit, fail. The second line of an
 * id is a problem, and named line-N. */
int task_lines_read(struct task_lines *ret, const char *path, const struct option_values *map,
		    struct error *err);
void task_lines_release(struct task_lines *t);

/* The prompt of ask and complete: the arguments joined by blanks, or standard
 * input for "-" or when it is no terminal and there are none. */
int task_prompt_argument(struct task *task, const struct options *options, struct error *err);

/* How files are taken. */
struct task_taking {
	struct app *app;    /* whose signals end the wait for a pipe */
	int64_t keep_bytes; /* a file up to this is read, and the log has it whole */
	int64_t keep_image; /* the same of an image: what a model is sent, the log has */
	const char *log;    /* its path, which no program is given; or NULL */
};
struct task_taking task_taking_of(const struct settings *settings);

/* Where a task's files may be. */
struct task_place {
	const char *folder;	    /* of the task file: relative paths begin there */
	const char *const *allowed; /* other folders, by --files-from */
	size_t allowed_count;
	struct task_taking taking;
};

/* The keys of a task; the batch itself reads id, limits and tags. */
extern const char *const task_keys[];
extern const size_t task_key_count;
bool task_key_known(const char *key);

/* A task of an object: prompt, lang, files, stdin, tests, expect or expected, checks.
 * expect may be the output as a text, or its last number; expected may be the same, and
 * a number written as a text is a number in it. A value not understood is an error that
 * names its key; keys not known go to extra. */
int task_from_json(struct task *ret, const struct json *object, const char *id,
		   const struct task_place *place, struct error *err);
/* One of those files: ERR_USAGE when it is anywhere else, whatever links lead
 * there, or is the kernel's. */
int task_add_named(struct task *task, const struct task_place *place, const char *path,
		   struct error *err);

/* A file or a folder under its own last name, or the one it is given (NAME=PATH), a pipe of the
 * shell's and standard input ("-") too: ERR_FAILED as io_read_file, input_open_path and
 * input_open_fd, ERR_USAGE for a name that nothing tells apart from another's, ERR_CANCELLED when
 * cancel_fd is readable. */
int task_add_file(struct task *task, const char *path, const struct task_taking *t,
		  struct error *err);
/* The same, or all that a pattern fits. */
int task_add_path(struct task *task, const char *path, const struct task_taking *t,
		  struct error *err);
/* The same of what is open as fd; given: its name, or NULL. */
int task_add_open(struct task *task, const char *given, const char *path, int fd,
		  const struct task_taking *t, struct error *err);
/* Standard input of the program: path as for task_add_file. */
int task_set_stdin(struct task *task, const char *path, struct app *app, struct error *err);
/* The same of what is piped into ask beside a prompt and is nothing else; none
 * when it is empty, and the person is told when it is not. */
int task_take_piped(struct task *task, const struct settings *settings, struct error *err);
/* Those of the command line: -f, each a file, a folder or a pattern. */
int task_add_files(struct task *task, const struct settings *settings, struct error *err);

/* The checks of the command line: --expect and its kin. */
int task_add_flags(struct task *task, const struct settings *settings, struct error *err);

#endif
