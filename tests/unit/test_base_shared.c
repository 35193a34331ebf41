/*
 * Memory that forked processes share: all see what one wrote, no change is lost, and a process that
 * dies with the lock gives it back.
 */
#include "base/shared.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PROCESSES 4
#define TIMES	  20000

struct counter {
	struct shared shared;
	long value;
};

static void count(struct counter *c)
{
	for (int i = 0; i < TIMES; i++) {
		shared_lock(&c->shared);
		c->value++;
		shared_unlock(&c->shared);
	}
}

static void test_none_is_lost(void **state)
{
	struct counter *c = shared_new(sizeof(*c));

	(void)state;
	assert_non_null(c);
	assert_int_equal(c->value, 0);
	for (int i = 0; i < PROCESSES; i++) {
		const pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			count(c);
			_exit(0);
		}
	}
	int status;
	while (wait(&status) > 0)
		assert_int_equal(status, 0);
	assert_int_equal(c->value, PROCESSES * TIMES);
	shared_free(c, sizeof(*c));
}

static void test_holder_dies(void **state)
{
	struct counter *c = shared_new(sizeof(*c));

	(void)state;
	for (int i = 0; i < 3; i++) {
		const pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			shared_lock(&c->shared);
			c->value++;
			kill(getpid(), SIGKILL);
		}
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		shared_lock(&c->shared);
		assert_int_equal(c->value, i + 1);
		shared_unlock(&c->shared);
	}
	shared_free(c, sizeof(*c));
	shared_free(NULL, sizeof(*c));
}

int main(void)
{
	const struct CMUnitTest base_shared[] = {
		cmocka_unit_test(test_none_is_lost),
		cmocka_unit_test(test_holder_dies),
	};

	return cmocka_run_group_tests(base_shared, NULL, NULL);
}
