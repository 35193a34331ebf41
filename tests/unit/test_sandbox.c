/*
 * The execution contract, from the caller's side and from the guest's. No guest may get out:
 * programs that try are those of tests/escape.
 */
#include "tests/unit/test_sandbox_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#define MIB ((int64_t)1 << 20)

static const struct sandbox_forbidden *forbidden(const struct sandbox_result *r, const char *name)
{
	for (size_t i = 0; i < r->forbidden_count; i++)
		if (!strcmp(r->forbidden[i].syscall, name))
			return &r->forbidden[i];
	return NULL;
}

/* --- what goes in and comes out --- */

static void test_languages(void **state)
{
	(void)state;
	assert_prints("python", "print(6 * 7)", "42\n");
	assert_prints("javascript", "console.log(6 * 7)", "42\n");
	assert_prints("bash", "echo $((6 * 7))", "42\n");
}

static void test_streams_are_bytes(void **state)
{
	cleanup_sandbox_result struct sandbox_result r =
		run_code("python", "import sys\nsys.stdout.buffer.write(b'a\\0\\xffb')\n"
				   "sys.stderr.write('warn')\nsys.exit(3)");

	(void)state;
	assert_int_equal(r.outcome, SANDBOX_EXIT);
	assert_int_equal(r.exit_code, 3);
	assert_int_equal(r.out.len, 4);
	assert_memory_equal(r.out.bytes,
			    "a\0\xff"
			    "b",
			    4);
	assert_false(r.out.truncated);
	assert_string_equal(r.err.bytes, "warn");
}

static void test_inputs(void **state)
{
	static const struct sandbox_file inputs[] = { { "data/x.csv", "a,b\n", 4 } };
	static const struct sandbox_file extras[] = { { "helper.py", "value = 5\n", 10 } };
	static const char *const argv[] = { "one", "two words", NULL };
	static const char *const env[] = { "NAME=v w", NULL };
	struct sandbox_job job =
		job_of("python",
		       "import sys, os, helper\n"
		       "print(sys.argv[1:], os.environ['NAME'], helper.value, sys.stdin.read(),\n"
		       "      open('/in/data/x.csv').read(), end='')\n"
		       "try: open('/in/data/x.csv', 'w')\n"
		       "except OSError as e: print(e.errno)\n"
		       "try: open('/in/new', 'w')\n"
		       "except OSError as e: print(e.errno)\n");

	(void)state;
	job.inputs = inputs;
	job.input_count = 1;
	job.extras = extras;
	job.extra_count = 1;
	job.argv = argv;
	job.env = env;
	job.stdin_bytes = "typed";
	job.stdin_len = 5;
	cleanup_sandbox_result struct sandbox_result r = run_job(&job);
	assert_string_equal(r.err.bytes, "");
	assert_string_equal(r.out.bytes, is_gvisor() ?
						 "['one', 'two words'] v w 5 typed a,b\n13\n13\n" :
						 "['one', 'two words'] v w 5 typed a,b\n30\n30\n");
}

static void test_entry(void **state)
{
	static const struct sandbox_file extras[] = {
		{ "run_tests.py", "import main\nprint('entry', main.x)\n", 35 }
	};
	struct sandbox_job job = job_of("python", "x = 1\n");

	(void)state;
	job.extras = extras;
	job.extra_count = 1;
	job.entry = "run_tests.py";
	cleanup_sandbox_result struct sandbox_result r = run_job(&job);
	assert_string_equal(r.err.bytes, "");
	assert_string_equal(r.out.bytes, "entry 1\n");
}

static void test_bad_paths(void **state)
{
	static const char *const bad[] = { "", "/etc/x", "../x", "a/../b", "a//b", "./a", "a/" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct sandbox_file input = { bad[i], "x", 1 };
		struct sandbox_job job = job_of("bash", "true");
		struct error err = ERROR_INIT;

		job.inputs = &input;
		job.input_count = 1;
		struct sandbox_result r;
		assert_int_equal(sandbox_run(sandbox, &job, NULL, &r, &err), -1);
		assert_int_equal(err.kind, ERR_USAGE);
	}
}

