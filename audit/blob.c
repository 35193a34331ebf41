/*
 * Blobs: stored once, long JSON deflated. What comes here from a run has been
 * redacted; how a blob lies in the file is nobody else's to know.
 */
#include "audit/blob.h"

#include "audit/contents.h"
#include "audit/counts.h"
#include "base/deflate.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Shorter JSON is not deflated, nor is what a quarter would not be saved of. */
#define DEFLATE_MIN ((size_t)512)
/* What is worth to be kept and compared. */
#define KNOWN_MIN     ((size_t)8 << 10)
#define KNOWN_LEN_MAX ((size_t)1 << 20)

void cleaned_release(struct cleaned *c)
{
	buf_release(&c->buf);
}

/* --- what was found clean before --- */

static bool is_kept(size_t len)
{
	return len >= KNOWN_MIN && len <= KNOWN_LEN_MAX;
}

static const struct db_known *find_known(const struct audit *audit, const void *bytes, size_t len)
{
	for (size_t i = 0; i < DB_KNOWN_MAX && is_kept(len); i++)
		if (audit->known[i].len == len && !memcmp(audit->known[i].bytes, bytes, len))
			return &audit->known[i];
	return NULL;
}

static void keep_known(struct audit *audit, struct cleaned *c)
{
	struct db_known *k = &audit->known[audit->known_next % DB_KNOWN_MAX];

	hash_sha256(c->bytes, c->len, c->sha256);
	free(k->bytes);
	*k = (struct db_known){ mem_strndup(c->bytes, c->len), c->len, "" };
	memcpy(k->sha256, c->sha256, sizeof(k->sha256));
	audit->known_next++;
}

void clean_forget(struct audit *audit)
{
	for (size_t i = 0; i < DB_KNOWN_MAX; i++) {
		free(audit->known[i].bytes);
		audit->known[i] = (struct db_known){ .bytes = NULL };
	}
}

/* --- cleaning --- */

static bool is_json(const char *media_type)
{
	return media_type && !strcmp(media_type, "application/json");
}

void clean_bytes(struct audit *audit, const void *bytes, size_t len, struct cleaned *ret)
{
	const struct db_known *known = bytes ? find_known(audit, bytes, len) : NULL;

	*ret = (struct cleaned){ .bytes = bytes, .len = len };
	buf_init(&ret->buf, SIZE_MAX / 2);
	if (known)
		memcpy(ret->sha256, known->sha256, sizeof(ret->sha256));
	if (!bytes || known)
		return;
	ret->redactions = redact_bytes(audit->redactor, bytes, len, &ret->buf);
	if (!ret->redactions && is_kept(len))
		keep_known(audit, ret);
	if (!ret->redactions)
		return;
	ret->bytes = ret->buf.data;
	ret->len = ret->buf.len;
}

/* A string of JSON is looked through as what it stands for, too: where a secret's line or its
 * quotation mark ends is otherwise seen through escapes, or not at all. */
static void clean_json(struct audit *audit, const char *bytes, size_t len, struct cleaned *ret)
{
	cleanup_buf struct buf inner = BUF_INIT(SIZE_MAX / 2);
	size_t found = redact_json(audit->redactor, bytes, len, &inner);

	if (!found)
		return;
	buf_clear(&ret->buf);
	ret->redactions = found + redact_bytes(audit->redactor, inner.data, inner.len, &ret->buf);
	if (ret->redactions == found)
		buf_add(&ret->buf, inner.data, inner.len);
	ret->bytes = ret->buf.data;
	ret->len = ret->buf.len;
}

void clean_blob(struct audit *audit, const struct audit_blob *blob, struct cleaned *ret)
{
	const char *bytes = blob->bytes ? blob->bytes : "";
	size_t len = blob->bytes ? blob->len : 0;

	clean_bytes(audit, bytes, len, ret);
	if (ret->redactions && is_json(blob->media_type))
		clean_json(audit, bytes, len, ret);
}

char *clean_text(struct audit *audit, const char *text)
{
	cleanup_cleaned struct cleaned c;

	clean_bytes(audit, text, text ? strlen(text) : 0, &c);
	return c.bytes ? mem_strndup(c.bytes, c.len) : NULL;
}

