/*
 * How the data of an event lies in the file: a form, which many events share, and what this one
 * fills it with. The form is the JSON text with FORM_MARK and a letter where a value was cut out;
 * the values stand elsewhere, as JSON, one comma between two. Put together again they are the
 * same text to the byte, so that all hashes are as if nothing had been cut. The views of
 * schema.sql do the same in SQL.
 *
 * A form has words of the program's own only (vocabulary.h). Internal to audit/.
 */
#ifndef AUDIT_FORM_H
#define AUDIT_FORM_H

#include "audit/db.h"

#define FORM_MARK '\1'
enum form_kind {
	FORM_VALUE = 'v', /* as it is; of a form that is nothing else, the whole text */
	FORM_BLOB = 'b',  /* {"sha256":...,"size":...}, as the blob's no */
	FORM_HASH = 'h',  /* the hash of a blob, as its no */
	FORM_TEXT = 't',  /* the text of a blob, as its no */
	FORM_OBJECT = 'o' /* what many events say in the same words, as its no in `objects` */
};

/* The form of an event of a run (its no), and its values: both are empty before. Whatever text is
 * has one. -1: the log failed. */
int form_cut(struct audit *audit, int64_t run, const char *text, struct buf *form,
	     struct buf *values, struct error *err);

/* As db_ready. */
void form_ready(struct audit *audit);

/* Adds the text. A blob that is not there is "null" in it: it has another hash then. */
int form_fill(struct audit *audit, const char *form, const char *values, struct buf *text,
	      struct error *err);

/* The objects that an event needs, of which there is one for each member at most that many share.
 */
#define FORM_OBJECTS_MAX 8
size_t form_objects(const char *form, const char *values, int64_t ret[FORM_OBJECTS_MAX]);

#endif
