/*
 * Jobs and results on the wire: what is written is read back, and what no one may say is refused.
 * No service is asked, and nothing runs; any other bytes are tests/fuzz/remote_wire.c's.
 */
#include "sandbox/remote/call.h"
#include "sandbox/remote/post.h"
#include "sandbox/remote/wire.h"

#include "base/clock.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static struct sandbox_job full_job(void)
{
	static const char *const argv[] = { "a b", "\xff\xfe", NULL };
	static const char *const env[] = { "X=1", NULL };
	static const struct sandbox_file inputs[] = { { "d/\xc3\x28.bin", "\0\1\2", 3, NULL } };
	static const struct sandbox_file extras[] = { { "m.py", "x = 1\n", 6, NULL } };
	struct sandbox_job job = {
		.language = language_at(0),
		.code = "print(1)\0#",
		.code_len = 10,
		.argv = argv,
		.stdin_bytes = "in\0put",
		.stdin_len = 6,
		.inputs = inputs,
		.input_count = 1,
		.extras = extras,
		.extra_count = 1,
		.entry = "m.py",
		.env = env,
	};

	sandbox_limits_default(&job.limits);
	return job;
}

static struct json *over_the_wire(struct json *json)
{
	cleanup_free char *text = json_print(json);
	struct error err = ERROR_INIT;
	struct json *got = json_parse(text, strlen(text), 0, &err);

	json_free(json);
	assert_non_null(got);
	return got;
}

static void test_a_job_arrives_whole(void **state)
{
	struct sandbox_job job = full_job();
	cleanup_json struct json *json = over_the_wire(wire_job(&job));
	struct error err = ERROR_INIT;
	struct wire_job got;

	(void)state;
	assert_int_equal(wire_read_job(&got, json, &err), 0);
	assert_ptr_equal(got.job.language, job.language);
	assert_memory_equal(got.job.code, job.code, job.code_len);
	assert_int_equal(got.job.code_len, job.code_len);
	assert_string_equal(got.job.argv[1], "\xff\xfe");
	assert_null(got.job.argv[2]);
	assert_int_equal(got.job.stdin_len, 6);
	assert_string_equal(got.job.inputs[0].path, "d/\xc3\x28.bin");
	assert_memory_equal(got.job.inputs[0].bytes, "\0\1\2", 3);
	assert_string_equal(got.job.extras[0].path, "m.py");
	assert_string_equal(got.job.entry, "m.py");
	assert_string_equal(got.job.env[0], "X=1");
	assert_memory_equal(&got.job.limits, &job.limits, sizeof(job.limits));
	wire_job_release(&got);
}

static void test_a_job_that_is_none(void **state)
{
	static const char *const bad[] = {
		"{}",
		"{\"language\":\"cobol\"}",
		"{\"language\":\"python\"}",
		"{\"language\":\"python\",\"code\":\"%%\"}",
		"{\"language\":\"python\",\"code\":\"\",\"argv\":[1]}",
		"{\"language\":\"python\",\"code\":\"\",\"argv\":[\"AA==\"]}",
		"{\"language\":\"python\",\"code\":\"\",\"inputs\":[{\"path\":\"YQ==\"}]}",
		"{\"language\":\"python\",\"code\":\"\",\"limits\":{\"wall_ms\":1}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error err = ERROR_INIT;
		cleanup_json struct json *json = json_parse(bad[i], strlen(bad[i]), 0, &err);

		assert_non_null(json);
		struct wire_job got;
		assert_int_equal(wire_read_job(&got, json, &err), -1);
		assert_int_equal(err.kind, ERR_USAGE);
	}
}

/* --- results --- */

static void test_a_result_arrives_whole(void **state)
{
	struct sandbox_job job = full_job();
	struct sandbox_result r = {
		.outcome = SANDBOX_MEMORY,
		.exit_code = -1,
		.signal = 9,
		.out = { mem_strndup("a\0b", 3), 3, 9, true },
		.err = { mem_strdup(""), 0, 0, false },
		.metrics = { 1.5, 2, 3, 4, 5, 6 },
		.detail = "memory limit reached",
	};
	cleanup_sandbox_result struct sandbox_result got = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	(void)state;
	sandbox_fact_add(&r.isolation, "pidns", "yes", NULL);
	sandbox_fact_add(&r.isolation, "machine", "there", "outer");
	struct json *json = over_the_wire(wire_result(&r));
	sandbox_result_release(&r);
	assert_int_equal(wire_read_result(&got, json, &job, &err), 0);
	json_free(json);
	assert_int_equal(got.outcome, SANDBOX_MEMORY);
	assert_int_equal(got.signal, 9);
	assert_memory_equal(got.out.bytes, "a\0b", 3);
	assert_true(got.out.total == 9 && got.out.truncated);
	assert_string_equal(sandbox_fact(&got.isolation, "pidns"), "yes");
	assert_string_equal(got.isolation.facts[1].layer, "outer");
	assert_int_equal(got.metrics.peak_memory_bytes, 4);
	assert_string_equal(got.detail, "memory limit reached");
}

