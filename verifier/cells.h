/*
 * Cells: programs of one language that ran one after the other in one namespace, so that a later
 * one finds what the earlier ones left. Any backend can have such a state made again: in fresh
 * walls a harness of the language's row (verifier/lang/NAME/harness/context.*) runs the earlier
 * cells for nobody to see, each with the standard input it had, then the new one. Between two,
 * what is in /out goes to the work folder.
 *
 * What the harness reports was gathered where the cells run: it is the guest's word. It says
 * what there is, for a prompt; no outcome, check or level is decided by it.
 */
#ifndef VERIFIER_CELLS_H
#define VERIFIER_CELLS_H

#include "base/json.h"
#include "sandbox/sandbox.h"

#include <stdbool.h>
#include <stddef.h>

/* One that happened; borrowed. */
struct cell {
	const char *code;
	size_t len;
	const char *stdin_bytes; /* NULL: none */
	size_t stdin_len;
	const char *printed;	 /* SHA-256 of its standard output, hex; NULL: not known */
	const char *const *left; /* names of files that it left; NULL-terminated, or NULL */
};

/* The files that a job of TESTS_CELL (verifier/tests.h) takes of them. */
struct cells {
	const struct cell *list; /* oldest first; borrowed */
	size_t count;
	struct sandbox_file *files; /* owned, with their paths */
	size_t file_count, named;
};

/* Adds them to the extras of job, which points at what c owns from then on. */
void cells_add(struct cells *c, struct sandbox_job *job);
void cells_release(struct cells *c);

/* What the new one is called in errors: "cell 3". */
#define CELL_NAME_SIZE 24
void cells_name(size_t before, char ret[CELL_NAME_SIZE]);

/* --- the report; NULL is one, too: of a program that ended its interpreter itself --- */

/* Whether there is a state now that a later cell may start from. */
bool cells_kept(const struct json *report);
/* The number of an earlier cell that failed when it was run again; 0: none. */
size_t cells_broken(const struct json *report);
/* The number of the first of them that printed something else than it did; 0: none. */
size_t cells_differ(const struct json *report, const struct cell *list, size_t count);
/* What is there, in lines for a prompt: names with what they are, files; at most max bytes.
 * "" when nothing is. Caller frees. */
char *cells_describe(const struct json *report, size_t max);
/* Whether it wrote a file of that name to /out, which an earlier one may have left, too. */
bool cells_wrote(const struct json *report, const char *path);
/* What runs on beside the cell or is open, in words; NULL: nothing. Caller frees. */
char *cells_left(const struct json *report);

/*
 * Whether one of them could decide what a program after it seems to do: it rebinds what prints
 * or compares, reaches into modules, or leaves something running (`forges` of the language's
 * row). Told by their text alone, where no guest has been, and rather too often than too seldom.
 * NULL: none; else which, and by what words. Caller frees.
 */
char *cells_forge(const struct language *language, const struct cell *list, size_t count);
/* Leaves those out that could: their len is 0 then. Whole cells, and never a part of one: what is
 * left of a text is another text, which nobody has screened. */
void cells_leave_out(const struct language *language, struct cell *list, size_t count);

/* Whether a program loads a file of that name below /in where it imports something, which a cell of
 * another language may have left there. */
bool cells_load(const struct language *language, const char *path);

/* What a program must do after the i-th of them, where no context does it: lines that copy what
 * that one wrote to /out and a later one names. "" for nothing; caller frees. */
char *cells_after(const struct language *language, const struct cell *list, size_t count, size_t i);
/* All of them and then code as one program, as it would be written without a context; caller
 * frees. */
char *cells_join(const struct language *language, const struct cell *list, size_t count,
		 const char *code, size_t len, size_t *ret_len);

/* --- which of them does the last one need? (verifier/cells_slice.c) --- */

struct slice {
	bool *used; /* of each, the last one too; owned */
	size_t count;
	char *program; /* those as one program, the last value shown as in the context; owned */
	size_t len;
	char *why_all; /* why none is left out, in words; owned; NULL: some could be */
};

/* Told from the names that they read and set, in the sandbox; nothing of them runs. With all, or
 * where that cannot be told, all are used. Of bash those alone are left out that do nothing but
 * print, and set what nothing later names. */
void cells_slice(struct sandbox *sandbox, int cancel_fd, const struct language *language,
		 const struct cell *list, size_t count, bool all, struct slice *ret);
void slice_release(struct slice *s);
#define cleanup_slice __attribute__((cleanup(slice_release)))

#endif
