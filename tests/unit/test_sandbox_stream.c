/*
 * The keeper at the far end of a stream: the same as a keeper beside us, and what comes of a far
 * end that lies, stops, floods or dies. That one is this program, started with "far" and what it
 * does.
 */
#include "tests/unit/test_sandbox_fixture.h"

#include "sandbox/native/far.h"
#include "sandbox/native/native.h"

#include "sandbox/native/keeper/stream.c"
#include "sandbox/native/keeper/util.c"

#include "tests/unit/test_stream_far.h"

#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

int far_main(enum far_way way)
{
	return way == FAR_UNLINK;
}

int engine_main(const char *socket_path, const char *image, const char *memory_bytes,
		const char *owner)
{
	return socket_path == image || memory_bytes == owner;
}

int machine_main(char **arguments)
{
	return !arguments[0];
}

int firecracker_main(char **arguments)
{
	return !arguments[0];
}

int near_main(char **command)
{
	return !command[0];
}

/* --- the backend --- */

static char self[PATH_MAX];
static bool elsewhere; /* whether its files are said to be another machine's */

static int open_stream(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	struct native_far *far = mem_alloc(sizeof(*far));

	if (!strcmp(options->target, "honest")) {
		native_far_add(&far->command, native_keeper_path(options, err));
		native_far_add(&far->command, mem_strdup("--stream"));
	} else {
		native_far_add(&far->command, mem_strdup(self));
		native_far_add(&far->command, mem_strdup("far"));
		native_far_add(&far->command, mem_strdup(options->target));
	}
	native_far_add(&far->env, mem_strdup("SEEN=only this"));
	far->same_files = !elsewhere;
	sandbox_fact_add(&far->outer, "walls", "of nothing", "outer");
	return native_open_far(ret_self, far, options, err);
}

static const struct backend stream_backend = {
	.name = "stream",
	.summary = "for tests",
	.target = ":WHAT",
	.needs_target = true,
	.open = open_stream,
	NATIVE_ROWS,
};

const struct backend *const backend_list[] = { &native_backend, &stream_backend, NULL };

static struct sandbox *open_as(const char *what)
{
	cleanup_free char *name = mem_printf("stream:%s", what);
	struct sandbox_options options = { .name = name, .cache_dir = cache };
	struct error err = ERROR_INIT;
	struct sandbox *s = NULL;

	if (sandbox_open(&s, &options, &err) < 0)
		fail_msg("%s", err.message);
	return s;
}

/* --- honest --- */

