/*
 * Two jobs at once, joined by two pipes. What a pair of tests and solution comes to is
 * test_verifier_harness.c's.
 */
#include "tests/unit/test_sandbox_fixture.h"

static void run_pair(struct sandbox_job jobs[2], struct sandbox_result ret[2])
{
	struct error err = ERROR_INIT;

	if (sandbox_run_pair(sandbox, jobs, NULL, ret, &err) < 0)
		fail_msg("%s", err.message);
}

static void release(struct sandbox_result x[2])
{
	sandbox_result_release(&x[0]);
	sandbox_result_release(&x[1]);
}

static void test_each_reads_what_the_other_writes(void **state)
{
	struct sandbox_job jobs[2] = {
		job_of("bash", "read -r n <&3; echo $((n + 1)) >&4; echo 'of the program'"),
		job_of("bash", "echo 41 >&4; read -r n <&3; echo \"told $n\""),
	};
	struct sandbox_result x[2];

	(void)state;
	run_pair(jobs, x);
	assert_string_equal(x[0].out.bytes, "of the program\n");
	assert_string_equal(x[1].out.bytes, "told 42\n");
	assert_int_equal(x[0].outcome, SANDBOX_EXIT);
	assert_int_equal(x[1].exit_code, 0);
	release(x);
}

/* Nothing but the three and the two, and neither sees the other's processes or files. */
static void test_walls_stand_between_them(void **state)
{
#define LIST "*sorted(os.listdir(\"/proc/self/fd\"))"
#define LOOK "python3 -c 'import os; print(" LIST ", len(os.listdir(\"/work\")))'; "
	struct sandbox_job jobs[2] = {
		job_of("bash",
		       LOOK "echo x | tee /tmp/mine >/dev/shm/mine; echo >&4; read -r n <&3"),
		job_of("bash",
		       LOOK "read -r n <&3; echo /tmp/* /dev/shm/* /out/*; [ -e /tmp/mine ] && "
			    "echo leak; kill -9 -1; echo >&4"),
	};
	struct sandbox_result x[2];

	(void)state;
	run_pair(jobs, x);
	for (size_t i = 0; i < 2; i++) {
		/* The sixth is Python's own, of the folder. */
		assert_non_null(strstr(x[i].out.bytes, "0 1 2 3 4 5 1\n"));
		assert_null(strstr(x[i].out.bytes, "mine"));
		assert_null(strstr(x[i].out.bytes, "leak"));
	}
	assert_int_equal(x[0].outcome, SANDBOX_EXIT);
	release(x);
}

static void test_a_run_of_one_has_no_link(void **state)
{
	(void)state;
	/* The fourth is Python's own, of the folder. */
	assert_prints("bash", "exec python3 -c 'import os; print(" LIST ")'", "0 1 2 3\n");
}

static void test_the_end_of_one_is_seen_by_the_other(void **state)
{
	struct sandbox_job jobs[2] = { job_of("bash", "exit 3"),
				       job_of("bash", "read -r n <&3 || echo 'end of file'") };
	struct sandbox_result x[2];

	(void)state;
	run_pair(jobs, x);
	assert_int_equal(x[0].exit_code, 3);
	assert_string_equal(x[1].out.bytes, "end of file\n");
	release(x);
	jobs[0] = job_of("bash", "read -r n <&3 || echo 'followed'");
	jobs[1] = job_of("bash", "exit 0");
	run_pair(jobs, x);
	assert_string_equal(x[0].out.bytes, "followed\n");
	assert_int_equal(x[0].outcome, SANDBOX_EXIT);
	release(x);
}

static void test_who_does_not_follow_is_cancelled(void **state)
{
	struct sandbox_job jobs[2] = { job_of("bash",
					      "trap '' PIPE TERM; while :; do sleep 1; done"),
				       job_of("bash", "echo done") };
	struct sandbox_result x[2];

	(void)state;
	run_pair(jobs, x);
	assert_int_equal(x[0].outcome, SANDBOX_CANCELLED);
	assert_string_equal(x[1].out.bytes, "done\n");
	release(x);
}

static void test_limits_are_each_ones_own(void **state)
{
	struct sandbox_job jobs[2] = { job_of("bash", "while :; do :; done"),
				       job_of("bash", "read -r n <&3; echo \"end $?\"") };
	struct sandbox_result x[2];

	(void)state;
	jobs[0].limits.wall_ms = 300;
	run_pair(jobs, x);
	assert_int_equal(x[0].outcome, SANDBOX_TIMEOUT_WALL);
	assert_string_equal(x[1].out.bytes, "end 1\n");
	release(x);
}

/* A flood into a pipe that nobody reads costs us nothing, and ends with the reader. */
static void test_a_flood_waits_for_its_reader(void **state)
{
	struct sandbox_job jobs[2] = { job_of("bash", "exec yes >&4"),
				       job_of("bash", "head -c 3000000 <&3 | wc -c") };
	struct sandbox_result x[2];

	(void)state;
	run_pair(jobs, x);
	assert_string_equal(x[1].out.bytes, "3000000\n");
	assert_int_equal(x[0].out.total, 0);
	release(x);
}

static void test_a_pair_is_cancelled_together(void **state)
{
	struct sandbox_job jobs[2] = { job_of("bash", "sleep 60"), job_of("bash", "sleep 60") };
	struct sandbox_watch watch = { .cancel_fd = -1 };
	struct error err = ERROR_INIT;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	watch.cancel_fd = ends[0];
	struct sandbox_result x[2];
	assert_int_equal(sandbox_run_pair(sandbox, jobs, &watch, x, &err), 0);
	assert_int_equal(x[0].outcome, SANDBOX_CANCELLED);
	assert_int_equal(x[1].outcome, SANDBOX_CANCELLED);
	release(x);
	close(ends[0]);
	close(ends[1]);
}

/* What fails on our side is no result, and the next pair is none the worse. */
static void test_our_failure_is_no_result(void **state)
{
	struct sandbox_job jobs[2] = { job_of("bash", "sleep 60"), job_of("bash", "exit 0") };
	struct error err = ERROR_INIT;

	(void)state;
	jobs[0].entry = "../outside";
	struct sandbox_result x[2];
	assert_int_equal(sandbox_run_pair(sandbox, jobs, NULL, x, &err), -1);
	assert_non_null(strstr(err.message, "../outside"));
	error_clear(&err);
	test_each_reads_what_the_other_writes(state);
}

int main(void)
{
	const struct CMUnitTest sandbox_pair_tests[] = {
		cmocka_unit_test(test_each_reads_what_the_other_writes),
		cmocka_unit_test(test_walls_stand_between_them),
		cmocka_unit_test(test_a_run_of_one_has_no_link),
		cmocka_unit_test(test_the_end_of_one_is_seen_by_the_other),
		cmocka_unit_test(test_who_does_not_follow_is_cancelled),
		cmocka_unit_test(test_limits_are_each_ones_own),
		cmocka_unit_test(test_a_flood_waits_for_its_reader),
		cmocka_unit_test(test_a_pair_is_cancelled_together),
		cmocka_unit_test(test_our_failure_is_no_result),
	};

	return cmocka_run_group_tests_name("sandbox_pair", sandbox_pair_tests, set_up, tear_down);
}
