/*
 * What a person has approved at the terminal, for as long as the session lasts:
 * programs, each with its inputs, and rules ("always").
 */
#ifndef AGENT_APPROVALS_H
#define AGENT_APPROVALS_H

#include "base/hash.h"
#include "verifier/screen/screen.h"

struct task;

struct approvals {
	char **rules; /* owned; "" stands for programs in which nothing was found */
	size_t rule_count;
	char (*programs)[HASH_HEX_LEN + 1]; /* owned */
	size_t program_count;
};
void approvals_release(struct approvals *a);

/* A program and all that it is given. */
void approvals_program(const char *lang, const char *code, size_t len, const struct task *task,
		       char ret[HASH_HEX_LEN + 1]);

void approvals_add_program(struct approvals *a, const char program[HASH_HEX_LEN + 1]);
/* Every rule that the screening asks about, from now on. */
void approvals_add_rules(struct approvals *a, const struct screening *s);

bool approvals_has_program(const struct approvals *a, const char program[HASH_HEX_LEN + 1]);
/* Nothing is left to ask about. */
bool approvals_cover(const struct approvals *a, const struct screening *s);

/* What a screening asks about: "py.import.socket, py.env", each once; or "programs in
 * which nothing is found". The caller frees. */
char *approvals_subject(const struct screening *s);

#endif
