/*
 * Halves of a pair as forks: each of a template of its own, joined by their pipes and nothing else,
 * with what was run ahead of them and nothing of a pair before.
 */
#include "tests/unit/test_forked.h"

#define ENTRY "assay_half.py"

/* Code that a template runs; kept, for as long as the sandbox lives. */
static char *ahead;
static size_t ahead_len;

static int make_ahead(void **state)
{
	static const char program[] =
		"import marshal, sys\n"
		"text = 'import _json\\ndef ready(): return 41 + 1\\n'\n"
		"sys.stdout.buffer.write(marshal.dumps(compile(text, '/work/assay_half.py', "
		"'exec')))\n";
	struct sandbox_job job = job_of("python", program);

	if (set_up_both(state) < 0)
		return -1;
	struct sandbox_result r = run_in(cold, &job);
	ahead = TAKE_PTR(r.out.bytes);
	ahead_len = r.out.len;
	sandbox_result_release(&r);
	return ahead_len > 0 ? 0 : -1;
}

static int free_ahead(void **state)
{
	int status = tear_down_both(state);

	free(ahead);
	return status;
}

struct half {
	struct sandbox_file file;
	struct sandbox_job job;
};

/* Started as ours are: an entry beside the program, the judge's with flags of its own. */
static void make_half(struct half *h, const char *code, const char *entry, bool judges)
{
	static const char *const bare[] = { "-s", "-B", "-S", NULL };

	h->file = (struct sandbox_file){ ENTRY, entry, strlen(entry) };
	h->job = job_of("python", code);
	h->job.extras = &h->file;
	h->job.extra_count = 1;
	h->job.entry = ENTRY;
	h->job.flags = judges ? bare : NULL;
	h->job.ahead = ahead;
	h->job.ahead_len = ahead_len;
}

static void run_in_pair(const struct half h[2], struct sandbox_result ret[2])
{
	const struct sandbox_job jobs[2] = { h[0].job, h[1].job };
	struct error err = ERROR_INIT;

	ret[0] = ret[1] = (struct sandbox_result){ .exit_code = -1 };
	if (sandbox_run_pair(sandbox, jobs, NULL, ret, &err) < 0)
		fail_msg("%s", err.message);
}

static void release_both(struct sandbox_result r[2])
{
	sandbox_result_release(&r[0]);
	sandbox_result_release(&r[1]);
}

/* Till both are forks: who was prepared first has had the templates made. */
static void run_forked_pair(const struct half h[2], struct sandbox_result ret[2])
{
	for (int i = 0; i < 8; i++) {
		run_in_pair(h, ret);
		if (!strcmp(start_of(&ret[0]), "forked") && !strcmp(start_of(&ret[1]), "forked"))
			return;
		release_both(ret);
	}
	fail_msg("no forks");
}

static const char program[] =
	"import os, sys\n"
	"print(sorted(os.listdir('/work')), os.listdir('/tmp'), os.getpid())\n"
	"print([n for n in range(3, 300) if os.path.exists('/proc/self/fd/%d' % n)])\n"
	"os.write(4, b'%d' % id(len))\n";
static const char judge[] =
	"import posix, sys\n"
	"other = int(posix.read(3, 99))\n"
	"print('a layout of its own' if other != id(len) else 'the same')\n"
	"print('_assay_ahead' in globals() and ready(), 'json' in sys.modules)\n";

static void test_each_is_a_fork_of_its_own(void **state)
{
	struct half h[2];

	(void)state;
	make_half(&h[0], "pass\n", program, false);
	make_half(&h[1], "\n", judge, true);
	struct sandbox_result r[2];
	run_forked_pair(h, r);
	/* Nothing but the three and its two. */
	assert_string_equal(r[0].out.bytes, "['assay_half.py', 'main.py'] [] 2\n[3, 4]\n");
	assert_string_equal(r[1].out.bytes, "a layout of its own\n42 False\n");
	assert_int_equal(r[0].err.len + r[1].err.len, 0);
	release_both(r);
}

/* It would cost as much to start the first one cold as to make its templates. */
static void test_first_is_forked(void **state)
{
	struct sandbox *fresh = open_warm(), *others = sandbox;
	struct half h[2];

	(void)state;
	make_half(&h[0], "pass\n", program, false);
	make_half(&h[1], "\n", judge, true);
	sandbox = fresh;
	struct sandbox_result r[2];
	run_in_pair(h, r);
	sandbox = others;
	assert_string_equal(start_of(&r[0]), "forked");
	assert_string_equal(start_of(&r[1]), "forked");
	release_both(r);
	sandbox_close(fresh);
}

