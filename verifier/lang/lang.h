/*
 * A language is one row: all that is particular to it outside the sandbox. The row is
 * defined in verifier/lang/NAME/NAME.c and listed in verifier/lang/list.c; what starts
 * and probes its interpreter is the row of the same name in sandbox/language.c. Nobody
 * compares names of languages: who needs to know something of one asks its row.
 *
 * All paths are below verifier/lang/NAME/. What a language has not is left out: a row
 * without a reader is screened by its patterns alone, one without a harness cannot be
 * tested, one without an outline is never joined from several blocks.
 */
#ifndef VERIFIER_LANG_H
#define VERIFIER_LANG_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct lexer;
struct outline_row;

/* --- the reader: what its own parser says (verifier/screen/tree.h) --- */

#define LANG_PARTS_MAX 16

/* A piece of a reader's program, between two texts that make a literal of what is data. */
struct lang_part {
	const char *path; /* in the language's folder; with a "/" before it, in the one above */
	const char *before, *after; /* NULL: nothing */
};

struct lang_reader {
	const char *runs;	  /* the language it is written in; NULL: there is none */
	const char *const *flags; /* of its interpreter; NULL: as usual */
	struct lang_part parts[LANG_PARTS_MAX]; /* one program; up to the first without a path */
	const char *files[LANG_PARTS_MAX];	/* beside it, from reader/; up to NULL */
	const char *many; /* argument that makes it serve (sandbox_ask); NULL: it cannot */
};

/* --- the harness: deciding tests (verifier/tests.h) --- */

/* What one mode runs: sources, one after the other, and the file they become beside
 * the program. */
#define LANG_SOURCES_MAX 7
struct lang_entry {
	const char *source[LANG_SOURCES_MAX];
	const char *file;	  /* NULL: the language has not this mode */
	const char *const *flags; /* of its interpreter; NULL: as usual */
	bool holds;		  /* its state can be copied (sandbox.h) */
};

/*
 * Patterns of a cell that could decide what later ones seem to do, by where they are looked for
 * in a text that can be read in one way only (`sure`); in any other all are looked for in all of
 * it. Lists end with NULL; no list at all: any cell could.
 */
struct lang_forges {
	const char *const *code; /* outside of strings and comments */
	const char *const *text; /* in strings, too */
	const char *const *flat; /* outside of brackets, strings and comments */
	/* What no pattern can follow, outside of strings and comments; NULL: nothing. */
	bool (*hands_on)(const char *code, size_t len, size_t *ret_start, size_t *ret_end);
	/* Names below /in that are loaded for what a program imports; NULL: none is. */
	const char *loads;
};

struct lang_harness {
	struct lang_entry program, judge, together, show;
	struct lang_entry context; /* cells in one namespace (verifier/cells.h) */
	const char *copy; /* a line that copies the file @ of /out, if it is there, to where the
			   * program is */
	/* Which of them a last one needs, as one program: sources, one after the other; none: all.
	 * In the language that they run in; NULL: its own. */
	const char *slice[LANG_SOURCES_MAX], *slice_runs;
	struct lang_forges forges;
	const char *tests; /* beside the program: the tests; NULL: none can be run */
	bool stubs;	   /* can empty the program's functions itself */
};

/* --- what a program only shows, kept as files (verifier/shown.h) --- */

/* A module that the interpreter finds in a folder of a variable's and loads before a
 * program that has one of the words in it. */
struct lang_shown {
	const char *source;	  /* NULL: the language has none */
	const char *file;	  /* as the interpreter finds it, in the work folder */
	const char *variable;	  /* of the environment; a job that sets it is left alone */
	const char *const *words; /* NULL-terminated */
};

/* --- what a program calls tools with while it runs (agent/calls.h) --- */

struct lang_calls {
	const char *source; /* NULL: its programs cannot */
	const char *file;   /* beside the program */
	const char *use;    /* how, in words to a model */
};

/* --- errors (verifier/failure.h) --- */

/* How the language reports an error. In `frame`, %s is the program's file name, quoted
 * for the pattern. All patterns are multi-line. */
