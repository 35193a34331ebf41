#include "audit/db.h"

#include "base/embed.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID 0x41534159	/* "ASAY" */
#define SCHEMA_VERSION 1
#define SCHEMA_FILE "audit/schema.sql"

static int refuse(const char *path, const char *why, struct error *err)
{
	return error_set(err, ERR_LOG, "audit log %s: %s", path, why);
}

/* The folder 0700 and an empty file 0600, when they are not there. */
static int create_file(const char *path, struct error *err)
{
	cleanup_free char *folder = mem_strdup(path);
	char *slash = strrchr(folder, '/');
	int fd;

	if (slash && slash != folder) {
		*slash = '\0';
		if (io_make_dirs(folder, 0700, err) < 0) {
			err->kind = ERR_LOG;
			return error_wrap(err, "audit log %s", path);
		}
	}
	/* O_EXCL: to close a file that this process has open elsewhere would drop its locks. */
	fd = io_open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	if (fd < 0 && errno == EEXIST)
		return 0;
	if (fd < 0)
		return error_set_errno(err, ERR_LOG, errno, "audit log %s: cannot be created (make "
				       "its folder writable, or name another log with --db)", path);
	io_close(fd);
	return 0;
}

static int check_mode(const char *path, const struct stat *st, struct error *err)
{
	if (S_ISDIR(st->st_mode))
		return refuse(path, "is a directory; --db takes a file", err);
	if (!S_ISREG(st->st_mode))
		return refuse(path, "is not a regular file", err);
	if (!(st->st_mode & 077))
		return 0;
	if (st->st_uid != geteuid())
		return refuse(path, "belongs to another user and others can read it; its owner "
			      "can make it private with chmod 600", err);
	/* On a read-only file system it stays as it is; nothing is written there either. */
	if (chmod(path, 0600) < 0 && errno != EROFS)
		return error_set_errno(err, ERR_LOG, errno, "audit log %s: make it private (0600)",
				       path);
	return 0;
}

static int prepare_file(const struct audit_options *options, struct error *err)
{
	struct stat st;

	if (!options->path || !*options->path)
		return error_set(err, ERR_LOG, "audit log: no path (set HOME, or give --db PATH)");
	if (stat(options->path, &st) == 0)
		return check_mode(options->path, &st, err);
	if (errno != ENOENT)
		return error_set_errno(err, ERR_LOG, errno, "audit log %s", options->path);
	if (options->read_only)
		return refuse(options->path, "does not exist yet; the first run makes it", err);
	return create_file(options->path, err);
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
	int64_t id, version, objects;

	if (get_int(audit, "PRAGMA application_id", &id, err) < 0 ||
	    get_int(audit, "PRAGMA user_version", &version, err) < 0)
		return -1;
	if (id != APPLICATION_ID) {
		if (get_int(audit, "SELECT count(*) FROM sqlite_schema", &objects, err) < 0)
			return -1;
		if (id || version || objects)
			return refuse(audit->path, "is another application's database; name "
				      "another log with --db", err);
	}
	if (version > SCHEMA_VERSION)
		return error_set(err, ERR_LOG, "audit log %s: written by a newer assay (schema "
				 "%lld, this program knows %d); use that one, or another --db",
				 audit->path, (long long)version, SCHEMA_VERSION);
	*ret_version = version;
	return 0;
}