static void test_fixed_environment(void **state)
{
	(void)state;
	assert_prints("python",
		      "import os, socket, time, locale\n"
		      "print(os.getuid(), os.getcwd(), socket.gethostname(), time.tzname[0],\n"
		      "      os.environ['LANG'], hash('a') == hash('a'), sorted(os.environ)[:3],\n"
		      "      os.environ['PYTHONHASHSEED'])\n",
		      "65534 /work assay UTC C.UTF-8 True ['HOME', 'LANG', 'MPLBACKEND'] 0\n");
}

/* --- outcomes --- */

struct outcome_case {
	const char *language, *code;
	enum sandbox_outcome outcome;
	int exit_code, signal;
	struct sandbox_limits limits; /* zero: the default */
};

static const struct outcome_case outcome_cases[] = {
	{ "python", "import os; os._exit(137)", SANDBOX_EXIT, 137, 0, { 0 } },
	{ "python", "import os; os.kill(os.getpid(), 31)", SANDBOX_SIGNAL, -1, SIGSYS, { 0 } },
	{ "python", "import os; os.kill(os.getpid(), 9)", SANDBOX_SIGNAL, -1, SIGKILL, { 0 } },
	{ "python", "import ctypes; ctypes.string_at(0)", SANDBOX_SIGNAL, -1, SIGSEGV, { 0 } },
	{ "bash", "sleep 9 & kill -9 -1; wait $!; exit $?", SANDBOX_EXIT, 137, 0, { 0 } },
	{ "bash", "kill -9 1; kill -9 $PPID; exit 4", SANDBOX_EXIT, 4, 0, { 0 } },
	{ "bash", "sleep 100", SANDBOX_TIMEOUT_WALL, -1, SIGKILL, { .wall_ms = 150 } },
	{ "bash",
	  "trap '' TERM INT XCPU; kill -STOP 0; sleep 9",
	  SANDBOX_TIMEOUT_WALL,
	  -1,
	  SIGKILL,
	  { .wall_ms = 150 } },
	{ "bash", "while :; do :; done", SANDBOX_TIMEOUT_CPU, -1, SIGKILL, { .cpu_ms = 150 } },
	{ "bash",
	  "while :; do :; done & while :; do :; done",
	  SANDBOX_TIMEOUT_CPU,
	  -1,
	  SIGKILL,
	  { .cpu_ms = 200 } },
	{ "python",
	  "import os\nwhile True: os.fork()",
	  SANDBOX_PROCESS_LIMIT,
	  1,
	  0,
	  { .processes = 16 } },
	{ "bash",
	  "b() { b | b & }; b; sleep 10",
	  SANDBOX_PROCESS_LIMIT,
	  -1,
	  SIGKILL,
	  { .processes = 16, .wall_ms = 500 } },
	{ "bash",
	  "head -c 9000000 /dev/zero >/work/x",
	  SANDBOX_DISK_LIMIT,
	  1,
	  0,
	  { .disk_bytes = 1 << 20 } },
	{ "bash",
	  "i=0; while mkdir /tmp/$((i++)); do :; done 2>/dev/null; exit 1",
	  SANDBOX_DISK_LIMIT,
	  1,
	  0,
	  { .inodes = 100 } },
	{ "bash", "yes", SANDBOX_OUTPUT_LIMIT, -1, SIGKILL, { .stdout_bytes = 1000 } },
	{ "bash", "yes >&2", SANDBOX_OUTPUT_LIMIT, -1, SIGKILL, { .stderr_bytes = 1000 } },
	{ "python",
	  "x = [bytearray(4 << 20) for _ in range(1000)]",
	  SANDBOX_MEMORY,
	  -1,
	  SIGKILL,
	  { .memory_bytes = 48 << 20 } },
};

/* Every limit that a case gives replaces the default. */
static struct sandbox_limits limits_with(const struct sandbox_limits *given)
{
	struct sandbox_limits all;
	int64_t values[sizeof(all) / sizeof(int64_t)], wanted[ARRAY_SIZE(values)];

	sandbox_limits_default(&all);
	memcpy(values, &all, sizeof(all));
	memcpy(wanted, given, sizeof(all));
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (wanted[i] != 0)
			values[i] = wanted[i];
	memcpy(&all, values, sizeof(all));
	all.wall_ms *= patience();
	all.cpu_ms *= patience();
	return all;
}

