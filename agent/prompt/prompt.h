/*
 * Prompts: the files of prompts/, embedded, those of --prompts DIR, or the texts of
 * a record. A file
 * is "=== system" and "=== user" parts of text with {{name}}, {{#name}}shown
 * when name is not empty{{/name}} and {{^name}}shown when it is{{/name}}.
 */
#ifndef AGENT_PROMPT_H
#define AGENT_PROMPT_H

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"

#include <stddef.h>

/* Where prompts come from; what is not there is the embedded one. */
struct prompt_source {
	const char *dir;	  /* a user's folder, or NULL */
	const struct json *texts; /* by name, before any folder; or NULL */
};

struct prompt_value {
	const char *name;
	const char *value; /* NULL counts as empty */
};

struct prompt {
	char *system, *user;	       /* filled in; owned */
	char sha256[HASH_HEX_LEN + 1]; /* of the file before filling in */
};

/* ERR_CONFIG: no such prompt, a part missing, an unknown or unclosed name. */
int prompt_fill(struct prompt *ret, const struct prompt_source *source, const char *name,
		const struct prompt_value *values, size_t count, struct error *err);
/* A file without parts ("contract"): the text alone. Caller frees. */
char *prompt_fill_text(const struct prompt_source *source, const char *name,
		       const struct prompt_value *values, size_t count, struct error *err);
void prompt_release(struct prompt *p);

/* {"plan": "=== system...", ...}: every prompt in use, for the run's record; and
 * {"plan": "<sha256>", ...} of such texts. Caller frees either. */
struct json *prompt_texts(const struct prompt_source *source, struct error *err);
struct json *prompt_hashes(const struct json *texts);

#endif
