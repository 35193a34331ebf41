/*
 * Whole runs by a backend that is none: what is asked, recorded, replayed and told by commands
 * names the one that ran it. Nothing of the native one is started.
 */
#include "tests/unit/test_sandbox_backend.h"

#include "agent/cli/program.h"
#include "agent/record/recording.h"
#include "agent/task.h"

#define READ "{\"syntax_error\":null,\"failed\":null,\"facts\":[]}\n"

struct asked {
	struct app app;
	struct settings settings;
	struct options options;
	struct session session;
	struct loop_result result;
};

static void write_script(void)
{
	FILE *f = fopen(script, "w");

	assert_non_null(f);
	fputs("{\"stage\":\"code\",\"reply\":\"```python\\nimport time; time.sleep(99)\\n```\"}\n"
	      "{\"stage\":\"repair\",\"reply\":\"```python\\nprint(42)\\n```\"}\n",
	      f);
	assert_int_equal(fclose(f), 0);
}

static int open_session(struct asked *a, struct error *err)
{
	a->settings.app = &a->app;
	return session_open(&a->session, &a->settings, "ask", err);
}

/* One question whose first program runs out of time and whose second answers. */
static void ask(struct asked *a)
{
	char *argv[] = { "--sandbox", "fake", "--fast", "--quiet", "--db", db, "--script", script };
	struct error err = ERROR_INIT;
	struct task task = { .prompt = mem_strdup("What is six times seven?") };

	*a = (struct asked){ .app.cancel_fd = -1, .result = { .answer = NULL } };
	term_set(&a->app.terminal, false, true); /* what a run tells a person is no line here */
	write_script();
	if (options_parse(&a->options, ARRAY_SIZE(argv), argv, CMD_ASK, &err) < 0 ||
	    settings_load(&a->settings, &a->options, &err) < 0 || open_session(a, &err) < 0 ||
	    session_run(&a->session, &task, &a->result, &err) < 0)
		fail_msg("%s", err.message);
	task_release(&task);
}

static void asked_release(struct asked *a)
{
	loop_result_release(&a->result);
	session_close(&a->session);
	settings_release(&a->settings);
	options_release(&a->options);
}

static const struct fake_step run_steps[] = {
	{ SANDBOX_EXIT, .out = READ },
	{ SANDBOX_TIMEOUT_WALL, .detail = "wall time limit of 10 s reached" },
	{ SANDBOX_EXIT, .out = READ },
	{ SANDBOX_EXIT, .out = "42\n", .file = "a.txt", .bytes = "hello" },
};

static void assert_record_names_the_fake(struct audit *audit, const char *run)
{
	struct error err = ERROR_INIT;
	struct recording r;

	assert_int_equal(recording_load(&r, audit, run, &err), 0);
	assert_string_equal(json_get_string(r.row.config, "sandbox"), "fake");
	const struct json *done =
		json_first(json_get(recording_find(&r, "task", 0, "done")->data, "environments"));
	assert_string_equal(json_get_string(done, "sandbox"), "fake");
	assert_string_equal(json_get_string(done, "packages"), "paper 1.0");
	done = recording_find(&r, "execute", 2, "done")->data;
	assert_string_equal(json_get_string(json_get(done, "environment"), "sandbox"), "fake");
	const struct json *isolation = json_get(done, "isolation");
	assert_string_equal(json_get_string(isolation, "backend"), "fake");
	assert_string_equal(json_get_string(json_first(json_get(isolation, "facts")), "value"),
			    "of paper");
	assert_null(json_get(isolation, "userns"));
	recording_release(&r);
}

static void test_a_whole_run(void **state)
{
	struct asked a;

	(void)state;
	fake_play(run_steps, ARRAY_SIZE(run_steps));
	ask(&a);
	assert_int_equal(fake.at, ARRAY_SIZE(run_steps));
	assert_int_equal(a.result.status, RUN_SUCCESS);
	assert_int_equal(a.result.attempts, 2);
	assert_string_equal(a.result.execution.out.bytes, "42\n");
	assert_int_equal(a.result.execution.artifact_count, 1);
	assert_record_names_the_fake(a.session.audit, a.result.run);
	asked_release(&a);
	assert_nothing_was_started();
}

