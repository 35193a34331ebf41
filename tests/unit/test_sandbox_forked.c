/*
 * Interpreters that a template forks, with the real keeper: what runs in one is as what runs in a
 * fresh one, nothing of a run reaches the template or another run, and whatever fails on the way
 * starts as it did before there were templates. Nothing here is timed.
 */
#include "tests/unit/test_forked.h"

/* Not RLIMIT_NPROC: where no group counts processes the template is one more of their user. */
static const char sees[] = PYTHON_SEES(
	"print([resource.getrlimit(r) for r in range(16) if r != resource.RLIMIT_NPROC], "
	"sorted(os.sched_getaffinity(0)))\n");

static void test_program_cannot_tell(void **state)
{
	struct sandbox_job job = job_of("python", sees);

	(void)state;
	assert_same(&job);
	job.stdin_bytes = "a line\nand another";
	job.stdin_len = strlen(job.stdin_bytes);
	assert_same(&job);
}

static void test_endings_are_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(program_endings); i++) {
		struct sandbox_job job = job_of("python", program_endings[i]);

		assert_same(&job);
	}
}

/* --- which jobs --- */

static void test_files_are_there(void **state)
{
	const struct sandbox_file input = { "table.csv", "a,b\n", 4 };
	const struct sandbox_file extra = { "more.txt", "c\n", 2 };
	struct sandbox_job job = job_of("python", "import os\n"
						  "print(open('table.csv').read(), os.listdir("
						  "'/in'), os.access('/in', os.W_OK),\n"
						  "      open('more.txt').read())\n");

	(void)state;
	job.inputs = &input;
	job.input_count = 1;
	job.extras = &extra;
	job.extra_count = 1;
	assert_same(&job);
}

static void assert_not_forked(const struct sandbox_job *prepared, const struct sandbox_job *job)
{
	cleanup_sandbox_result struct sandbox_result was = run_in(cold, job), is = { .signal = 0 };

	sandbox_prepare(sandbox, prepared);
	is = run_in(sandbox, job);
	assert_string_not_equal(start_of(&is), "forked");
	assert_string_equal(is.out.bytes, was.out.bytes);
	assert_string_equal(is.err.bytes, was.err.bytes);
	assert_int_equal(is.exit_code, was.exit_code);
}

/* Of a module that a template has there may be another beside the program. */
static void test_module_beside_is_imported(void **state)
{
	static const char text[] = "VALUE = 'mine'\n";
	struct sandbox_job job = job_of("python", "import json; print(json.VALUE)\n");
	const struct sandbox_file files[] = { { "json.py", text, sizeof(text) - 1 },
					      { "json/__init__.py", text, sizeof(text) - 1 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct sandbox_job plain = job_of("python", "print(0)\n");

		sandbox_result_release(
			&(struct sandbox_result[]){ run_forked(sandbox, &plain) }[0]);
		job.extras = &files[i];
		job.extra_count = 1;
		assert_not_forked(&job, &job);
		job.extra_count = 0;
		job.inputs = &files[i];
		job.input_count = 1;
		assert_not_forked(&job, &job);
		job.input_count = 0;
	}
}

static void test_another_job_is_not_forked(void **state)
{
	const char *const argv[] = { "x", NULL }, *const env[] = { "A=b", NULL };
	const char *const flags[] = { "-s", "-B", "-O", NULL };
	static const char looks[] = "import sys\nprint(len(sys.modules))\n";
	static const char empty_zip[] = "print(1)\n#PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	const struct sandbox_file extra = { "other.py", "print(__name__)\n", 16 };
	struct sandbox_job base = job_of("python", "import sys\nprint(sys.argv)\n"),
			   others[] = { base, base, base, base, base, base };

	(void)state;
	run_once(sandbox, &base);
	others[0].argv = argv;
	others[1].env = env;
	others[2].flags = flags;
	others[3].entry = "other.py";
	others[3].extras = &extra;
	others[3].extra_count = 1;
	others[4].code = empty_zip;
	others[4].code_len = sizeof(empty_zip) - 1;
	others[5] = job_of("python", looks);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_not_forked(&base, &others[i]);
		assert_not_forked(&others[i], &others[i]);
	}
}

/* --- nothing crosses --- */

static void test_run_leaves_nothing(void **state)
{
	static const char spoils[] =
		"import json, os, random, signal, sys\n"
		"json.dumps = None; random.random = None; sys.path[:] = []; os.environ.clear()\n"
		"os.chdir('/tmp'); os.umask(0); random.seed(1)\n"
		"for folder in '/tmp', '/work', '/out', '/dev/shm':\n"
		"    open(folder + '/left', 'w').write('x')\n"
		"for pid in [-1, *range(3, 400)]:\n"
		"    try: os.kill(pid, signal.SIGKILL)\n"
		"    except OSError: pass\n"
		"print('spoilt')\n";
	static const char looks[] =
		"import json, os, random\n"
		"print(json.dumps(os.environ['HOME']), os.getcwd(), os.umask(0), "
		"len(os.listdir('/tmp')),\n"
		"      os.listdir('/work'), os.listdir('/dev/shm'), os.listdir('/out'))\n"
		"print(random.random(), file=open('/out/chance', 'w'))\n";
	struct sandbox_job first = job_of("python", spoils), second = job_of("python", looks);
	cleanup_sandbox_result struct sandbox_result one = run_forked(sandbox, &first);
	cleanup_sandbox_result struct sandbox_result two = run_forked(sandbox, &second);
	cleanup_sandbox_result struct sandbox_result three = run_forked(sandbox, &second);

	(void)state;
	assert_string_equal(one.out.bytes, "spoilt\n");
	assert_string_equal(two.out.bytes, "\"/work\" /work 18 0 ['main.py'] [] []\n");
	assert_string_equal(three.out.bytes, two.out.bytes);
	assert_int_equal(two.artifact_count, 1);
	assert_string_not_equal(two.artifacts[0].bytes, three.artifacts[0].bytes);
}

