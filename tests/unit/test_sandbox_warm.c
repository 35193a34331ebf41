/*
 * An interpreter that waits, with the real keeper: what runs in one is as what runs in a fresh
 * one, and whatever does not fit it starts cold. There are no templates here (test_sandbox_forked).
 * Nothing here is timed.
 */
#include "tests/unit/test_starts.h"

#include "verifier/screen/screen.h"
#include "verifier/screen/tree.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

static int set_up_both(void **state)
{
	if (set_up_cold(state, 2) < 0)
		return -1;
	forget_templates(sandbox);
	return 0;
}

static void assert_same(const struct sandbox_job *job)
{
	cleanup_sandbox_result struct sandbox_result was = run_in(cold, job);
	cleanup_sandbox_result struct sandbox_result is = run_prepared(sandbox, job);

	assert_alike(&was, &is);
	assert_string_equal(start_of(&is), "waiting");
}

static const char python_sees[] = PYTHON_SEES(
	"print(sorted(sys.modules), sorted(sys.path_importer_cache))\n"
	"print([resource.getrlimit(r) for r in range(16)], sorted(os.sched_getaffinity(0)))\n");

static const char javascript_sees[] =
	"const fs = require('fs'), os = require('os');\n"
	"console.log(__filename, __dirname, require.main === module, process.argv, "
	"process.execArgv);\n"
	"console.log(fs.readFileSync(__filename, 'utf8').length, "
	"fs.statSync(__filename).isFile());\n"
	"console.log(process.env, process.cwd(), process.pid, process.ppid, os.userInfo().uid);\n"
	"console.log(fs.readdirSync('/work'), fs.readdirSync('/tmp'), fs.readdirSync('/in'));\n"
	"console.log(fs.readFileSync(0, 'utf8'), [0, 1, 2].map(f => fs.fstatSync(f).mode));\n"
	"console.log(process.stdout.isTTY, Object.keys(require.cache), module.paths);\n"
	"console.log(fs.readdirSync('/proc/self/fd').length, process.umask());\n"
	"throw new Error('deep');\n";

static void test_program_cannot_tell(void **state)
{
	const char *const argv[] = { "one", "two words", NULL };
	struct sandbox_job jobs[] = { job_of("python", python_sees),
				      job_of("javascript", javascript_sees) };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		assert_same(&jobs[i]);
		jobs[i].argv = argv;
		jobs[i].stdin_bytes = "a line\nand another";
		jobs[i].stdin_len = strlen(jobs[i].stdin_bytes);
		assert_same(&jobs[i]);
	}
}

static void test_endings_are_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(program_endings); i++) {
		struct sandbox_job job = job_of("python", program_endings[i]);

		assert_same(&job);
	}
}

static void test_files_are_there(void **state)
{
	const struct sandbox_file input = { "table.csv", "a,b\n", 4 };
	const struct sandbox_file extra = { "helper.py", "VALUE = 41\n", 11 };
	struct sandbox_job job =
		job_of("python", "import helper, os\n"
				 "print(helper.VALUE, open('table.csv').read(),\n"
				 "      os.listdir('/in'), os.access('/in', os.W_OK))\n");

	(void)state;
	job.inputs = &input;
	job.input_count = 1;
	job.extras = &extra;
	job.extra_count = 1;
	assert_same(&job);
	assert_prints("python", "import os; print(os.listdir('/work'))\n", "['main.py']\n");
}

static void test_entry_beside_the_program(void **state)
{
	const struct sandbox_file extra = { "harness.py", "import main; print(__file__)\n", 29 };
	struct sandbox_job job = job_of("python", "print(__file__, __name__)\n");

	(void)state;
	job.extras = &extra;
	job.extra_count = 1;
	job.entry = "harness.py";
	assert_same(&job);
}

/* Cold, and right, when it was prepared for another. */
static void assert_cold_after(const struct sandbox_job *prepared, const struct sandbox_job *job)
{
	cleanup_sandbox_result struct sandbox_result was = run_in(cold, job), is = { .signal = 0 };

	sandbox_prepare(sandbox, prepared);
	is = run_in(sandbox, job);
	assert_string_equal(start_of(&is), "cold");
	assert_string_equal(is.out.bytes, was.out.bytes);
	assert_string_equal(is.err.bytes, was.err.bytes);
	assert_int_equal(is.exit_code, was.exit_code);
}

