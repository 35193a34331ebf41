/* The write-ahead log: who reads stops nobody, pages are moved only under the write lock, and where
 * there can be none there is a rollback journal, and a word why. */
#include "test_audit_fixture.h"

#include "audit/db.h"
#include "audit/journal.h"

#include <linux/magic.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static unsigned pretend; /* the magic of the file system that every file is on; 0: its own */

int __real_statfs(const char *path, struct statfs *fs);
int __wrap_statfs(const char *path, struct statfs *fs);
int __wrap_statfs(const char *path, struct statfs *fs)
{
	int rc = __real_statfs(path, fs);

	if (pretend)
		fs->f_type = (__typeof__(fs->f_type))pretend;
	return rc;
}

static sqlite3 *shell(const struct fixture *f, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	return db;
}

static void end(sqlite3 *db, const char *sql)
{
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void assert_journal(struct audit *audit, const char *want, const char *why)
{
	cleanup_json struct json *stats = NULL;
	struct error err = ERROR_INIT;

	assert_ok(audit_stats(audit, &stats, &err), err);
	assert_string_equal(json_get_string(stats, "journal"), want);
	const char *said = json_get_string(stats, "journal_why");
	if (!why)
		assert_null(said);
	else if (!said || !strstr(said, why))
		fail_msg("\"%s\" expected in \"%s\"", why, said ? said : "(none)");
}

static int count_row(void *self, const struct audit_row *row)
{
	(void)row;
	++*(int *)self;
	return 0;
}

static int runs_of(struct audit *audit)
{
	struct error err = ERROR_INIT;
	int count = 0;

	assert_ok(audit_list(audit, &(struct audit_filter){ 0 }, count_row, &count, &err), err);
	return count;
}

/* Longer than any patience: the reader ends after the last of them. */
static void test_reader_stops_nobody(void **state)
{
	struct fixture *f = *state;
	struct audit *audit = fixture_open(f);
	cleanup_free char *big = mem_alloc(300001);
	char id[ULID_LEN + 1];

	fixture_run(audit, "q", "1", id);
	sqlite3 *reader = shell(f, "BEGIN; SELECT * FROM runs");
	for (unsigned i = 0; i < 40; i++) {
		memset(big, 'a', 300000);
		memcpy(big + 10, &(char[3]){ (char)('a' + i % 26), (char)('a' + i / 26) }, 2);
		fixture_run(audit, "q", big, id);
	}
	audit_close(audit);
	audit = fixture_open(f);
	assert_journal(audit, "wal", NULL);
	assert_int_equal(runs_of(audit), 41);
	/* It went on growing, since the reader needs what was before. */
	assert_true(journal_pending(f->path) > 10000000);
	end(reader, "COMMIT");
	fixture_run(audit, "q", "1", id);
	assert_true(journal_pending(f->path) < 1000000);
	audit_close(audit);
}

static void test_moves_by_size(void **state)
{
	struct fixture *f = *state;
	cleanup_audit struct audit *audit = fixture_open(f);
	cleanup_free char *big = mem_alloc(1500001);
	char id[ULID_LEN + 1];

	fixture_run(audit, "q", "1", id);
	assert_true(journal_pending(f->path) > 0);
	for (char c = 'a'; c < 'c'; c++) {
		memset(big, c, 1500000);
		fixture_run(audit, "q", big, id);
	}
	assert_true(journal_pending(f->path) > 3000000);
	memset(big, 'z', 1500000);
	fixture_run(audit, "q", big, id);
	assert_true(journal_pending(f->path) < 1000000);
}

/* Beside a writer not a page is moved, and nothing of it is lost: see audit/journal.h. */
static void test_moves_nothing_beside_a_writer(void **state)
{
	struct fixture *f = *state;
	cleanup_audit struct audit *audit = fixture_open(f);
	char id[ULID_LEN + 1];

	fixture_run(audit, "q", "1", id);
	assert_true(journal_scrub(audit));
	fixture_run(audit, "q", "2", id);
	sqlite3 *writer = shell(f, "PRAGMA wal_autocheckpoint = 0; BEGIN IMMEDIATE");
	struct stat before;
	assert_int_equal(stat(f->path, &before), 0);
	audit->wal_pages = 1 << 20;
	journal_after_commit(audit);
	struct stat after;
	assert_int_equal(stat(f->path, &after), 0);
	assert_int_equal(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
	assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	end(writer, "ROLLBACK");
	assert_true(journal_pending(f->path) > 0);
	journal_after_commit(audit);
	assert_int_equal(journal_pending(f->path), 0);
	fixture_run(audit, "q", "3", id);
	assert_int_equal(runs_of(audit), 3);
}

static void assert_file_alone_has(const struct fixture *f, int runs)
{
	cleanup_free char *copy = mem_printf("%s/copy.db", f->folder);
	cleanup_buf struct buf bytes = BUF_INIT(BUF_MAX_DEFAULT);
	struct error err = ERROR_INIT;
	struct audit *audit;

	assert_ok(io_read_file(f->path, &bytes, &err), err);
	assert_ok(io_replace_file(copy, bytes.data, bytes.len, 0600, &err), err);
	assert_ok(audit_open(&audit, &(struct audit_options){ .path = copy, .read_only = true },
			     &err),
		  err);
	assert_int_equal(runs_of(audit), runs);
	audit_close(audit);
}

static void test_file_alone_is_whole(void **state)
{
	struct fixture *f = *state;
	struct audit *audit = fixture_open(f);
	char id[ULID_LEN + 1];

	fixture_run(audit, "q", "1", id);
	audit_close(audit);
	assert_int_equal(journal_pending(f->path), 0);
	assert_file_alone_has(f, 1);
}

static struct audit *open_briefly(const struct fixture *f)
{
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;

	assert_ok(audit_open(&audit, &(struct audit_options){ .path = f->path, .brief = true },
			     &err),
		  err);
	return audit;
}

/* What it leaves in the write-ahead log is in the file, too, short, and moved by the next who
 * closes the log in the ordinary way, though he only read it. */
static void test_brief_one_leaves_little(void **state)
{
	const int64_t room = (int64_t)768 << 10; /* what is left, and one run more */
	struct fixture *f = *state;
	struct error err = ERROR_INIT;
	struct audit *audit;
	char id[ULID_LEN + 1];
	int left = 0, moved = 0;

	for (int i = 1; i <= 40; i++) {
		audit = open_briefly(f);
		assert_int_equal(runs_of(audit), i - 1);
		fixture_run(audit, "q", "1", id);
		assert_true(journal_pending(f->path) < room);
		audit_close(audit);
		assert_file_alone_has(f, i);
		*(journal_pending(f->path) ? &left : &moved) += 1;
	}
	assert_true(left > moved && moved > 0);
	audit_close(open_briefly(f));
	fixture_run(audit = open_briefly(f), "q", "1", id);
	audit_close(audit);
	assert_true(journal_pending(f->path) > 0);
	assert_ok(audit_open(&audit, &(struct audit_options){ .path = f->path, .read_only = true },
			     &err),
		  err);
	assert_int_equal(runs_of(audit), 41);
	audit_close(audit);
	assert_int_equal(journal_pending(f->path), 0);
}

static void test_shared_file_systems(void **state)
{
	static const unsigned magics[] = { NFS_SUPER_MAGIC, 0xFF534D42, FUSE_SUPER_MAGIC };
	struct fixture *f = *state;

	audit_close(fixture_open(f));
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++) {
		pretend = magics[i];
		struct audit *audit = fixture_open(f);
		assert_journal(audit, "persist", "shared by machines");
		char id[ULID_LEN + 1];
		fixture_run(audit, "q", "1", id);
		audit_close(audit);
		pretend = 0;
		audit = fixture_open(f);
		assert_journal(audit, "wal", NULL);
		assert_int_equal(runs_of(audit), (int)i + 1);
		audit_close(audit);
	}
}

/* A log of before: a reader of it in the old way keeps it in the old way, for the while. */
static void test_switch_waits_for_nobody(void **state)
{
	struct fixture *f = *state;
	struct audit *audit = fixture_open(f);

	audit_close(audit);
	end(shell(f, "PRAGMA journal_mode = DELETE"), "");
	sqlite3 *reader = shell(f, "BEGIN; SELECT * FROM runs");
	audit = fixture_open(f);
	assert_journal(audit, "persist", "has the file open");
	end(reader, "COMMIT");
	char id[ULID_LEN + 1];
	fixture_run(audit, "q", "1", id);
	audit_close(audit);
	audit = fixture_open(f);
	assert_journal(audit, "wal", NULL);
	assert_int_equal(runs_of(audit), 1);
	audit_close(audit);
}

static void test_scrub_says_who_holds_it(void **state)
{
	struct fixture *f = *state;
	cleanup_audit struct audit *audit = fixture_open(f);
	struct error err = ERROR_INIT;
	char id[ULID_LEN + 1];

	fixture_run(audit, "q", "1", id);
	sqlite3 *reader = shell(f, "BEGIN; SELECT * FROM runs");
	assert_ok(fixture_remove(audit, id, &err), err);
	assert_non_null(strstr(audit_note(audit), "log.db-wal until"));
	end(reader, "COMMIT");
	assert_true(journal_scrub(audit));
	assert_int_equal(runs_of(audit), 0);
}

static void test_backup_beside_writers(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *copy = mem_printf("%s/copy.db", f->folder);
	struct audit *audit = fixture_open(f), *reader = NULL;
	struct error err = ERROR_INIT;
	char id[ULID_LEN + 1];

	fixture_run(audit, "q", "1", id);
	sqlite3 *writer = shell(f, "BEGIN IMMEDIATE; DELETE FROM tags");
	assert_ok(audit_open(&reader, &(struct audit_options){ .path = f->path, .read_only = true },
			     &err),
		  err);
	assert_ok(audit_backup(reader, copy, &err), err);
	end(writer, "ROLLBACK");
	audit_close(reader);
	audit_close(audit);
	assert_int_equal(journal_pending(copy), 0);
	assert_ok(audit_open(&audit, &(struct audit_options){ .path = copy, .read_only = true },
			     &err),
		  err);
	assert_int_equal(runs_of(audit), 1);
	audit_close(audit);
}

static void assert_odd(const struct fixture *f, const char *what)
{
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;

	assert_int_equal(audit_open(&audit, &(struct audit_options){ .path = f->path }, &err), -1);
	assert_int_equal(err.kind, ERR_LOG);
	if (!strstr(err.message, what) || !strstr(err.message, "sqlite3"))
		fail_msg("\"%s\" expected in \"%s\"", what, err.message);
	assert_ok(audit_open(&audit, &(struct audit_options){ .path = f->path, .read_only = true },
			     &err),
		  err);
	assert_non_null(audit_note(audit));
	if (!strstr(audit_note(audit), what))
		fail_msg("\"%s\" expected in \"%s\"", what, audit_note(audit));
	assert_int_equal(runs_of(audit), 1);
	audit_close(audit);
}

static void test_planted(void **state)
{
	static const struct {
		const char *plant, *name, *away;
	} cases[] = {
		{ "CREATE TRIGGER wipe AFTER INSERT ON events BEGIN DELETE FROM runs; END",
		  "trigger wipe", "DROP TRIGGER wipe" },
		{ "CREATE VIEW mine AS SELECT 1", "view mine", "DROP VIEW mine" },
		{ "CREATE TABLE more(x)", "table more", "DROP TABLE more" },
		{ "CREATE INDEX slow ON events(data)", "index slow", "DROP INDEX slow" },
		{ "ALTER TABLE tags ADD COLUMN x TEXT", "table tags",
		  "ALTER TABLE tags DROP COLUMN x" },
	};
	struct fixture *f = *state;
	struct audit *audit = fixture_open(f);
	char id[ULID_LEN + 1];

	fixture_run(audit, "q", "1", id);
	audit_close(audit);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		end(shell(f, cases[i].plant), "");
		assert_odd(f, cases[i].name);
		end(shell(f, cases[i].away), "");
	}
	end(shell(f, "ANALYZE"), "");
	audit = fixture_open(f);
	fixture_run(audit, "q", "1", id);
	assert_int_equal(runs_of(audit), 2);
	/* Even one that came later does not run. */
	end(shell(f, cases[0].plant), "");
	fixture_run(audit, "q", "1", id);
	assert_int_equal(runs_of(audit), 3);
	audit_close(audit);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest audit_journal[] = {
		TEST(test_reader_stops_nobody),		  TEST(test_moves_by_size),
		TEST(test_moves_nothing_beside_a_writer), TEST(test_file_alone_is_whole),
		TEST(test_brief_one_leaves_little),	  TEST(test_shared_file_systems),
		TEST(test_switch_waits_for_nobody),	  TEST(test_scrub_says_who_holds_it),
		TEST(test_backup_beside_writers),	  TEST(test_planted),
	};

	return cmocka_run_group_tests(audit_journal, NULL, NULL);
}
