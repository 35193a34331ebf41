/*
 * Executions in JSON and in words, and back out of it: nothing is lost, nothing is invented.
 * Nothing is executed: results are made up, and files are written below a folder of the test's own.
 */
#include "agent/cli/artifacts.h"
#include "agent/record/render.h"

#include "base/mem.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct sandbox_artifact artifact(const char *path, const char *bytes)
{
	struct sandbox_artifact a = { .path = mem_strdup(path),
				      .size = strlen(bytes),
				      .type = "text/plain",
				      .bytes = mem_strdup(bytes),
				      .kept = true };

	memset(a.sha256, 'a', 64);
	return a;
}

/* As the native sandbox tells them; five of its namespaces were not to be had. */
static const char *const facts[][2] = {
	{ "userns", "yes" },
	{ "pidns", "no" },
	{ "netns", "yes" },
	{ "mountns", "no" },
	{ "ipcns", "no" },
	{ "utsns", "no" },
	{ "cgroupns", "no" },
	{ "seccomp", "abc" },
	{ "landlock_abi", "7" },
	{ "cgroup", "v1" },
	{ "memory_limit", "cgroup" },
	{ "pids_limit", "cgroup" },
	{ "cpu_limit", "cgroup" },
	{ "uid", "65534" },
	{ "no_new_privs", "yes" },
};

static void fill(struct sandbox_result *r)
{
	*r = (struct sandbox_result){
		.outcome = SANDBOX_MEMORY,
		.exit_code = -1,
		.signal = SIGKILL,
		.metrics = { .wall_ms = 12.5,
			     .peak_memory_bytes = 1 << 20,
			     .peak_pids = -1,
			     .written_bytes = 7 },
		.environment = { .language = "python",
				 .interpreter = "/usr/bin/python3",
				 .version = "3.11.2",
				 .digest = "d" },
		.detail = "memory limit of 512 MiB reached",
	};
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		sandbox_fact_add(&r->isolation, facts[i][0], facts[i][1], NULL);
	r->out = (struct sandbox_stream){ mem_strndup("a\xff\0z", 4), 4, 9000, true };
	r->err = (struct sandbox_stream){ mem_strdup(""), 0, 0, false };
	r->forbidden = mem_array(NULL, 1, sizeof(*r->forbidden));
	r->forbidden[0] =
		(struct sandbox_forbidden){ .syscall = "socket", .arch = "x86_64", .count = 3 };
	r->forbidden_count = 1;
	r->artifacts = mem_array(NULL, 2, sizeof(*r->artifacts));
	r->artifacts[0] = artifact("sub/a.txt", "hello");
	r->artifacts[1] = (struct sandbox_artifact){ .path = mem_strdup("link"),
						     .type = "",
						     .why_not = mem_strdup("a symbolic link") };
	r->artifact_count = 2;
}

static void test_the_document_of_the_interface(void **state)
{
	cleanup_sandbox_result struct sandbox_result r;

	(void)state;
	fill(&r);
	cleanup_json struct json *o = render_execution(&r, NULL, true);
	assert_string_equal(json_get_string(o, "outcome"), "memory");
	assert_int_equal(json_type(json_get(o, "exit_code")), JSON_NULL);
	assert_int_equal(json_get_int(o, "signal", 0), SIGKILL);
	assert_int_equal(json_get_int(o, "stdout_bytes", 0), 9000);
	assert_true(json_get_bool(o, "stdout_truncated", false));
	assert_int_equal(json_type(json_get(o, "stdout")), JSON_STRING);
	assert_string_equal(json_get_string(json_first(json_get(o, "forbidden")), "syscall"),
			    "socket");
	assert_string_equal(json_get_string(json_get(o, "error"), "class"), "none");
	const struct json *a = json_first(json_get(o, "artifacts"));
	assert_true(json_get_bool(a, "kept", false));
	a = json_next(a);
	assert_int_equal(json_type(json_get(a, "sha256")), JSON_NULL);
	assert_string_equal(json_get_string(a, "why_not"), "a symbolic link");
	assert_int_equal(json_type(json_get(json_get(o, "metrics"), "peak_pids")), JSON_NULL);
	assert_int_equal(json_get_int(json_get(o, "isolation"), "uid", 0), 65534);
}

