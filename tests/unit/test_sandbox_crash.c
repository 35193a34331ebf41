/*
 * What a host does with a crash, and whether anything is run there. No program crashes here: what a
 * guest is told is 74-core-limit.c of tests/escape.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sandbox/native/keeper/util.c"
#include "sandbox/native/keeper/crash.c"

/* What a guest is told is 74-core-limit.c of tests/escape. */
int64_t aside_count(int proc, int64_t (*of)(int proc, const void *what), const void *what)
{
	return of(proc, what);
}

#include <stdio.h>
#include <sys/mman.h>

static const struct crash_case {
	const char *pattern;
	bool limited;
	const char *told; /* NULL: it goes on */
} crash_cases[] = {
	{ "core\n", true, NULL },
	{ "core\n", false, NULL },
	{ "/var/crash/core.%p\n", false, NULL },
	{ "\n", false, NULL },
	{ "", false, NULL },
	{ "|/usr/lib/systemd/systemd-coredump %P %u %g %s %t %c %h\n", true, NULL },
	{ "|/usr/lib/systemd/systemd-coredump %P %u %g %s %t %c %h\n", false, "hard limit" },
	{ "|/usr/share/apport/apport -p%p\n", false, "hard limit" },
	{ "@/run/coredump.socket\n", true, "socket" },
	{ "@@/run/coredump.socket\n", true, "socket" },
	{ "@/run/coredump.socket\n", false, "socket" },
};

static void test_patterns(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(crash_cases) / sizeof(crash_cases[0]); i++) {
		const struct crash_case *c = &crash_cases[i];
		struct protocol_failure failure = { .errnum = 0 };
		struct crash crash = { .pattern = memfd_create("pattern", MFD_CLOEXEC),
				       .limited = c->limited };
		size_t len = strlen(c->pattern);

		assert_int_equal(write(crash.pattern, c->pattern, len), len);
		assert_int_equal(crash_check(&crash, &failure), c->told ? -1 : 0);
		assert_int_equal(failure.step[0] != '\0', c->told != NULL);
		if (c->told && !strstr(failure.remedy, c->told))
			fail_msg("%s: %s", c->pattern, failure.remedy);
		/* Whole, and no errno of something else. */
		assert_true(strlen(failure.remedy) < sizeof(failure.remedy) - 1);
		assert_int_equal(failure.errnum, 0);
		close(crash.pattern);
	}
}

/* It is looked at before each run: an administrator may change it meanwhile. */
static void test_a_change(void **state)
{
	struct protocol_failure failure = { .errnum = 0 };
	struct crash crash = { .pattern = memfd_create("pattern", MFD_CLOEXEC), .limited = false };

	(void)state;
	assert_int_equal(pwrite(crash.pattern, "core", 4, 0), 4);
	assert_int_equal(crash_check(&crash, &failure), 0);
	assert_int_equal(pwrite(crash.pattern, "|", 1, 0), 1);
	assert_int_equal(crash_check(&crash, &failure), -1);
	close(crash.pattern);
}

/* One that allows it is left as it is. */
static void test_an_inherited_limit(void **state)
{
	struct rlimit before;
	struct crash crash = { .pattern = -1 };

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_CORE, &before), 0);
	crash_open(&crash);
	struct rlimit after;
	assert_int_equal(getrlimit(RLIMIT_CORE, &after), 0);
	assert_int_equal(crash.limited, after.rlim_max >= CORE_NONE);
	if (before.rlim_max >= CORE_NONE)
		assert_int_equal(after.rlim_max, before.rlim_max);
	close_all(&crash.pattern, 1);
}

int main(void)
{
	const struct CMUnitTest sandbox_crash_tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_a_change),
		cmocka_unit_test(test_an_inherited_limit),
	};

	return cmocka_run_group_tests_name("sandbox_crash", sandbox_crash_tests, NULL, NULL);
}
