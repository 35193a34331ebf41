/*
 * Adds up hashes of rows, so that their order is nothing. It knows no other table than those it
 * sums, and changes only its own two rows of `counts`.
 */
#include "audit/contents.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MODULO_BITS 60 /* two such sums fit in an INTEGER */
#define MODULO	    ((UINT64_C(1) << MODULO_BITS) - 1)

/* A row as text; the queries below write the same. */
#define REFS "SELECT 'ref:' || run || ':' || blob FROM main.refs"
#define TAGS "SELECT 'tag:' || run || ':' || tag FROM main.tags"
#define BLOBS                                                             \
	"SELECT 'blob:' || no || ':' || size || ':' || redactions || ':'" \
	" || coalesce(media_type, '') FROM main.blobs"

#define OPEN                                                                                  \
	"SELECT 'open:' || no || ':' || id || ':' || coalesce((SELECT max(e.place) & 1048575" \
	" FROM main.events e WHERE e.place > no << 20 AND e.place < (no + 1) << 20), 0)"      \
	" FROM main.runs WHERE ended_at_ms IS NULL"

static uint64_t hash_of(const char *row)
{
	char hex[HASH_HEX_LEN + 1];

	hash_sha256(row, strlen(row), hex);
	hex[MODULO_BITS / 4] = '\0';
	return strtoull(hex, NULL, 16);
}

static void change(struct audit *audit, int sign, const char *row)
{
	audit->contents += sign > 0 ? hash_of(row) : -hash_of(row);
	audit->contents &= MODULO;
	audit->contents_changed = true;
}

void contents_ref(struct audit *audit, int sign, int64_t run, int64_t blob)
{
	cleanup_free char *row = mem_printf("ref:%lld:%lld", (long long)run, (long long)blob);

	change(audit, sign, row);
}

void contents_tag(struct audit *audit, int sign, int64_t run, const char *tag)
{
	cleanup_free char *row = mem_printf("tag:%lld:%s", (long long)run, tag);

	change(audit, sign, row);
}

void contents_blob(struct audit *audit, int sign, int64_t no, int64_t size, int64_t redactions,
		   const char *media_type)
{
	cleanup_free char *row =
		mem_printf("blob:%lld:%lld:%lld:%s", (long long)no, (long long)size,
			   (long long)redactions, media_type ? media_type : "");

	change(audit, sign, row);
}

void contents_open(struct audit *audit, int sign, int64_t run, const char *id, int64_t events)
{
	cleanup_free char *row =
		mem_printf("open:%lld:%s:%lld", (long long)run, id, (long long)events);

	change(audit, sign, row);
}

static int forget(struct audit *audit, sqlite3_stmt *rows, struct error *err)
{
	int rc = rows ? 1 : -1;

	while (rc > 0 && (rc = db_step(audit, rows, err)) > 0)
		change(audit, -1, db_column(rows, 0));
	return rc;
}

int contents_forget_run(struct audit *audit, int64_t run, struct error *err)
{
	return forget(audit,
		      db_query(audit, err,
			       REFS " WHERE run = ?1 UNION ALL " TAGS
				    " WHERE run = ?1 UNION ALL " OPEN " AND no = ?1",
			       "i", run),
		      err);
}

int contents_forget_orphans(struct audit *audit, struct error *err)
{
	return forget(audit,
		      db_query(audit, err, BLOBS " WHERE no IN (SELECT no FROM temp.orphans)", ""),
		      err);
}

static int sum_all(struct audit *audit, uint64_t *ret, struct error *err)
{
	cleanup_stmt sqlite3_stmt *rows = db_query(
		audit, err, REFS " UNION ALL " TAGS " UNION ALL " BLOBS " UNION ALL " OPEN, "");
	int rc = rows ? 1 : -1;

	*ret = 0;
	while (rc > 0 && (rc = db_step(audit, rows, err)) > 0)
		*ret = (*ret + hash_of(db_column(rows, 0))) & MODULO;
	return rc;
}

int contents_keep(struct audit *audit, struct error *err)
{
	if (!audit->contents_changed)
		return 0;
	if (db_run(audit, err,
		   "UPDATE counts SET value = (value + ?1) & ?2 WHERE name = 'contents'", "ii",
		   (int64_t)audit->contents, (int64_t)MODULO) < 0)
		return -1;
	uint64_t sum;
	if (!sqlite3_changes(audit->db) &&
	    (sum_all(audit, &sum, err) < 0 ||
	     db_run(audit, err, "INSERT INTO counts VALUES('contents', ?1), ('contents known', 1)",
		    "i", (int64_t)sum) < 0))
		return -1;
	audit->contents = 0;
	audit->contents_changed = false;
	return 0;
}

int contents_check(struct audit *audit, bool *ret, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 "SELECT (SELECT value FROM counts WHERE name = 'contents'),"
			 " (SELECT value FROM counts WHERE name = 'contents known')",
			 "");
	uint64_t sum;

	if (!stmt || db_step(audit, stmt, err) < 0 || sum_all(audit, &sum, err) < 0)
		return -1;
	*ret = sqlite3_column_type(stmt, 0) == SQLITE_NULL ?
		       sqlite3_column_type(stmt, 1) == SQLITE_NULL :
		       sqlite3_column_int64(stmt, 1) == 1 &&
			       (uint64_t)sqlite3_column_int64(stmt, 0) == sum;
	return 0;
}
