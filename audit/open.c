/*
 * Opening a log: whose file it is, what version, what has to be brought up to date, and how
 * SQLite is hardened before the first statement. A file that is no log of ours is refused before
 * SQLite may write beside it.
 */
#include "audit/blob.h"
#include "audit/db.h"
#include "audit/durable.h"
#include "audit/journal.h"
#include "audit/older.h"
#include "audit/schema.h"
#include "audit/search.h"
#include "base/io.h"
#include "base/mem.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The database header and the beginning of the first page (SQLite file format, 1.3, 1.6). */
#define HEADER_LEN	      108
#define HEADER_USER_VERSION   60
#define HEADER_APPLICATION_ID 68
#define HEADER_PAGE	      100

static int refuse(const char *path, int errnum, const char *why, struct error *err)
{
	return error_set_known(err, ERR_LOG, errnum, "audit log %s: %s", path, why);
}

/* The folder 0700 and an empty file 0600, when they are not there. */
static int create_file(const char *path, struct error *err)
{
	cleanup_free char *folder = mem_strdup(path);
	char *slash = strrchr(folder, '/');

	if (slash && slash != folder) {
		*slash = '\0';
		if (io_make_dirs(folder, 0700, err) < 0) {
			err->kind = ERR_LOG;
			return error_wrap(err, "audit log %s", path);
		}
	}
	/* O_EXCL: to close a file that this process has open elsewhere would drop its locks. */
	int fd = io_open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	if (fd < 0 && errno == EEXIST)
		return 0;
	if (fd < 0)
		return error_set_errno(err, ERR_LOG, errno,
				       "audit log %s: cannot be created (make "
				       "its folder writable, or name another log with --db)",
				       path);
	io_close(fd);
	return 0;
}

/* What SQLite could not open, or would wait for. */
static int check_kind(const char *path, const struct stat *st, struct error *err)
{
	if (S_ISDIR(st->st_mode))
		return refuse(path, EISDIR, "is a directory; --db takes a file", err);
	return S_ISREG(st->st_mode) ? 0 : refuse(path, 0, "is not a regular file", err);
}

/* Of a file that is known to be a log. */
static int make_private(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return error_set_errno(err, ERR_LOG, errno, "audit log %s", path);
	if (!(st.st_mode & 077))
		return 0;
	if (st.st_uid != geteuid())
		return refuse(path, EPERM,
			      "belongs to another user and others can read it; its owner "
			      "can make it private with chmod 600",
			      err);
	/* On a read-only file system it stays as it is; nothing is written there either. */
	if (chmod(path, 0600) < 0 && errno != EROFS)
		return error_set_errno(err, ERR_LOG, errno, "audit log %s: make it private (0600)",
				       path);
	return 0;
}

static int prepare_file(const struct audit_options *options, struct error *err)
{
	if (!options->path || !*options->path)
		return error_set(err, ERR_LOG, "audit log: no path (set HOME, or give --db PATH)");
	struct stat st;
	if (stat(options->path, &st) == 0)
		return check_kind(options->path, &st, err);
	if (errno != ENOENT)
		return error_set_errno(err, ERR_LOG, errno, "audit log %s", options->path);
	if (options->read_only || options->existing)
		return refuse(options->path, ENOENT, "does not exist yet; the first run makes it",
			      err);
	return create_file(options->path, err);
}

/* A database of one page without any table, of no application: what the first
 * statement of a log's creation leaves when it is the last one. */
static bool is_blank(const unsigned char header[HEADER_LEN], sqlite3_int64 size)
{
	static const unsigned char leaf[] = { 13, 0, 0, 0, 0 }; /* no free block, no cell */
	static const unsigned char none[4];

	return size == (header[16] << 8 | header[17]) && header[18] == 1 &&
	       !memcmp(header + HEADER_USER_VERSION, none, sizeof(none)) &&
	       !memcmp(header + HEADER_APPLICATION_ID, none, sizeof(none)) &&
	       !memcmp(header + HEADER_PAGE, leaf, sizeof(leaf));
}

/*
 * Whether the file's header is a log's, or there is none yet, before any
 * statement: the first one may roll back a journal, or make files beside it.
 * Through SQLite's own descriptor: to close another one would drop its locks.
 */
static int recognise(struct audit *audit, bool *ret_empty, struct error *err)
{
	static const char magic[] = "SQLite format 3";
	sqlite3_file *file = NULL;
	sqlite3_int64 size = 0;

	if (sqlite3_file_control(audit->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) !=
		    SQLITE_OK ||
	    !file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK)
		return db_fail(audit, "open", err);
	*ret_empty = !size;
	if (!size)
		return 0;
	unsigned char header[HEADER_LEN];
	if (size < HEADER_LEN || file->pMethods->xRead(file, header, HEADER_LEN, 0) != SQLITE_OK ||
	    memcmp(header, magic, sizeof(magic)))
		return refuse(audit->path, 0,
			      audit->foreign ? "is no log or bundle" DB_MAKE_ANEW :
					       "is not a database, and left as it is; name another "
					       "log with --db",
			      err);
	*ret_empty = is_blank(header, size);
	uint32_t id;
	memcpy(&id, header + HEADER_APPLICATION_ID, sizeof(id));
	if (!*ret_empty && be32toh(id) != SCHEMA_APPLICATION_ID)
		return refuse(audit->path, 0,
			      audit->foreign ?
				      "is another application's database, and no log or bundle" :
				      "is another application's database; name another log "
				      "with --db",
			      err);
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
	cleanup_free char *query_only = mem_printf("PRAGMA query_only = %d", audit->read_only);

	if (db_exec(audit, settings, "configure", err) < 0)
		return -1;
	return db_exec(audit, query_only, "configure", err);
}

