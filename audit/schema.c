/*
 * Which tables a log has, and how a file comes to have them. It changes a file
 * only under the write lock, in one transaction, and only when it is empty or
 * an older log of ours.
 */
#include "audit/schema.h"

#include "audit/ledger.h"
#include "audit/migrate.h"
#include "base/embed.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

#define SCHEMA_FILE "audit/schema.sql"
#define ODD_MAX	    4096 /* what a refusal names at most */
#define NAMES_MAX   ((size_t)64 << 10)

static int refuse(const char *path, const char *why, struct error *err)
{
	return error_set(err, ERR_LOG, "audit log %s: %s", path, why);
}

static int get_int(struct audit *audit, const char *sql, int64_t *ret, struct error *err)
{
	sqlite3_stmt *stmt = db_query(audit, err, sql, "");

	if (!stmt)
		return -1;
	if (db_step(audit, stmt, err) <= 0)
		return err->kind ? -1 : db_fail(audit, "read", err);
	*ret = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return 0;
}

/* The schema's version, 0 for an empty file; refuses what is not ours. In a transaction:
 * between two reads another process may create the log. */
static int read_identity(struct audit *audit, int64_t *ret_version, struct error *err)
{
	int64_t id, version;

	if (get_int(audit, "PRAGMA application_id", &id, err) < 0 ||
	    get_int(audit, "PRAGMA user_version", &version, err) < 0)
		return -1;
	if (id != SCHEMA_APPLICATION_ID) {
		int64_t objects;

		if (get_int(audit, "SELECT count(*) FROM sqlite_schema", &objects, err) < 0)
			return -1;
		if (id || version || objects)
			return refuse(audit->path,
				      "is another application's database; name "
				      "another log with --db",
				      err);
	}
	if (version > SCHEMA_VERSION)
		return error_set(err, ERR_LOG,
				 "audit log %s: written by a newer assay (schema "
				 "%lld, this program knows %d); use that one, or another --db",
				 audit->path, (long long)version, SCHEMA_VERSION);
	*ret_version = version;
	return 0;
}

