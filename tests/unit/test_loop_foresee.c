/*
 * What the engine tells a sandbox of programs to come: what was asked, and what the log's last
 * programs were, not replays of them, and not where tests come with the task.
 */
#include "tests/unit/test_audit_fixture.h"

#include "agent/live.h"
#include "agent/loop.h"

/* Whatever it is asked, it answers with one program. */
#define MODEL "sh -c 'cat >/dev/null; printf \"~~~python\\nprint(6 * 7)\\n~~~\\n\"'"

static struct buf told = BUF_INIT(4096);

static void hear(void *self, const struct language *language, const struct sandbox_hint *hint)
{
	(void)self;
	buf_addf(&told, "%s: %.*s\n", language->name, (int)hint->len, hint->text);
	for (const char *const *p = hint->programs; *p; p++)
		buf_addf(&told, "program: %s\n", *p);
}

static void ask(struct audit *audit, const char *tests)
{
	const struct llm_command_options model = { .command = MODEL };
	cleanup_sandbox struct sandbox *sandbox = NULL;
	cleanup_loop_result struct loop_result result = { .status = RUN_FAILED };
	struct error err = ERROR_INIT;
	struct llm llm = { .self = NULL };
	struct policy policy;
	struct task task = { .id = NULL };
	struct live live = { .cancel_fd = -1 };
	struct loop loop = {
		.policy = &policy, .llm = &llm, .audit = audit, .kind = "ask", .cancel_fd = -1
	};

	buf_truncate(&told, 0);
	policy_init(&policy);
	policy.mode = MODE_FAST;
	policy.require = LEVEL_RAN;
	assert_ok(sandbox_open(&sandbox, NULL, &err), err);
	assert_ok(llm_command_open(&llm, &model, &err), err);
	assert_ok(task_set_prompt(&task, "Six times seven?", 16, "the question", &err), err);
	task.tests = mem_strdup(tests);
	live.sandbox = sandbox;
	live_execute(&loop.execute, &live);
	live_clock(&loop.clock, &live);
	loop.execute.foresee = hear;
	assert_ok(loop_run(&loop, &task, &result, &err), err);
	task_release(&task);
	llm_close(&llm);
	policy_release(&policy);
}

static void had(struct audit *audit, const char *code, const char *replay_of)
{
	struct error err = ERROR_INIT;
	struct audit_run run = { .kind = "ask", .replay_of = replay_of };
	const struct audit_end end = {
		.status = "success", .level = "ran", .code = code, .code_len = strlen(code)
	};

	ulid_new(clock_wall_ms(), run.id);
	assert_ok(audit_run_begin(audit, &run, &err), err);
	assert_ok(audit_run_end(audit, run.id, &end, &err), err);
	fixture_commit(audit);
}

static void test_last_programs(void **state)
{
	cleanup_audit struct audit *audit = fixture_open(*state);
	char first[ULID_LEN + 1];

	ask(audit, NULL);
	assert_string_equal(told.data, "python: \nSix times seven?\n");
	fixture_run(audit, "a question", "5\n", first);
	had(audit, "import b", NULL);
	had(audit, "import c", NULL);
	had(audit, "import b", first);
	had(audit, "import d", NULL);
	had(audit, "import e", NULL);
	ask(audit, NULL);
	assert_string_equal(told.data, "python: \nSix times seven?\nprogram: import e\n"
				       "program: import d\nprogram: import c\n"
				       "program: import b\n");
}

static void test_tests_need_none(void **state)
{
	cleanup_audit struct audit *audit = fixture_open(*state);

	had(audit, "import b", NULL);
	ask(audit, "assert True\n");
	assert_int_equal(told.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_last_programs, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_tests_need_none, fixture_setup,
						fixture_teardown),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buf_release(&told);
	return failed;
}
