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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = { TEST(test_cost), TEST(test_user_members) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
