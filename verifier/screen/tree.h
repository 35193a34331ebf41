/*
 * What a program's own parser says is in it: the exact layer of screening.
 * A language with such a layer has a reader in its row (verifier/lang/lang.h), which is run
 * in the sandbox with the program as its standard input; the program itself does
 * not run. What comes back is text from inside the sandbox: it is parsed strictly,
 * and anything unexpected is TREE_FAILED, which denies.
 */
#ifndef VERIFIER_TREE_H
#define VERIFIER_TREE_H

#include "base/hash.h"
#include "base/json.h"
#include "sandbox/sandbox.h"
#include "verifier/lang/lang.h"
#include "verifier/screen/profile.h"

#include <stdbool.h>
#include <stddef.h>

enum tree_state {
	TREE_NONE, /* not read: the language has no reader, or nobody asked */
	TREE_READ,
	TREE_SYNTAX, /* the program is not valid in its language: it cannot run */
	TREE_FAILED, /* the parser did not do its work */
};

/* "call os.system": the reader's head comment lists the kinds. "no tree: ..." is
 * the only one where there is no parser, or none that can read this program. */
struct tree_fact {
	char *text;	     /* owned */
	size_t line, column; /* from 1, column in bytes */
};

struct tree {
	enum tree_state state;
	char *type, *message;	 /* of TREE_SYNTAX and (message) TREE_FAILED; owned */
	size_t line, column;	 /* of TREE_SYNTAX */
	struct tree_fact *facts; /* owned */
	size_t count;
	/* SHA-256 of the code in which, and in this, the built-in rules of that profile found
	 * nothing; "": not known, as of whatever a record says. */
	char clean_code[HASH_HEX_LEN + 1];
	enum screen_profile clean_for;
};

bool tree_has_reader(const char *lang);
/* Whether a part of the reader can be asked first: its facts are those of the whole,
 * but for what the whole knows to be harmless, or on the list of the strict profile. */
bool tree_has_more(const char *lang);
/* SHA-256 of the language's whole reader, hex, kept; NULL when there is none. */
const char *tree_reader_digest(const char *lang);

/* The reader as a job, without limits and input; files is where what lies beside
 * its program goes. Its source, code, is a string. False when there is none. */
bool tree_reader_job(const char *lang, bool whole, struct sandbox_file files[LANG_PARTS_MAX],
		     struct sandbox_job *ret);

/*
 * Runs the reader. TREE_NONE for a language without one; the one fact "parser
 * missing python" when what it runs on is not installed. Fails only as sandbox_run
 * does, and with ERR_CANCELLED; a reader that is stopped, fails or writes garbage is
 * TREE_FAILED. cancel_fd as in struct sandbox_watch.
 */
int tree_read(struct sandbox *sandbox, const char *lang, bool whole, const char *code, size_t len,
	      int cancel_fd, struct tree *ret, struct error *err);
/* It will be run soon: a hint, as sandbox_prepare. */
void tree_expect(struct sandbox *sandbox, const char *lang, bool whole);
void tree_release(struct tree *t);
#define cleanup_tree __attribute__((cleanup(tree_release)))

/* The reader's line, and what a log keeps of it. Never fails: garbage is
 * TREE_FAILED; JSON null is TREE_NONE. */
void tree_parse(const char *text, size_t len, struct tree *ret);
void tree_from_json(const struct json *o, struct tree *ret);
struct json *tree_json(const struct tree *t); /* caller frees */

#endif
