/*
 * A keeper or an init that dies, stops or starves, at the hands of somebody
 * outside: what ran still ends, and is told as what it was.
 */
#include "tests/unit/test_asleep.h"
#include "tests/unit/test_sandbox_fixture.h"
#include "sandbox/native/connection.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

struct killer {
	pid_t keeper;
	int wake;
};

static void kill_keeper(void *self, bool is_stderr, const char *bytes, size_t len)
{
	const struct killer *k = self;

	(void)is_stderr;
	(void)bytes;
	(void)len;
	kill(k->keeper, SIGKILL);
}

static void test_keeper_killed_in_a_run(void **state)
{
	struct killer killer = { .keeper = native_of(sandbox)->keeper };
	struct sandbox_watch watch = { .output = kill_keeper, .self = &killer, .cancel_fd = -1 };
	struct sandbox_job job = job_of("bash", "echo now; sleep 30");
	struct sandbox_result r;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(sandbox_run(sandbox, &job, &watch, &r, &err), -1);
	assert_int_equal(err.kind, ERR_SANDBOX);
	assert_non_null(strstr(err.message, "died"));
	assert_prints("bash", "echo again", "again\n");
}

/* The child of the keeper that has this number in another namespace, 0 in none: 1 is
 * init of the run, 0 the launcher. 0: not there. */
static pid_t find_child(pid_t keeper, long number)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	assert_non_null(dir);
	while (found == 0 && (entry = readdir(dir))) {
		char path[64];
		long parent = 0, outer = 0, inner = 0;
		bool named = false;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%.20s/status", entry->d_name);
		f = fopen(path, "r");
		char line[128];
		while (f && fgets(line, sizeof(line), f)) {
			named |= !strcmp(line, "Name:\tassay-launcher\n");
			sscanf(line, "PPid: %ld", &parent);
			sscanf(line, "NSpid: %ld %ld", &outer, &inner);
		}
		if (f)
			fclose(f);
		if (parent == keeper && inner == number && (named || number == 1))
			found = (pid_t)outer;
	}
	closedir(dir);
	return found;
}

static void assert_dies(pid_t pid)
{
	int64_t deadline = clock_mono_ms() + 30000;

	while (kill(pid, 0) == 0 && clock_mono_ms() < deadline)
		usleep(1000);
	assert_int_equal(kill(pid, 0), -1);
}

/* What is done to the keeper or to init, from outside, when the guest prints. */
struct attack {
	int signal; /* to the keeper; 0: none */
	int init_signal;
	bool starve_init;
	int wake; /* then cancels; -1: no */
	pid_t init;
};

static void do_attack(void *self, bool is_stderr, const char *bytes, size_t len)
{
	struct attack *a = self;

	(void)is_stderr;
	(void)len;
	if (a->init != 0 || (a->init = find_child(native_of(sandbox)->keeper, 1)) == 0)
		return;
	if (a->init_signal != 0)
		assert_int_equal(kill(a->init, a->init_signal), 0);
	if (a->starve_init)
		assert_int_equal(
			sched_setscheduler(a->init, SCHED_IDLE, &(struct sched_param){ 0 }), 0);
	if (a->signal != 0)
		assert_int_equal(kill(native_of(sandbox)->keeper, a->signal), 0);
	if (a->wake >= 0)
		assert_int_equal(write(a->wake, bytes, 1), 1);
}

/* On a busy host the limit may come before the guest has printed: once more,
 * with a longer one. */
static struct sandbox_result run_attacked(struct attack *a, const char *code, int64_t wall_ms,
					  int cancel_fd)
{
	struct sandbox_watch watch = { .output = do_attack, .self = a, .cancel_fd = cancel_fd };
	struct sandbox_job job = job_of("bash", code);
	struct sandbox_result r = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	job.limits.wall_ms = wall_ms;
	assert_prints("bash", "echo warm", "warm\n");
	if (sandbox_run(sandbox, &job, &watch, &r, &err) < 0)
		fail_msg("%s", err.message);
	if (a->init == 0) {
		sandbox_result_release(&r);
		return run_attacked(a, code, wall_ms * 4, cancel_fd);
	}
	assert_dies(a->init);
	r.metrics.wall_ms -= (double)wall_ms;
	return r;
}

static const char hostile_tree[] =
	"trap '' TERM INT; echo started; for i in {1..20}; do (while :; do :; done) & done; wait";

static void test_keeper_that_does_not_answer(void **state)
{
	struct attack a = { .signal = SIGSTOP, .wake = -1 };
	cleanup_sandbox_result struct sandbox_result r = run_attacked(&a, hostile_tree, 500, -1);

	(void)state;
	assert_int_equal(r.outcome, SANDBOX_TIMEOUT_WALL);
	assert_string_equal(r.out.bytes, "started\n");
	assert_non_null(strstr(r.detail, "did not answer"));
	assert_prints("bash", "echo again", "again\n");
}

static void test_cancel_without_the_keeper(void **state)
{
	struct attack a = { .signal = SIGSTOP };
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	a.wake = ends[1];
	cleanup_sandbox_result struct sandbox_result r =
		run_attacked(&a, hostile_tree, 60000, ends[0]);
	assert_int_equal(r.outcome, SANDBOX_CANCELLED);
	assert_string_equal(r.out.bytes, "started\n");
	close(ends[0]);
	close(ends[1]);
}

