/*
 * A count that may have to wait for the guest, who is stopped then. No guest runs: who is stopped
 * and what is counted are functions of the test's own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sandbox/native/keeper/aside.c"

#include <time.h>

static int stops, continues, gate[2];

int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void supervise_stopped(int proc, struct stopped *ret)
{
	(void)proc;
	ret->count = 1;
	ret->pids[0] = 7;
}

/* Whoever was waited for gets on. */
void supervise_stop(int proc)
{
	(void)proc;
	stops++;
	assert_int_equal(write(gate[1], "", 1), 1);
}

void supervise_continue(int proc, struct stopped *before)
{
	(void)proc;
	assert_int_equal(before->count, 1);
	assert_int_equal(before->pids[0], 7);
	continues++;
}

static int set_up(void **state)
{
	(void)state;
	stops = continues = 0;
	return pipe(gate);
}

static int tear_down(void **state)
{
	(void)state;
	close(gate[0]);
	return close(gate[1]);
}

static int64_t wait_for_gate(int proc, const void *what)
{
	char byte;

	(void)proc;
	return read(gate[0], &byte, 1) == 1 ? *(const int64_t *)what : -1;
}

static int64_t wait_for_ever(int proc, const void *what)
{
	(void)proc;
	(void)what;
	while (pause() < 0)
		;
	return -1;
}

static int64_t fail_to_read(int proc, const void *what)
{
	(void)proc;
	(void)what;
	return -1;
}

static void test_waits_for_what_the_stopped_let_go(void **state)
{
	(void)state;
	assert_int_equal(aside_count(AT_FDCWD, wait_for_gate, &(int64_t){ 5ll << 40 }), 5ll << 40);
	assert_true(stops > 0);
	assert_int_equal(continues, 1);
}

static void test_gives_up(void **state)
{
	(void)state;
	assert_true(aside_count(AT_FDCWD, wait_for_ever, NULL) == ASIDE_LATE);
	assert_true(stops > 1); /* some may have been woken by others */
	assert_int_equal(continues, 1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void test_says_what_could_not_be_read(void **state)
{
	(void)state;
	assert_int_equal(aside_count(AT_FDCWD, fail_to_read, NULL), -1);
	assert_int_equal(aside_count(-1, wait_for_ever, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest sandbox_aside_tests[] = {
		cmocka_unit_test_setup_teardown(test_waits_for_what_the_stopped_let_go, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_gives_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_says_what_could_not_be_read, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("sandbox_aside", sandbox_aside_tests, NULL, NULL);
}
