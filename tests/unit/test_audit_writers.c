/*
 * Several processes and one log: who waits for whom, and what is left of one that is killed. None
 * of them may be judged by how long it waited, only by what it waited for.
 */
#include "test_asleep.h"
#include "test_audit_child.h"

#include "audit/db.h"

#include <signal.h>
#include <sqlite3.h>

static void test_locked(void **state)
{
	struct fixture *f = *state;
	cleanup_audit struct audit *audit = fixture_open(f);
	const struct audit_run run = { .id = "01ZZZZZZZZZZZZZZZZZZZZZZZZ", .kind = "ask" };
	struct error err = ERROR_INIT;
	sqlite3 *other;

	assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_busy_timeout(audit->db, 20);
	assert_int_equal(audit_run_begin(audit, &run, &err), -1);
	assert_int_equal(err.kind, ERR_LOG);
	assert_non_null(strstr(err.message, "another process"));
	assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(other);
	assert_ok(audit_run_begin(audit, &run, &err), err);
}

static int tell_who_waits;

static void waiting_child(const struct fixture *f)
{
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;
	pid_t self = getpid();

	CHILD_ASSERT(write(tell_who_waits, &self, sizeof(self)) == sizeof(self));
	CHILD_ASSERT(audit_open(&audit, &(struct audit_options){ .path = f->path }, &err) == 0);
	char id[ULID_LEN + 1];
	fixture_run(audit, "waited", "1", id);
	audit_close(audit);
}

static void test_waits_for_a_lock(void **state)
{
	struct fixture *f = *state;
	int ends[2], waiters[2];

	audit_close(fixture_open(f));
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(waiters), 0);
	tell_who_waits = waiters[1];
	pid_t pid = fork();
	if (!pid) {
		sqlite3 *other;
		pid_t who;

		if (sqlite3_open(f->path, &other) ||
		    sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL) ||
		    write(ends[1], "", 1) != 1 ||
		    read(waiters[0], &who, sizeof(who)) != sizeof(who))
			_exit(1);
		until_asleep(who);
		_exit(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL) != SQLITE_OK);
	}
	close(ends[1]);
	char locked;
	assert_int_equal(read(ends[0], &locked, 1), 1);
	close(ends[0]);
	in_child(waiting_child, f);
	close(waiters[0]);
	close(waiters[1]);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define WRITERS	  8
#define RUNS_EACH 50

static void writer_child(const struct fixture *f)
{
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;
	char id[ULID_LEN + 1];

	CHILD_ASSERT(audit_open(&audit, &(struct audit_options){ .path = f->path }, &err) == 0);
	for (int i = 0; i < RUNS_EACH; i++)
		fixture_run(audit, "concurrent", "same output", id);
	audit_close(audit);
}

static int verify_row(void *self, const struct audit_row *row)
{
	struct error err = ERROR_INIT;
	char *bad = NULL;

	assert_ok(audit_verify(self, row->id, &bad, &err), err);
	assert_null(bad);
	assert_string_equal(row->status, "success");
	return 0;
}

/* They race for the creation of the file too. */
static void test_many_writers(void **state)
{
	struct fixture *f = *state;
	cleanup_json struct json *stats = NULL;
	struct error err = ERROR_INIT;
	pid_t pids[WRITERS];
	int failures = 0;
	int64_t start = clock_mono_ms();

	for (int i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i]) {
			writer_child(f);
			_exit(0);
		}
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		failures += status != 0;
	}
	assert_int_equal(failures, 0);
	print_message("%d processes x %d runs: %lld ms\n", WRITERS, RUNS_EACH,
		      (long long)(clock_mono_ms() - start));
	struct audit *audit = fixture_open(f);
	assert_ok(audit_stats(audit, &stats, &err), err);
	assert_int_equal(json_get_int(stats, "runs", 0), WRITERS * RUNS_EACH);
	assert_ok(audit_list(audit, &(struct audit_filter){ 0 }, verify_row, audit, &err), err);
	audit_close(audit);
}

static void endless_child(const struct fixture *f, int ready)
{
	static char big[300000];
	struct audit *audit = fixture_open(f);
	char id[ULID_LEN + 1];

	memset(big, 'x', sizeof(big) - 1);
	fixture_begin(audit, "interrupted", id);
	for (unsigned i = 0;; i++) {
		memcpy(big, &i, sizeof(i) - 1);
		fixture_event(audit, id, "execute", "done", NULL, big);
		fixture_commit(audit);
		if (!i && write(ready, "r", 1) != 1)
			_exit(1);
	}
}

/* SIGKILL at many moments, a write under way or not. */
static void test_killed(void **state)
{
	struct fixture *f = *state;

	for (unsigned delay_us = 0; delay_us < 20000; delay_us += 1700) {
		int ends[2];

		assert_int_equal(pipe(ends), 0);
		pid_t pid = fork();
		assert_true(pid >= 0);
		if (!pid)
			endless_child(f, ends[1]);
		char byte;
		assert_int_equal(read(ends[0], &byte, 1), 1);
		usleep(delay_us + 5000);
		kill(pid, SIGKILL);
		int status;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(WTERMSIG(status), SIGKILL);
		close(ends[0]);
		close(ends[1]);
		assert_intact(f);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest audit_writers[] = {
		TEST(test_locked),
		TEST(test_waits_for_a_lock),
		TEST(test_many_writers),
		TEST(test_killed),
	};

	return cmocka_run_group_tests(audit_writers, NULL, NULL);
}