static void test_outcomes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(outcome_cases); i++) {
		const struct outcome_case *c = &outcome_cases[i];
		struct sandbox_job job = job_of(c->language, c->code);

		if (is_gvisor() && c->limits.inodes != 0)
			continue; /* --weaker (gvisor.t) */
		job.limits = limits_with(&c->limits);
		cleanup_sandbox_result struct sandbox_result r = run_job(&job);
		/* Without a memory cgroup the allocation may fail by itself. */
		if (c->outcome == SANDBOX_MEMORY && r.exit_code == 1 &&
		    !strcmp(sandbox_fact(&r.isolation, "memory_limit"), "rlimit"))
			continue;
		/* There a limit that is hit for less than a look is held, and not told. */
		if (is_gvisor() && c->outcome == SANDBOX_PROCESS_LIMIT && r.exit_code == 1)
			continue;
		if (r.outcome != c->outcome || r.exit_code != c->exit_code || r.signal != c->signal)
			fail_msg("%s: %s, exit %d, signal %d (%s) %s", c->code,
				 sandbox_outcome_name(r.outcome), r.exit_code, r.signal, r.detail,
				 r.err.bytes);
	}
}

/* More than the run's limit and less than any that a process has of its own: what no group counts
 * must be found by whoever looks, however late that is. */
static void test_child_out_of_memory_is_told(void **state)
{
	struct sandbox_job job = job_of(
		"python",
		"import os\nif os.fork() == 0:\n    x = [bytearray(1 << 20) for _ in range(96)]\n"
		"    import time; time.sleep(60)\nelse:\n    os.wait(); print('all is well')");

	(void)state;
	job.limits.memory_bytes = 64 * MIB;
	cleanup_sandbox_result struct sandbox_result r = run_job(&job);
	if (!strcmp(sandbox_fact(&r.isolation, "memory_limit"), "cgroup"))
		assert_int_equal(r.exit_code, 0); /* the parent lived, and is not believed */
	assert_int_equal(r.outcome, SANDBOX_MEMORY);
}

static void test_deadline_is_kept(void **state)
{
	struct sandbox_job job = job_of("bash", "sleep 60");

	(void)state;
	job.limits.wall_ms = 200;
	cleanup_sandbox_result struct sandbox_result r = run_job(&job);
	assert_int_equal(r.outcome, SANDBOX_TIMEOUT_WALL);
	/* By how much it is missed is for the benchmark: this machine may be busy. */
	assert_true(r.metrics.wall_ms >= 200 && r.metrics.wall_ms < 30000);
	assert_true(r.metrics.user_ms + r.metrics.system_ms < r.metrics.wall_ms);
}

static void test_survivors_delay_nothing(void **state)
{
	int64_t start = clock_mono_ms();
	cleanup_sandbox_result struct sandbox_result r = run_code(
		"bash",
		"for i in {1..20}; do (trap '' TERM HUP; setsid sleep 600 &) ; done; echo done");

	(void)state;
	assert_int_equal(r.outcome, SANDBOX_EXIT);
	assert_string_equal(r.out.bytes, "done\n");
	assert_true(clock_mono_ms() - start < 60000);
}

static void test_long_output_is_cut(void **state)
{
	cleanup_sandbox_result struct sandbox_result r = run_code("python", "print('x' * 3000000)");

	(void)state;
	assert_int_equal(r.outcome, SANDBOX_EXIT);
	assert_true(r.out.truncated);
	assert_int_equal(r.out.len, 1 << 20);
	assert_int_equal(r.out.total, 3000001);
}

/* --- forbidden calls --- */

static const char call_by_number[] =
	"import ctypes, errno, sys\n"
	"libc = ctypes.CDLL(None, use_errno=True)\n"
	"for n in map(int, sys.argv[1:]):\n"
	"    r = libc.syscall(ctypes.c_long(n), *[ctypes.c_long(-1)] * 6)\n"
	"    print(n, r, errno.errorcode.get(ctypes.get_errno()))\n";

