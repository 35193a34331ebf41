/* What a removal costs, and what it may not leave: as much as what is removed, and nothing that a
 * user said. */
#include "test_audit_fixture.h"

#include "audit/db.h"

#include <sqlite3.h>

#define PIECE 100 /* of SQLite's machine, as its handler counts */

static int count_piece(void *self)
{
	++*(long *)self;
	return 0;
}

/* How much SQLite does to remove the run in the middle of so many. */
static long cost_of_one(struct audit *audit, int runs)
{
	char ids[3][ULID_LEN + 1];
	struct error err = ERROR_INIT;
	long pieces = 0;

	for (int i = 0; i < runs; i++) {
		cleanup_free char *text = mem_printf("question %d", i);

		fixture_run(audit, text, text, ids[i == runs / 2]);
	}
	sqlite3_progress_handler(audit->db, PIECE, count_piece, &pieces);
	assert_ok(fixture_remove(audit, ids[1], &err), err);
	sqlite3_progress_handler(audit->db, DB_PROGRESS_STEPS, db_progress, audit);
	return pieces;
}

/* However many runs there are. */
static void test_cost(void **state)
{
	struct fixture *f = *state;
	cleanup_audit struct audit *audit = fixture_open(f);
	long few = cost_of_one(audit, 20), many = cost_of_one(audit, 500);

	if (many > 2 * few)
		fail_msg("%ld pieces of %d steps in a log of 20 runs, %ld in one of 520", few,
			 PIECE, many);
}

/* A task may have members that are named as the program's own. */
static void test_user_members(void **state)
{
	static const char task[] =
		"{\"extra\":{\"environment\":{\"plan\":\"wombat at dawn\"},\"checks\":[{\"arg\":"
		"{\"isolation\":{\"patient\":\"wombat\"}}}]},\"environment\":{\"version\":\"3\"}}";
	struct fixture *f = *state;
	struct audit *audit = fixture_open(f);
	struct error err = ERROR_INIT;
	char id[ULID_LEN + 1];

	fixture_begin(audit, "q", id);
	fixture_event(audit, id, "task", "done", task, NULL);
	fixture_end(audit, id, "a");
	assert_ok(fixture_remove(audit, id, &err), err);
	audit_close(audit);
	assert_int_equal(fixture_scan(f->path, "wombat"), 0);
}

static int count_objects(struct audit *audit, const char *like)
{
	cleanup_free char *sql =
		mem_printf("SELECT count(*) FROM objects WHERE body LIKE '%%%s%%'", like);
	sqlite3_stmt *stmt = NULL;

	assert_int_equal(sqlite3_prepare_v2(audit->db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	int count = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	return count;
}

/* A run that ran in these, unless open. */
static void write_places(struct audit *audit, const char *one, const char *other, bool open,
			 char ret[ULID_LEN + 1])
{
	cleanup_free char *data =
		mem_printf("{\"isolation\":{\"wall\":\"%s\"},\"environment\":{\"version\":\"%s\"}}",
			   one, other);

	fixture_begin(audit, "q", ret);
	fixture_event(audit, ret, "execute", "done", data, NULL);
	if (open)
		fixture_commit(audit);
	else
		fixture_end(audit, ret, "a");
}

static int verify_nothing(void *self, const char *problem)
{
	(void)self;
	fail_msg("%s", problem);
	return 0;
}

/* What many runs share goes with the last of them, ended or not. */
static void test_shared(void **state)
{
	struct fixture *f = *state;
	struct audit *audit = fixture_open(f);
	struct error err = ERROR_INIT;
	cleanup_audit_head struct audit_head head = { 0 };
	char ids[4][ULID_LEN + 1];

	write_places(audit, "quokka", "wombat", false, ids[0]);
	write_places(audit, "quokka", "numbat", false, ids[1]);
	write_places(audit, "bilby", "wombat", true, ids[2]);
	write_places(audit, "dingo", "numbat", false, ids[3]);
	assert_ok(fixture_remove(audit, ids[0], &err), err);
	assert_int_equal(count_objects(audit, "quokka"), 1);
	assert_int_equal(count_objects(audit, "wombat"), 1);
	assert_ok(fixture_remove(audit, ids[1], &err), err);
	assert_int_equal(count_objects(audit, "quokka"), 0);
	assert_int_equal(count_objects(audit, "numbat"), 1);
	assert_ok(fixture_remove(audit, ids[2], &err), err);
	assert_int_equal(count_objects(audit, "bilby") + count_objects(audit, "wombat"), 0);
	assert_ok(audit_verify_log(audit, NULL, &head, verify_nothing, NULL, &err), err);
	assert_ok(fixture_remove(audit, ids[3], &err), err);
	assert_int_equal(count_objects(audit, ""), 0);
	audit_close(audit);
	for (size_t i = 0; i < 5; i++) {
		static const char *const words[] = { "quokka", "wombat", "numbat", "bilby",
						     "dingo" };

		assert_int_equal(fixture_scan(f->path, words[i]), 0);
	}
}

/* Another program's run, between two steps. */
struct between {
	const struct fixture *f;
	int commits;
};

static int write_between(void *self, sqlite3 *db, const char *name, int pages)
{
	struct between *between = self;

	(void)db;
	(void)name;
	(void)pages;
	if (++between->commits != 2)
		return SQLITE_OK;
	struct audit *other = fixture_open(between->f);
	char id[ULID_LEN + 1];
	fixture_run(other, "numbat in between", "b", id);
	fixture_remove(other, id, &(struct error)ERROR_INIT);
	fixture_run(other, "quokka in between", "b", id);
	audit_close(other);
	return SQLITE_OK;
}

/* The index of words is made anew in steps, between which others write. */
static void test_index_in_steps(void **state)
{
	struct fixture *f = *state;
	struct audit *audit = fixture_open(f);
	struct between between = { .f = f };
	struct error err = ERROR_INIT;
	cleanup_audit_head struct audit_head head = { 0 };

	for (int i = 0; i < 700; i++) {
		char id[ULID_LEN + 1];
		cleanup_free char *text = mem_printf("question %d", i);

		fixture_run(audit, text, text, id);
	}
	sqlite3_wal_hook(audit->db, write_between, &between);
	assert_ok(audit_reindex(audit, &err), err);
	sqlite3_wal_hook(audit->db, NULL, NULL);
	assert_in_range(between.commits, 4, 20);
	assert_ok(audit_verify_log(audit, NULL, &head, verify_nothing, NULL, &err), err);
	audit_close(audit);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = { TEST(test_cost), TEST(test_user_members),
					    TEST(test_shared), TEST(test_index_in_steps) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
