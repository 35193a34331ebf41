/* What the keeper grants where no control group counts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sandbox/keeper/grant.c"

static int64_t there, now = 1000000;
static int counts;

int64_t supervise_pids(int proc)
{
	(void)proc;
	counts++;
	return there;
}

int64_t now_us(void)
{
	return now;
}

static void test_forks(void **state)
{
	struct grants g = { .counts_pids = true, .processes = 4, .proc = 5, .pids = 1 };

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(grant_fork(&g), 0);
	assert_int_equal(counts, 0);	/* there cannot be more than that */
	there = 2;
	assert_int_equal(grant_fork(&g), 0);	/* two have ended */
	assert_int_equal(grant_fork(&g), 0);
	assert_int_equal(counts, 1);
	there = 4;
	assert_int_equal(grant_fork(&g), EAGAIN);
	assert_int_equal(grant_fork(&g), EAGAIN);
	assert_int_equal(counts, 2);	/* a flood is answered from the last count */
	assert_int_equal(g.forks_refused, 2);
	there = 3;
	now += 60000000;
	assert_int_equal(grant_fork(&g), 0);
	assert_int_equal(g.forks_refused, 2);
}

static void test_forks_that_a_group_counts(void **state)
{
	struct grants g = { .processes = 1, .proc = -1, .pids = 1 };

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(grant_fork(&g), 0);
	assert_int_equal(g.forks_refused, 0);
}

static void test_shared_mappings(void **state)
{
	const int64_t page = sysconf(_SC_PAGESIZE);
	struct grants g = { .counts_memory = true, .memory_bytes = 10 * page };

	(void)state;
	assert_int_equal(grant_shared(&g, 1), 0);	/* takes a page, too */
	assert_int_equal(grant_shared(&g, (uint64_t)page * 9 + 1), ENOMEM);
	assert_int_equal(grant_shared(&g, UINT64_MAX), ENOMEM);
	assert_int_equal(grant_shared(&g, (uint64_t)page * 9), 0);
	assert_int_equal(grant_shared(&g, 1), ENOMEM);
	assert_int_equal(g.shared_bytes, 10 * page);
	assert_int_equal(g.shared_refused, 2);
}

int main(void)
{
	const struct CMUnitTest sandbox_grant_tests[] = {
		cmocka_unit_test(test_forks),
		cmocka_unit_test(test_forks_that_a_group_counts),
		cmocka_unit_test(test_shared_mappings),
	};

	return cmocka_run_group_tests_name("sandbox_grant", sandbox_grant_tests, NULL, NULL);
}