static void test_forbidden_calls_are_named(void **state)
{
	static const char *const names[] = { "socket", "unshare", "mount" };
	cleanup_sandbox_result struct sandbox_result r = run_code(
		"python",
		"import ctypes, os, socket\nlibc = ctypes.CDLL(None, use_errno=True)\n"
		"for i in range(3):\n"
		"    try: socket.socket()\n"
		"    except PermissionError: pass\n"
		"if os.fork() == 0:\n" /* from a descendant too */
		"    print(libc.unshare(0x10000000), ctypes.get_errno(), flush=True); os._exit(0)\n"
		"os.wait()\n"
		"print(libc.mount(None, None, None, 0, None), ctypes.get_errno())\n");

	(void)state;
	assert_string_equal(r.out.bytes, "-1 1\n-1 1\n");
	if (is_gvisor())
		skip(); /* it says no word of them */
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_non_null(forbidden(&r, names[i]));
	assert_int_equal(forbidden(&r, "socket")->count, 3);
	assert_int_equal(forbidden(&r, "socket")->args[0], 2);
	assert_int_equal(forbidden(&r, "unshare")->args[0], 0x10000000);
}

#ifdef __x86_64__
static void test_numbers(void **state)
{
	static const char *const argv[] = { "435", "9999", "1073741863", "56", NULL };
	struct sandbox_job job = job_of("python", call_by_number);

	(void)state;
	if (is_gvisor())
		skip();
	job.argv = argv;
	cleanup_sandbox_result struct sandbox_result r = run_job(&job);
	assert_string_equal(r.out.bytes, "435 -1 ENOSYS\n9999 -1 ENOSYS\n1073741863 -1 EPERM\n"
					 "56 -1 EPERM\n");
	assert_null(forbidden(&r, "clone3"));
	assert_non_null(forbidden(&r, "getpid")); /* x32's: bit 30 */
	assert_string_equal(forbidden(&r, "getpid")->arch, "x32");
	assert_non_null(forbidden(&r, "clone"));
}

static void test_foreign_architecture_is_killed(void **state)
{
	/* mov $20, %eax (getpid); int $0x80; ret */
	cleanup_sandbox_result struct sandbox_result r =
		run_code("python",
			 "import ctypes, mmap\n"
			 "m = mmap.mmap(-1, 4096, prot=7)\n"
			 "m.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))\n"
			 "a = ctypes.addressof(ctypes.c_char.from_buffer(m))\n"
			 "print('pid', ctypes.CFUNCTYPE(ctypes.c_int)(a)(), flush=True)\n");

	(void)state;
	if (is_gvisor())
		skip(); /* such a call is not in that kernel */
	assert_int_equal(r.outcome, SANDBOX_FORBIDDEN_SYSCALL);
	assert_string_equal(r.out.bytes, "");
	assert_int_equal(r.forbidden_count, 1);
	assert_string_equal(r.forbidden[0].syscall, "getpid");
	assert_string_equal(r.forbidden[0].arch, "i386");
}
#endif

static void test_flood_of_denied_calls_is_bounded(void **state)
{
	struct sandbox_job job = job_of(
		"python",
		"import ctypes\nlibc = ctypes.CDLL(None)\nwhile True: libc.unshare(0x10000000)\n");

	(void)state;
	job.limits.wall_ms = 500 * patience();
	cleanup_sandbox_result struct sandbox_result r = run_job(&job);
	assert_int_equal(r.outcome, SANDBOX_TIMEOUT_WALL);
	if (is_gvisor())
		return;
	assert_non_null(forbidden(&r, "unshare"));
	assert_true(forbidden(&r, "unshare")->count > 100);
	assert_true(forbidden(&r, "unshare")->count < 10000);
}

/* --- artifacts --- */

static const struct sandbox_artifact *artifact(const struct sandbox_result *r, const char *path)
{
	for (size_t i = 0; i < r->artifact_count; i++)
		if (!strcmp(r->artifacts[i].path, path))
			return &r->artifacts[i];
	fail_msg("no artifact %s", path);
	return NULL;
}

