/*
 * The rules of every language at once: the built-in ones as texts, for the record of
 * a run, and such a record as rules again, to screen as it was screened then.
 */
#ifndef VERIFIER_RULEBOOK_H
#define VERIFIER_RULEBOOK_H

#include "base/error.h"
#include "base/json.h"
#include "verifier/screen/rules.h"

struct rulebook;

/* The built-in rules' texts by language. Caller frees. */
struct json *rulebook_texts(void);
/* The same as it is recorded, made once and kept. */
const char *rulebook_print(void);
/* SHA-256 of all of them and of what reads programs for them, hex; kept. */
const char *rulebook_digest(void);

/* Rules out of such texts; a language without one keeps the built-in rules. name is the
 * digest that they were known by. ERR_CONFIG with the language and the line for what is
 * wrong. */
int rulebook_parse(struct rulebook **ret, const struct json *texts, const char *name,
		   struct error *err);
/* The texts and the name it was made of; the caller frees the texts. */
struct json *rulebook_copy(const struct rulebook *book);
const char *rulebook_name(const struct rulebook *book);
void rulebook_free(struct rulebook *book); /* NULL allowed */

/* The rules of a language: of the book (NULL: there is none), else the built-in ones. NULL with
 * err when there are none. */
const struct ruleset *rulebook_find(const struct rulebook *book, const char *lang,
				    struct error *err);

#endif