static void test_a_far_keeper_is_a_keeper(void **state)
{
	cleanup_sandbox struct sandbox *s = open_as("honest");
	struct sandbox_job job = job_of("python", "import sys\n"
						  "sys.stdout.write(sys.stdin.read()[::-1])\n"
						  "open('/out/a', 'wb').write(bytes(range(256)))\n"
						  "open('/out/link', 'x').close()\n"
						  "print(open('/in/d/e').read(), file=sys.stderr)\n"
						  "sys.exit(3)\n");
	const struct sandbox_file input = { .path = "d/e", .bytes = "given", .len = 5 };
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	(void)state;
	job.inputs = &input;
	job.input_count = 1;
	job.stdin_bytes = "abc";
	job.stdin_len = 3;
	if (sandbox_run(s, &job, NULL, &r, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(r.outcome, SANDBOX_EXIT);
	assert_int_equal(r.exit_code, 3);
	assert_string_equal(r.out.bytes, "cba");
	assert_string_equal(r.err.bytes, "given\n");
	assert_int_equal(r.artifact_count, 2);
	assert_int_equal(r.artifacts[0].size, 256);
	for (int i = 0; i < 256; i++)
		assert_int_equal((unsigned char)r.artifacts[0].bytes[i], i);
	assert_int_equal(r.artifacts[1].size, 0);
	assert_true(r.artifacts[1].kept);
	assert_string_equal(sandbox_fact(&r.isolation, "userns"), "yes");
	assert_string_equal(r.isolation.facts[r.isolation.count - 1].name, "walls");
	assert_string_equal(r.isolation.facts[r.isolation.count - 1].layer, "outer");
	assert_string_equal(r.environment.sandbox, "stream:honest");
}

/* Larger than every buffer on the way, both directions, every byte. */
static void test_much_goes_through(void **state)
{
	const size_t size = (size_t)9 << 20;
	cleanup_sandbox struct sandbox *s = open_as("honest");
	struct sandbox_job job = job_of("python", "import sys, hashlib, shutil\n"
						  "b = sys.stdin.buffer.read()\n"
						  "assert b == open('/in/x', 'rb').read()\n"
						  "sys.stdout.buffer.write(b)\n"
						  "open('/out/x', 'wb').write(b)\n");
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	cleanup_free char *bytes = mem_alloc(size);
	const struct sandbox_file input = { .path = "x", .bytes = bytes, .len = size };
	struct error err = ERROR_INIT;

	(void)state;
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(i * 2654435761u >> 13);
	job.inputs = &input;
	job.input_count = 1;
	job.stdin_bytes = bytes;
	job.stdin_len = size;
	job.limits.stdout_bytes = job.limits.artifact_bytes = (int64_t)size;
	if (sandbox_run(s, &job, NULL, &r, &err) < 0)
		fail_msg("%s", err.message);
	if (r.outcome != SANDBOX_EXIT || r.exit_code != 0)
		fail_msg("%s: %s", r.detail, r.err.bytes);
	assert_int_equal(r.out.len, size);
	assert_memory_equal(r.out.bytes, bytes, size);
	assert_int_equal(r.artifact_count, 1);
	assert_int_equal(r.artifacts[0].size, size);
	assert_memory_equal(r.artifacts[0].bytes, bytes, size);
}

/* What a folder and what a list of it give is the same, refusals and their words included. */
static void test_artifacts_are_those_of_a_folder(void **state)
{
	static const char code[] =
		"mkdir -p /out/d/e /out/z; cd /out; echo 1 >d/e/f; ln -s /etc/passwd link; mkfifo "
		"p\n"
		"truncate -s 1T sparse; head -c 3000000 /dev/zero >big1; cp big1 big2; cp big1 "
		"big3\n"
		"printf x >$'new\\nline'; printf x >$'\\xff\\xfe'; : >empty; chmod 0 empty; ln "
		"d/e/f same\n"
		"x=z; for i in {1..20}; do x=$x/y; mkdir $x; : >$x/f; done\n"
		"for i in {1..40}; do echo $i >n$i; done\n"
		"cd /work; echo made >made; echo 2 >big1; mkdir d; echo 3 >d/g; : >_no; : >.no\n";
	cleanup_sandbox struct sandbox *s = open_as("honest");
	struct sandbox_job job = job_of("bash", code);
	cleanup_sandbox_result struct sandbox_result a = run_job(&job);
	cleanup_sandbox_result struct sandbox_result b = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	(void)state;
	if (sandbox_run(s, &job, NULL, &b, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(a.err.bytes, b.err.bytes);
	assert_true(a.artifact_count > 50);
	assert_int_equal(a.artifact_count, b.artifact_count);
	for (size_t i = 0; i < a.artifact_count; i++) {
		const struct sandbox_artifact *x = &a.artifacts[i], *y = &b.artifacts[i];

		assert_string_equal(x->path, y->path);
		assert_string_equal(x->kept ? "" : x->why_not, y->kept ? "" : y->why_not);
		assert_string_equal(x->sha256, y->sha256);
		assert_string_equal(x->type, y->type);
		assert_true(x->size == y->size);
	}
}

static void test_many_entries(void **state)
{
	cleanup_sandbox struct sandbox *s = open_as("honest");
	struct sandbox_job job = job_of("bash", "cd /out; for i in {1..2500}; do : >f$i; done");
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	(void)state;
	if (sandbox_run(s, &job, NULL, &r, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(r.artifact_count, 2001);
	assert_string_equal(r.artifacts[2000].why_not,
			    "more than 2000 entries: the rest was not looked at");
}

/* Nothing is read of this machine: the answers come from there. */
static void test_an_environment_of_elsewhere(void **state)
{
	struct sandbox_environment here, there, again;
	struct error err = ERROR_INIT;

	(void)state;
	elsewhere = true;
	{
		cleanup_sandbox struct sandbox *s = open_as("honest"), *t = open_as("honest");

		elsewhere = false;
		assert_int_equal(sandbox_describe(sandbox, language_find("python"), &here, &err),
				 0);
		assert_int_equal(sandbox_describe(s, language_find("python"), &there, &err), 0);
		assert_int_equal(sandbox_describe(t, language_find("python"), &again, &err), 0);
		assert_string_equal(here.interpreter, there.interpreter);
		assert_string_equal(here.version, there.version);
		assert_int_equal(strlen(there.digest), 64);
		assert_string_not_equal(here.digest, there.digest);
		assert_string_equal(again.digest, there.digest);
	}
}

/* --- a pair whose halves are both far away --- */

static void test_a_pair_over_two_streams(void **state)
{
	cleanup_sandbox struct sandbox *s = open_as("honest");
	/* More than all room on the way, both directions, one after the other. */
	struct sandbox_job jobs[2] = {
		job_of("bash", "head -c 3000000 <&3 | sha256sum; head -c 3000000 /dev/zero >&4"),
		job_of("bash",
		       "head -c 3000000 /dev/zero | tr '\\0' a >&4; head -c 3000000 <&3 | wc -c"),
	};
	struct sandbox_result r[2];
	struct error err = ERROR_INIT;

	(void)state;
	if (sandbox_run_pair(s, jobs, NULL, r, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(strlen(r[0].out.bytes), 64 + 4);
	assert_string_equal(r[1].out.bytes, "3000000\n");
	sandbox_result_release(&r[0]);
	sandbox_result_release(&r[1]);
}

static size_t children(void)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	size_t count = 0;
	int pid;

	assert_non_null(f);
	while (fscanf(f, "%d", &pid) == 1)
		count++;
	fclose(f);
	return count;
}

/* The keeper of the second half stays as the first's does, only where so many may. */
static void test_what_stays_of_a_pair_is_counted(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	for (size_t warm = 0; warm <= 3; warm++) {
		struct sandbox_warm_count count = { .places = 0 };
		const struct sandbox_options options = { .name = "stream:honest",
							 .cache_dir = cache,
							 .warm = warm,
							 .warm_count = &count,
							 .bounds_places = true };
		const struct sandbox_job jobs[2] = { job_of("bash", "echo said >&4"),
						     job_of("bash", "cat <&3") };
		const size_t stay = warm < 2 ? warm : 2, before = children();
		struct sandbox *s = NULL;

		if (sandbox_open(&s, &options, &err) < 0)
			fail_msg("%s", err.message);
		for (int i = 0; i < 2; i++) {
			struct sandbox_result r[2];

			if (sandbox_run_pair(s, jobs, NULL, r, &err) < 0)
				fail_msg("%s", err.message);
			assert_string_equal(r[1].out.bytes, "said\n");
			sandbox_result_release(&r[0]);
			sandbox_result_release(&r[1]);
			assert_int_equal(children(), before + stay);
			assert_int_equal(count.places, stay);
		}
		sandbox_close(s);
		assert_int_equal(count.places, 0);
	}
}

/* Its other half reads nothing: what is written waits, and neither holds up the limits. That half
 * ends when there is more for it than half of what its pipe holds. */
static void test_a_half_that_does_not_read(void **state)
{
	cleanup_sandbox struct sandbox *s = open_as("honest");
	struct sandbox_job jobs[2] = {
		job_of("python", "import os, signal\n"
				 "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
				 "print('told', flush=True)\n"
				 "while True: os.write(4, b'y' * 4096)\n"),
		job_of("python", "import fcntl, termios\n"
				 "def waits(): return fcntl.ioctl(3, termios.FIONREAD, bytes(4))\n"
				 "held = fcntl.fcntl(3, 1032)\n" /* F_GETPIPE_SZ */
				 "while int.from_bytes(waits(), 'little') < held // 2: pass\n"
				 "print('judged')\n"),
	};
	struct sandbox_result r[2];
	struct error err = ERROR_INIT;

	(void)state;
	if (sandbox_run_pair(s, jobs, NULL, r, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(r[0].out.bytes, "told\n");
	assert_string_equal(r[1].out.bytes, "judged\n");
	assert_int_equal(r[0].signal, SIGPIPE);
	sandbox_result_release(&r[0]);
	sandbox_result_release(&r[1]);
}

/* --- faults --- */

struct fault {
	const char *what, *message;
};

static const struct fault faults[] = {
	{ "nothing", "the far end has ended before its keeper began" },
	{ "banner", "the far end said something else than a keeper does; Welcome to ?[31mhost!" },
	{ "version", "the keeper at the far end is of another version" },
	{ "endless-line", "the far end said something else than a keeper does" },
	{ "hello", "the far end does not speak as a keeper does" },
	{ "never-ran", "the far end does not speak" },
	{ "found", "the far end does not speak" },
	{ "list-first", "the far end does not speak" },
	{ "dies", "the far end has ended" },
	{ "complains", "the far end has ended; the cable ?[31mbroke" },
	{ "ran-twice", "the far end does not speak" },
	{ "lost-output", "the far end does not speak" },
	{ "more-calls", "the far end does not speak" },
	{ "short-result", "the far end does not speak" },
	{ "no-kind", "the far end does not speak" },
	{ "too-long", "the far end does not speak" },
	{ "a-request", "the far end does not speak" },
	{ "credit", "the far end does not speak" },
	{ "list-flood", "the far end does not speak" },
	{ "up", "list of what the program left is broken" },
	{ "root", "list of what the program left is broken" },
	{ "breaks-off", "list of what the program left is broken" },
	{ "huge", "list of what the program left is broken" },
	{ "two-sizes", "list of what the program left is broken" },
	{ "no-state", "list of what the program left is broken" },
};

static void test_a_far_end_that_lies_or_dies(void **state)
{
	struct sandbox_job job = job_of("bash", "echo 1");

	(void)state;
	assert_prints("bash", "echo 1", "1\n"); /* the environment is known from here on */
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		cleanup_sandbox struct sandbox *s = open_as(faults[i].what);
		struct sandbox_result r = { .exit_code = -1 };
		struct error err = ERROR_INIT;

		if (sandbox_run(s, &job, NULL, &r, &err) == 0)
			fail_msg("%s: it was believed: %s", faults[i].what,
				 sandbox_outcome_name(r.outcome));
		assert_int_equal(err.kind, ERR_SANDBOX);
		if (!strstr(err.message, faults[i].message))
			fail_msg("%s: %s", faults[i].what, err.message);
	}
}

static void cancel(void *wake, bool is_stderr, const char *bytes, size_t len)
{
	(void)is_stderr;
	(void)len;
	assert_int_equal(write(*(int *)wake, bytes, 1), 1);
}

static enum sandbox_outcome run_cancelled(const char *what)
{
	cleanup_sandbox struct sandbox *s = open_as(what);
	struct sandbox_watch watch = { .output = cancel };
	struct sandbox_job job = job_of("bash", "echo started; sleep 60");
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct error err = ERROR_INIT;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	watch.self = &ends[1];
	watch.cancel_fd = ends[0];
	if (sandbox_run(s, &job, &watch, &r, &err) < 0)
		fail_msg("%s", err.message);
	close(ends[0]);
	close(ends[1]);
	assert_string_equal(r.out.bytes, "started\n");
	return r.outcome;
}

static void test_cancelled_whatever_the_far_end_does(void **state)
{
	(void)state;
	assert_int_equal(run_cancelled("honest"), SANDBOX_CANCELLED);
	assert_int_equal(run_cancelled("dies-when-told"), SANDBOX_CANCELLED);
	assert_int_equal(run_cancelled("stops"), SANDBOX_CANCELLED);
}

/* What is left of the job is not sent, and the stream goes on with the next. */
static void test_cancelled_while_it_is_sent(void **state)
{
	const size_t size = (size_t)64 << 20;
	cleanup_sandbox struct sandbox *s = open_as("honest");
	cleanup_free char *bytes = mem_alloc(size);
	struct sandbox_job job = job_of("bash", "wc -c");
	struct sandbox_watch watch = { .cancel_fd = -1 };
	struct error err = ERROR_INIT;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	job.stdin_bytes = bytes;
	job.stdin_len = size;
	for (int i = 0; i < 2; i++) {
		cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };

		watch.cancel_fd = i == 0 ? ends[0] : -1;
		if (sandbox_run(s, &job, &watch, &r, &err) < 0)
			fail_msg("%s", err.message);
		assert_int_equal(r.outcome, i == 0 ? SANDBOX_CANCELLED : SANDBOX_EXIT);
		assert_string_equal(r.out.bytes, i == 0 ? "" : "67108864\n");
	}
	close(ends[0]);
	close(ends[1]);
}

static void test_a_flood_is_ended(void **state)
{
	cleanup_sandbox struct sandbox *s = open_as("flood");
	struct sandbox_job job = job_of("bash", "echo 1");
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	(void)state;
	job.limits.stdout_bytes = 1000;
	if (sandbox_run(s, &job, NULL, &r, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(r.outcome, SANDBOX_OUTPUT_LIMIT);
	assert_int_equal(r.out.len, 1000);
	assert_true(r.metrics.peak_memory_bytes < 0);
}

/* It says it ran and then nothing: our own clock ends it, and says that nobody answered. */
static void test_a_far_end_that_stops(void **state)
{
	cleanup_sandbox struct sandbox *s = open_as("stops");
	struct sandbox_job job = job_of("bash", "echo 1");
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	(void)state;
	job.limits.wall_ms = 100;
	assert_int_equal(sandbox_run(s, &job, NULL, &r, &err), 0);
	assert_int_equal(r.outcome, SANDBOX_TIMEOUT_WALL);
	assert_non_null(strstr(r.detail, "did not answer"));
}

static void test_names(void **state)
{
	struct error err = ERROR_INIT;
	struct sandbox_options options = { .name = "stream" };
	struct sandbox *s = NULL;

	(void)state;
	assert_null(sandbox_name_find("stream"));
	assert_null(sandbox_name_find("stream:"));
	assert_null(sandbox_name_find("native:x"));
	assert_string_equal(sandbox_name_find("stream:x"), "stream:x");
	assert_int_equal(sandbox_open(&s, &options, &err), -1);
	assert_non_null(strstr(err.message, "stream:WHAT (for tests)"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest sandbox_stream_tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_a_far_keeper_is_a_keeper),
		cmocka_unit_test(test_much_goes_through),
		cmocka_unit_test(test_artifacts_are_those_of_a_folder),
		cmocka_unit_test(test_many_entries),
		cmocka_unit_test(test_an_environment_of_elsewhere),
		cmocka_unit_test(test_a_pair_over_two_streams),
		cmocka_unit_test(test_what_stays_of_a_pair_is_counted),
		cmocka_unit_test(test_a_half_that_does_not_read),
		cmocka_unit_test(test_a_far_end_that_lies_or_dies),
		cmocka_unit_test(test_cancelled_whatever_the_far_end_does),
		cmocka_unit_test(test_cancelled_while_it_is_sent),
		cmocka_unit_test(test_a_flood_is_ended),
		cmocka_unit_test(test_a_far_end_that_stops),
	};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return 1;
	if (argc == 3 && !strcmp(argv[1], "far"))
		return be_far(argv[2]);
	return cmocka_run_group_tests_name("sandbox_stream", sandbox_stream_tests, set_up,
					   tear_down);
}