static void test_artifacts(void **state)
{
	cleanup_sandbox_result struct sandbox_result r =
		run_code("python",
			 "import os, socket\n"
			 "os.makedirs('/out/a/b')\n"
			 "open('/out/a/b/t.csv', 'w').write('x,y\\n1,2\\n')\n"
			 "open('/out/p.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n1')\n"
			 "os.symlink('/etc/passwd', '/out/link')\n"
			 "os.symlink('/in', '/out/dirlink')\n"
			 "os.mkfifo('/out/fifo')\n"
			 "socket.socket(socket.AF_UNIX).bind('/out/sock')\n"
			 "with open('/out/sparse', 'w') as f: f.truncate(1 << 40)\n"
			 "open('/out/new\\nline', 'w').write('x')\n"
			 "open('/out/secret', 'w').close(); os.chmod('/out/secret', 0)\n"
			 "os.mkdir('/out/own', 0o700)\n"
			 "open('/out/own/f', 'w').write('mine'); os.chmod('/out/own/f', 0o600)\n");

	(void)state;
	assert_string_equal(r.err.bytes, "");
	assert_true(artifact(&r, "a/b/t.csv")->kept);
	assert_string_equal(artifact(&r, "a/b/t.csv")->type, "text/csv");
	assert_string_equal(artifact(&r, "a/b/t.csv")->bytes, "x,y\n1,2\n");
	assert_int_equal(strlen(artifact(&r, "p.png")->sha256), 64);
	assert_string_equal(artifact(&r, "p.png")->type, "image/png");
	assert_false(artifact(&r, "link")->kept);
	assert_non_null(strstr(artifact(&r, "link")->why_not, "symbolic link"));
	assert_false(artifact(&r, "dirlink")->kept);
	assert_non_null(strstr(artifact(&r, "fifo")->why_not, "pipe"));
	assert_non_null(strstr(artifact(&r, "sock")->why_not, "socket"));
	assert_false(artifact(&r, "sparse")->kept);
	assert_non_null(strstr(artifact(&r, "sparse")->why_not, "limit"));
	assert_true(artifact(&r, "new\nline")->kept);
	assert_string_equal(artifact(&r, "own/f")->bytes, "mine");
}

static void test_artifact_caps(void **state)
{
	struct sandbox_job job =
		job_of("python", "import os\n"
				 "open('/out/0', 'w').write('x' * 1000)\n"
				 "for i in range(1, 20): os.link('/out/0', f'/out/{i:02}')\n"
				 "p = '/out/deep'\n"
				 "for i in range(30): os.mkdir(p); p += '/d'\n"
				 "os.mkdir('/out/many')\n"
				 "for i in range(5000): open(f'/out/many/{i}', 'w').close()\n");
	size_t kept = 0;
	int64_t bytes = 0;

	(void)state;
	job.limits.artifacts = 7;
	job.limits.artifact_bytes = 5000;
	cleanup_sandbox_result struct sandbox_result r = run_job(&job);
	assert_string_equal(r.err.bytes, "");
	for (size_t i = 0; i < r.artifact_count; i++) {
		kept += r.artifacts[i].kept;
		bytes += r.artifacts[i].kept ? (int64_t)r.artifacts[i].size : 0;
		assert_true(r.artifacts[i].kept == !r.artifacts[i].why_not);
	}
	assert_true(kept <= 7);
	assert_true(bytes <= 5000);
	assert_true(r.artifact_count < 3000);
}

/* --- one run and the next --- */

static void test_nothing_outlives_a_run(void **state)
{
	(void)state;
	assert_prints("bash",
		      "echo x >/tmp/a; echo x >/work/b; echo x >/dev/shm/c; sleep 99 & "
		      "mkdir /out/d; ulimit -n 10; cd /tmp; echo ok",
		      "ok\n");
	assert_prints(
		"bash",
		"for d in /../{root,sys,run,usr}; do test -e $d && echo $d; done; echo /home/*; "
		"test -e /home/user || echo none",
		"/../usr\n/home/user\nnone\n");
	/* gVisor's /proc has no hidepid. */
	assert_prints("bash",
		      "shopt -s nullglob dotglob; echo /tmp/* /dev/shm/* /in/* /work/*; "
		      "echo /proc/[0-9]*; ulimit -n",
		      is_gvisor() ? "/work/main.sh\n/proc/1 /proc/2\n256\n" :
				    "/work/main.sh\n/proc/2\n256\n");
}

