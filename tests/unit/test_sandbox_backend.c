/*
 * The seam for backends, by a backend that is none: what calls through sandbox.h
 * works on it as on the native one, of which nothing is started.
 */
#include "tests/unit/test_sandbox_backend.h"

/* --- one sandbox --- */

static void test_the_list_in_words(void **state)
{
	cleanup_buf struct buf out = BUF_INIT(256);
	bool needed = true;

	(void)state;
	sandbox_list(&out, ", ", " or ");
	assert_string_equal(out.data, "native, fake or bare (of paper), weak[:KIND]");
	assert_string_equal(sandbox_with_target("KIND"), "weak");
	assert_null(sandbox_with_target("KING"));
	assert_string_equal(sandbox_target_at(3, &needed), "KIND");
	assert_false(needed);
	assert_null(sandbox_target_at(1, NULL));
}

static void test_names(void **state)
{
	const struct sandbox_options options = { .name = "oci" };
	struct sandbox *s = NULL;
	struct error err = ERROR_INIT;

	(void)state;
	assert_string_equal(sandbox_name_at(0), "native");
	assert_string_equal(sandbox_name_at(2), "bare");
	assert_null(sandbox_name_at(4));
	assert_string_equal(sandbox_name_find(NULL), "native");
	assert_null(sandbox_name_find("Fake"));
	assert_false(sandbox_is_elsewhere(NULL));
	assert_false(sandbox_is_elsewhere("no such"));
	assert_int_equal(sandbox_open(&s, &options, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.message, "no sandbox \"oci\"; there is: native ("));
	assert_non_null(strstr(err.message, "fake (what a script says), bare ("));
	assert_nothing_was_started();
}

static const struct fake_step endings[] = {
	{ SANDBOX_EXIT, .out = "42\n", .file = "a.txt", .bytes = "hello" },
	{ SANDBOX_EXIT, .exit_code = 3, .err = "oh\n" },
	{ SANDBOX_SIGNAL, .signal = 11 },
	{ SANDBOX_TIMEOUT_WALL, .detail = "wall time limit of 10 s reached" },
	{ SANDBOX_MEMORY, .detail = "memory limit of 512 MiB reached" },
	{ SANDBOX_FORBIDDEN_SYSCALL, .forbidden = "socket" },
	{ SANDBOX_OUTPUT_LIMIT, .out = "xx", .cut = true },
};

static void test_outcomes(void **state)
{
	cleanup_sandbox struct sandbox *s = open_named("fake");
	const struct sandbox_job job = job_of("print(42)");

	(void)state;
	assert_string_equal(sandbox_name(s), "fake");
	fake_play(endings, ARRAY_SIZE(endings));
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
		struct error err = ERROR_INIT;

		assert_int_equal(sandbox_run(s, &job, NULL, &r, &err), 0);
		assert_int_equal(r.outcome, endings[i].outcome);
		assert_int_equal(r.artifact_count, endings[i].file != NULL);
		assert_int_equal(r.forbidden_count, endings[i].forbidden != NULL);
		assert_int_equal(r.out.truncated, endings[i].cut);
		assert_string_equal(sandbox_fact(&r.isolation, "walls"), "of paper");
		assert_string_equal(sandbox_fact(&r.isolation, "seccomp"), "");
		assert_string_equal(r.environment.version, "0.1");
		assert_string_equal(r.environment.sandbox, "fake");
	}
	assert_string_equal(fake.seen, "print(42)");
	sandbox_finish(s);
	assert_true(fake.finished);
	assert_nothing_was_started();
}