/* They are told people as they are. */
static void test_measures_that_cannot_be(void **state)
{
	static const char said[] = "{\"wall_ms\":-1e300,\"user_ms\":1e300,\"system_ms\":-7,"
				   "\"peak_memory_bytes\":-5,\"peak_pids\":\"x\","
				   "\"written_bytes\":-9000000000}";
	struct error err = ERROR_INIT;
	cleanup_json struct json *json = json_parse(said, strlen(said), 0, &err);
	struct sandbox_metrics m;

	(void)state;
	assert_non_null(json);
	sandbox_metrics_read(json, &m);
	assert_true(m.wall_ms >= 0 && m.wall_ms < 1 && m.user_ms < 0 && m.user_ms > -2);
	assert_true(m.system_ms > -2 && m.peak_memory_bytes == -1 && m.peak_pids == -1);
	assert_true(m.written_bytes == -1);
}

#define STREAMS "\"stdout\":{\"base64\":\"\",\"total\":0},\"stderr\":{\"base64\":\"\",\"total\":0}"
#define EXITED	"{\"outcome\":\"exit\",\"exit_code\":0," STREAMS

static void test_a_result_that_lies(void **state)
{
	static const char *const bad[] = {
		"null",
		"[]",
		"{\"outcome\":\"won\"," STREAMS "}",
		"{\"outcome\":\"setup_failed\"," STREAMS "}",
		"{\"outcome\":\"exit\"," STREAMS "}", /* with which code? */
		"{\"outcome\":\"exit\",\"exit_code\":300," STREAMS "}",
		"{\"outcome\":\"exit\",\"exit_code\":0}",
		/* more than the limit of 8 bytes, or less than it says */
		"{\"outcome\":\"exit\",\"exit_code\":0,\"stdout\":{\"base64\":\"MTIzNDU2Nzg5\","
		"\"total\":"
		"9},\"stderr\":{\"base64\":\"\",\"total\":0}}",
		"{\"outcome\":\"exit\",\"exit_code\":0,\"stdout\":{\"base64\":\"MTIz\",\"total\":2}"
		","
		"\"stderr\":{\"base64\":\"\",\"total\":0}}",
		/* ../x, x/../y, /x, no name, an empty part, another size, more than 4 bytes */
		EXITED ",\"artifacts\":[{\"path\":\"Li4veA==\",\"size\":0,\"base64\":\"\"}]}",
		EXITED ",\"artifacts\":[{\"path\":\"eC8uLi95\",\"size\":0,\"base64\":\"\"}]}",
		EXITED ",\"artifacts\":[{\"path\":\"L3g=\",\"size\":0,\"base64\":\"\"}]}",
		EXITED ",\"artifacts\":[{\"path\":\"\",\"size\":0,\"base64\":\"\"}]}",
		EXITED ",\"artifacts\":[{\"path\":\"YS8vYg==\",\"size\":0,\"base64\":\"\"}]}",
		EXITED ",\"artifacts\":[{\"path\":\"YQ==\",\"size\":2,\"base64\":\"MQ==\"}]}",
		EXITED ",\"artifacts\":[{\"path\":\"YQ==\",\"size\":5,\"base64\":\"MTIzNDU=\"}]}",
		EXITED ",\"artifacts\":[{\"path\":\"YQ==\",\"size\":1,\"base64\":\"MQ==\"},{"
		       "\"path\":\"Yg=="
		       "\",\"size\":1,\"base64\":\"MQ==\"}]}",
	};
	struct sandbox_job job = full_job();

	(void)state;
	job.limits.stdout_bytes = 8;
	job.limits.artifact_bytes = 4;
	job.limits.artifacts = 1;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error err = ERROR_INIT;
		cleanup_json struct json *json = json_parse(bad[i], strlen(bad[i]), 0, &err);

		assert_non_null(json);
		struct sandbox_result got;
		if (wire_read_result(&got, json, &job, &err) == 0)
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(err.kind, ERR_SANDBOX);
	}
}

static void test_an_answer_of_another_kind(void **state)
{
	static const char *const bad[] = { "{}", "{\"assay_job\":2}", "{\"message\":\"no\"}",
					   "{\"assay_job\":1,\"error\":{\"message\":\"why\"}}" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error err = ERROR_INIT;
		cleanup_json struct json *json = json_parse(bad[i], strlen(bad[i]), 0, &err);

		assert_int_equal(wire_check_answer(json, &err), -1);
		assert_int_equal(err.kind, ERR_SANDBOX);
	}
}

/* --- requests --- */