static void test_stopped_init_is_killed(void **state)
{
	struct attack a = { .init_signal = SIGSTOP, .wake = -1 };
	cleanup_sandbox_result struct sandbox_result r = run_attacked(&a, hostile_tree, 500, -1);

	(void)state;
	assert_int_equal(r.outcome, SANDBOX_TIMEOUT_WALL);
	assert_true(r.metrics.wall_ms < 30000);
}

/* It gets a processor only when nobody else wants one: what keeps it from that
 * must be killed without its help. */
static void test_starved_init_is_not_needed(void **state)
{
	struct attack a = { .starve_init = true, .wake = -1 };
	cleanup_sandbox_result struct sandbox_result r = run_attacked(&a, hostile_tree, 500, -1);

	(void)state;
	assert_int_equal(r.outcome, SANDBOX_TIMEOUT_WALL);
	print_message("a starved init: killed %.0f ms after the limit\n", r.metrics.wall_ms);
	assert_true(r.metrics.wall_ms < 30000);
}

static void test_close_ends_a_stopped_keeper(void **state)
{
	struct sandbox *s;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(sandbox_open(&s, NULL, &err), 0);
	assert_int_equal(connection_open(native_of(s), &err), 0);
	pid_t keeper = native_of(s)->keeper;
	kill(keeper, SIGSTOP);
	sandbox_close(s);
	assert_dies(keeper);
}

static void test_keeper_killed_between_runs(void **state)
{
	(void)state;
	assert_prints("bash", "echo 1", "1\n");
	kill(native_of(sandbox)->keeper, SIGKILL);
	siginfo_t dead;
	assert_int_equal(waitid(P_PID, (id_t)native_of(sandbox)->keeper, &dead, WEXITED | WNOWAIT),
			 0);
	assert_prints("bash", "echo 2", "2\n");
}

static void stop_one(void *self, bool is_stderr, const char *bytes, size_t len)
{
	const pid_t *one = self;

	(void)is_stderr;
	(void)bytes;
	(void)len;
	kill(*one, SIGSTOP);
	until_state(*one, 'T');
}

/* Dead before it made anybody who could have read the job. */
static void test_launcher_killed_at_a_start(void **state)
{
	pid_t launcher = find_child(native_of(sandbox)->keeper, 0), killer;
	struct sandbox_watch watch = { .output = stop_one, .self = &launcher, .cancel_fd = -1 };
	/* More than a pipe has room for: it ends when that was read, and so has been stopped. */
	struct sandbox_job job = job_of("bash", "echo now; head -c 200000 /dev/zero");
	struct error err = ERROR_INIT;

	(void)state;
	assert_true(launcher > 0);
	struct sandbox_result r;
	assert_int_equal(sandbox_run(sandbox, &job, &watch, &r, &err), 0);
	sandbox_result_release(&r);
	const pid_t waiting = getpid();
	killer = fork();
	if (killer == 0) {
		until_asleep(waiting);
		_exit(kill(launcher, SIGKILL) < 0);
	}
	assert_prints("bash", "echo again", "again\n");
	assert_int_equal(waitpid(killer, NULL, 0), killer);
	assert_true(find_child(native_of(sandbox)->keeper, 0) != launcher);
}

static void cancel(void *self, bool is_stderr, const char *bytes, size_t len)
{
	const struct killer *k = self;

	(void)is_stderr;
	(void)len;
	assert_int_equal(write(k->wake, bytes, 1), 1);
}

static void test_cancel(void **state)
{
	struct killer killer = { 0 };
	struct sandbox_watch watch = { .output = cancel, .self = &killer };
	struct sandbox_job job = job_of("bash", "echo started; sleep 30");
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct error err = ERROR_INIT;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	killer.wake = ends[1];
	watch.cancel_fd = ends[0];
	assert_int_equal(sandbox_run(sandbox, &job, &watch, &r, &err), 0);
	assert_int_equal(r.outcome, SANDBOX_CANCELLED);
	assert_string_equal(r.out.bytes, "started\n");
	close(ends[0]);
	close(ends[1]);
}

static void test_no_keeper(void **state)
{
	struct sandbox_options options = { .program = "/nonexistent/assay-keeper" };
	struct sandbox *s = NULL;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(sandbox_open(&s, &options, &err), -1);
	assert_int_equal(err.kind, ERR_SANDBOX);
	assert_null(s);
	options.program = "/bin/true";
	error_clear(&err);
	assert_int_equal(sandbox_open(&s, &options, &err), 0);
	struct sandbox_environment environment;
	assert_int_equal(sandbox_describe(s, language_find("bash"), &environment, &err), -1);
	assert_int_equal(err.kind, ERR_SANDBOX);
	assert_non_null(strstr(err.message, "died"));
	sandbox_close(s);
}

int main(void)
{
	const struct CMUnitTest sandbox_loss_tests[] = {
		cmocka_unit_test(test_keeper_killed_in_a_run),
		cmocka_unit_test(test_keeper_that_does_not_answer),
		cmocka_unit_test(test_cancel_without_the_keeper),
		cmocka_unit_test(test_stopped_init_is_killed),
		cmocka_unit_test(test_starved_init_is_not_needed),
		cmocka_unit_test(test_close_ends_a_stopped_keeper),
		cmocka_unit_test(test_keeper_killed_between_runs),
		cmocka_unit_test(test_launcher_killed_at_a_start),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_no_keeper),
	};

	return cmocka_run_group_tests_name("sandbox_loss", sandbox_loss_tests, set_up, tear_down);
}
