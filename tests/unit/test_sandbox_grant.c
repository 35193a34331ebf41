/*
 * What the keeper grants where no control group counts. No keeper runs: the calls and what is
 * counted for them are the test's own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sandbox/native/keeper/grant.c"

static int64_t there, left = -1, now = 1000000;
static int counts;

static int64_t sockets = -1;

int64_t supervise_sockets_of(int proc)
{
	(void)proc;
	return sockets;
}

#define QUEUE (432 << 10)

int64_t supervise_socket_bytes(void)
{
	return QUEUE;
}

int64_t supervise_shared(int proc)
{
	(void)proc;
	return left;
}

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
	assert_int_equal(counts, 0); /* there cannot be more than that */
	there = 2;
	assert_int_equal(grant_fork(&g), 0); /* two have ended */
	assert_int_equal(grant_fork(&g), 0);
	assert_int_equal(counts, 1);
	there = 4;
	assert_int_equal(grant_fork(&g), EAGAIN);
	assert_int_equal(grant_fork(&g), EAGAIN);
	assert_int_equal(counts, 2); /* a flood is answered from the last count */
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
	const pid_t thread = getpid();
	struct grants g = { .counts_memory = true, .memory_bytes = 10 * page };

	(void)state;
	assert_int_equal(grant_shared(&g, thread, 1), 0); /* takes a page, too */
	assert_int_equal(grant_shared(&g, thread, (uint64_t)page * 9 + 1), ENOMEM);
	assert_int_equal(grant_shared(&g, thread, UINT64_MAX), ENOMEM);
	assert_int_equal(grant_shared(&g, thread, (uint64_t)page * 9), 0);
	assert_int_equal(grant_shared(&g, thread, 1), ENOMEM);
	assert_int_equal(g.shared_bytes, 10 * page);
	assert_int_equal(g.shared_refused, 2);
}

static void test_shared_mappings_given_back(void **state)
{
	const int64_t page = sysconf(_SC_PAGESIZE);
	const pid_t thread = getpid(), other = getppid();
	struct grants g = { .counts_memory = true, .memory_bytes = 10 * page };

	(void)state;
	assert_int_equal(grant_shared(&g, thread, (uint64_t)page * 2), 0);
	assert_int_equal(grant_shared(&g, thread, (uint64_t)page * 5), 0);
	assert_int_equal(grant_shared(&g, other, (uint64_t)page), 0);
	left = 1; /* which one nobody knows; and the other's may not be made yet */
	assert_int_equal(grant_shared(&g, thread, (uint64_t)page * 4), 0);
	assert_int_equal(g.shared_bytes, 10 * page);
	assert_int_equal(g.shared_count, 3);
	left = 0;
	assert_int_equal(grant_shared(&g, thread, (uint64_t)page * 10), ENOMEM);
	assert_int_equal(g.shared_bytes, page);
	left = -1;
	assert_int_equal(grant_shared(&g, other, (uint64_t)page * 9), 0);
	assert_int_equal(grant_shared(&g, other, (uint64_t)page), ENOMEM);
}

static void test_sockets(void **state)
{
	struct grants g = { .counts_memory = true,
			    .memory_bytes = 16 * QUEUE,
			    .other_bytes = 10 * QUEUE };

	(void)state;
	assert_int_equal(grant_sockets(&g, 2), 0);
	assert_int_equal(grant_sockets(&g, 2), 0);
	assert_int_equal(grant_sockets(&g, 2), ENFILE);
	sockets = 2; /* two were closed */
	assert_int_equal(grant_sockets(&g, 2), 0);
	sockets = 4;
	assert_int_equal(grant_sockets(&g, 2), ENFILE);
}

int main(void)
{
	const struct CMUnitTest sandbox_grant_tests[] = {
		cmocka_unit_test(test_forks),
		cmocka_unit_test(test_forks_that_a_group_counts),
		cmocka_unit_test(test_shared_mappings),
		cmocka_unit_test(test_shared_mappings_given_back),
		cmocka_unit_test(test_sockets),
	};

	return cmocka_run_group_tests_name("sandbox_grant", sandbox_grant_tests, NULL, NULL);
}