static void test_there_and_back(void **state)
{
	cleanup_sandbox_result struct sandbox_result r;
	struct error err = ERROR_INIT;

	(void)state;
	fill(&r);
	cleanup_json struct json *o = render_execution(&r, NULL, false);
	assert_null(json_get(o, "stdout"));
	cleanup_sandbox_result struct sandbox_result back;
	assert_int_equal(render_execution_read(o, &back, &err), 0);
	cleanup_json struct json *again = render_execution(&back, NULL, false);
	assert_true(json_equal(o, again));
}

static void test_a_record_without_an_outcome_is_refused(void **state)
{
	static const char text[] = "{\"outcome\":\"victory\"}";
	struct error err = ERROR_INIT;
	cleanup_json struct json *o = json_parse(text, strlen(text), 0, &err);
	struct sandbox_result r;

	(void)state;
	assert_int_equal(render_execution_read(o, &r, &err), -1);
	assert_int_equal(err.kind, ERR_LOG);
}

static void test_lines_for_people(void **state)
{
	cleanup_buf struct buf line = BUF_INIT(4096);
	struct sandbox_result done = { .outcome = SANDBOX_EXIT,
				       .exit_code = 3,
				       .metrics = { .wall_ms = 2500, .peak_memory_bytes = -1 } };
	struct sandbox_result crashed = { .outcome = SANDBOX_SIGNAL,
					  .exit_code = -1,
					  .signal = SIGSEGV,
					  .metrics = { .peak_memory_bytes = -1 } };

	(void)state;
	cleanup_sandbox_result struct sandbox_result r;
	fill(&r);
	render_outcome(&r, &line);
	assert_string_equal(line.data,
			    "memory: memory limit of 512 MiB reached after 12 ms, 1.0 MiB; "
			    "denied: socket x3; stdout cut");
	buf_clear(&line);
	render_outcome(&done, &line);
	assert_string_equal(line.data, "exit 3 in 2.5 s");
	buf_clear(&line);
	render_outcome(&crashed, &line);
	assert_string_equal(line.data, "killed by signal 11 (SIGSEGV) after 0 ms");
	buf_clear(&line);
	render_isolation(&r.isolation, &line);
	assert_string_equal(
		line.data,
		"user, net namespaces; seccomp; landlock 7; memory by cgroup v1; uid 65534");
}

static char *isolation_text(const struct sandbox_result *r)
{
	cleanup_json struct json *o = render_isolation_json(r);

	return json_print(o);
}

/* Letter by letter what scripts have read since before there were other backends. */
static void test_the_isolation_of_a_native_run(void **state)
{
	cleanup_sandbox_result struct sandbox_result r;
	const struct sandbox_result never = { .outcome = SANDBOX_SETUP_FAILED };

	(void)state;
	fill(&r);
	cleanup_free char *unnamed = isolation_text(&r);
	assert_string_equal(unnamed,
			    "{\"userns\":true,\"pidns\":false,\"netns\":true,\"mountns\":false,"
			    "\"ipcns\":false,\"utsns\":false,\"cgroupns\":false,"
			    "\"seccomp\":\"abc\",\"landlock_abi\":7,\"cgroup\":\"v1\","
			    "\"memory_limit\":\"cgroup\",\"pids_limit\":\"cgroup\","
			    "\"cpu_limit\":\"cgroup\",\"uid\":65534,\"no_new_privs\":true}");
	r.environment.sandbox = "native";
	cleanup_free char *named = isolation_text(&r);
	assert_string_equal(named, unnamed);
	cleanup_free char *nothing = isolation_text(&never);
	assert_string_equal(nothing, "{\"userns\":false,\"pidns\":false,\"netns\":false,"
				     "\"mountns\":false,\"ipcns\":false,\"utsns\":false,"
				     "\"cgroupns\":false,\"seccomp\":null,\"landlock_abi\":0,"
				     "\"cgroup\":\"\",\"memory_limit\":\"\",\"pids_limit\":\"\","
				     "\"cpu_limit\":\"\",\"uid\":0,\"no_new_privs\":false}");
}

