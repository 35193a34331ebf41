/*
 * The seam for backends, by a backend that is none: what calls through sandbox.h
 * works on it as on the native one, of which nothing is started.
 */
#include "tests/unit/test_fake_backend.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "agent/cli/app.h"
#include "agent/cli/command.h"
#include "agent/cli/program.h"
#include "agent/cli/session.h"
#include "agent/record/recorded.h"
#include "agent/task.h"

#define READ "{\"syntax_error\":null,\"failed\":null,\"facts\":[]}\n"

static char folder[] = "/tmp/assay-backend-XXXXXX";
static char db[64], script[64];

/* --- one sandbox --- */

static struct sandbox *open_named(const char *name)
{
	const struct sandbox_options options = { .name = name };
	struct sandbox *s = NULL;
	struct error err = ERROR_INIT;

	if (sandbox_open(&s, &options, &err) < 0)
		fail_msg("%s", err.message);
	return s;
}

static struct sandbox_job job_of(const char *code)
{
	struct sandbox_job job = { .language = language_find("python"),
				   .code = code,
				   .code_len = strlen(code) };

	sandbox_limits_default(&job.limits);
	return job;
}

/* A keeper would be a child of ours. */
static void assert_nothing_was_started(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
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
	struct sandbox_result r[2];
	struct error err = ERROR_INIT;
	const char *text;

	(void)state;
	FAKE_PLAY({ SANDBOX_EXIT, .out = "first" }, { SANDBOX_EXIT, .out = "second" });
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
	struct sandbox_result r[2];
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

/* --- states --- */

static char *run_from(struct sandbox *s, const char *id, const char *from, struct error *err)
{
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct sandbox_job job = job_of("");

	job.id = id;
	job.state_from = from;
	return sandbox_run(s, &job, NULL, &r, err) < 0 ? NULL : mem_strdup(r.out.bytes);
}

static void assert_run_prints(struct sandbox *s, const char *id, const char *from,
			      const char *wanted)
{
	struct error err = ERROR_INIT;
	cleanup_free char *text = run_from(s, id, from, &err);

	if (!text)
		fail_msg("%s", err.message);
	assert_string_equal(text, wanted);
}

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
		struct sandbox_result r[2];

		FAKE_PLAY({ SANDBOX_EXIT });
		assert_null(run_from(s, NULL, "RUN/1", &err));
		assert_int_equal(err.kind, ERR_SANDBOX);
		assert_string_equal(err.message, wanted);
		assert_int_equal(fake.at, 0);
		error_clear(&err);
		assert_int_equal(sandbox_run_pair(s, jobs, NULL, r, &err), -1);
		assert_int_equal(err.kind, ERR_SANDBOX);
	}
}

/* --- who uses the contract --- */

static void test_readers(void **state)
{
	const struct sandbox_file file = { "data.db", "SQLite", 6 };
	cleanup_sandbox struct sandbox *s = open_named("fake");
	struct inspection inspection;
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
	struct sandbox_result two[2];
	struct sandbox_environment e;
	struct execute_ops ops;
	struct sandbox_metrics took;
	struct error err = ERROR_INIT;

	(void)state;
	live_execute(&ops, &live);
	FAKE_PLAY({ SANDBOX_EXIT, .out = "one" }, { SANDBOX_EXIT, .out = "two" },
		  { SANDBOX_EXIT, .out = "three" });
	assert_int_equal(ops.describe(ops.self, language_find("python"), &e, &err), 0);
	assert_string_equal(e.packages, "paper 1.0");
	assert_string_equal(e.sandbox, "fake");
	assert_int_equal(ops.run(ops.self, 1, &jobs[0], &one, &err), 0);
	assert_string_equal(watched, "one");
	ops.took(ops.self, 1, &one, &took);
	assert_true(took.wall_ms > 4.9);
	assert_int_equal(ops.run_pair(ops.self, 1, jobs, two, &err), 0);
	assert_string_equal(two[1].out.bytes, "three");
	sandbox_result_release(&two[0]);
	sandbox_result_release(&two[1]);
	assert_nothing_was_started();
}

/* --- whole runs --- */

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
	const struct json *done, *isolation;

	assert_int_equal(recording_load(&r, audit, run, &err), 0);
	assert_string_equal(json_get_string(r.row.config, "sandbox"), "fake");
	done = json_first(json_get(recording_find(&r, "task", 0, "done")->data, "environments"));
	assert_string_equal(json_get_string(done, "sandbox"), "fake");
	assert_string_equal(json_get_string(done, "packages"), "paper 1.0");
	done = recording_find(&r, "execute", 2, "done")->data;
	assert_string_equal(json_get_string(json_get(done, "environment"), "sandbox"), "fake");
	isolation = json_get(done, "isolation");
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
	pid_t pid;
	int argc = 1, status;

	for (; words[argc - 1]; argc++)
		argv[argc] = mem_strdup(words[argc - 1]);
	fflush(stdout);
	pid = fork();
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
	char text[8192];

	(void)state;
	fake_play(run_steps, ARRAY_SIZE(run_steps));
	ask(&a);
	fake.at = 0;
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
	char text[8192], run[ULID_LEN + 1];
	struct recording recorded;

	(void)state;
	job.state_from = "RUN/7";
	assert_int_equal(audit_open(&audit, &options, &err), 0);
	record_exec(audit, "{\"profile\":\"standard\",\"require\":\"ran\"}", &job, run);
	assert_int_equal(recording_load(&recorded, audit, run, &err), 0);
	assert_string_equal(
		json_get_string(recording_find(&recorded, "execute", 1, "started")->data,
				"state_from"),
		"RUN/7");
	recording_release(&recorded);
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
	char text[8192], run[ULID_LEN + 1];

	(void)state;
	assert_int_equal(audit_open(&audit, &options, &err), 0);
	record_exec(audit, "{\"profile\":\"standard\",\"require\":\"ran\",\"sandbox\":\"oci\"}",
		    &job, run);
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
	char text[8192];
	FILE *f = fopen(program, "w");

	(void)state;
	assert_non_null(f);
	fputs("print(42)\n", f);
	fclose(f);
	FAKE_PLAY({ SANDBOX_EXIT, .out = "forty-two\n" });
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

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || setenv("HOME", folder, 1))
		return -1;
	snprintf(db, sizeof(db), "%s/log.db", folder);
	snprintf(script, sizeof(script), "%s/script.jsonl", folder);
	command_signals_own();
	term_set(false, true); /* what the runs here tell a person is no line of the tests' */
	return 0;
}

static int tear_down(void **state)
{
	cleanup_free char *line = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(line);
}

int main(void)
{
	const struct CMUnitTest sandbox_backend_tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_what_a_backend_leaves_out_is_refused),
		cmocka_unit_test(test_limits_that_cannot_be_held),
		cmocka_unit_test(test_a_variable_survives),
		cmocka_unit_test(test_a_state_is_made_again),
		cmocka_unit_test(test_a_state_is_copied_where_it_is_kept),
		cmocka_unit_test(test_states_are_forgotten),
		cmocka_unit_test(test_no_state_is_dropped_in_silence),
		cmocka_unit_test(test_readers),
		cmocka_unit_test(test_live_ends),
		cmocka_unit_test(test_a_whole_run),
		cmocka_unit_test(test_replay_takes_the_recorded_sandbox),
		cmocka_unit_test(test_a_state_is_recorded_and_replayed),
		cmocka_unit_test(test_a_recorded_sandbox_that_is_gone),
		cmocka_unit_test(test_commands),
	};

	return cmocka_run_group_tests_name("sandbox_backend", sandbox_backend_tests, set_up,
					   tear_down);
}