static void test_addresses(void **state)
{
	(void)state;
	assert_true(call_is_url("http://127.0.0.1:8317"));
	assert_true(call_is_url("https://x.dynamicsessions.io/subscriptions/1/sessionPools/p"));
	assert_false(call_is_url("ftp://x"));
	assert_false(call_is_url("https://"));
	assert_false(call_is_url("https://name:word@host/"));
	assert_false(call_is_url("https://host/a b"));
	assert_false(call_is_url("https://host/#part"));
}

static void test_what_a_refusal_says(void **state)
{
	struct buf body = BUF_INIT(1000);

	(void)state;
	buf_addstr(&body, "{\"error\":{\"code\":1,\"message\":\"too \\nmany\"}}");
	char *said = call_message(&body);
	assert_string_equal(said, "too  many");
	free(said);
	buf_clear(&body);
	buf_addstr(&body, "<html>");
	said = call_message(&body);
	assert_string_equal(said, "<html>");
	free(said);
	buf_release(&body);
}

/* Whatever it asks for: within bounds, and never less than the time that doubles. */
static void test_what_a_service_asks_to_wait(void **state)
{
	static const char *const hostile[] = { "99999999999999999999", "9223372036854775807",
					       "9223372036854776" };

	(void)state;
	assert_int_equal(call_wait_ms("", 0), 250);
	assert_int_equal(call_wait_ms("soon", 1), 500);
	assert_int_equal(call_wait_ms("2", 0), 2000);
	assert_int_equal(call_wait_ms("1", 3), 2000);
	assert_int_equal(call_wait_ms("-1", 0), 250);
	assert_int_equal(call_wait_ms("-9223372036854775808", 0), 250);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		assert_int_equal(call_wait_ms(hostile[i], 0), 10000);
}

/* Also as JSON may write it: a message is read from that afterwards. */
static void test_a_key_that_is_quoted(void **state)
{
	static const char *const quotes[] = { "ab/cd+efgh12", "ab\\/cd\\u002Befgh12",
					      "\\u0061b\\u002fcd+efgh1\\u0032" };
	struct call_headers headers = { .count = 0 };

	(void)state;
	call_header(&headers, "X-API-Key: %s", quotes[0]);
	for (size_t i = 0; i < ARRAY_SIZE(quotes); i++) {
		char text[128];

		snprintf(text, sizeof(text), "[\"%s\", \"ab/cd\", \"\\u00\"]", quotes[i]);
		call_hide(&headers, text, strlen(text));
		assert_int_equal(strspn(text + 2, "*"), strlen(quotes[i]));
		assert_string_equal(text + 2 + strlen(quotes[i]), "\", \"ab/cd\", \"\\u00\"]");
	}
	call_headers_release(&headers);
}

static void note(int number)
{
	(void)number;
}

/* A terminal's clock, or who comes back to it, is nobody who cancels. */
static void test_a_signal_is_no_cancel(void **state)
{
	const struct itimerval every = { { 0, 2000 }, { 0, 2000 } }, none = { { 0, 0 }, { 0, 0 } };
	const struct sigaction hear = { .sa_handler = note, .sa_flags = SA_RESTART };
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(sigaction(SIGALRM, &hear, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
	const int64_t until_ms = clock_mono_ms() + 20;
	assert_true(call_pause(ends[0], until_ms));
	assert_true(clock_mono_ms() >= until_ms);
	assert_int_equal(setitimer(ITIMER_REAL, &none, NULL), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_false(call_pause(ends[0], clock_mono_ms() + 60000));
	close(ends[0]);
	close(ends[1]);
}

/* Short to write, and a hundred bytes each in memory. */
static void test_an_answer_that_is_heavy(void **state)
{
	struct buf body = BUF_INIT((size_t)1 << 20);
	struct error err = ERROR_INIT;

	(void)state;
	buf_addstr(&body, "{\"assay_job\": 1, \"results\": [[]");
	for (int i = 0; i < 200000; i++)
		buf_addstr(&body, ",[]");
	buf_addstr(&body, "]}");
	assert_null(post_read(&body, 200, &err));
	assert_int_equal(err.kind, ERR_SANDBOX);
	assert_non_null(strstr(err.message, "more than 100000 values"));
	buf_release(&body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_job_arrives_whole),
		cmocka_unit_test(test_a_job_that_is_none),
		cmocka_unit_test(test_a_result_arrives_whole),
		cmocka_unit_test(test_a_result_that_lies),
		cmocka_unit_test(test_an_answer_of_another_kind),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_what_a_refusal_says),
		cmocka_unit_test(test_what_a_service_asks_to_wait),
		cmocka_unit_test(test_a_key_that_is_quoted),
		cmocka_unit_test(test_a_signal_is_no_cancel),
		cmocka_unit_test(test_measures_that_cannot_be),
		cmocka_unit_test(test_an_answer_that_is_heavy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