/* What a fork has run ahead it is not given again. */
static void test_end_of_its_program_is_left_away(void **state)
{
	static const char own[] = "import os\nprint(os.path.getsize(__file__), ready())\n"
				  "os.write(4, b'7')\n";
	char whole[4096];

	(void)state;
	assert_true(sizeof(own) + ahead_len < sizeof(whole));
	memcpy(whole, own, strlen(own));
	memcpy(whole + strlen(own), ahead, ahead_len);
	struct half h[2];
	make_half(&h[0], "pass\n", own, false);
	make_half(&h[1], "\n", judge, true);
	h[0].file.bytes = whole;
	h[0].file.len = strlen(own) + ahead_len;
	struct sandbox_result r[2];
	run_forked_pair(h, r);
	char expected[64];
	snprintf(expected, sizeof(expected), "%zu 42\n", strlen(own));
	assert_string_equal(r[0].out.bytes, expected);
	release_both(r);
}

/* Whatever a program does to what was run ahead, the next has it as it was. */
static void test_nothing_is_left_of_a_pair(void **state)
{
	static const char spoils[] = "import builtins, json, os, signal\n"
				     "ready = len = None; json.loads = builtins.print = None\n"
				     "for folder in '/tmp', '/work', '/out', '/dev/shm':\n"
				     "    open(folder + '/left', 'w').write('x')\n"
				     "try: os.kill(-1, signal.SIGKILL)\n"
				     "except OSError: pass\n"
				     "os.write(4, b'7')\n";
	static const char looks[] = "import json, os\n"
				    "print(ready(), json.loads('[1]'), os.listdir('/tmp'),\n"
				    "      os.listdir('/dev/shm'), os.listdir('/out'))\n"
				    "os.write(4, b'7')\n";
	struct half h[2];

	(void)state;
	make_half(&h[1], "\n", judge, true);
	make_half(&h[0], "pass\n", spoils, false);
	struct sandbox_result r[2];
	run_forked_pair(h, r);
	release_both(r);
	make_half(&h[0], "pass\n", looks, false);
	run_forked_pair(h, r);
	assert_string_equal(r[0].out.bytes, "42 [1] [] [] []\n");
	release_both(r);
}

/* Who could look at what is loaded, in the program or in the tests, starts cold. */
static void test_who_looks_is_not_forked(void **state)
{
	static const char plain[] = "import os\nos.write(4, b'7')\n";
	struct half h[2];

	(void)state;
	make_half(&h[0], "pass\n", plain, false);
	make_half(&h[1], "\n", judge, true);
	struct sandbox_result r[2];
	run_forked_pair(h, r);
	release_both(r);
	h[0].job.code = "import sys\nprint(len(sys.modules))\n";
	h[0].job.code_len = strlen(h[0].job.code);
	struct sandbox_file files[2];
	files[0] = h[1].file;
	files[1] = (struct sandbox_file){ "assay_tests.py", "object.__subclasses__()\n", 24 };
	h[1].job.extras = files;
	h[1].job.extra_count = 2;
	run_in_pair(h, r);
	assert_string_equal(start_of(&r[0]), "cold");
	assert_string_equal(start_of(&r[1]), "cold");
	release_both(r);
}

/* A program that is not started by ours has no template. */
static void test_others_are_not_forked(void **state)
{
	struct sandbox_job jobs[2] = { job_of("python", "import os\nos.write(4, b'hello')\n"),
				       job_of("python", "import os\nprint(os.read(3, 9))\n") };
	struct error err = ERROR_INIT;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct sandbox_result r[2] = { { .signal = 0 }, { .signal = 0 } };

		assert_int_equal(sandbox_run_pair(sandbox, jobs, NULL, r, &err), 0);
		assert_string_equal(r[1].out.bytes, "b'hello'\n");
		assert_string_not_equal(start_of(&r[0]), "forked");
		assert_string_not_equal(start_of(&r[1]), "forked");
		release_both(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_a_fork_of_its_own),
		cmocka_unit_test(test_first_is_forked),
		cmocka_unit_test(test_end_of_its_program_is_left_away),
		cmocka_unit_test(test_nothing_is_left_of_a_pair),
		cmocka_unit_test(test_who_looks_is_not_forked),
		cmocka_unit_test(test_others_are_not_forked),
	};

	return cmocka_run_group_tests(tests, make_ahead, free_ahead);
}