static void test_another_job_starts_cold(void **state)
{
	const char *const argv[] = { "x", NULL }, *const env[] = { "PYTHONPATH=/work", NULL };
	const char *const flags[] = { "-s", "-B", "-O", NULL };
	struct sandbox_job base =
		job_of("python", "import sys, os\nprint(sys.argv, os.getpid())\n");
	struct sandbox_job others[] = { base, base, base, base, base, base, base };
	char *large = mem_alloc(300001);

	(void)state;
	memset(large, '#', 300000);
	others[0].argv = argv;
	others[1].env = env;
	others[2].flags = flags;
	others[3].limits.memory_bytes *= 2;
	others[4].limits.processes--;
	others[5].stdin_bytes = "x";
	others[5].stdin_len = 1;
	others[6].limits.disk_bytes *= 2;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_cold_after(&base, &others[i]);
	others[0] = job_of("bash", "echo $BASHPID");
	others[1] = job_of("javascript", "console.log(process.pid)");
	others[2] = job_of("python", "# coding: latin-1\nprint('\xe4')\n");
	others[3] = job_of("python", large);
	for (size_t i = 0; i < 4; i++)
		assert_cold_after(&base, &others[i]);
	free(large);
}

static void test_package_json_starts_cold(void **state)
{
	static const char type[] = "{\"type\": \"module\"}";
	const struct sandbox_file extra = { "package.json", type, sizeof(type) - 1 };
	struct sandbox_job job =
		job_of("javascript", "import fs from 'fs'; console.log(typeof fs)");

	(void)state;
	job.extras = &extra;
	job.extra_count = 1;
	assert_cold_after(&job, &job);
	job.extra_count = 0;
	job.inputs = &extra;
	job.input_count = 1;
	assert_cold_after(&job, &job);
}

/* The wall is the keeper's own. */
static void test_another_wall_fits(void **state)
{
	struct sandbox_job job = job_of("python", "while True: pass\n");
	cleanup_sandbox_result struct sandbox_result r = { .signal = 0 };

	(void)state;
	sandbox_prepare(sandbox, &job);
	job.limits.wall_ms = 300;
	r = run_in(sandbox, &job);
	assert_string_equal(start_of(&r), "waiting");
	assert_int_equal(r.outcome, SANDBOX_TIMEOUT_WALL);
}

static bool is_ours(pid_t pid, pid_t keeper)
{
	char path[64], text[512] = "", *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	at = strrchr(text, ')');
	long parent = at ? strtol(at + 4, NULL, 10) : 0;
	return parent == keeper || (parent > 1 && is_ours((pid_t)parent, keeper));
}

/* The python below that keeper, as soon as there is one. */
static pid_t find_waiting(pid_t keeper)
{
	for (;;) {
		DIR *proc = opendir("/proc");
		struct dirent *entry;
		pid_t found = 0;

		while ((entry = readdir(proc))) {
			pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
			char path[64], name[64] = "";
			FILE *f;

			snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
			f = pid > 1 ? fopen(path, "r") : NULL;
			if (!f)
				continue;
			if (fgets(name, sizeof(name), f) && !strncmp(name, "python", 6) &&
			    is_ours(pid, keeper))
				found = pid;
			fclose(f);
		}
		closedir(proc);
		if (found > 0)
			return found;
		usleep(1000);
	}
}

/* An init bears its name; but its first number is in the keeper's namespace, and the last its own.
 */
static bool is_launcher(pid_t pid)
{
	char path[64];
	long outer = 0, inner = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	f = fopen(path, "r");
	char line[256];
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "NSpid:", 6)) {
			outer = strtol(line + 6, NULL, 10);
			inner = strtol(strrchr(line, '\t'), NULL, 10);
		}
	if (f)
		fclose(f);
	return outer > 0 && inner != 1;
}

static void kill_launcher(pid_t keeper)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while ((entry = readdir(proc))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		char path[64], name[64] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
		f = pid > 1 ? fopen(path, "r") : NULL;
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f) && !strcmp(name, "assay-launcher\n") &&
		    is_ours(pid, keeper) && is_launcher(pid))
			kill(pid, SIGKILL);
		fclose(f);
	}
	closedir(proc);
}

