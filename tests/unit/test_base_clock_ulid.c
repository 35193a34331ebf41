/*
 * Dates at the ends of what a date can be, and identifiers in order, across a fork. None of them
 * may rest on what the time is, only on which came first.
 */
#include "base/clock.h"
#include "base/ulid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void assert_formats(int64_t wall_ms, const char *want)
{
	char text[CLOCK_TEXT_LEN + 1];

	memset(text, 'x', sizeof(text));
	clock_format(wall_ms, text);
	assert_string_equal(text, want);
}

static void test_format(void **state)
{
	(void)state;
	assert_formats(0, "1970-01-01T00:00:00.000Z");
	assert_formats(INT64_C(1709210096123), "2024-02-29T12:34:56.123Z");
	assert_formats(999, "1970-01-01T00:00:00.999Z");
	assert_formats(-1, "1969-12-31T23:59:59.999Z");
	assert_formats(-1000, "1969-12-31T23:59:59.000Z");
	assert_formats(-1001, "1969-12-31T23:59:58.999Z");
	assert_formats(INT64_C(4102444800000), "2100-01-01T00:00:00.000Z");
}

static void test_format_clamps(void **state)
{
	(void)state;
	assert_formats(INT64_C(253402300799999), "9999-12-31T23:59:59.999Z");
	assert_formats(INT64_C(253402300800000), "9999-12-31T23:59:59.999Z");
	assert_formats(INT64_MAX, "9999-12-31T23:59:59.999Z");
	assert_formats(INT64_MIN, "0000-01-01T00:00:00.000Z");
}

static void test_clocks_advance(void **state)
{
	int64_t ms = clock_mono_ms(), cpu = clock_cpu_us();

	(void)state;
	assert_true(clock_wall_ms() > INT64_C(1700000000000));
	while (clock_mono_ms() < ms + 2 || clock_cpu_us() <= cpu)
		assert_true(clock_mono_ms() >= ms && clock_cpu_us() >= cpu);
}

static void test_ulid_shape(void **state)
{
	char id[ULID_LEN + 1];

	(void)state;
	ulid_new(INT64_C(1469918176385), id); /* the specification's example */
	assert_int_equal(strlen(id), ULID_LEN);
	assert_memory_equal(id, "01ARYZ6S41", 10);
	assert_int_equal(strspn(id, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"), ULID_LEN);
}

static void test_ulid_time_bounds(void **state)
{
	char id[ULID_LEN + 1];

	(void)state;
	ulid_new((INT64_C(1) << 48) - 1, id);
	assert_memory_equal(id, "7ZZZZZZZZZ", 10);
	ulid_new(-5, id);
	assert_memory_equal(id, "0000000000", 10);
	ulid_new(INT64_MAX, id);
	assert_true(id[0] <= '7');
}

static void test_ulid_order_and_difference(void **state)
{
	char before[ULID_LEN + 1], id[ULID_LEN + 1];

	(void)state;
	ulid_new(5000, before);
	for (int i = 0; i < 2000; i++) {
		ulid_new(5000 + i / 1000, id);
		assert_true(strcmp(before, id) < 0);
		memcpy(before, id, sizeof(id));
	}
	ulid_new(6000, id);
	char other[ULID_LEN + 1];
	ulid_new(7000, other);
	assert_string_not_equal(id + 10, other + 10);
}

/* Workers forked in one millisecond must not make the same ids. */
static void test_ulid_after_fork(void **state)
{
	char mine[ULID_LEN + 1], theirs[ULID_LEN + 1] = "";
	int ends[2];

	(void)state;
	ulid_new(8000, mine);
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		ulid_new(8000, theirs);
		_exit(write(ends[1], theirs, sizeof(theirs)) != (ssize_t)sizeof(theirs));
	}
	ulid_new(8000, mine);
	assert_int_equal(read(ends[0], theirs, sizeof(theirs)), sizeof(theirs));
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_string_not_equal(mine, theirs);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_format_clamps),
		cmocka_unit_test(test_clocks_advance),
		cmocka_unit_test(test_ulid_shape),
		cmocka_unit_test(test_ulid_time_bounds),
		cmocka_unit_test(test_ulid_order_and_difference),
		cmocka_unit_test(test_ulid_after_fork),
	};

	return cmocka_run_group_tests_name("base clock and ulid", tests, NULL, NULL);
}
