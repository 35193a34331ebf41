/*
 * What can go wrong with the file: each says so, names the path, and writes nothing by halves. What
 * somebody else made of the file is test_audit_damage.c's and test_audit_attack.c's.
 */
#include "test_audit_child.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define NOBODY 65534

static void write_file(const char *path, const char *bytes, size_t len)
{
	struct error err = ERROR_INIT;

	assert_ok(io_replace_file(path, bytes, len, 0600, &err), err);
}

static void sql(const struct fixture *f, const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void assert_refused(const char *path, bool read_only, const char *why)
{
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;

	assert_int_equal(audit_open(&audit,
				    &(struct audit_options){ .path = path, .read_only = read_only },
				    &err),
			 -1);
	assert_null(audit);
	assert_int_equal(err.kind, ERR_LOG);
	if (!strstr(err.message, why) || !strstr(err.message, path))
		fail_msg("\"%s\" expected in \"%s\"", why, err.message);
}

static void test_foreign_files(void **state)
{
	struct fixture *f = *state;
	static char junk[8192];

	memset(junk, 'j', sizeof(junk));
	assert_refused(f->path, true, "does not exist yet");
	assert_refused(f->folder, false, "is a directory");
	assert_refused("/dev/null", false, "not a regular file");
	write_file(f->path, junk, sizeof(junk));
	assert_refused(f->path, false, "not a database");
	assert_int_equal(fixture_scan(f->path, "jjjjjjjj") > 0, 1);
	unlink(f->path);
	sql(f, "CREATE TABLE mine(x)");
	assert_refused(f->path, false, "another application's");
	unlink(f->path);
	sql(f, "PRAGMA application_id = 7; CREATE TABLE mine(x)");
	assert_refused(f->path, true, "another application's");
	unlink(f->path);
	audit_close(fixture_open(f));
	sql(f, "PRAGMA user_version = 99");
	assert_refused(f->path, false, "newer assay (schema 99");
	unlink(f->path);
	write_file(f->path, "", 0);
	assert_refused(f->path, true, "is empty");
	audit_close(fixture_open(f));
}

static void test_damaged(void **state)
{
	struct fixture *f = *state;
	cleanup_buf struct buf bytes = BUF_INIT(BUF_MAX_DEFAULT);
	struct error err = ERROR_INIT;
	struct audit *audit = fixture_open(f);
	const struct audit_run run = { .id = "01ZZZZZZZZZZZZZZZZZZZZZZZZ", .kind = "ask" };
	char id[ULID_LEN + 1];

	for (int i = 0; i < 30; i++)
		fixture_run(audit, "q", "1", id);
	audit_close(audit);
	assert_ok(io_read_file(f->path, &bytes, &err), err);
	memset(bytes.data + 4096, 0xA5, bytes.len - 4096);
	write_file(f->path, bytes.data, bytes.len);
	if (audit_open(&audit, &(struct audit_options){ .path = f->path }, &err) == 0) {
		assert_int_equal(audit_run_begin(audit, &run, &err), -1);
		audit_close(audit);
	}
	assert_int_equal(err.kind, ERR_LOG);
	assert_non_null(strstr(err.message, ".recover"));
}

static int read_all(void *self, const struct audit_row *row)
{
	struct error err = ERROR_INIT;
	cleanup_free char *bad = NULL;
	int events = 0;

	audit_events(self, row->id, count_events, &events, &err);
	audit_verify(self, row->id, &bad, &err);
	return 0;
}

/* Whatever the bytes are: an error or an answer, no crash (run it with SAN=1). */
static void test_random_damage(void **state)
{
	struct fixture *f = *state;
	cleanup_buf struct buf bytes = BUF_INIT(BUF_MAX_DEFAULT);
	struct error err = ERROR_INIT;
	struct audit *audit = fixture_open(f);
	unsigned seed = 7;
	char id[ULID_LEN + 1];

	for (int i = 0; i < 3; i++)
		fixture_run(audit, "q", "1", id);
	audit_close(audit);
	assert_ok(io_read_file(f->path, &bytes, &err), err);
	for (int round = 0; round < 200; round++) {
		cleanup_free char *copy = mem_strndup(bytes.data, bytes.len);
		cleanup_json struct json *stats = NULL;

		for (int i = 0; i < 1 + round % 40; i++) {
			seed = seed * 1103515245U + 12345;
			copy[(seed >> 8) % bytes.len] ^= (char)(1U << (seed >> 3) % 8);
		}
		write_file(f->path, copy, bytes.len);
		if (audit_open(&audit,
			       &(struct audit_options){ .path = f->path, .read_only = true },
			       &err) < 0)
			continue;
		audit_list(audit, &(struct audit_filter){ 0 }, read_all, audit, &err);
		audit_list(audit, &(struct audit_filter){ .match = "q" }, read_all, audit, &err);
		audit_stats(audit, &stats, &err);
		audit_close(audit);
	}
}

static void unwritable_child(const struct fixture *f)
{
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;
	struct audit_row row = { 0 };

	CHILD_ASSERT(geteuid() != 0 || setresuid(NOBODY, NOBODY, NOBODY) == 0);
	CHILD_ASSERT(audit_open(&audit, &(struct audit_options){ .path = f->path }, &err) < 0);
	CHILD_ASSERT(err.kind == ERR_LOG && strstr(err.message, f->path));
	CHILD_ASSERT(strstr(err.message, "writable"));
	/* Reading goes on. */
	CHILD_ASSERT(audit_open(&audit,
				&(struct audit_options){ .path = f->path, .read_only = true },
				&err) == 0);
	CHILD_ASSERT(audit_find(audit, "last", &row, &err) == 0);
	audit_row_release(&row);
	CHILD_ASSERT(audit_run_begin(audit, &(struct audit_run){ .id = "x" }, &err) < 0);
	CHILD_ASSERT(err.kind == ERR_LOG);
	audit_close(audit);
}

static void unwritable_folder_child(const struct fixture *f)
{
	cleanup_free char *path = mem_printf("%s/none/log.db", f->folder);
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;

	CHILD_ASSERT(geteuid() != 0 || setresuid(NOBODY, NOBODY, NOBODY) == 0);
	CHILD_ASSERT(audit_open(&audit, &(struct audit_options){ .path = path }, &err) < 0);
	CHILD_ASSERT(err.kind == ERR_LOG && strstr(err.message, path));
}

/* Without the files beside it, which nobody can make there, and with. */
static void test_unwritable(void **state)
{
	static const char *const beside[] = { "", "-wal", "-shm" };
	struct fixture *f = *state;
	struct audit *audit = fixture_open(f);
	char id[ULID_LEN + 1];

	fixture_run(audit, "q", "1", id);
	audit_close(audit);
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
		cleanup_free char *path = mem_printf("%s%s", f->path, beside[i]);

		assert_int_equal(chmod(path, 0400), 0);
		if (geteuid() == 0)
			assert_int_equal(chown(path, NOBODY, (gid_t)-1), 0);
	}
	assert_int_equal(chmod(f->folder, 0555), 0);
	in_child(unwritable_child, f);
	in_child(unwritable_folder_child, f);
	assert_int_equal(chmod(f->folder, 0755), 0);
	for (size_t i = 1; i < ARRAY_SIZE(beside); i++) {
		cleanup_free char *path = mem_printf("%s%s", f->path, beside[i]);

		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(chmod(f->folder, 0555), 0);
	in_child(unwritable_child, f);
	assert_int_equal(chmod(f->folder, 0755), 0);
}

static void half_child(const struct fixture *f)
{
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;

	CHILD_ASSERT(geteuid() != 0 || setresuid(NOBODY, NOBODY, NOBODY) == 0);
	CHILD_ASSERT(audit_open(&audit,
				&(struct audit_options){ .path = f->path, .read_only = true },
				&err) < 0);
	CHILD_ASSERT(strstr(err.message, "log.db-wal") && strstr(err.message, "copy both"));
}

static void dying_child(const struct fixture *f)
{
	char id[ULID_LEN + 1];

	fixture_run(fixture_open(f), "q", "1", id);
}

/* What a killed program left in the write-ahead log is not passed over in silence. */
static void test_unwritable_half(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *wal = mem_printf("%s-wal", f->path),
			  *shm = mem_printf("%s-shm", f->path);

	in_child(dying_child, f);
	assert_int_equal(unlink(shm), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(f->path, NOBODY, (gid_t)-1) | chown(wal, NOBODY, (gid_t)-1),
				 0);
	assert_int_equal(chmod(f->path, 0400), 0);
	assert_int_equal(chmod(f->folder, 0555), 0);
	in_child(half_child, f);
	assert_int_equal(chmod(f->folder, 0755), 0);
}

static void others_file_child(const struct fixture *f)
{
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;

	CHILD_ASSERT(setresuid(NOBODY, NOBODY, NOBODY) == 0);
	CHILD_ASSERT(audit_open(&audit, &(struct audit_options){ .path = f->path }, &err) < 0);
	CHILD_ASSERT(strstr(err.message, "belongs to another user"));
}

static void test_others_file(void **state)
{
	struct fixture *f = *state;

	if (geteuid()) {
		print_message("skipped: needs root to make another user's file\n");
		skip();
	}
	audit_close(fixture_open(f));
	assert_int_equal(chmod(f->path, 0666), 0);
	assert_int_equal(chmod(f->folder, 0755), 0);
	in_child(others_file_child, f);
}

/* Writes runs until the log says no, with errnum (0: SQLite did not keep it); then all that was
 * committed is intact. */
static void fill_until_refused(const struct fixture *f, int errnum, const char *why)
{
	static char big[100000];
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;
	const struct audit_blob blob = { "b", "x/y", big, sizeof(big) };
	const struct audit_event event = {
		.stage = "execute", .phase = "done", .blobs = &blob, .blob_count = 1
	};
	struct audit_run run = { .kind = "ask" };
	int good = 0, rc = 0;

	CHILD_ASSERT(audit_open(&audit, &(struct audit_options){ .path = f->path }, &err) == 0);
	ulid_new(clock_wall_ms(), run.id);
	CHILD_ASSERT(audit_run_begin(audit, &run, &err) == 0 && audit_commit(audit, &err) == 0);
	while (!rc && good < 100) {
		memset(big, good, sizeof(big));
		rc = audit_append(audit, run.id, &event, &err) < 0 || audit_commit(audit, &err) < 0;
		good += !rc;
	}
	CHILD_ASSERT(rc && good > 0 && good < 100);
	CHILD_ASSERT(err.kind == ERR_LOG && strstr(err.message, f->path));
	CHILD_ASSERT(strstr(err.message, why) && (!errnum || err.errnum == errnum));
	CHILD_ASSERT(audit_append(audit, run.id, &event, &err) < 0);
	audit_close(audit);
}

static void file_limit_child(const struct fixture *f)
{
	const struct rlimit limit = { 1000000, 1000000 };
	struct error err = ERROR_INIT;

	signal(SIGXFSZ, SIG_IGN);
	CHILD_ASSERT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	fill_until_refused(f, 0, "--db");
	assert_intact(f);
}

static void test_file_size_limit(void **state)
{
	in_child(file_limit_child, *state);
}

/* Root of a user namespace of its own, so that it may mount. */
static int become_root(void)
{
	cleanup_free char *users = mem_printf("0 %d 1", (int)geteuid());
	cleanup_free char *groups = mem_printf("0 %d 1", (int)getegid());
	const char *const writes[][2] = {
		{ "/proc/self/setgroups", "deny" },
		{ "/proc/self/uid_map", users },
		{ "/proc/self/gid_map", groups },
	};

	if (unshare(CLONE_NEWNS | CLONE_NEWUSER) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(writes); i++) {
		int fd = open(writes[i][0], O_WRONLY | O_CLOEXEC);

		if (fd < 0 || write(fd, writes[i][1], strlen(writes[i][1])) < 0)
			return -1;
		close(fd);
	}
	return 0;
}

static void full_disk_child(const struct fixture *f)
{
	struct error err = ERROR_INIT;

	if (geteuid() ? become_root() < 0 : unshare(CLONE_NEWNS) < 0) {
		print_message("skipped: no mount namespace: %s\n", strerror(errno));
		_exit(77);
	}
	CHILD_ASSERT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	CHILD_ASSERT(mount("tmpfs", f->folder, "tmpfs", 0, "size=1m") == 0);
	fill_until_refused(f, ENOSPC, "free some space");
	assert_intact(f);
}

static void test_full_disk(void **state)
{
	in_child(full_disk_child, *state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest audit_failure[] = {
		TEST(test_foreign_files),   TEST(test_damaged),		TEST(test_random_damage),
		TEST(test_unwritable),	    TEST(test_unwritable_half), TEST(test_others_file),
		TEST(test_file_size_limit), TEST(test_full_disk),
	};

	return cmocka_run_group_tests(audit_failure, NULL, NULL);
}
