/*
 * When a group at its memory limit gets nothing done any more. No memory is filled: the group's
 * figures and the clock are the test's own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sandbox/native/keeper/thrash.c"

#define MIB (1ll << 20)

/* What the group says after two seconds and a half. */
struct thrash_case {
	const char *what;
	int64_t memory_mib, user_ms, system_ms, read_back;
	uint64_t oom_kills;
	bool thrashes;
};

static const struct thrash_case cases[] = {
	{ "reads back and does nothing", 512, 20, 2000, 5000, 0, true },
	{ "loses processes and does nothing", 512, 20, 2000, 0, 7, true },
	{ "waits for its disk", 512, 2, 60, 400, 0, true },
	{ "sleeps", 512, 0, 0, 0, 0, false },
	{ "makes system calls", 512, 20, 2000, 3, 0, false },
	{ "computes, and reads a little back", 512, 1500, 500, 5000, 0, false },
	{ "computes a little, most of its time", 512, 100, 20, 5000, 0, false },
	{ "is not at its limit", 480, 20, 2000, 5000, 7, false },
};

static struct thrash_case now;

int64_t cgroups_memory_now(const struct cgroups *c)
{
	(void)c;
	return now.memory_mib * MIB;
}

int64_t cgroups_read_back(const struct cgroups *c)
{
	(void)c;
	return now.read_back;
}

uint64_t cgroups_oom_kills(const struct cgroups *c)
{
	(void)c;
	return now.oom_kills;
}

int cgroups_cpu(const struct cgroups *c, struct cpu_time *ret)
{
	(void)c;
	*ret = (struct cpu_time){ 0 };
	return 0;
}

int cgroups_cpu_since(const struct cgroups *c, const struct cpu_time *base, struct cpu_time *ret)
{
	(void)c;
	(void)base;
	*ret = (struct cpu_time){ (now.user_ms + now.system_ms) * 1000, now.user_ms * 1000,
				  now.system_ms * 1000 };
	return 0;
}

static void test_only_what_gets_nothing_done_thrashes(void **state)
{
	const struct cgroups c = { .memory_limit = 512 * MIB };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct thrash t = { 0 };

		now = (struct thrash_case){ .memory_mib = cases[i].memory_mib };
		assert_false(thrash_look(&t, &c, 1000000));
		now = cases[i];
		assert_false(thrash_look(&t, &c, 2500000));
		if (thrash_look(&t, &c, 3500000) != cases[i].thrashes)
			fail_msg("%s", cases[i].what);
	}
}

/* One moment below it, and the window begins anew. */
static void test_the_window_is_whole(void **state)
{
	const struct cgroups c = { .memory_limit = 512 * MIB };
	struct thrash t = { 0 };

	(void)state;
	now = cases[0];
	now.read_back = 0;
	assert_false(thrash_look(&t, &c, 1000000));
	now.memory_mib = 400;
	assert_false(thrash_look(&t, &c, 2000000));
	now = cases[0];
	assert_false(thrash_look(&t, &c, 3500000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_gets_nothing_done_thrashes),
		cmocka_unit_test(test_the_window_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
