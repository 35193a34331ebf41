/*
 * PCRE2 with limits on backtracking, memory and CPU time (one second a search),
 * so that no pattern can hang us, and JIT when the library has it. Patterns are
 * UTF; subjects need not be valid (invalid sequences never match). A pattern
 * quadratic in a megabyte ("\w+:" on one long word) meets the limit too: anchor it.
 */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct regex;

enum regex_flags { REGEX_ICASE = 1, REGEX_MULTILINE = 2, REGEX_DOTALL = 4 };

struct regex_span {
	size_t start, end;	/* bytes; end == start for an empty group */
	bool set;		/* the group took part in the match */
};

/* NULL on failure: err says what is wrong with the pattern, and where. */
struct regex *regex_compile(const char *pattern, unsigned flags, struct error *err);
void regex_free(struct regex *re);
void regex_cleanup(struct regex **re);
#define cleanup_regex __attribute__((cleanup(regex_cleanup)))

/*
 * Searches subject from byte offset start. Fills at most nspans groups (0 is
 * the whole match). Returns 1 for a match, 0 for none, -1 when a limit was hit
 * or the engine failed (err). Not for two threads at once.
 */
int regex_search(const struct regex *re, const char *subject, size_t len, size_t start,
		 struct regex_span *spans, size_t nspans, struct error *err);

#endif