static void test_what_a_backend_leaves_out_is_refused(void **state)
{
	cleanup_sandbox struct sandbox *bare = open_named("bare"), *s = open_named("fake");
	const struct sandbox_job jobs[2] = { job_of("a"), job_of("b") };
	struct error err = ERROR_INIT;

	(void)state;
	FAKE_PLAY({ SANDBOX_EXIT, .out = "first" }, { SANDBOX_EXIT, .out = "second" });
	struct sandbox_result r[2];
	assert_int_equal(sandbox_run_pair(bare, jobs, NULL, r, &err), -1);
	assert_int_equal(err.kind, ERR_SANDBOX);
	assert_string_equal(err.message,
			    "the bare sandbox cannot run two programs that talk to each other");
	assert_int_equal(fake.at, 0);
	assert_int_equal(sandbox_run_pair(s, jobs, NULL, r, &err), 0);
	assert_string_equal(r[1].out.bytes, "second");
	assert_string_equal(r[1].environment.sandbox, "fake");
	sandbox_result_release(&r[0]);
	sandbox_result_release(&r[1]);
	error_clear(&err);
	const char *text;
	assert_int_equal(sandbox_wall(bare, "walls", &text, &err), -1);
	assert_string_equal(err.message, "the bare sandbox has no text of its walls");
	assert_int_equal(sandbox_wall(s, "walls", &text, &err), 0);
	assert_string_equal(text, "paper\n");
	sandbox_finish(bare); /* which has nothing to do */
	assert_nothing_was_started();
}

static void test_limits_that_cannot_be_held(void **state)
{
	struct sandbox_options options = { .name = "weak" };
	const struct sandbox_job jobs[2] = { job_of("a"), job_of("b") };
	struct sandbox *s = NULL;
	struct error err = ERROR_INIT;
	int opened = fake.opened;

	(void)state;
	assert_int_equal(sandbox_open(&s, &options, &err), -1);
	assert_int_equal(err.kind, ERR_SANDBOX);
	assert_non_null(strstr(err.message, "cannot hold all limits (memory, network): --weaker"));
	assert_int_equal(fake.opened, opened);
	options.weaker = true;
	error_clear(&err);
	assert_int_equal(sandbox_open(&s, &options, &err), 0);
	FAKE_PLAY({ SANDBOX_EXIT }, { SANDBOX_EXIT }, { SANDBOX_EXIT });
	struct sandbox_result r[2];
	assert_int_equal(sandbox_run(s, &jobs[0], NULL, r, &err), 0);
	assert_string_equal(sandbox_fact(&r[0].isolation, "not_held"), "memory, network");
	sandbox_result_release(&r[0]);
	assert_int_equal(sandbox_run_pair(s, jobs, NULL, r, &err), 0);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(sandbox_fact(&r[i].isolation, "not_held"), "memory, network");
		sandbox_result_release(&r[i]);
	}
	sandbox_close(s);
}

static void test_a_limit_below_zero_is_none(void **state)
{
	cleanup_sandbox struct sandbox *s = open_named("fake");
	struct sandbox_job jobs[2] = { job_of("a"), job_of("b") };
	struct error err = ERROR_INIT;

	(void)state;
	FAKE_PLAY({ SANDBOX_EXIT }, { SANDBOX_EXIT });
	jobs[1].limits.memory_bytes = -1;
	struct sandbox_result r[2];
	assert_int_equal(sandbox_run(s, &jobs[1], NULL, r, &err), -1);
	assert_non_null(strstr(err.message, "limit below zero"));
	error_clear(&err);
	assert_int_equal(sandbox_run_pair(s, jobs, NULL, r, &err), -1);
	assert_int_equal(err.kind, ERR_SANDBOX);
	assert_int_equal(fake.at, 0);
}

/* What one target cannot hold is asked of that one, and refused in its name. */
static void test_limits_that_a_target_cannot_hold(void **state)
{
	struct sandbox_options options = { .name = "weak:strong" };
	struct sandbox *s = NULL;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(sandbox_open(&s, &options, &err), 0);
	assert_null(sandbox_not_held(s));
	sandbox_close(s);
	options.name = "weak:worse";
	assert_int_equal(sandbox_open(&s, &options, &err), -1);
	assert_non_null(strstr(err.message, "the weak:worse sandbox cannot hold all limits "
					    "(processes): --weaker"));
	options.weaker = true;
	error_clear(&err);
	assert_int_equal(sandbox_open(&s, &options, &err), 0);
	assert_string_equal(sandbox_not_held(s), "processes");
	sandbox_close(s);
}

/* --- states --- */