static void test_dead_one_starts_cold(void **state)
{
	struct sandbox_job job = job_of("python", "import os; print('here', os.getpid())\n");
	cleanup_sandbox_result struct sandbox_result r = { .signal = 0 };

	(void)state;
	sandbox_prepare(sandbox, &job);
	kill(find_waiting(native_of(sandbox)->keeper), SIGKILL);
	r = run_in(sandbox, &job);
	assert_string_equal(start_of(&r), "cold");
	assert_string_equal(r.out.bytes, "here 2\n");
	assert_int_equal(r.outcome, SANDBOX_EXIT);
}

static void test_lost_keeper_starts_cold(void **state)
{
	struct sandbox_job job = job_of("python", "print('here')\n");
	cleanup_sandbox_result struct sandbox_result r = { .signal = 0 };

	(void)state;
	sandbox_prepare(sandbox, &job);
	kill(native_of(sandbox)->keeper, SIGKILL);
	siginfo_t gone;
	assert_int_equal(waitid(P_PID, (id_t)native_of(sandbox)->keeper, &gone, WEXITED | WNOWAIT),
			 0);
	r = run_in(sandbox, &job);
	assert_string_equal(start_of(&r), "cold");
	assert_string_equal(r.out.bytes, "here\n");
}

/* What it took before its program came is not the program's: it is older than that may become, and
 * has all its time yet, and what is told is no more than passed here. */
static void test_limits_count_from_the_program(void **state)
{
	struct sandbox_job job = job_of("python", "while True: pass\n");
	cleanup_sandbox_result struct sandbox_result r = { .signal = 0 };

	(void)state;
	job.limits.wall_ms = 300;
	sandbox_prepare(sandbox, &job);
	find_waiting(native_of(sandbox)->keeper);
	for (int64_t made = clock_mono_ms(); clock_mono_ms() <= made + job.limits.wall_ms;)
		usleep(1000);
	const int64_t came = clock_mono_ms();
	r = run_in(sandbox, &job);
	const double took_ms = (double)(clock_mono_ms() - came);
	assert_string_equal(start_of(&r), "waiting");
	assert_int_equal(r.outcome, SANDBOX_TIMEOUT_WALL);
	assert_true(r.metrics.wall_ms >= 300 && r.metrics.wall_ms <= took_ms + 1);
	assert_true(r.metrics.peak_memory_bytes > 2 << 20); /* with all that it had before */
}

static void test_none_is_kept(void **state)
{
	struct sandbox_job job = job_of("python", "print(1)\n");

	(void)state;
	for (int i = 0; i < 3; i++) {
		cleanup_sandbox_result struct sandbox_result r = { .signal = 0 };

		sandbox_prepare(cold, &job);
		assert_null(native_of(cold)->waiting);
		r = run_in(cold, &job);
		assert_string_equal(start_of(&r), "cold");
	}
}

/* The second of a kind is the first that is known to be followed by another. */
static void test_rounds_are_foreseen(void **state)
{
	struct sandbox_job round[] = { job_of("python", "print('a')\n"),
				       job_of("python", "print(input())\n") };
	struct sandbox_options options = { .cache_dir = cache,
					   .warm = 4 }; /* beside those of the other tests */
	struct error err = ERROR_INIT;

	(void)state;
	round[1].stdin_bytes = "b\n";
	round[1].stdin_len = 2;
	struct sandbox *s;
	assert_int_equal(sandbox_open(&s, &options, &err), 0);
	forget_templates(s);
	for (int i = 0; i < 8; i++) {
		cleanup_sandbox_result struct sandbox_result r = run_in(s, &round[i % 2]);

		assert_string_equal(r.out.bytes, i % 2 ? "b\n" : "a\n");
		assert_string_equal(start_of(&r), i < 3 ? "cold" : "waiting");
	}
	sandbox_close(s);
}

static void test_pair_is_foreseen(void **state)
{
	static const char says[] = "import os\nos.write(4, b'hello')\n";
	static const char hears[] =
		"import os\nprint(os.read(3, 9), sorted(os.listdir('/proc/self/fd')))\n";
	struct sandbox_job jobs[2] = { job_of("python", says), job_of("python", hears) };
	struct error err = ERROR_INIT;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct sandbox_result r[2] = { { .signal = 0 }, { .signal = 0 } };

		assert_int_equal(sandbox_run_pair(sandbox, jobs, NULL, r, &err), 0);
		assert_string_equal(r[1].out.bytes, "b'hello' ['0', '1', '2', '3', '4', '5']\n");
		for (size_t n = 0; n < 2; n++) {
			/* After one pair another is expected. */
			assert_string_equal(start_of(&r[n]), i < 1 ? "cold" : "waiting");
			sandbox_result_release(&r[n]);
		}
	}
}

