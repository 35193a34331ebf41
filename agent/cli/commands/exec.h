/* What assay exec does with a program, for one alone and for the cells of a context. */
#ifndef AGENT_EXEC_H
#define AGENT_EXEC_H

#include "agent/cli/session.h"
#include "base/buf.h"

#define CODE_BYTES_MAX ((size_t)16 << 20)

struct exec {
	const struct settings *settings;
	const char *path;   /* of the code, or "-" */
	const char *socket; /* of a server that runs it; NULL: it runs here */
	struct buf code;
	struct task_program program;
	struct task task;	  /* that program, its files and standard input */
	const char **argv, **env; /* NULL-terminated */

	struct sandbox *sandbox;
	struct audit *audit;
	struct live live;
	struct approver approver;
	struct loop loop;
	struct loop_result result;
	struct tools *tools; /* that its program may call; NULL: none */

	bool raw, stream;
	bool in_context;     /* other programs follow */
	char last_byte;	     /* of what was streamed */
	struct error output; /* the first failure to pass on what it printed */
};

/* --- agent/cli/commands/exec.c --- */
/* Files, standard input and variables of the command line. */
int exec_read_inputs(struct exec *x, struct error *err);
/* Whether programs in that language can call tools, where they are wanted. */
int exec_check_tools(const struct language *language, struct error *err);
int exec_read_screening(struct exec *x, struct error *err);
/* The question of its run in the log; caller frees. */
char *exec_title(const char *path);
int exec_open_ends(struct exec *x, struct error *err);
int exec_exit_code(const struct exec *x);
struct json *exec_json(const struct exec *x); /* caller frees */
void exec_tell(struct exec *x);		      /* how it ended, on one line */
/* Its exit code. */
int exec_could_not_begin(struct exec *x, const struct error *why);

/* --- agent/cli/commands/exec_context.c --- */
/* Every cell of every file, in order, each where the one before it ended; the exit code, or -1
 * with err. */
int exec_in_context(struct exec *x, struct error *err);

#endif
