/* Full-text search over prompt, code, output and answer. Internal to audit/. */
#ifndef AUDIT_SEARCH_H
#define AUDIT_SEARCH_H

#include "audit/db.h"

/* Redacted text; NULL where there is none. At most 64 KiB of each is indexed. */
struct search_text {
	const char *code, *output, *answer;
	size_t code_len, output_len, answer_len;
};

int search_begin(struct audit *audit, const char *run, const char *prompt, size_t prompt_len,
		 struct error *err);
int search_end(struct audit *audit, const char *run, const struct search_text *text,
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