static int identify(struct audit *audit, int64_t *ret_version, struct error *err)
{
	int rc;

	if (db_exec(audit, "BEGIN", "read", err) < 0)
		return -1;
	rc = read_identity(audit, ret_version, err);
	sqlite3_exec(audit->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/* The SQL of the steps after `version`. */
static const char *steps_after(int64_t version, struct error *err)
{
	const struct embed *schema = embed_find(SCHEMA_FILE);
	cleanup_free char *mark = mem_printf("-- version %lld\n", (long long)version + 1);
	const char *at = schema ? strstr(schema->data, mark) : NULL;

	if (!at)
		error_set(err, ERR_LOG, "%s has no step after version %lld", SCHEMA_FILE,
			  (long long)version);
	return at;
}

static int run_steps(struct audit *audit, int64_t version, struct error *err)
{
	const char *steps = steps_after(version, err);
	cleanup_free char *marks = mem_printf("PRAGMA application_id = %d;"
					      "PRAGMA user_version = %d;",
					      APPLICATION_ID, SCHEMA_VERSION);

	if (!steps || db_exec(audit, steps, "create the schema", err) < 0)
		return -1;
	return db_exec(audit, marks, "create the schema", err);
}

/* Under the write lock, and only if no other process was first. */
static int migrate(struct audit *audit, struct error *err)
{
	int64_t version;

	/* Only before the first table: lets audit_remove give pages back. */
	if (db_exec(audit, "PRAGMA auto_vacuum = INCREMENTAL", "create", err) < 0 ||
	    db_begin(audit, err) < 0)
		return -1;
	if (read_identity(audit, &version, err) < 0 ||
	    (version < SCHEMA_VERSION && run_steps(audit, version, err) < 0) ||
	    audit_commit(audit, err) < 0)
		return db_abort(audit);
	return 0;
}

/* audit/db.h says why this one. */
static int set_journal(struct audit *audit, struct error *err)
{
	sqlite3_stmt *stmt = db_query(audit, err, "PRAGMA journal_mode = PERSIST", "");
	const char *mode;
	bool right;

	if (!stmt || db_step(audit, stmt, err) < 0)
		return -1;
	mode = db_column(stmt, 0);
	right = mode && !strcmp(mode, "persist");
	sqlite3_reset(stmt);
	if (!right)
		return refuse(audit->path, "is in WAL mode and in use by another program; close "
			      "that one first", err);
	return 0;
}

/*
 * temp_store: what SQLite would spill to temporary files are parts of the log.
 * trusted_schema, defensive: a log from elsewhere may hold a hostile schema.
 */
static int configure(struct audit *audit, struct error *err)
{
	static const char settings[] =
		"PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON;"
		"PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON;"
		"PRAGMA journal_size_limit = 1048576;";
	cleanup_free char *query_only =
		mem_printf("PRAGMA query_only = %d", audit->read_only);

	if (!audit->read_only && set_journal(audit, err) < 0)
		return -1;
	if (db_exec(audit, settings, "configure", err) < 0)
		return -1;
	return db_exec(audit, query_only, "configure", err);
}

/* Before the first use: this program has one thread that knows of SQLite, and nobody asks how
 * much memory that takes, so no allocation needs a lock. */
static void configure_library(void)
{
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static void harden(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
}

/*
 * A reader too opens for writing where it may: only so can it roll back what a
 * killed process left half-written. query_only keeps it a reader.
 */
static int connect_file(struct audit *audit, struct error *err)
{
	/* Debian's SQLite reads "file:..." as a URI; "./" makes it the name it is. */
	cleanup_free char *name = mem_printf("%s%s", audit->path[0] == '/' ? "" : "./",
					     audit->path);
	bool writable = !audit->read_only || access(audit->path, W_OK) == 0;
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE |
		    (writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);

	if (sqlite3_open_v2(name, &audit->db, flags, NULL) != SQLITE_OK)
		return db_fail(audit, "open", err);
	if (!audit->read_only && sqlite3_db_readonly(audit->db, "main") == 1)
		return refuse(audit->path, "is read-only; make the file writable, or name another "
			      "log with --db", err);
	sqlite3_busy_handler(audit->db, db_busy, audit);
	harden(audit->db);
	return 0;
}

/* A reader of an empty file has no log to read; a writer makes one. */
static int bring_up(struct audit *audit, struct error *err)
{
	int64_t version;

	if (connect_file(audit, err) < 0 || identify(audit, &version, err) < 0)
		return -1;
	if (version < SCHEMA_VERSION && audit->read_only)
		return refuse(audit->path, version ? "written by an older assay; any run brings it "
			      "up to date" : "is empty; the first run fills it", err);
	if (configure(audit, err) < 0)
		return -1;
	return version < SCHEMA_VERSION ? migrate(audit, err) : 0;
}

/* "A is shorter than 8 bytes and is not redacted", for the caller to show. */
static char *note_ignored(const struct audit_options *options)
{
	cleanup_buf struct buf names = BUF_INIT(4096);

	for (size_t i = 0; i < options->secret_count; i++) {
		const struct audit_secret *secret = &options->secrets[i];

		if (secret->value && *secret->value && strlen(secret->value) < REDACT_MIN_LEN)
			buf_addf(&names, "%s%s", names.len ? ", " : "", secret->name);
	}
	return names.len ? mem_printf("shorter than %d bytes, so not taken out of the log: %s",
				      REDACT_MIN_LEN, names.data) : NULL;
}

static int set_redactor(struct audit *audit, const struct audit_options *options,
			struct error *err)
{
	sqlite3_stmt *stmt;

	if (audit->read_only)
		return 0;
	stmt = db_query(audit, err, "SELECT value FROM meta WHERE key = 'salt'", "");
	if (!stmt || db_step(audit, stmt, err) <= 0)
		return err->kind ? -1 : refuse(audit->path, "has lost its salt", err);
	audit->redactor = redactor_new(options->secrets, options->secret_count,
				       db_column(stmt, 0));
	sqlite3_reset(stmt);
	audit->note = note_ignored(options);
	return 0;
}

int audit_open(struct audit **ret, const struct audit_options *options, struct error *err)
{
	cleanup_audit struct audit *audit = NULL;

	error_clear(err);
	configure_library();	/* in vain, and harmless, from the second time on */
	if (prepare_file(options, err) < 0)
		return -1;
	audit = mem_alloc(sizeof(*audit));
	audit->path = mem_strdup(options->path);
	audit->app_version = mem_strdup(options->app_version ? options->app_version : "");
	audit->read_only = options->read_only;
	if (bring_up(audit, err) < 0 || set_redactor(audit, options, err) < 0)
		return -1;
	*ret = TAKE_PTR(audit);
	return 0;
}

void audit_close(struct audit *audit)
{
	if (!audit)
		return;
	for (size_t i = 0; i < DB_STATEMENTS_MAX; i++)
		sqlite3_finalize(audit->statements[i].stmt);
	sqlite3_close_v2(audit->db);
	redactor_free(audit->redactor);
	free(audit->note);
	free(audit->app_version);
	free(audit->path);
	free(audit);
}

void audit_cleanup(struct audit **audit)
{
	audit_close(*audit);
	*audit = NULL;
}

const char *audit_note(const struct audit *audit)
{
	return audit->note;
}

char *audit_default_path(void)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	/* The XDG base directory specification: relative paths are ignored. */
	if (data && data[0] == '/')
		return mem_printf("%s/assay/log.db", data);
	if (!home || !*home)
		return NULL;
	return mem_printf("%s/.local/share/assay/log.db", home);
}
