/* While a program runs, the log gets ready for its end: then no statement is left to prepare, and
 * in the meantime nobody who writes has to wait. */
#include "test_audit_fixture.h"

#include "audit/db.h"

static void begin(struct audit *audit, char ret[ULID_LEN + 1])
{
	fixture_begin(audit, "exec a.py", ret);
	fixture_event(audit, ret, "execute", "started", "{\"language\":\"python\"}", "print(1)");
	fixture_commit(audit);
}

static void end(struct audit *audit, const char *run)
{
	fixture_event(audit, run, "execute", "done",
		      "{\"outcome\":\"exit\",\"isolation\":{\"userns\":\"yes\"},"
		      "\"environment\":{\"language\":\"python\"}}",
		      "1\n");
	fixture_end(audit, run, "");
}

static size_t prepared(const struct audit *audit)
{
	size_t n = 0;

	while (n < DB_STATEMENTS_MAX && audit->statements[n].sql)
		n++;
	return n;
}

static void test_nothing_left(void **state)
{
	struct audit *audit = fixture_open(*state);
	char run[ULID_LEN + 1];

	begin(audit, run);
	end(audit, run);
	audit_close(audit);

	audit = fixture_open(*state); /* another process, in which all is to be prepared again */
	begin(audit, run);
	size_t before = prepared(audit);
	audit_get_ready(audit);
	assert_true(prepared(audit) > before);
	before = prepared(audit);
	end(audit, run);
	for (size_t i = before; i < prepared(audit); i++)
		print_error("not ready: %s\n", audit->statements[i].sql);
	assert_int_equal(prepared(audit), before);
	audit_close(audit);
}

static void test_nobody_waits(void **state)
{
	const struct fixture *f = *state;
	struct audit *audit = fixture_open(f);
	char run[ULID_LEN + 1];

	begin(audit, run);
	audit_get_ready(audit);
	assert_true(sqlite3_get_autocommit(audit->db));
	sqlite3 *other;
	assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other,
				      "BEGIN IMMEDIATE; INSERT INTO meta VALUES('k', 'v');"
				      "DELETE FROM meta WHERE key = 'k'; COMMIT",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_wal_checkpoint_v2(other, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL,
						   NULL),
			 SQLITE_OK); /* which waits for who reads, too */
	sqlite3_close(other);
	end(audit, run);
	audit_close(audit);
}

static char *note_of_run(const struct fixture *f, bool ready)
{
	struct audit *audit = fixture_open(f);
	char run[ULID_LEN + 1];

	begin(audit, run);
	if (ready)
		audit_get_ready(audit);
	end(audit, run);
	char *note = mem_strdup(audit_note(audit));
	audit_close(audit);
	return note;
}

/* A damaged index is told of at the end of a run, as ever, and the run is there. */
static void test_damaged_index(void **state)
{
	const struct fixture *f = *state;
	cleanup_free char *before = note_of_run(f, true), *with = NULL, *without = NULL;
	sqlite3 *other;

	assert_null(before);
	assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "UPDATE search_data SET block = x'01' WHERE id = 10",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(other);
	without = note_of_run(f, false);
	with = note_of_run(f, true);
	assert_non_null(without);
	assert_non_null(strstr(without, "log reindex"));
	assert_string_equal(with, without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_left, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_nobody_waits, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_damaged_index, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