int schema_identify(struct audit *audit, int64_t *ret_version, struct error *err)
{
	if (db_exec(audit, "BEGIN", "read", err) < 0)
		return -1;
	int rc = read_identity(audit, ret_version, err);
	sqlite3_exec(audit->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static int make(struct audit *audit, struct error *err)
{
	const struct embed *schema = embed_find(SCHEMA_FILE);

	if (!schema)
		return error_set(err, ERR_LOG, "%s is not there", SCHEMA_FILE);
	return db_exec(audit, schema->data, "create the schema", err);
}

static int begin_log(struct audit *audit, struct error *err)
{
	if (make(audit, err) < 0 ||
	    db_run(audit, err, "INSERT INTO meta VALUES('salt', lower(hex(randomblob(16))))", "") <
		    0)
		return -1;
	return ledger_made(audit, err);
}

static int set_version(struct audit *audit, struct error *err)
{
	cleanup_free char *marks = mem_printf("PRAGMA application_id = %d;"
					      "PRAGMA user_version = %d;",
					      SCHEMA_APPLICATION_ID, SCHEMA_VERSION);

	return db_exec(audit, marks, "create the schema", err);
}

/* An older log for which there is no room is as it was. */
static int fail(struct audit *audit, int64_t version, struct error *err)
{
	db_abort(audit);
	if (version && (audit->code & 0xff) == SQLITE_FULL)
		error_set(err, ERR_LOG,
			  "audit log %s: written by an older assay, and there is no room to bring "
			  "it up to date, which takes twice what it has; it is as it was: free "
			  "some space, or name another log with --db",
			  audit->path);
	return -1;
}

/* Under the write lock, and only if no other process was first. */
int schema_migrate(struct audit *audit, struct error *err)
{
	/* Only before the first table: lets audit_remove_all give pages back. */
	if (db_exec(audit, "PRAGMA auto_vacuum = INCREMENTAL", "create", err) < 0 ||
	    db_begin(audit, err) < 0)
		return -1;
	int64_t version = 0;
	if (read_identity(audit, &version, err) < 0 || (!version && begin_log(audit, err) < 0) ||
	    (version == 1 && migrate_from_1(audit, make, err) < 0) ||
	    (version == 2 && migrate_from_2(audit, make, err) < 0) ||
	    (version < SCHEMA_VERSION && set_version(audit, err) < 0) ||
	    audit_commit(audit, err) < 0)
		return fail(audit, version, err);
	return 0;
}

/* --- what is in it --- */

/* Made by SQLite itself: ANALYZE, and what a UNIQUE makes. */
static bool is_internal(const char *name)
{
	return !strncmp(name, "sqlite_stat", 11) || !strncmp(name, "sqlite_autoindex_", 17);
}

/* The full-text index's own tables. */
static bool is_shadow(const char *type, const char *name)
{
	static const char *const shadows[] = { "search_data", "search_idx", "search_docsize",
					       "search_config" };

	for (size_t i = 0; i < ARRAY_SIZE(shadows); i++)
		if (!strcmp(name, shadows[i]))
			return !strcmp(type, "table");
	return false;
}

/* Whether the schema has this statement, to the byte: SQLite keeps it as it was given. */
static bool is_ours(const char *schema, const char *sql)
{
	size_t len = strlen(sql);

	for (const char *at = schema; len && (at = strstr(at, sql)); at++)
		if (at[len] == ';')
			return true;
	return false;
}

static void add_odd(struct buf *odd, const char *no, const char *type, const char *name)
{
	buf_addf(odd, "%s%s%s %.60s", odd->len ? ", " : "", no, type, name);
}

/* What the statements of the schema make, of which there is all that is a line of `names`. Who puts
 * a line's end into a name is odd for that already. */
static void look_for_all(const char *schema, const char *names, struct buf *odd)
{
	for (const char *at = schema; (at = strstr(at, "\nCREATE ")); at++) {
		const char *word = at + strlen("\nCREATE ");

		word += strncmp(word, "VIRTUAL ", 8) ? 0 : 8;
		cleanup_free char *type = mem_strndup(word, strcspn(word, " "));
		for (char *p = type; *p; p++)
			*p = (char)tolower((unsigned char)*p);
		word += strlen(type) + 1;
		cleanup_free char *name = mem_strndup(word, strcspn(word, " (\n"));
		cleanup_free char *line = mem_printf("\n%s\n", name);
		if (!strstr(names, line))
			add_odd(odd, "no ", type, name);
	}
}

static int compare_rows(struct audit *audit, const char *schema, struct buf *odd, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err, "SELECT type, name, sql FROM sqlite_schema ORDER BY name", "");
	cleanup_buf struct buf names = BUF_INIT(NAMES_MAX);
	int rc = stmt ? 1 : -1;

	buf_addch(&names, '\n');
	while (rc > 0 && (rc = db_step(audit, stmt, err)) > 0) {
		cleanup_free char *type = db_text(stmt, 0), *name = db_text(stmt, 1);

		if (!type || !name)
			add_odd(odd, "", "something", "nameless");
		else if (!is_ours(schema, db_column(stmt, 2)) && !is_internal(name) &&
			 !is_shadow(type, name))
			add_odd(odd, "", type, name);
		buf_addf(&names, "%s\n", name ? name : "");
	}
	if (rc < 0)
		return -1;
	look_for_all(schema, names.data, odd);
	return 0;
}

int schema_compare(struct audit *audit, char **ret_odd, struct error *err)
{
	const struct embed *schema = embed_find(SCHEMA_FILE);
	cleanup_buf struct buf odd = BUF_INIT(ODD_MAX);

	if (!schema)
		return error_set(err, ERR_LOG, "%s is not there", SCHEMA_FILE);
	if (compare_rows(audit, schema->data, &odd, err) < 0)
		return -1;
	*ret_odd = odd.len ? buf_take(&odd, NULL) : NULL;
	return 0;
}