/* Before the first use: a log is one thread's, but several threads may each have one
 * (agent/doors/), of one file even, so that what SQLite shares among them needs its locks. Nobody
 * asks how much memory that takes, so no allocation does. */
static void configure_library(void)
{
	sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* When queries end, and who waits for whom. A file from elsewhere may hold triggers and views: none
 * of them is run. */
static void harden(struct audit *audit)
{
	sqlite3 *db = audit->db;

	sqlite3_busy_handler(db, db_busy, audit);
	sqlite3_progress_handler(db, DB_PROGRESS_STEPS, db_progress, audit);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
}

/* "file:" and what of the path would mean something in a URI as %XX. Caller frees. */
static char *immutable_uri(const char *path)
{
	cleanup_buf struct buf uri = BUF_INIT(BUF_MAX_DEFAULT);

	buf_addstr(&uri, "file:");
	for (; *path; path++)
		if (strchr("%?#", *path))
			buf_addf(&uri, "%%%02X", (unsigned char)*path);
		else
			buf_addch(&uri, *path);
	buf_addstr(&uri, "?immutable=1");
	return buf_take(&uri, NULL);
}

/*
 * A reader too opens for writing where it may: only so can it take over what a
 * killed process left behind. query_only keeps it a reader.
 */
static int connect_file(struct audit *audit, bool immutable, struct error *err)
{
	/* Debian's SQLite reads "file:..." as a URI; "./" makes it the name it is. */
	cleanup_free char *name =
		mem_printf("%s%s", audit->path[0] == '/' ? "" : "./", audit->path);
	cleanup_free char *uri = immutable_uri(name);
	bool writable = !immutable && (!audit->read_only || access(audit->path, W_OK) == 0);
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE |
		    (immutable ? SQLITE_OPEN_URI : 0) |
		    (writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);

	if (sqlite3_open_v2(immutable ? uri : name, &audit->db, flags, NULL) != SQLITE_OK)
		return db_fail(audit, "open", err);
	if (!audit->read_only && sqlite3_db_readonly(audit->db, "main") == 1)
		return refuse(audit->path, EROFS,
			      "is read-only; make the file writable, or name another "
			      "log with --db",
			      err);
	harden(audit);
	return 0;
}

/* A reader of an empty file has no log to read; a writer makes one. */
static int recognise_log(struct audit *audit, struct error *err)
{
	bool empty;

	if (recognise(audit, &empty, err) < 0)
		return -1;
	if (empty && audit->read_only)
		return refuse(audit->path, 0, "is empty; the first run fills it", err);
	return make_private(audit->path, err);
}

/* Where nothing can be written, the memory that a write-ahead log shares cannot be made. */
static bool lacks_memory(const struct audit *audit)
{
	switch (audit->code & 0xff) {
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
	case SQLITE_IOERR:
	case SQLITE_FULL:
	case SQLITE_PROTOCOL:
		return audit->read_only;
	default:
		return false;
	}
}

/* The file as it lies there, when no part of the log is beside it. */
static int read_as_is(struct audit *audit, int64_t *ret_version, struct error *err)
{
	int64_t pending = journal_pending(audit->path);

	if (pending)
		return error_set(err, ERR_LOG,
				 "audit log %s: %lld bytes of it are in %s-wal, which can be read "
				 "only where files can be written; copy both into a folder of "
				 "yours",
				 audit->path, (long long)pending, audit->path);
	db_close(audit);
	error_clear(err);
	if (connect_file(audit, true, err) < 0 || recognise_log(audit, err) < 0)
		return -1;
	return schema_identify(audit, ret_version, err);
}

static int identify(struct audit *audit, int64_t *ret_version, struct error *err)
{
	if (connect_file(audit, false, err) < 0 || recognise_log(audit, err) < 0)
		return -1;
	if (schema_identify(audit, ret_version, err) == 0)
		return 0;
	if (!lacks_memory(audit))
		return -1;
	return read_as_is(audit, ret_version, err);
}

/* What a log of this version does not hold is a reader's to know, and stops a writer: nobody
 * knows what it would make of what is written. */
static int check_schema(struct audit *audit, struct error *err)
{
	cleanup_free char *odd = NULL;

	if ((!audit->read_only && search_mend(audit, err) < 0) ||
	    schema_compare(audit, &odd, err) < 0)
		return -1;
	if (!odd)
		return 0;
	if (audit->read_only)
		db_note(audit, mem_printf("the log is not as this program makes it, and what it "
					  "says may be made up: it has %s",
					  odd));
	else
		return error_set(
			err, ERR_LOG,
			"audit log %s: is not as this program makes it: it has %s; name "
			"another log with --db (log export --bundle and log import take its "
			"runs there), or, when that is yours and not of assay's making, "
			"drop it with sqlite3 %s",
			audit->path, odd, audit->path);
	return 0;
}

/* Who reads changes nothing: a copy is brought up to date. */
static int read_older(struct audit *audit, struct error *err)
{
	if (older_copy(audit, err) < 0)
		return -1;
	harden(audit);
	audit->read_only = false;
	int rc = configure(audit, err) < 0 ? -1 : schema_migrate(audit, err);
	audit->read_only = true;
	if (rc < 0 || configure(audit, err) < 0 || check_schema(audit, err) < 0)
		return -1;
	db_note(audit, mem_strdup("the log was written by an older assay, and is read as a copy "
				  "in memory; any run brings it up to date"));
	return 0;
}

static int bring_up(struct audit *audit, struct error *err)
{
	int64_t version;

	if (identify(audit, &version, err) < 0)
		return -1;
	if (version < SCHEMA_VERSION && audit->read_only)
		return read_older(audit, err);
	if (configure(audit, err) < 0 ||
	    (version < SCHEMA_VERSION && schema_migrate(audit, err) < 0) ||
	    check_schema(audit, err) < 0)
		return -1;
	if (!audit->read_only)
		return journal_choose(audit, err) < 0 ? -1 : durable_choose(audit, err);
	journal_read(audit);
	return 0;
}

/* Which keys are too short to be looked for, for the caller to show. */
static void note_ignored(struct audit *audit, const struct audit_options *options)
{
	cleanup_buf struct buf names = BUF_INIT(4096);

	for (size_t i = 0; i < options->secret_count; i++) {
		const struct audit_secret *secret = &options->secrets[i];

		if (secret->value && *secret->value && strlen(secret->value) < REDACT_MIN_LEN)
			buf_addf(&names, "%s%s", names.len ? ", " : "", secret->name);
	}
	if (names.len)
		db_note(audit, mem_printf("%s: a value of fewer than %d bytes is no real key and "
					  "could be part of any word, so it is not blacked out in "
					  "the log",
					  names.data, REDACT_MIN_LEN));
}

static int set_redactor(struct audit *audit, const struct audit_options *options, struct error *err)
{
	if (audit->read_only)
		return 0;
	sqlite3_stmt *stmt = db_query(audit, err, "SELECT value FROM meta WHERE key = 'salt'", "");
	if (!stmt || db_step(audit, stmt, err) <= 0)
		return err->kind ? -1 : refuse(audit->path, 0, "has lost its salt", err);
	audit->redactor = redactor_new(options->secrets, options->secret_count, db_column(stmt, 0));
	sqlite3_reset(stmt);
	for (size_t i = 0; i < options->pattern_count; i++)
		if (redactor_add_pattern(audit->redactor, options->patterns[i], err) < 0)
			return -1;
	note_ignored(audit, options);
	return 0;
}

int audit_open(struct audit **ret, const struct audit_options *options, struct error *err)
{
	cleanup_audit struct audit *audit = NULL;

	error_clear(err);
	configure_library(); /* in vain, and harmless, from the second time on */
	if (prepare_file(options, err) < 0)
		return -1;
	audit = mem_alloc(sizeof(*audit));
	audit->wal_fd = -1;
	audit->group = options->group;
	audit->path = mem_strdup(options->path);
	audit->app_version = mem_strdup(options->app_version ? options->app_version : "");
	audit->read_only = audit->at_once = options->read_only;
	audit->foreign = options->foreign;
	audit->brief = options->brief;
	audit_set_stop(audit, options->stop);
	if (bring_up(audit, err) < 0 || set_redactor(audit, options, err) < 0)
		return -1;
	*ret = TAKE_PTR(audit);
	return 0;
}

int audit_finish(struct audit *audit, struct error *err)
{
	int left = audit->brief && audit->db ? journal_leave(audit, err) : 0;

	db_close(audit);
	struct error ignored = ERROR_INIT;
	return durable_finish(audit, left < 0 ? &ignored : err) < 0 || left < 0 ? -1 : 0;
}

void audit_close(struct audit *audit)
{
	if (!audit)
		return;
	struct error ignored = ERROR_INIT;
	audit_finish(audit, &ignored);
	clean_forget(audit);
	db_forget_sums(audit);
	redactor_free(audit->redactor);
	free(audit->note);
	free(audit->journal_why);
	free(audit->app_version);
	free(audit->path);
	free(audit);
}

void audit_cleanup(struct audit **audit)
{
	audit_close(*audit);
	*audit = NULL;
}

const struct redactor *audit_redactor(const struct audit *audit)
{
	return audit ? audit->redactor : NULL;
}

struct redactor *audit_take_redactor(struct audit *audit)
{
	audit->read_only = true;
	return TAKE_PTR(audit->redactor);
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
