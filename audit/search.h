/* Full-text search over prompt, code, output and answer. Internal to audit/. */
#ifndef AUDIT_SEARCH_H
#define AUDIT_SEARCH_H

#include "audit/db.h"

/* Redacted text; NULL where there is none. At most 64 KiB of each is indexed. */
struct search_text {
	const char *prompt, *code, *output, *answer;
	size_t prompt_len, code_len, output_len, answer_len;
};

/* At a run's end, in one go: indexing costs half a transaction, and before a side effect
 * somebody waits for it. A run without an end is not found by its words. */
int search_add(struct audit *audit, const char *run, const struct search_text *text,
	       struct error *err);
int search_remove(struct audit *audit, const char *run, struct error *err);
/* Rewrites the index without what was removed: only then are its bytes gone. */
int search_scrub(struct audit *audit, struct error *err);

/*
 * What a person types as an FTS5 query: every word a quoted string, so that no
 * syntax can be wrong; "a phrase" stays one, a word* is a prefix; all must
 * occur. Caller frees; NULL when there is no word in it.
 */
char *search_query(const char *typed);

#endif
