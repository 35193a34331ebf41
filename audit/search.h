/* Full-text search over prompt, code, output and answer. Internal to audit/. */
#ifndef AUDIT_SEARCH_H
#define AUDIT_SEARCH_H

#include "audit/db.h"

/*
 * A run is the row of its no; its programs of before the last one, if any, are the row of -no.
 *
 * At a run's end, in one go: indexing costs half a transaction, and before a side effect
 * somebody waits for it. A run without an end is not found by its words. At most 64 KiB of each
 * text is indexed. A damaged index is no reason to refuse a run: it is left without it, which
 * audit_note says.
 */
int search_add(struct audit *audit, int64_t run, struct error *err);
/* As db_ready. */
void search_ready(struct audit *audit);
int search_remove(struct audit *audit, int64_t run, struct error *err);
/* A part of the way to an index without what was removed: only then are its bytes gone. 1: there
 * is more to do; 0: done. */
int search_scrub(struct audit *audit, struct error *err);
/* Makes tables of the index anew, empty, when some are gone: of who writes, before the schema is
 * compared. */
int search_mend(struct audit *audit, struct error *err);
/* The texts a run is found by, as a row with these columns; none when it has not ended. */
enum { SEARCH_PROMPT, SEARCH_CODE, SEARCH_OUTPUT, SEARCH_ANSWER, SEARCH_NO };
sqlite3_stmt *search_texts(struct audit *audit, const char *run, struct error *err);
sqlite3_stmt *search_texts_of(struct audit *audit, int64_t run, struct error *err);
/* Whether the last failure, of a statement on the index, was the index's, and not the log's own. */
bool search_is_damaged(const struct audit *audit);
/* How much of such a text is indexed. */
size_t search_indexed(const char *text, size_t len);
/* Adds the programs of a run that are not its last, as one text: once each, in their order,
 * whatever of the events is damaged. */
int search_earlier(struct audit *audit, int64_t run, struct buf *text, struct error *err);

/*
 * What a person types as an FTS5 query: every word a quoted string, so that no
 * syntax can be wrong; "a phrase" stays one, a word* is a prefix; all must
 * occur. Caller frees; NULL when there is no word in it.
 */
char *search_query(const char *typed);

#endif
