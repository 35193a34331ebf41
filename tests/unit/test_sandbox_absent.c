/*
 * Whose the names are that are not there, where no control group counts them. No keeper runs: the
 * kernel's sum and the run's processes are the test's own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <time.h>

static int64_t clock_us, names, others_per_s, ours_per_s;
static bool stopped;
static int stops;

static void pass(int64_t us)
{
	clock_us += us;
	names += (others_per_s + (stopped ? 0 : ours_per_s)) * us / 1000000;
}

static int pass_while_asleep(const struct timespec *pause, struct timespec *ret)
{
	(void)ret;
	pass(pause->tv_nsec / 1000);
	return 0;
}

#define nanosleep pass_while_asleep
#include "sandbox/native/keeper/absent.c"
#undef nanosleep

int64_t now_us(void)
{
	return clock_us;
}

ssize_t file_read(int dirfd, const char *path, char *ret_text, size_t size)
{
	(void)dirfd;
	assert_string_equal(path, "/proc/sys/fs/dentry-state");
	return snprintf(ret_text, size, "500\t400\t45\t0\t%lld\t0\n", (long long)names);
}

void supervise_stopped(int proc, struct stopped *ret)
{
	(void)proc;
	ret->count = 0;
}

void supervise_stop(int proc)
{
	(void)proc;
	stops += !stopped;
	stopped = true;
}

void supervise_continue(int proc, struct stopped *before)
{
	(void)proc;
	(void)before;
	stopped = false;
}

#define LIMIT	(512ll << 20)
#define LOOK_US 10000

/* What they are said to take after ten seconds of looks. */
static int64_t ten_seconds(int64_t ours, int64_t others, int64_t system_part)
{
	struct absent a = { 0 };
	int64_t bytes = 0;

	clock_us = 1000000;
	names = 300000;
	ours_per_s = ours;
	others_per_s = others;
	stops = 0;
	for (int i = 0; i < 1000; i++) {
		bytes = absent_bytes(&a, -1, (clock_us - 1000000) * system_part / 100, LIMIT);
		pass(LOOK_US);
	}
	return bytes;
}

static void test_a_run_that_is_alone_has_its_names_counted(void **state)
{
	(void)state;
	assert_true(ten_seconds(100000, 0, 90) > LIMIT);
	assert_true(ten_seconds(100000, 1000, 90) > LIMIT);
}

static void test_those_of_others_are_not_its(void **state)
{
	(void)state;
	assert_int_equal(ten_seconds(0, 100000, 90), 0);
	assert_true(stops > 0 && stops < 12);
	assert_int_equal(ten_seconds(100, 100000, 90), 0);
}

/* It does not even have to be stopped for that. */
static void test_one_that_computes_cannot_have_made_them(void **state)
{
	(void)state;
	assert_int_equal(ten_seconds(0, 100000, 1), 0);
	assert_int_equal(stops, 0);
}

static void test_a_few_are_free(void **state)
{
	(void)state;
	assert_int_equal(ten_seconds(5000, 0, 90), 0);
	assert_int_equal(stops, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_run_that_is_alone_has_its_names_counted),
		cmocka_unit_test(test_those_of_others_are_not_its),
		cmocka_unit_test(test_one_that_computes_cannot_have_made_them),
		cmocka_unit_test(test_a_few_are_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
