/* Bytes by their hash. Internal to audit/. */
#ifndef AUDIT_BLOB_H
#define AUDIT_BLOB_H

#include "audit/db.h"

/* A blob by its hash, of which the index has the beginning. "+", or SQLite puts the hash where the
 * index has the column, and looks at every blob. */
#define BLOB_IS(blob, hash) \
	"substr(" blob ".sha256, 1, 12) = substr(" hash ", 1, 12) AND +" blob ".sha256 = " hash

/* Text or bytes as they may be written: the caller's own when clean, else in buf. */
struct cleaned {
	const char *bytes; /* NULL when there was nothing */
	size_t len;
	size_t redactions;
	struct buf buf;
	char sha256[HASH_HEX_LEN + 1]; /* "" until it is known */
};
void cleaned_release(struct cleaned *c);
#define cleanup_cleaned __attribute__((cleanup(cleaned_release)))

/* Long bytes that come run after run, prompts and rules, are looked through and hashed once:
 * those that hold no secret are kept, a few, to be compared with. */
void clean_bytes(struct audit *audit, const void *bytes, size_t len, struct cleaned *ret);
/* The same of a blob, which may be JSON. */
void clean_blob(struct audit *audit, const struct audit_blob *blob, struct cleaned *ret);
void clean_forget(struct audit *audit);
/* An owned clean copy; NULL for NULL. */
char *clean_text(struct audit *audit, const char *text);

/* Stores what is not stored yet, for a run (its no) that needs it. *ret_no is the blob's; its hash
 * is known then. */
int blob_store(struct audit *audit, int64_t run, const char *media_type, struct cleaned *c,
	       int64_t *ret_no, struct error *err);
/* The same with the hash already known; of any origin. ret_sha256 may be NULL. */
int blob_put(struct audit *audit, const char *sha256, const char *media_type, int64_t redactions,
	     const void *bytes, size_t len, int64_t *ret_no, struct error *err);
int blob_refer(struct audit *audit, int64_t run, int64_t blob, struct error *err);

/* What lies in columns (body, deflated, size): 1 and added to out; 0 when purged; -1 when it is
 * more than is allowed in out, or not what was deflated. */
int blob_body(sqlite3_stmt *stmt, int column, struct buf *out);

#endif
