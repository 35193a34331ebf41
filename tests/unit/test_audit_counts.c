/* What `log stats` says is written with the commit that changes it, each counter once; and goes
 * with a transaction that is not committed. */
#include "test_audit_fixture.h"

#include "audit/db.h"

/* How often a statement ran that begins so. */
static int runs_of(const struct audit *audit, const char *sql)
{
	int runs = 0;

	for (size_t i = 0; i < DB_STATEMENTS_MAX && audit->statements[i].sql; i++)
		if (!strncmp(audit->statements[i].sql, sql, strlen(sql)))
			runs += sqlite3_stmt_status(audit->statements[i].stmt,
						    SQLITE_STMTSTATUS_RUN, 0);
	return runs;
}

static int64_t number(const struct audit *audit, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	assert_int_equal(sqlite3_prepare_v2(audit->db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	int64_t value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

static void test_once(void **state)
{
	struct audit *audit = fixture_open(*state);
	char run[ULID_LEN + 1];

	fixture_begin(audit, "one", run);
	fixture_event(audit, run, "execute", "started", "{}", "print(1)");
	assert_int_equal(number(audit, "SELECT count(*) FROM counts WHERE name = 'runs'"), 0);
	fixture_event(audit, run, "execute", "done", "{}", "1\n");
	fixture_end(audit, run, "");
	/* It was begun and has ended: of what it was in between there is no word. */
	assert_int_equal(number(audit, "SELECT count(*) FROM counts WHERE value = 0"), 0);
	assert_int_equal(number(audit, "SELECT value FROM counts WHERE name = 'runs'"), 1);
	/* The rest: the number of a run, and the sum of what lies beside the chains. */
	assert_int_equal(runs_of(audit, "INSERT INTO counts VALUES(?1, ?2)"),
			 number(audit, "SELECT count(*) FROM counts WHERE name NOT IN"
				       " ('run_numbers', 'contents', 'contents known')"));
	audit_close(audit);
}

static void test_abandoned(void **state)
{
	struct audit *audit = fixture_open(*state);
	struct error err = ERROR_INIT;
	char run[ULID_LEN + 1];

	fixture_begin(audit, "one", run);
	assert_true(audit->sum_count > 0);
	assert_int_equal(audit_append(audit, "01ARZ3NDEKTSV4RRFFQ69G5FAV",
				      &(struct audit_event){ .stage = "plan", .phase = "done" },
				      &err),
			 -1);
	assert_int_equal(audit->sum_count, 0);
	fixture_begin(audit, "two", run);
	fixture_end(audit, run, "");
	assert_int_equal(number(audit, "SELECT value FROM counts WHERE name = 'runs'"), 1);
	audit_close(audit);
}

/* More of them than there is room for. */
static void test_many(void **state)
{
	struct audit *audit = fixture_open(*state);
	struct error err = ERROR_INIT;

	for (int i = 0; i < 2 * DB_SUMS_MAX + 1; i++) {
		cleanup_free char *kind = mem_printf("kind-%d", i);
		struct audit_run run = { .kind = kind };

		ulid_new(clock_wall_ms(), run.id);
		assert_ok(audit_run_begin(audit, &run, &err), err);
	}
	fixture_commit(audit);
	assert_int_equal(number(audit, "SELECT count(*) FROM counts WHERE name LIKE 'kind %'"
				       " AND value = 1"),
			 2 * DB_SUMS_MAX + 1);
	assert_int_equal(number(audit, "SELECT value FROM counts WHERE name = 'runs'"),
			 2 * DB_SUMS_MAX + 1);
	audit_close(audit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_once, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_abandoned, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_many, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
