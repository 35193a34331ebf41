/*
 * Cells of a notebook: beside lines of its language those that only notebooks have, of a shell
 * (!command, name = !command), magics (%name, %%name) and questions (name?). What each becomes in
 * the language, its writer says.
 */
#ifndef AGENT_NOTEBOOK_H
#define AGENT_NOTEBOOK_H

#include "base/buf.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

enum notebook_kind {
	NOTEBOOK_COMMAND, /* !TEXT */
	NOTEBOOK_CAPTURE, /* name = !TEXT; what stands before the "!" is written already */
	NOTEBOOK_MAGIC,	  /* %WORD TEXT; of %%WORD the word begins with a "%" */
	NOTEBOOK_HELP,	  /* TEXT? */
	NOTEBOOK_SCRIPT,  /* the cell is a program of the shell; WORD: what else its first line has
			   */
	NOTEBOOK_FILE,	  /* the cell is TEXT for the file WORD */
};

struct notebook_line {
	enum notebook_kind kind;
	size_t number;	  /* of the cell's lines, from 1 */
	const char *word; /* not ended; NULL: none */
	size_t word_len;
	const char *text; /* not ended; with line ends where it goes on over them */
	size_t len;
};

/* Writes what it means, without an end of line in it; -1: it means nothing here. */
typedef int notebook_writer(void *self, const struct notebook_line *line, struct buf *out,
			    struct error *err);

/* A cell as its language has it; each of its lines stays the line that it is. -1 with what the
 * writer said. Caller frees. */
int notebook_cell(const char *code, notebook_writer *write, void *self, char **ret,
		  struct error *err);
/* Whose cells these are. */
const struct language *notebook_language(void);
/* As that language writes a string. */
void notebook_quote(struct buf *out, const char *text, size_t len);

#endif