static size_t count_fds(pid_t pid)
{
	char path[64];
	size_t count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static void test_runs_leave_nothing_in_us(void **state)
{
	(void)state;
	assert_prints("bash", "echo 1", "1\n");
	size_t ours = count_fds(getpid());
	size_t keepers = count_fds(native_of(sandbox)->keeper);
	for (int i = 0; i < 100; i++)
		assert_prints("bash", "echo 1 >/out/x; echo 1; sleep 9 &", "1\n");
	assert_int_equal(count_fds(getpid()), ours);
	int64_t deadline_ms = clock_mono_ms() + 60000;
	/* It closes a run's after it has reported. */
	while (count_fds(native_of(sandbox)->keeper) > keepers && clock_mono_ms() < deadline_ms)
		usleep(1000);
	assert_true(count_fds(native_of(sandbox)->keeper) <= keepers);
}

/* --- identity and doctor --- */

static void test_environment(void **state)
{
	struct sandbox_options options = { .name = sandbox_name(sandbox),
					   .weaker = is_gvisor(),
					   .cache_dir = cache };
	cleanup_sandbox struct sandbox *other = NULL;
	struct error err = ERROR_INIT;

	(void)state;
	struct sandbox_environment first;
	assert_int_equal(sandbox_describe(sandbox, language_find("python"), &first, &err), 0);
	assert_int_equal(strlen(first.digest), 64);
	assert_int_equal(first.version[0], '3');
	assert_int_equal(sandbox_open(&other, &options, &err), 0);
	struct sandbox_environment second;
	assert_int_equal(sandbox_describe(other, language_find("py"), &second, &err), 0);
	assert_string_equal(first.digest, second.digest);
	assert_string_equal(first.interpreter, second.interpreter);
}

static void test_filter_in_force(void **state)
{
	struct error err = ERROR_INIT;
	cleanup_sandbox_result struct sandbox_result r = run_code("bash", ":");
	const char *text;

	(void)state;
	assert_int_equal(sandbox_wall(sandbox, "seccomp", &text, &err), 0);
	assert_non_null(strstr(text, "pseudo filter code"));
	assert_non_null(strstr(text, "\"openat\""));
	assert_null(strstr(text, "\"ptrace\""));
	/* A memfd is seen by nobody but a memory cgroup. */
	assert_int_equal(strstr(text, "\"memfd_create\"") != NULL,
			 (is_gvisor() ||
			  !strcmp(sandbox_fact(&r.isolation, "memory_limit"), "cgroup")));
}

static void test_doctor(void **state)
{
	struct sandbox_layer *layers;
	struct error err = ERROR_INIT;
	size_t count;

	(void)state;
	assert_int_equal(sandbox_doctor(sandbox, &layers, &count, &err), 0);
	assert_true(count > 15);
	for (size_t i = 0; i < count; i++)
		if (layers[i].required && !layers[i].ok)
			fail_msg("%s: %s", layers[i].name, layers[i].proof);
	free(layers);
}

int main(void)
{
	const struct CMUnitTest sandbox_tests[] = {
		cmocka_unit_test(test_languages),
		cmocka_unit_test(test_streams_are_bytes),
		cmocka_unit_test(test_inputs),
		cmocka_unit_test(test_entry),
		cmocka_unit_test(test_bad_paths),
		cmocka_unit_test(test_fixed_environment),
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_child_out_of_memory_is_told),
		cmocka_unit_test(test_deadline_is_kept),
		cmocka_unit_test(test_survivors_delay_nothing),
		cmocka_unit_test(test_long_output_is_cut),
		cmocka_unit_test(test_forbidden_calls_are_named),
#ifdef __x86_64__
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_foreign_architecture_is_killed),
#endif
		cmocka_unit_test(test_flood_of_denied_calls_is_bounded),
		cmocka_unit_test(test_artifacts),
		cmocka_unit_test(test_artifact_caps),
		cmocka_unit_test(test_nothing_outlives_a_run),
		cmocka_unit_test(test_runs_leave_nothing_in_us),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_filter_in_force),
		cmocka_unit_test(test_doctor),
	};

	cmocka_set_test_filter(getenv("ASSAY_TEST_ONLY")); /* where all would take too long */
	return cmocka_run_group_tests_name("sandbox", sandbox_tests, set_up, tear_down);
}