/* Each sees the other's end, though its keeper had to make all anew with their pipes in hand. */
static void test_new_launcher_has_no_pipe(void **state)
{
	static const char reads[] = "import os\nwhile os.read(3, 9): pass\nprint('end')\n";
	struct sandbox_job jobs[2] = { job_of("python", reads), job_of("python", "print(1)\n") };
	struct sandbox_result r[2] = { { .signal = 0 }, { .signal = 0 } };
	struct error err = ERROR_INIT;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sandbox_run_pair(cold, jobs, NULL, r, &err), 0);
		assert_int_equal(r[0].outcome, SANDBOX_EXIT);
		assert_string_equal(r[0].out.bytes, "end\n");
		sandbox_result_release(&r[0]);
		sandbox_result_release(&r[1]);
		kill_launcher(native_of(cold)->keeper);
		kill_launcher(native_of(cold)->second->keeper);
	}
}

/* What parses the model's program waits for it while that is written. */
static void test_reader_is_expected(void **state)
{
	static const char *const langs[] = { "python", "javascript" };
	static const char *const codes[] = { "import os\nos.system('ls')\n",
					     "require('fs').rmSync('/x')\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(langs); i++) {
		cleanup_tree struct tree was = { .state = TREE_NONE }, is = { .state = TREE_NONE };
		struct error err = ERROR_INIT;

		assert_int_equal(screen_read(cold, -1, langs[i], codes[i], strlen(codes[i]),
					     SCREEN_STRICT, &was, &err),
				 0);
		screen_expect(sandbox, langs[i], SCREEN_STRICT);
		assert_non_null(native_of(sandbox)->waiting);
		assert_int_equal(screen_read(sandbox, -1, langs[i], codes[i], strlen(codes[i]),
					     SCREEN_STRICT, &is, &err),
				 0);
		assert_int_equal(is.state, was.state);
		assert_int_equal(is.count, was.count);
		assert_true(is.count > 0);
	}
}

/* The next one is made while a run goes on no more, and never beside it. */
static void test_run_sees_no_other(void **state)
{
	static const char looks[] = "import os\n"
				    "seen = [p for p in range(2, 5000) if p != os.getpid() and "
				    "os.path.exists(f'/proc/{p}')]\n"
				    "print(seen, os.listdir('/proc').count('1'))\n"
				    "for sig in (0, 9):\n"
				    "    try: os.kill(1, sig); print(sig, 'sent')\n"
				    "    except OSError as e: print(sig, e.errno)\n"
				    "try: print(open('/proc/1/environ').read())\n"
				    "except OSError as e: print(e.errno)\n"
				    "try: os.readlink('/proc/1/ns/pid')\n"
				    "except OSError as e: print(e.errno)\n";
	struct sandbox_job job = job_of("python", looks);

	(void)state;
	assert_same(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_cannot_tell),
		cmocka_unit_test(test_endings_are_the_same),
		cmocka_unit_test(test_files_are_there),
		cmocka_unit_test(test_entry_beside_the_program),
		cmocka_unit_test(test_another_job_starts_cold),
		cmocka_unit_test(test_package_json_starts_cold),
		cmocka_unit_test(test_another_wall_fits),
		cmocka_unit_test(test_dead_one_starts_cold),
		cmocka_unit_test(test_lost_keeper_starts_cold),
		cmocka_unit_test(test_limits_count_from_the_program),
		cmocka_unit_test(test_none_is_kept),
		cmocka_unit_test(test_rounds_are_foreseen),
		cmocka_unit_test(test_pair_is_foreseen),
		cmocka_unit_test(test_new_launcher_has_no_pipe),
		cmocka_unit_test(test_reader_is_expected),
		cmocka_unit_test(test_run_sees_no_other),
	};

	return cmocka_run_group_tests(tests, set_up_both, tear_down_both);
}