/* The views show texts as they are; JSON is only read by this program. */
static bool pays(const char *media_type, const void *bytes, size_t len, struct buf *deflated)
{
	return len >= DEFLATE_MIN && is_json(media_type) &&
	       deflate_bytes(bytes, len, deflated) == 0 && deflated->len < len / 4 * 3;
}

static int insert(struct audit *audit, const char *sha256, const char *media_type,
		  int64_t redactions, const void *bytes, size_t len, struct error *err)
{
	cleanup_buf struct buf deflated = BUF_INIT(SIZE_MAX / 2);
	bool pack = pays(media_type, bytes, len, &deflated);

	return db_run(audit, err,
		      "INSERT INTO blobs(sha256, size, media_type, redactions, deflated, body)"
		      " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
		      "titiib", sha256, (int64_t)len, media_type, redactions, (int64_t)pack,
		      pack ? deflated.data : bytes, pack ? deflated.len : len);
}

/* 1 and *ret_no; 0 when there is none; -1. */
static int find(struct audit *audit, const char *sha256, int64_t *ret_no, bool *ret_purged,
		bool *ret_deflated, struct error *err)
{
	sqlite3_stmt *stmt =
		db_query(audit, err,
			 "SELECT no, body IS NULL, deflated FROM blobs b WHERE " BLOB_IS("b", "?1"),
			 "t", sha256);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc <= 0)
		return rc;
	*ret_no = sqlite3_column_int64(stmt, 0);
	*ret_purged = sqlite3_column_int(stmt, 1);
	*ret_deflated = sqlite3_column_int(stmt, 2);
	sqlite3_reset(stmt);
	return 1;
}

int blob_put(struct audit *audit, const char *sha256, const char *media_type, int64_t redactions,
	     const void *bytes, size_t len, int64_t *ret_no, struct error *err)
{
	bool purged, deflated;
	int rc = find(audit, sha256, ret_no, &purged, &deflated, err);

	if (rc < 0)
		return -1;
	/* What is a text to one, and JSON to another, is a text. */
	if (rc && (purged || (deflated && !is_json(media_type))))
		return db_run(audit, err, "UPDATE blobs SET body = ?2, deflated = 0 WHERE no = ?1",
			      "ib", *ret_no, bytes, len);
	if (rc)
		return 0;
	if (insert(audit, sha256, media_type, redactions, bytes, len, err) < 0)
		return -1;
	*ret_no = sqlite3_last_insert_rowid(audit->db);
	contents_blob(audit, 1, *ret_no, (int64_t)len, redactions, media_type);
	return counts_blob(audit, (int64_t)len, redactions, 1, err);
}

int blob_refer(struct audit *audit, int64_t run, int64_t blob, struct error *err)
{
	if (db_run(audit, err, "INSERT INTO refs VALUES(?1, ?2) ON CONFLICT DO NOTHING", "ii", run,
		   blob) < 0)
		return -1;
	if (sqlite3_changes(audit->db))
		contents_ref(audit, 1, run, blob);
	return 0;
}

int blob_store(struct audit *audit, int64_t run, const char *media_type, struct cleaned *c,
	       int64_t *ret_no, struct error *err)
{
	if (!*c->sha256)
		hash_sha256(c->bytes, c->len, c->sha256);
	if (blob_put(audit, c->sha256, media_type, (int64_t)c->redactions, c->bytes, c->len, ret_no,
		     err) < 0)
		return -1;
	return blob_refer(audit, run, *ret_no, err);
}

int blob_body(sqlite3_stmt *stmt, int column, struct buf *out)
{
	const void *bytes = sqlite3_column_blob(stmt, column);
	size_t len = (size_t)sqlite3_column_bytes(stmt, column);
	int64_t size = sqlite3_column_int64(stmt, column + 2);

	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
		return 0;
	if (sqlite3_column_int(stmt, column + 1))
		return size < 0 || inflate_bytes(bytes, len, (size_t)size, out) < 0 ? -1 : 1;
	return buf_add(out, len ? bytes : "", len) < 0 ? -1 : 1;
}