static void test_a_variable_survives(void **state)
{
	cleanup_sandbox struct sandbox *s = open_named("fake");
	struct error err = ERROR_INIT;

	(void)state;
	FAKE_PLAY({ .set = "x=1" }, { .set = "y=2" }, { .get = "x" }, { .get = "y" },
		  { .get = "x" });
	assert_run_prints(s, "RUN/1", NULL, "");
	assert_run_prints(s, "RUN/2", "RUN/1", "");
	assert_run_prints(s, NULL, "RUN/2", "1");
	assert_run_prints(s, NULL, "RUN/1", ""); /* from before y was set */
	assert_run_prints(s, NULL, NULL, "");
	assert_null(run_from(s, NULL, "RUN/9", &err));
	assert_string_equal(err.message, "no execution RUN/9 left a state");
	assert_nothing_was_started();
}

/* A job that makes its state itself runs where none is kept, and its record says so. */
static void test_a_state_is_made_again(void **state)
{
	static const struct {
		const char *backend, *from, *says;
		bool rebuilds;
	} rows[] = {
		{ "bare", "RUN/1", "rebuilt", true },
		{ "bare", NULL, "fresh", true },
		{ "bare", NULL, "", false },
		{ "fake", "RUN/1", "rebuilt", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_sandbox struct sandbox *s = open_named(rows[i].backend);
		cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
		struct sandbox_job job = job_of("print(x)");
		struct error err = ERROR_INIT;

		FAKE_PLAY({ .out = "1" });
		job.state_from = rows[i].from;
		job.rebuilds = rows[i].rebuilds;
		if (sandbox_run(s, &job, NULL, &r, &err) < 0)
			fail_msg("%s", err.message);
		assert_string_equal(sandbox_fact(&r.isolation, "state"), rows[i].says);
	}
}

/* A job that can do both is copied where its state is kept, and is made again where it is not,
 * with the time that takes beyond its own limits. */
static void test_a_state_is_copied_where_it_is_kept(void **state)
{
	static const struct {
		const char *backend, *from, *says, *reads;
		int64_t wall_ms;
	} rows[] = {
		{ "fake", "RUN/1", "forked", "resume", 100 },
		{ "fake", "RUN/9", "rebuilt", "print(x)", 1100 },
		{ "bare", "RUN/9", "rebuilt", "print(x)", 1100 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_sandbox struct sandbox *s = open_named(rows[i].backend);
		cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
		struct sandbox_job job = job_of("print(x)");
		struct error err = ERROR_INIT;

		fake.state_count = 0;
		FAKE_PLAY({ .set = "x=1" }, { .out = "1" });
		assert_run_prints(s, "RUN/1", NULL, "");
		job.limits.wall_ms = 100;
		job.rebuilds = true;
		job.rebuild_ms = 1000;
		job.resume = "resume";
		job.resume_len = 6;
		job.state_from = rows[i].from;
		if (sandbox_run(s, &job, NULL, &r, &err) < 0)
			fail_msg("%s", err.message);
		assert_string_equal(sandbox_fact(&r.isolation, "state"), rows[i].says);
		assert_string_equal(fake.seen, rows[i].reads);
		assert_int_equal(fake.wall_ms, rows[i].wall_ms);
	}
}

static void test_states_are_forgotten(void **state)
{
	cleanup_sandbox struct sandbox *s = open_named("fake");
	cleanup_sandbox struct sandbox *bare = open_named("bare");
	struct error err = ERROR_INIT;

	(void)state;
	FAKE_PLAY({ .set = "x=1" }, { .get = "x" });
	assert_run_prints(s, "RUN/3", NULL, "");
	sandbox_forget_states(s);
	assert_null(run_from(s, NULL, "RUN/3", &err));
	sandbox_forget_states(bare); /* which has none */
}

static void test_no_state_is_dropped_in_silence(void **state)
{
	static const char *const without[] = { "native", "bare" };
	struct sandbox_job jobs[2] = { job_of("a"), job_of("b") };

	(void)state;
	jobs[1].state_from = "RUN/1";
	for (size_t i = 0; i < ARRAY_SIZE(without); i++) {
		cleanup_sandbox struct sandbox *s = open_named(without[i]);
		cleanup_free char *wanted = mem_printf("the %s sandbox keeps no state: nothing can "
						       "start from that of execution RUN/1",
						       without[i]);
		struct error err = ERROR_INIT;

		FAKE_PLAY({ SANDBOX_EXIT });
		assert_null(run_from(s, NULL, "RUN/1", &err));
		assert_int_equal(err.kind, ERR_SANDBOX);
		assert_string_equal(err.message, wanted);
		assert_int_equal(fake.at, 0);
		error_clear(&err);
		struct sandbox_result r[2];
		assert_int_equal(sandbox_run_pair(s, jobs, NULL, r, &err), -1);
		assert_int_equal(err.kind, ERR_SANDBOX);
	}
}

/* --- who uses the contract --- */

static void test_readers(void **state)
{
	const struct sandbox_file file = { "data.db", "SQLite", 6 };
	cleanup_sandbox struct sandbox *s = open_named("fake");
	struct error err = ERROR_INIT;
	struct tree tree;

	(void)state;
	FAKE_PLAY({ SANDBOX_EXIT, .out = "{\"syntax_error\":null,\"failed\":null,"
					 "\"facts\":[[\"call os.system\",3,1]]}\n" },
		  { SANDBOX_TIMEOUT_WALL, .detail = "wall time limit" },
		  { SANDBOX_EXIT, .out = "one table\n" });
	assert_int_equal(tree_read(s, "python", true, "x", 1, -1, &tree, &err), 0);
	assert_int_equal(tree.state, TREE_READ);
	assert_int_equal(tree.count, 1);
	tree_release(&tree);
	assert_int_equal(tree_read(s, "python", true, "x", 1, -1, &tree, &err), 0);
	assert_int_equal(tree.state, TREE_FAILED);
	tree_release(&tree);
	struct inspection inspection;
	assert_int_equal(inspect_file(s, &file, 1000, -1, &inspection, &err), 0);
	assert_string_equal(inspection.text, "one table\n");
	free(inspection.text);
	assert_nothing_was_started();
}

static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	(void)is_stderr;
	snprintf(self, 16, "%.*s", (int)len, bytes);
}

static void test_live_ends(void **state)
{
	cleanup_sandbox struct sandbox *s = open_named("fake");
	char watched[16] = "";
	const struct progress progress = { .output = on_output, .self = watched };
	struct live live = { .sandbox = s, .cancel_fd = -1, .progress = &progress };
	const struct sandbox_job jobs[2] = { job_of("a"), job_of("b") };
	cleanup_sandbox_result struct sandbox_result one = { .exit_code = -1 };
	struct execute_ops ops;
	struct error err = ERROR_INIT;

	(void)state;
	live_execute(&ops, &live);
	FAKE_PLAY({ SANDBOX_EXIT, .out = "one" }, { SANDBOX_EXIT, .out = "two" },
		  { SANDBOX_EXIT, .out = "three" });
	struct sandbox_environment e;
	assert_int_equal(ops.describe(ops.self, language_find("python"), &e, &err), 0);
	assert_string_equal(e.packages, "paper 1.0");
	assert_string_equal(e.sandbox, "fake");
	assert_int_equal(ops.run(ops.self, 1, &jobs[0], &one, &err), 0);
	assert_string_equal(watched, "one");
	struct sandbox_metrics took;
	ops.took(ops.self, 1, &one, &took);
	assert_true(took.wall_ms > 4.9);
	struct sandbox_result two[2];
	assert_int_equal(ops.run_pair(ops.self, 1, jobs, two, &err), 0);
	assert_string_equal(two[1].out.bytes, "three");
	sandbox_result_release(&two[0]);
	sandbox_result_release(&two[1]);
	assert_nothing_was_started();
}

int main(void)
{
	const struct CMUnitTest sandbox_backend_tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_the_list_in_words),
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_what_a_backend_leaves_out_is_refused),
		cmocka_unit_test(test_limits_that_cannot_be_held),
		cmocka_unit_test(test_a_limit_below_zero_is_none),
		cmocka_unit_test(test_limits_that_a_target_cannot_hold),
		cmocka_unit_test(test_a_variable_survives),
		cmocka_unit_test(test_a_state_is_made_again),
		cmocka_unit_test(test_a_state_is_copied_where_it_is_kept),
		cmocka_unit_test(test_states_are_forgotten),
		cmocka_unit_test(test_no_state_is_dropped_in_silence),
		cmocka_unit_test(test_readers),
		cmocka_unit_test(test_live_ends),
	};

	return cmocka_run_group_tests_name("sandbox_backend", sandbox_backend_tests, set_up,
					   tear_down);
}
