/* Colours of code: comments, strings, keywords and numbers told apart. */
#ifndef AGENT_HIGHLIGHT_H
#define AGENT_HIGHLIGHT_H

#include "agent/cli/terminal/style.h"
#include "verifier/lang/lexer.h"

struct highlight {
	struct lexed lexed;
	const char *code; /* borrowed */
	size_t len;
	const char *const *keywords; /* NULL-terminated; static */
};

/* lang as language_find takes it; any other has no colours. */
void highlight_start(struct highlight *ret, const char *lang, const char *code, size_t len);
void highlight_release(struct highlight *h);

/* The style of the bytes from `at` (< len) to *ret_end; never cuts a character. */
enum term_style highlight_next(const struct highlight *h, size_t at, size_t *ret_end);

#endif
