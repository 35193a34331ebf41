/*
 * Templates of interpreters (sandbox/native/warm), with a keeper of the test's own.
 *
 *   test_sandbox_template            the tests
 *   test_sandbox_template figures    what it takes, in microseconds and KiB
 */
#include "tests/unit/test_template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct stage_run run, other;
static struct stage stage;
static int object;

/* --- runs --- */

static int run_program(struct stage_run *r, const char *program, size_t len, bool warm)
{
	if (stage_prepare(r) < 0 || (warm && stage_wait(&stage, r) < 0))
		return -1;
	stage_go(&stage, r, program, len, -1);
	if (r->failure.step[0] == '\0')
		return 0;
	stage_fail("run", &r->failure);
	return -1;
}

static void assert_runs(struct stage_run *r, const char *program, bool warm)
{
	assert_int_equal(run_program(r, program, strlen(program), warm), 0);
}

static void assert_same(const char *program)
{
	assert_runs(&other, program, false);
	assert_runs(&run, program, true);
	assert_string_equal(run.text[0], other.text[0]);
	assert_string_equal(run.text[1], other.text[1]);
	assert_int_equal(run.status, other.status);
	assert_int_equal(run.result.forbidden_count, other.result.forbidden_count);
	for (uint32_t i = 0; i < run.result.forbidden_count; i++) { /* but for addresses */
		assert_string_equal(run.result.forbidden[i].syscall,
				    other.result.forbidden[i].syscall);
		assert_int_equal(run.result.forbidden[i].count, other.result.forbidden[i].count);
	}
}

/* --- tests --- */

static void runs_one_after_the_other(void **state)
{
	(void)state;
	for (int n = 0; n < 3; n++) {
		assert_runs(&run, "import json\nprint(json.dumps([1]))\n", true);
		assert_string_equal(run.text[0], "[1]\n");
		assert_string_equal(run.text[1], "");
		assert_int_equal(run.status, 0);
	}
}

static void ends_as_cold(void **state)
{
	static const char *const programs[] = {
		"print(1)\n",
		"import sys\nsys.exit(3)\n",
		"raise SystemExit('no')\n",
		"def f(n):\n    return 1 / n\n\n\nf(0)\n",
		"def f():\n    f()\n\n\nf()\n",
		"if True\n    pass\n",
		"x = '\\xff\n",
		"import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
		"import os\nos.abort()\n",
		"class A:\n    def __del__(self):\n        print('gone')\n\n\na = A()\n",
		"class A:\n    def __del__(self):\n        print('gone')\n\n\ndef f(a=A()):\n    "
		"pass\n",
		"from typing import List\nclass A:\n    def __del__(self):\n        "
		"print('gone')\n\n\n"
		"def f() -> List[A]:\n    pass\n\n\na = A()\n",
		"def g():\n    try:\n        yield\n    finally:\n        print('late')\n\n\n"
		"a = g()\nnext(a)\n",
		"import json\njson.JSONEncoder.default = lambda s, o: 0\nf = open('/out/a', 'w')\n"
		"f.write('b')\n",
		"import gc\nprint(gc.get_threshold(), gc.get_freeze_count(), gc.isenabled())\n",
		"import atexit\natexit.register(print, 'bye')\nprint(atexit._ncallbacks())\n",
		"import threading\nthreading.Thread(target=print, args=('t',)).start()\n",
		"import subprocess\nprint(subprocess.run(['echo', 'a'], capture_output=True))\n",
		"",
		"\n\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		assert_same(programs[i]);
}

static void sees_what_cold_sees(void **state)
{
	(void)state;
	assert_same("import os\nprint(sorted(os.listdir('/proc/self/fd')), dict(os.environ), "
		    "os.getcwd())\n"
		    "print(os.getpid(), os.getppid(), os.getsid(0), os.getpgid(0), "
		    "os.listdir('/proc'))\n");
	assert_same("for line in open('/proc/self/status'):\n"
		    "    if line.startswith(('Cap', 'NoNew', 'Sig', 'Shd', 'Secc', 'Threads', "
		    "'Uid', 'Tra', "
		    "'Speculation', 'Name', 'Umask')):\n"
		    "        print(line, end='')\n"
		    "print(open('/proc/self/oom_score_adj').read(), "
		    "open('/proc/self/limits').read())\n");
	assert_same("import sys, warnings\n"
		    "print(sys.argv, sys.path, sys.flags, warnings.filters, len(sys.path_hooks), "
		    "len(sys.meta_path))\n"
		    "print(sorted(globals()), sys._getframe().f_back)\n");
	assert_same("import ctypes\nprint(ctypes.CDLL(None).mount(0, b'/tmp', 0, 0, 0))\n");
}

static void chance_is_its_own(void **state)
{
	const char *program = "import random, os\nprint(random.random(), random.getrandbits(64))\n";

	(void)state;
	assert_runs(&run, program, true);
	assert_runs(&other, program, true);
	assert_string_not_equal(run.text[0], other.text[0]);
}

/* All that a guest may send signals to is its own. */
static void does_not_reach_the_template(void **state)
{
	(void)state;
	assert_runs(&run,
		    "import json, os, signal\n"
		    "json.dumps = None\n"
		    "for pid in [-1, *range(3, 400)]:\n"
		    "    try:\n"
		    "        os.kill(pid, signal.SIGKILL)\n"
		    "    except OSError:\n"
		    "        pass\n"
		    "print(os.listdir('/proc'))\n",
		    true);
	assert_runs(&run, "import json\nprint(json.dumps(2))\n", true);
	assert_string_equal(run.text[0], "2\n");
}

/* What the check of a template finds is said, and no interpreter is made. */
static void refuses_what_prints(void **state)
{
	struct stage bad = stage;

	(void)state;
	print_message("(it shall fail)\n");
	assert_int_equal(stage_template(&bad, object, "this"), -1);
	waitpid(bad.template, NULL, 0);
	close(bad.orders);
}

static void refuses_an_init_that_is_gone(void **state)
{
	struct protocol_failure none = { .errnum = 0 };

	(void)state;
	assert_int_equal(stage_prepare(&run), 0);
	kill(run.init, SIGKILL);
	waitpid(run.init, NULL, 0);
	print_message("(it shall fail)\n");
	assert_int_equal(stage_wait(&stage, &run), -1);
	close_all((int[]){ run.pidfd, run.events, run.go }, 3);
	run.failure = none;
	assert_runs(&run, "print(3)\n", true);
	assert_string_equal(run.text[0], "3\n");
}

static int oom_score(pid_t pid)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	assert_true(file_read(AT_FDCWD, path, text, sizeof(text)) > 0);
	return atoi(text);
}

