/*
 * States that are kept, of programs that lie: one says itself that it holds, or why it does not,
 * over the socket that its interpreter has for that. Skipped where the sandbox keeps no state.
 *
 *   test_sandbox_context_liar       the tests
 */
#include "sandbox/native/keeper/keeper.h"
#include "tests/unit/test_sandbox_context.h"

#include <signal.h>

/* One that says that it holds, and runs on: it is stopped, and nothing of it comes later. */
static void test_a_liar_is_stopped(void **state)
{
	static const char code[] = "import os, socket, time\n"
				   "s = socket.socket(fileno=200)\n"
				   "s.send((7).to_bytes(4, 'little') + bytes(%d))\n"
				   "for n in range(10**9): open('/out/late', 'w').write(str(n))\n";
	char text[400];

	needs_states(state);
	snprintf(text, sizeof(text), code, (int)sizeof(struct event) - 4);
	assert_int_equal(EVENT_HELD, 7);
	cleanup_sandbox_result struct sandbox_result r;
	run_with(NULL, text, NULL, &r);
	assert_int_equal(r.outcome, SANDBOX_EXIT);
	cleanup_sandbox_result struct sandbox_result next;
	run_with(ids[0], "print(n)", NULL, &next);
	assert_string_equal(next.out.bytes, "");
	assert_int_equal(next.artifact_count, 0);
}

/* One that says that it holds, and has a timer wake it: nothing goes on beside it, nor from it. */
static void test_a_sleeper_is_not_kept(void **state)
{
	static const char code[] =
		"import ctypes, os, socket, time\n"
		"libc = ctypes.CDLL(None)\n"
		"event = (ctypes.c_int * 16)(0, 0, %d, 0)\n" /* value, SIGCONT, SIGEV_SIGNAL */
		"timer, often = ctypes.c_void_p(), (ctypes.c_long * 4)(0, 20000000, 0, 20000000)\n"
		"assert libc.timer_create(1, event, ctypes.byref(timer)) == 0\n"
		"assert libc.timer_settime(timer, 0, often, None) == 0\n"
		"s = socket.socket(fileno=200)\n"
		"s.send((7).to_bytes(4, 'little') + bytes(%d))\n"
		"while True:\n"
		"    time.sleep(0.001)\n"
		"    open('/tmp/late', 'w').close()\n";
	char text[1000];

	needs_states(state);
	const char *had = cell(NULL, "x = 'whole'", "");
	snprintf(text, sizeof(text), code, SIGCONT, (int)sizeof(struct event) - 4);
	/* On a busy host it may be woken before anybody has seen it stand still; then it may be
	 * killed for running on. */
	for (bool held = false; !held;) {
		cleanup_sandbox_result struct sandbox_result r;

		count = 1;
		run_with(had, text, NULL, &r);
		assert_true(r.outcome == SANDBOX_EXIT || r.outcome == SANDBOX_SIGNAL);
		held = r.outcome == SANDBOX_EXIT &&
		       !strcmp(sandbox_fact(&r.isolation, "held"), "yes");
	}
	const char *liar = ids[1];
	cleanup_sandbox_result struct sandbox_result beside;
	/* It is woken while this one runs, or was before: then this has no x. Or it was ended
	 * alone, while its files were put away: then this is as if it had never been. */
	run_with(had,
		 "x\nimport os, time\n"
		 "while True: time.sleep(0.01); os.path.exists('/tmp/late') and print('late')",
		 &(struct limits){ .wall_ms = 5000 }, &beside);
	if (!strcmp(sandbox_fact(&beside.isolation, "state"), "forked") &&
	    beside.outcome != SANDBOX_SIGNAL) {
		assert_int_equal(beside.outcome, SANDBOX_TIMEOUT_WALL);
		assert_string_equal(beside.out.bytes, "");
	}
	cleanup_sandbox_result struct sandbox_result again;
	run_with(liar, "print(x)", NULL, &again);
	assert_string_equal(sandbox_fact(&again.isolation, "state"), "rebuilt");
}

/* Why it does not hold is said by what runs in the guest, and so in words that are ours. */
static void test_a_liar_says_nothing_of_its_own(void **state)
{
	static const char *const said[] = { "yes", "\x1b]0;title\a", "\xff\xfe", "a \"fact\"" };

	needs_states(state);
	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		char text[400], bytes[200];
		cleanup_sandbox_result struct sandbox_result r;
		size_t at = 0;

		for (const char *c = said[i]; *c != '\0'; c++)
			at += (size_t)snprintf(bytes + at, sizeof(bytes) - at, "\\x%02x",
					       (unsigned char)*c);
		snprintf(text, sizeof(text),
			 "import os, socket\ns = socket.socket(fileno=200)\n"
			 "e = bytearray(%d)\ne[0] = %d\nwhy = b'%s'\ne[%d:%d + len(why)] = why\n"
			 "s.send(e)\nos._exit(0)\n",
			 (int)sizeof(struct event), EVENT_FAILED, bytes,
			 (int)offsetof(struct event, failure.step),
			 (int)offsetof(struct event, failure.step));
		run_with(NULL, text, NULL, &r);
		assert_int_equal(r.outcome, SANDBOX_EXIT);
		assert_string_equal(sandbox_fact(&r.isolation, "held"), "it cannot be copied");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_liar_is_stopped),
		TEST(test_a_sleeper_is_not_kept),
		TEST(test_a_liar_says_nothing_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