struct lang_report {
	const char *start;     /* the report begins at its last match; NULL: at the top */
	const char *unstarted; /* as error, where there is no start; NULL: error itself */
	const char *error;     /* group 1: type (may be empty), group 2: message */
	bool last_error;       /* the last match after start counts, else the first */
	const char *frame;     /* group 1: line, group 2: column */
	bool last_frame;       /* the deepest frame is the last one, else the first */
	bool own_frame;	       /* only what follows the message is looked at for frames */
	size_t caret_margin;   /* blanks before the line that a caret stands below */
	const char *syntax;    /* of "type: message" */
	const char *import;    /* of "type: message"; group 1: what is missing */
	const char *memory;    /* of "type: message" */
};

/* Where to look, told by what the error says: each has one text in verifier/failure.c. */
enum lang_advice {
	LANG_ADVICE_KIND,
	LANG_ADVICE_NAME,
	LANG_ADVICE_ITEM,
	LANG_ADVICE_FORM,
	LANG_ADVICE_DIVISION,
	LANG_ADVICE_RECURSION,
	LANG_ADVICE_ASSERTION,
	LANG_ADVICE_FILE,
	LANG_ADVICE_INPUT,
	LANG_ADVICE_MOVE,
	LANG_ADVICE_COUNT,
};

/* --- replies (verifier/reply/) --- */

struct lang_tag {
	const char *name, *open, *close;
};

/* Words that lead to the language in what a model writes; lists end with NULL. */
struct lang_reply {
	const char *strong;	      /* no prose starts a line like this */
	const char *line;	      /* every other line at the margin */
	const char *files;	      /* extensions as a pattern: "m?js" */
	const char *const *members;   /* of a tool call, that hold code in it */
	const char *const *tools;     /* parts of names of tools that run it */
	const struct lang_tag *marks; /* control tokens before its code, anywhere; or NULL */
	const struct lang_tag *tags;  /* around its code, at the start of a line; or NULL */
	bool starts_others;	      /* beside another language it is how that is built or run */
	bool imports_apart;	      /* a block may be wanted for its imports alone */
};

struct lang {
	const char *name;    /* canonical, that of its row in the sandbox */
	const char *title;   /* to people and models: "JavaScript" */
	const char *package; /* Debian's, that has the interpreter */
	bool libraries;	     /* a model is told which are installed, or that none is */
	void (*lex)(struct lexer *l, char until);
	/* Marks as lex does, but says false where the interpreter could read any byte otherwise,
	 * and where brackets are not in pairs. NULL: no text is sure. */
	bool (*sure)(struct lexer *l);
	const char *const *keywords; /* shown as such on a terminal */
	const char *rules;	     /* of screening */
	struct lang_reader reader;   /* for most programs */
	struct lang_reader whole;    /* of which the reader is a part; or empty */
	const char *restricted; /* says what the profile restricted refuses; NULL: it takes none */
	const char *refusal;	/* says of the file /in/program what the interpreter says of what is
				 * no program, and runs nothing of it; NULL: there is none */
	const char *compiler; /* makes code of a text (verifier/compiled.h); NULL: there is none */
	struct lang_harness harness;
	struct lang_shown shown;
	struct lang_calls calls;
	const char *assertions; /* what tests consist of, to the model that writes them */
	struct lang_report report;
	const char *advice[LANG_ADVICE_COUNT]; /* patterns of "type: message"; or NULL */
	struct lang_reply reply;
	const struct outline_row *outline; /* NULL: nothing is known of a block */
};

/* By canonical name; NULL when unknown, or name is NULL. */
const struct lang *lang_find(const char *name);
/* The rows, NULL-terminated (verifier/lang/list.c). */
extern const struct lang *const lang_rows[];
const struct lang *lang_at(size_t index); /* NULL past the end */
#define LANGS_MAX 16
size_t lang_index(const struct lang *lang); /* below LANGS_MAX */

/* Their names: "python, javascript or bash" with ", " and " or ". */
void lang_list(struct buf *out, const char *between, const char *last);

#endif
