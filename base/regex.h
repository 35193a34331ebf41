/*
 * PCRE2 with limits on backtracking, memory and CPU time (one second a search),
 * so that no pattern can hang us, and JIT when the library has it. Patterns are
 * UTF; subjects need not be valid (invalid sequences never match). A pattern
 * quadratic in a megabyte ("\w+:" on one long word) meets the limit too: anchor it.
 */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include "base/error.h"
#include "base/stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct regex;

enum regex_flags { REGEX_ICASE = 1, REGEX_MULTILINE = 2, REGEX_DOTALL = 4 };

struct regex_span {
	size_t start, end; /* bytes; end == start for an empty group */
	bool set;	   /* the group took part in the match */
};

/* NULL on failure: err says what is wrong with the pattern, and where. */
struct regex *regex_compile(const char *pattern, unsigned flags, struct error *err);
/* Whether it could be compiled, without all that makes a search fast: -1 and err when not. */
int regex_check(const char *pattern, unsigned flags, struct error *err);
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

/*
 * What several patterns may take together, when it is not us who chose how many
 * there are: their CPU time, and when to end. A search and a compilation take
 * theirs off.
 */
struct regex_effort {
	const struct stop *stop; /* NULL: never */
	int64_t left_us;	 /* of clock_cpu_us */
};

/* As regex_compile, NULL also when nothing is left of the effort. */
struct regex *regex_compile_within(const char *pattern, unsigned flags, struct regex_effort *effort,
				   struct error *err);
/* As regex_search from the start and without groups. -1 also when nothing is left
 * (ERR_FAILED), and with stop_check's errors. */
int regex_search_within(const struct regex *re, const char *subject, size_t len,
			struct regex_effort *effort, struct error *err);

#endif