/* Whatever number it might have, whatever call names a process. */
static void test_template_is_out_of_reach(void **state)
{
	static const char reaches[] =
		"import ctypes, os\n"
		"c = ctypes.CDLL(None, use_errno=True)\n"
		"seen, calls = set(), {'pidfd_open': 434, 'ptrace': 101, 'process_vm_readv': 310,\n"
		"                      'process_vm_writev': 311, 'kcmp': 312, 'setns': 308}\n"
		"for pid in range(1, 5000):\n"
		"    if pid == os.getpid(): continue\n"
		"    try: os.kill(pid, 0); seen.add(pid)\n"
		"    except ProcessLookupError: pass\n"
		"    except PermissionError: seen.add(pid)\n"
		"print(seen, [p for p in os.listdir('/proc') if p.isdigit()])\n"
		"for name, number in calls.items():\n"
		"    for pid in 0, 1, 3, 300:\n"
		"        if name == 'pidfd_open' and pid: continue\n"
		"        print(name, pid, c.syscall(number, 16 if name == 'ptrace' else pid, pid, "
		"0, 0, 0, 0))\n"
		"print(sorted(os.readlink('/proc/self/fd/%s' % f).split(':')[0] for f in "
		"os.listdir('/proc/self/fd')\n"
		"      if f in '012'))\n"
		"print([l for l in open('/proc/self/maps') if ' rw-s ' in l or ' rwx' in l or ' "
		"r-xs ' in l])\n"
		"try: open('/proc/1/environ').read()\n"
		"except OSError as e: print(e.errno)\n"
		"try: print(os.readlink('/proc/1/exe'))\n"
		"except OSError as e: print(e.errno)\n"
		"print(open('/proc/net/unix').read().count('\\n') if "
		"os.path.exists('/proc/net/unix') else 'none')\n";
	struct sandbox_job job = job_of("python", reaches);

	(void)state;
	assert_same(&job);
}

/* --- limits are the run's own --- */

/* What it may have is what a cold one may, and no more; the template's is besides. */
static void test_memory_is_its_own(void **state)
{
	static const char fits[] =
		"x = bytearray(72 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\n"
		"print(len(x))\n";
	static const char exceeds[] = "x = bytearray(100 << 20)\nfor i in range(0, len(x), 4096): "
				      "x[i] = 1\n"
				      "import time\ntime.sleep(9)\n";
	struct sandbox_job jobs[] = { job_of("python", fits), job_of("python", exceeds) };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		jobs[i].limits.memory_bytes = 96 << 20;
		assert_same(&jobs[i]);
	}
}

static void test_figures_are_its_own(void **state)
{
	struct sandbox_job job = job_of("python", "x = bytearray(64 << 20)\nprint(len(x))\n");
	cleanup_sandbox_result struct sandbox_result was = run_in(cold, &job);
	cleanup_sandbox_result struct sandbox_result is = run_forked(sandbox, &job);

	(void)state;
	assert_true(is.metrics.peak_memory_bytes > 60 << 20);
	assert_true(is.metrics.peak_memory_bytes < was.metrics.peak_memory_bytes + (8 << 20));
	assert_int_equal(is.metrics.peak_pids, was.metrics.peak_pids);
}

static void test_processes_are_its_own(void **state)
{
	static const char forks[] = "import os, time\nn = 0\n"
				    "try:\n"
				    "    while n < 20:\n"
				    "        if os.fork() == 0: time.sleep(9)\n"
				    "        n += 1\n"
				    "except OSError as e: print(e.errno)\n"
				    "print(n)\n";
	struct sandbox_job job = job_of("python", forks);

	(void)state;
	job.limits.processes = 8;
	assert_same(&job);
}

static void test_memory_is_gone_at_once(void **state)
{
	struct sandbox_job job =
		job_of("python", "import sys\nprint('ran', flush=True)\nx = bytearray(900 << 20)\n"
				 "for i in range(0, len(x), 4096): x[i] = 1\n");
	cleanup_sandbox_result struct sandbox_result r = run_forked(sandbox, &job);

	(void)state;
	assert_int_equal(r.outcome, SANDBOX_MEMORY);
	assert_string_equal(r.out.bytes, "ran\n"); /* once */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_cannot_tell),
		cmocka_unit_test(test_endings_are_the_same),
		cmocka_unit_test(test_files_are_there),
		cmocka_unit_test(test_module_beside_is_imported),
		cmocka_unit_test(test_another_job_is_not_forked),
		cmocka_unit_test(test_run_leaves_nothing),
		cmocka_unit_test(test_template_is_out_of_reach),
		cmocka_unit_test(test_memory_is_its_own),
		cmocka_unit_test(test_figures_are_its_own),
		cmocka_unit_test(test_processes_are_its_own),
		cmocka_unit_test(test_memory_is_gone_at_once),
	};

	return cmocka_run_group_tests(tests, set_up_both, tear_down_both);
}
