/*
 * Prompts: the files of prompts/, embedded, or those of --prompts DIR. A file
 * is "=== system" and "=== user" parts of text with {{name}}, {{#name}}shown
 * when name is not empty{{/name}} and {{^name}}shown when it is{{/name}}.
 */
#ifndef AGENT_PROMPT_H
#define AGENT_PROMPT_H

#include "base/error.h"
#include "base/hash.h"

#include <stddef.h>

struct prompt_value {
	const char *name;
	const char *value;	/* NULL counts as empty */
};

struct prompt {
	char *system, *user;	/* filled in; owned */
	char sha256[HASH_HEX_LEN + 1];	/* of the file before filling in */
};

/* ERR_CONFIG: no such prompt, a part missing, an unknown or unclosed name. */
int prompt_fill(struct prompt *ret, const char *dir, const char *name,
		const struct prompt_value *values, size_t count, struct error *err);
/* A file without parts ("contract"): the text alone. Caller frees. */
char *prompt_fill_text(const char *dir, const char *name, const struct prompt_value *values,
		       size_t count, struct error *err);
void prompt_release(struct prompt *p);

/* {"plan": "<sha256>", ...} of every prompt in use, for the run's record. */
struct json *prompt_hashes(const char *dir, struct error *err);

#endif