/* The program as a person calls it, in a process of its own; what it printed. */
static int command(char *ret_text, size_t size, const char *const *words)
{
	cleanup_free char *path = mem_printf("%s/printed", folder);
	char *argv[16] = { "assay" };
	FILE *f;
	int argc = 1, status;

	for (; words[argc - 1]; argc++)
		argv[argc] = mem_strdup(words[argc - 1]);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		if (!freopen(path, "w", stdout) || dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
			_exit(99);
		_exit(program_main(argc, argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	while (argc > 1)
		free(argv[--argc]);
	f = fopen(path, "r");
	assert_non_null(f);
	ret_text[fread(ret_text, 1, size - 1, f)] = '\0';
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define COMMAND(text, ...) command(text, sizeof(text), (const char *const[]){ __VA_ARGS__, NULL })

static void test_replay_takes_the_recorded_sandbox(void **state)
{
	struct asked a;

	(void)state;
	fake_play(run_steps, ARRAY_SIZE(run_steps));
	ask(&a);
	fake.at = 0;
	char text[8192];
	assert_int_equal(COMMAND(text, "replay", a.result.run, "--db", db), EXIT_OK);
	assert_non_null(strstr(text, "identical: "));
	assert_int_equal(COMMAND(text, "replay", a.result.run, "--db", db, "--sandbox", "bare"),
			 EXIT_OK);
	assert_non_null(strstr(text, "identical: "));
	/* A script with another ending: that one was taken, and it was run. */
	FAKE_PLAY({ SANDBOX_EXIT, .out = READ }, { SANDBOX_EXIT, .out = "41\n" });
	assert_int_equal(COMMAND(text, "replay", a.result.run, "--db", db), EXIT_DIVERGED);
	asked_release(&a);
}

/* A run of `assay exec` under this configuration, as its record; "1" was printed. */
static void record_exec(struct audit *audit, const char *config_text, const struct sandbox_job *job,
			char ret_run[ULID_LEN + 1])
{
	struct error err = ERROR_INIT;
	cleanup_json struct json *config = json_parse(config_text, strlen(config_text), 0, &err);
	struct audit_run run = { .kind = "exec", .prompt = "exec x", .config = config };
	const struct audit_end end = { .status = "success", .level = "ran", .cost_micro_usd = -1 };
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = 0 };
	struct journal j = { .audit = NULL };

	r.out = fake_stream("1", false);
	r.err = fake_stream("", false);
	if (journal_begin(&j, audit, &run, NULL, &err) < 0 ||
	    journal_execution_start(&j, "execute", 1, job, 1, &err) < 0 ||
	    journal_execution(&j, "execute", 1, &r, NULL, &err) < 0 ||
	    journal_end(&j, &end, &err) < 0)
		fail_msg("%s", err.message);
	memcpy(ret_run, j.run, sizeof(j.run));
}

static void test_a_state_is_recorded_and_replayed(void **state)
{
	cleanup_sandbox struct sandbox *s = open_named("fake");
	cleanup_audit struct audit *audit = NULL;
	const struct audit_options options = { .path = db, .app_version = "0" };
	struct sandbox_job job = job_of("print(x)");
	struct error err = ERROR_INIT;

	(void)state;
	job.state_from = "RUN/7";
	assert_int_equal(audit_open(&audit, &options, &err), 0);
	char run[ULID_LEN + 1];
	record_exec(audit, "{\"profile\":\"standard\",\"require\":\"ran\"}", &job, run);
	struct recording recorded;
	assert_int_equal(recording_load(&recorded, audit, run, &err), 0);
	assert_string_equal(
		json_get_string(recording_find(&recorded, "execute", 1, "started")->data,
				"state_from"),
		"RUN/7");
	recording_release(&recorded);
	char text[8192];
	assert_int_equal(COMMAND(text, "replay", run, "--db", db), EXIT_DIVERGED);
	assert_non_null(strstr(text, "the native sandbox keeps no state"));
	FAKE_PLAY({ .set = "x=1" }, { .get = "x" });
	assert_int_equal(COMMAND(text, "replay", run, "--db", db, "--sandbox", "fake"),
			 EXIT_DIVERGED);
	assert_non_null(strstr(text, "no execution RUN/7 left a state"));
	assert_run_prints(s, "RUN/7", NULL, "");
	assert_int_equal(COMMAND(text, "replay", run, "--db", db, "--sandbox", "fake"), EXIT_OK);
	assert_non_null(strstr(text, "identical: "));
}

static void test_a_recorded_sandbox_that_is_gone(void **state)
{
	cleanup_audit struct audit *audit = NULL;
	const struct audit_options options = { .path = db, .app_version = "0" };
	const struct sandbox_job job = job_of("print(1)");
	struct error err = ERROR_INIT;
	char run[ULID_LEN + 1];

	(void)state;
	assert_int_equal(audit_open(&audit, &options, &err), 0);
	record_exec(audit, "{\"profile\":\"standard\",\"require\":\"ran\",\"sandbox\":\"oci\"}",
		    &job, run);
	char text[8192];
	assert_int_equal(COMMAND(text, "replay", run, "--db", db), EXIT_USAGE);
	assert_non_null(strstr(text, "ran in the sandbox \"oci\", which is not here"));
	assert_non_null(strstr(text, "there is: native ("));
	/* What runs nothing needs none. */
	assert_int_equal(COMMAND(text, "replay", run, "--db", db, "--tier", "pipeline"), EXIT_OK);
	assert_non_null(strstr(text, "identical: "));
	FAKE_PLAY({ SANDBOX_EXIT, .out = "1" });
	assert_int_equal(COMMAND(text, "replay", run, "--db", db, "--sandbox", "fake"), EXIT_OK);
	assert_non_null(strstr(text, "identical: "));
}

static void test_commands(void **state)
{
	cleanup_free char *out = mem_printf("%s/out", folder);
	cleanup_free char *program = mem_printf("%s/p.py", folder);
	FILE *f = fopen(program, "w");

	(void)state;
	assert_non_null(f);
	fputs("print(42)\n", f);
	fclose(f);
	FAKE_PLAY({ SANDBOX_EXIT, .out = "forty-two\n" });
	char text[8192];
	assert_int_equal(COMMAND(text, "exec", program, "--sandbox", "fake", "--db", db, "--out",
				 out),
			 EXIT_OK);
	assert_non_null(strstr(text, "forty-two\n"));
	FAKE_PLAY({ SANDBOX_EXIT });
	fake.at = 1; /* nothing can run any more: whose failure it is stands in the document */
	assert_int_equal(COMMAND(text, "exec", program, "--sandbox", "fake", "--db", db, "--json"),
			 EXIT_SANDBOX);
	assert_non_null(strstr(text, "\"isolation\":{\"backend\":\"fake\",\"facts\":[]}"));
	assert_int_equal(COMMAND(text, "doctor", "--sandbox", "fake", "--db", db), EXIT_OK);
	assert_non_null(strstr(text, "Sandbox fake\n"));
	assert_non_null(strstr(text, "/fake/interpreter 0.1"));
	assert_int_equal(COMMAND(text, "doctor", "--sandbox", "fake", "--seccomp", "--db", db),
			 EXIT_SANDBOX);
	assert_non_null(strstr(text, "no seccomp here"));
	assert_int_equal(COMMAND(text, "exec", program, "--sandbox", "oci", "--db", db),
			 EXIT_USAGE);
	assert_non_null(strstr(text, "\"oci\" is not a sandbox; there is: native ("));
}

int main(void)
{
	const struct CMUnitTest sandbox_backend_runs_tests[] = {
		cmocka_unit_test(test_a_whole_run),
		cmocka_unit_test(test_replay_takes_the_recorded_sandbox),
		cmocka_unit_test(test_a_state_is_recorded_and_replayed),
		cmocka_unit_test(test_a_recorded_sandbox_that_is_gone),
		cmocka_unit_test(test_commands),
	};

	return cmocka_run_group_tests_name("sandbox_backend_runs", sandbox_backend_runs_tests,
					   set_up, tear_down);
}
