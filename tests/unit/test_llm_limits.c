/*
 * The shared view of a server's limits, on a clock of the test's own. No server is asked, and no
 * test waits for a limit to be over.
 */
#include "base/mem.h"
#include "llm/http/limits.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* How many may start at now_ms. */
static int start_all(struct llm_limits *l, int64_t now_ms)
{
	int n = 0;

	while (n < 1000 && limits_enter(l, now_ms, 1) == 0)
		n++;
	return n;
}

/* How many may be under way at once, each given the time that the pace asks for. */
static int width(struct llm_limits *l, int64_t *now_ms)
{
	int n = 0;

	while (limits_enter(l, *now_ms += 10000, 1) == 0)
		n++;
	for (int i = 0; i < n; i++)
		limits_done(l, *now_ms, LIMITS_OTHER, 0, 1, 1);
	return n;
}

static void done(struct llm_limits *l, int64_t now_ms, enum limits_outcome outcome)
{
	limits_done(l, now_ms, outcome, 0, 1, 1);
}

static void test_without_news_all_run(void **state)
{
	struct llm_limits *l = llm_limits_create(8, 0, 0);

	(void)state;
	assert_int_equal(start_all(l, 1000), 8);
	assert_true(limits_enter(l, 1000, 1) > 0);
	done(l, 1001, LIMITS_OK);
	assert_int_equal(limits_enter(l, 1001, 1), 0);
	llm_limits_free(l);
}

static void test_a_burst_of_refusals_halves_once(void **state)
{
	struct llm_limits *l = llm_limits_create(8, 0, 0);
	int64_t now = 10000;

	(void)state;
	start_all(l, 1000);
	for (int i = 0; i < 8; i++)
		done(l, 1100 + i, LIMITS_REFUSED);
	assert_int_equal(width(l, &now), 4);
	for (int round = 0; round < 9; round++) {
		now += 5000;
		assert_true(limits_enter(l, now, 1) == 0);
		done(l, now + 1, LIMITS_REFUSED);
	}
	assert_int_equal(width(l, &now), 1); /* never none at all */
	llm_limits_free(l);
}

/* After a refusal starts are spread, and successes bring the window back. */
static void test_shrinks_and_grows(void **state)
{
	struct llm_limits *l = llm_limits_create(8, 0, 0);
	int64_t now = 5000;
	int started = 0;

	(void)state;
	assert_int_equal(limits_enter(l, now, 1), 0);
	done(l, now, LIMITS_REFUSED);
	now += 1000;
	assert_int_equal(start_all(l, now), 1); /* no herd */
	assert_true(limits_enter(l, now, 1) >= 10);
	done(l, now, LIMITS_OK);
	while (width(l, &now) < 8 && started < 200) {
		now += 100;
		if (limits_enter(l, now, 1) == 0) {
			done(l, now, LIMITS_OK);
			started++;
		}
	}
	assert_in_range(started, 10, 60);
	now += 1000;
	assert_int_equal(start_all(l, now), 8);
	llm_limits_free(l);
}

static void test_retry_after_holds_all(void **state)
{
	struct llm_limits *l = llm_limits_create(4, 0, 0);

	(void)state;
	limits_enter(l, 1000, 1);
	limits_done(l, 1000, LIMITS_REFUSED, 3000, 1, 1);
	int64_t wait = limits_enter(l, 1500, 1);
	assert_in_range(wait, 2500, 2502);
	assert_int_equal(limits_enter(l, 4001, 1), 0);
	/* An hour is not waited for by those who did not ask: one looks in a minute. */
	limits_done(l, 5000, LIMITS_REFUSED, 3600000, 1, 1);
	assert_in_range(limits_enter(l, 5000, 1), 59000, 60002);
	llm_limits_free(l);
}

static void test_requests_per_minute(void **state)
{
	struct llm_limits *l = llm_limits_create(100, 120, 0);
	int n = 0;

	(void)state;
	for (int64_t now = 0; now < 60000; now += 10) {
		if (limits_enter(l, now + 1, 1) == 0) {
			done(l, now + 1, LIMITS_OK);
			n++;
		}
	}
	assert_in_range(n, 115, 120);
	llm_limits_free(l);
}

/* Estimates are corrected by what was used: dear replies slow down, cheap ones not. */
static void test_tokens_per_minute(void **state)
{
	struct llm_limits *l = llm_limits_create(100, 0, 60000);
	int64_t used = 0;

	(void)state;
	for (int64_t now = 1; now < 60000; now += 10) {
		if (limits_enter(l, now, 100) == 0) {
			limits_done(l, now, LIMITS_OK, 0, 100, 1000);
			used += 1000;
		}
	}
	assert_in_range(used, 55000, 61000);
	llm_limits_free(l);
}

static void test_the_dead_give_their_place(void **state)
{
	struct llm_limits *l = llm_limits_create(1, 0, 0);
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		limits_enter(l, 1, 1);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	assert_int_equal(limits_enter(l, 2, 1), 0);
	llm_limits_free(l);
}

/* Killed at any moment, in the lock or out of it, nobody else hangs. */
static void test_killed_workers(void **state)
{
	struct llm_limits *l = llm_limits_create(8, 0, 0);

	(void)state;
	for (int i = 0; i < 40; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			for (int64_t now = 1;; now++)
				if (limits_enter(l, now, 1) == 0)
					done(l, now, LIMITS_OK);
		}
		usleep((useconds_t)(500 + i * 37));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	assert_int_equal(limits_enter(l, 1 << 30, 1), 0);
	llm_limits_free(l);
}

int main(void)
{
	const struct CMUnitTest llm_limits[] = {
		cmocka_unit_test(test_without_news_all_run),
		cmocka_unit_test(test_a_burst_of_refusals_halves_once),
		cmocka_unit_test(test_shrinks_and_grows),
		cmocka_unit_test(test_retry_after_holds_all),
		cmocka_unit_test(test_requests_per_minute),
		cmocka_unit_test(test_tokens_per_minute),
		cmocka_unit_test(test_the_dead_give_their_place),
		cmocka_unit_test(test_killed_workers),
	};

	return cmocka_run_group_tests(llm_limits, NULL, NULL);
}
