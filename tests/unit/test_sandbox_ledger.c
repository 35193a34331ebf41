/*
 * The CPU time of processes nobody waits for, where no control group counts it. No process runs:
 * their times are the test's own, and so is the clock.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sandbox/native/keeper/ledger.c"

static int64_t now;
static struct ledger ledger;

int64_t now_us(void)
{
	return now;
}

ssize_t file_read(int dirfd, const char *path, char *ret_text, size_t size)
{
	(void)dirfd;
	(void)path;
	(void)ret_text;
	(void)size;
	return -1;
}

#define MS 1000

static int start(void **state)
{
	(void)state;
	now = 1000000;
	ledger_start(&ledger, 2, now);
	return 0;
}

/* What a look sees: pids, one digit each, that have all used so much. */
static void look(const char *pids, int64_t us)
{
	ledger_begin(&ledger);
	for (const char *at = pids; *at != '\0'; at++)
		ledger_see(&ledger, *at - '0', 1, us, false);
	ledger_settle(&ledger);
}

static void fork_one(void)
{
	ledger_propose(&ledger, 1, "fork", 0);
	ledger_commit(&ledger);
}

static void end_one(pid_t pid, long threads, int64_t us)
{
	ledger.asked = LEDGER_END;
	ledger.ending = (struct ledger_row){
		.pid = pid, .threads = threads, .us = us, .at_us = now, .ended = threads == 1
	};
	ledger_commit(&ledger);
}

static void test_those_that_end_count_exactly(void **state)
{
	(void)state;
	look("2", 0);
	for (int i = 0; i < 5; i++) {
		fork_one();
		now += 10 * MS;
		end_one(3 + i, 1, 8 * MS);
		look("2", 0);
	}
	assert_int_equal(ledger_us(&ledger), 40 * MS);
}

/* It waits for its parent as a zombie, which has the same figures. */
static void test_one_that_ended_counts_once(void **state)
{
	(void)state;
	look("2", 0);
	fork_one();
	now += 10 * MS;
	look("23", 10 * MS);
	end_one(3, 1, 12 * MS);
	assert_int_equal(ledger_us(&ledger), 22 * MS);
	look("23", 10 * MS);
	look("2", 10 * MS);
	look("2", 10 * MS);
	assert_int_equal(ledger_us(&ledger), 22 * MS);
}

/* Nothing is known of it: all the time since its fork. */
static void test_one_never_seen_is_charged_its_time(void **state)
{
	(void)state;
	look("2", 0);
	now += 1 * MS;
	fork_one();
	now += 9 * MS;
	look("2", 0);
	assert_int_equal(ledger_us(&ledger), 0); /* it may not be made yet */
	now += 10 * MS;
	look("2", 0);
	assert_int_equal(ledger_us(&ledger), 19 * MS);
	now += 10 * MS;
	look("2", 0);
	assert_int_equal(ledger_us(&ledger), 19 * MS);
}

static void test_one_that_comes_late_is_not_charged(void **state)
{
	(void)state;
	look("2", 0);
	fork_one();
	now += 10 * MS;
	look("2", 0);
	now += 10 * MS;
	look("23", 0);
	now += 10 * MS;
	look("23", 0);
	assert_int_equal(ledger_us(&ledger), 0);
}

static void test_one_that_a_signal_took_is_charged_since_it_was_seen(void **state)
{
	(void)state;
	look("2", 0);
	fork_one();
	now += 100 * MS;
	look("23", 50 * MS);
	now += 10 * MS;
	look("2", 50 * MS);
	assert_int_equal(ledger_us(&ledger), 100 * MS + 10 * MS + slack_us());
}

/* Its other threads may make another program of it before it has ended. */
static void test_one_with_threads_has_not_ended_by_saying_so(void **state)
{
	(void)state;
	look("2", 0);
	fork_one();
	now += 10 * MS;
	end_one(3, 2, 5 * MS);
	now += 10 * MS;
	look("23", 15 * MS);
	assert_int_equal(ledger_us(&ledger), 30 * MS);
	now += 100 * MS;
	look("23", 100 * MS);
	assert_int_equal(ledger_us(&ledger), 200 * MS);
}

/* Many at once cannot have had more than all processors. */
static void test_no_more_is_charged_than_there_was(void **state)
{
	(void)state;
	look("2", 0);
	for (int i = 0; i < 50; i++)
		fork_one();
	now += 10 * MS;
	look("2", 0);
	now += 10 * MS;
	look("2", 0);
	assert_int_equal(ledger_us(&ledger), 40 * MS);
}

static void test_without_room_all_the_time_is_charged(void **state)
{
	(void)state;
	look("2", 0);
	for (pid_t pid = 10; pid < 10 + LEDGER_SLOTS; pid++) {
		fork_one();
		end_one(pid, 1, 0);
	}
	assert_true(ledger_is_filling(&ledger));
	now += 10 * MS;
	look("2", 0);
	assert_int_equal(ledger_us(&ledger), 20 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_those_that_end_count_exactly, start),
		cmocka_unit_test_setup(test_one_that_ended_counts_once, start),
		cmocka_unit_test_setup(test_one_never_seen_is_charged_its_time, start),
		cmocka_unit_test_setup(test_one_that_comes_late_is_not_charged, start),
		cmocka_unit_test_setup(test_one_that_a_signal_took_is_charged_since_it_was_seen,
				       start),
		cmocka_unit_test_setup(test_one_with_threads_has_not_ended_by_saying_so, start),
		cmocka_unit_test_setup(test_no_more_is_charged_than_there_was, start),
		cmocka_unit_test_setup(test_without_room_all_the_time_is_charged, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