static pid_t child_of(pid_t pid)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	return file_read(AT_FDCWD, path, text, sizeof(text)) < 0 ? -1 : atoi(text);
}

/* The launcher shares the memory of an init, and so its score. */
static void kernel_prefers_the_guest_that_waits(void **state)
{
	const char *program = "print(1)\n";

	(void)state;
	assert_int_equal(stage_prepare(&run), 0);
	assert_int_equal(stage_wait(&stage, &run), 0);
	assert_int_equal(oom_score(run.init), oom_score(getpid()));
	assert_int_equal(oom_score(child_of(run.init)), 1000);
	stage_go(&stage, &run, program, strlen(program), -1);
	assert_string_equal(run.text[0], "1\n");
}

/* --- other uses --- */

static long private_kib(pid_t pid)
{
	char path[64], text[8192];

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	if (file_read(AT_FDCWD, path, text, sizeof(text)) < 0)
		return -1;
	const char *line = strstr(text, "Private_Dirty:");
	return line ? strtol(line + strlen("Private_Dirty:"), NULL, 10) : -1;
}

/* What it has had of a processor so far. */
static long cpu_us(pid_t pid)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	return file_read(AT_FDCWD, path, text, sizeof(text)) < 0 ? -1 :
								   strtol(text, NULL, 10) / 1000;
}

/* Lines of: first byte, all, in microseconds of the clock; of a processor while waiting, of
 * which the template's; after; private KiB while waiting. Cold and warm by turns. */
static int print_figures(const char *program)
{
	for (int n = 0; n < 40; n++) {
		long before = cpu_us(stage.template), waiting, memory;

		if (run_program(&other, program, strlen(program), false) < 0 ||
		    stage_prepare(&run) < 0 || stage_wait(&stage, &run) < 0)
			return 1;
		while (poll(NULL, 0, 20) < 0) /* till it waits */
			;
		waiting = cpu_us(child_of(run.init));
		memory = private_kib(child_of(run.init));
		before = cpu_us(stage.template) - before;
		stage_go(&stage, &run, program, strlen(program), -1);
		struct timeval *t = &run.rusage.ru_utime;
		printf("cold %ld us; warm: runs after %ld us, result after %ld us; cpu %ld before "
		       "(%ld in the template), %ld in all; %ld KiB private\n",
		       (long)(other.ended_us - other.gone_us), (long)(run.started_us - run.gone_us),
		       (long)(run.ended_us - run.gone_us), waiting + before, before,
		       (long)(t->tv_usec + run.rusage.ru_stime.tv_usec) + before, memory);
	}
	return 0;
}

/* From beside the tests' folder, build/tests/unit and build/. A copy, for maps say where a file is.
 */
static int open_object(void)
{
	int file, copy = memfd_create("assay-warm", MFD_CLOEXEC);
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);

	path[n < 0 ? 0 : n] = '\0';
	for (int up = 0; up < 3; up++)
		if (strrchr(path, '/'))
			*strrchr(path, '/') = '\0';
	strcat(path, "/assay-warm.so");
	file = open(path, O_RDONLY | O_CLOEXEC);
	while ((n = read(file, path, sizeof(path))) > 0)
		if (write(copy, path, (size_t)n) != n)
			return -1;
	close(file);
	return fcntl(copy, F_DUPFD_CLOEXEC, PROTOCOL_STARTED_FD + 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_one_after_the_other),
		cmocka_unit_test(ends_as_cold),
		cmocka_unit_test(sees_what_cold_sees),
		cmocka_unit_test(chance_is_its_own),
		cmocka_unit_test(does_not_reach_the_template),
		cmocka_unit_test(refuses_what_prints),
		cmocka_unit_test(refuses_an_init_that_is_gone),
		cmocka_unit_test(kernel_prefers_the_guest_that_waits),
	};

	object = open_object();
	if (stage_enter(&stage) < 0 ||
	    stage_template(&stage, object, argc > 2 ? argv[2] : NULL) < 0)
		return 1;
	if (argc > 1 && !strcmp(argv[1], "figures"))
		return print_figures(argc > 3 ? argv[3] : "print(1)\n");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