static void test_the_isolation_of_another_backend(void **state)
{
	cleanup_sandbox_result struct sandbox_result r = { .environment.sandbox = "oci" }, back;
	cleanup_buf struct buf line = BUF_INIT(4096);
	struct error err = ERROR_INIT;

	(void)state;
	sandbox_fact_add(&r.isolation, "runtime", "runc 1.1.5", "outer");
	sandbox_fact_add(&r.isolation, "memory_limit", "cgroup", NULL);
	sandbox_fact_add(&r.isolation, "cgroup", "v2", NULL);
	sandbox_fact_add(&r.isolation, "uid", "0", "outer");
	cleanup_free char *text = isolation_text(&r);
	assert_string_equal(text,
			    "{\"cgroup\":\"v2\",\"memory_limit\":\"cgroup\",\"backend\":\"oci\","
			    "\"facts\":[{\"name\":\"runtime\",\"value\":\"runc 1.1.5\","
			    "\"layer\":\"outer\"},{\"name\":\"uid\",\"value\":\"0\","
			    "\"layer\":\"outer\"}]}");
	cleanup_json struct json *o = render_execution(&r, NULL, false);
	assert_int_equal(render_execution_read(o, &back, &err), 0);
	cleanup_free char *again = isolation_text(&back);
	assert_string_equal(again, text);
	render_isolation(&back.isolation, &line);
	assert_string_equal(line.data,
			    "memory by cgroup v2; outer runtime runc 1.1.5; outer uid 0");
}

static bool is_written(const char *folder, const char *name)
{
	struct sandbox_artifact a = artifact(name, "x");
	struct sandbox_result r = { .artifacts = &a, .artifact_count = 1 };
	struct error err = ERROR_INIT;
	int count = artifacts_save(&r, folder, NULL, NULL, &err);

	free(a.path);
	free(a.bytes);
	return count == 1;
}

static void test_names_that_may_be_written(void **state)
{
	static const char *const bad[] = { "",	    "/etc/passwd", "..",
					   "../x",  "a/../../x",   "a/..",
					   "a//b",  "./a",	   "a/.",
					   "a\nb",  "a\tb",	   "\033[2J",
					   "a\xff", "a/",	   "\xe2\x80\xae.exe" };
	static const char *const good[] = { "a", "b/c.txt", "a..", "caf\xc3\xa9", "a b" };
	char folder[] = "/tmp/assay-render-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (is_written(folder, bad[i]))
			fail_msg("case %zu is taken for a good name", i);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(is_written(folder, good[i]));
	cleanup_free char *command = mem_printf("rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void test_saving_stays_below_the_folder(void **state)
{
	char folder[] = "/tmp/assay-render-XXXXXX";
	struct error err = ERROR_INIT;

	(void)state;
	assert_non_null(mkdtemp(folder));
	cleanup_sandbox_result struct sandbox_result r;
	fill(&r);
	free(r.artifacts[1].path);
	free(r.artifacts[1].why_not);
	r.artifacts[1] = artifact("../escaped", "x");
	assert_int_equal(artifacts_save(&r, folder, NULL, NULL, &err), 1);
	assert_int_equal(access("/tmp/escaped", F_OK), -1);
	assert_int_equal(chdir(folder), 0);
	struct stat st;
	assert_int_equal(stat("sub/a.txt", &st), 0);
	assert_int_equal(st.st_size, 5);
	/* A link planted where a folder is expected must not be followed. */
	assert_int_equal(unlink("sub/a.txt") | rmdir("sub"), 0);
	assert_int_equal(symlink("/tmp", "sub"), 0);
	assert_int_equal(artifacts_save(&r, folder, NULL, NULL, &err), -1);
	assert_int_equal(access("/tmp/a.txt", F_OK), -1);
	assert_int_equal(unlink("sub"), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void test_cost(void **state)
{
	static const struct {
		int64_t micro_usd;
		const char *want;
	} rows[] = { { 0, "$0.00" },	   { 1, "$0.000001" },	      { 10, "$0.00001" },
		     { 12300, "$0.0123" }, { 500000, "$0.50" },	      { 1000000, "$1.00" },
		     { 3214567, "$3.21" }, { 1200000000, "$1200.00" } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf text = BUF_INIT(64);

		render_cost(rows[i].micro_usd, &text);
		assert_string_equal(text.data, rows[i].want);
		buf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_document_of_the_interface),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_a_record_without_an_outcome_is_refused),
		cmocka_unit_test(test_lines_for_people),
		cmocka_unit_test(test_the_isolation_of_a_native_run),
		cmocka_unit_test(test_the_isolation_of_another_backend),
		cmocka_unit_test(test_names_that_may_be_written),
		cmocka_unit_test(test_saving_stays_below_the_folder),
	};

	return cmocka_run_group_tests_name("agent_render", tests, NULL, NULL);
}
