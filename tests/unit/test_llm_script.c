/*
 * The scripted model, and replies to JSON and back. No network may be touched, nor its library be
 * loaded.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "llm/llm.h"

#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/assay-script-XXXXXX";

static void write_script(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Whose script this is knows two stages. */
static bool is_stage(const char *name)
{
	return !strcmp(name, "plan") || !strcmp(name, "code");
}

static struct llm open_script(const char *text)
{
	struct error err = ERROR_INIT;
	struct llm llm;

	write_script(text);
	assert_int_equal(llm_script_open(&llm, path, is_stage, &err), 0);
	assert_string_equal(llm.provider, "script");
	return llm;
}

static struct llm_reply reply;
static struct error err;

static int ask_with(const struct llm *llm, const char *stage, const char *task, const char *prompt,
		    int cancel_fd, int64_t timeout_ms)
{
	const struct llm_message messages[] = { { "user", "an earlier turn" },
						{ "assistant", "x" },
						{ "user", prompt } };
	const struct llm_request request = {
		.stage = stage,
		.task = task,
		.messages = messages,
		.message_count = 3,
		.temperature = NAN,
		.cancel_fd = cancel_fd,
		.timeout_ms = timeout_ms,
	};

	llm_reply_release(&reply);
	error_clear(&err);
	return llm_call(llm, &request, NULL, &reply, &err);
}

static void expect(const struct llm *llm, const char *stage, const char *task, const char *prompt,
		   const char *text)
{
	assert_int_equal(ask_with(llm, stage, task, prompt, -1, 0), 0);
	assert_string_equal(reply.text, text);
}

static void expect_end(const struct llm *llm, const char *stage, const char *task)
{
	assert_int_equal(ask_with(llm, stage, task, "p", -1, 0), -1);
	assert_int_equal(err.kind, ERR_PROVIDER);
	assert_non_null(strstr(err.message, stage));
	if (task)
		assert_non_null(strstr(err.message, task));
	assert_string_equal(reply.text, "");
}

static void test_order_per_stage(void **state)
{
	struct llm llm = open_script("{\"stage\":\"code\",\"reply\":\"c1\"}\n"
				     "{\"stage\":\"plan\",\"reply\":\"p1\"}\n\n"
				     "{\"stage\":\"code\",\"reply\":\"c2\"}");

	(void)state;
	expect(&llm, "plan", NULL, "p", "p1");
	expect(&llm, "code", NULL, "p", "c1");
	expect(&llm, "code", NULL, "p", "c2");
	expect_end(&llm, "code", NULL);
	expect_end(&llm, "plan", NULL);
	llm_close(&llm);
}

static void test_each_task_reads_for_itself(void **state)
{
	struct llm llm = open_script("{\"stage\":\"code\",\"id\":\"b\",\"reply\":\"only b\"}\n"
				     "{\"stage\":\"code\",\"reply\":\"any\"}\n");

	(void)state;
	expect(&llm, "code", "a", "p", "any");
	expect_end(&llm, "code", "a");
	expect(&llm, "code", "b", "p", "only b");
	expect(&llm, "code", "b", "p", "any");
	expect_end(&llm, "code", "b");
	expect(&llm, "code", NULL, "p", "any");
	llm_close(&llm);
}

static void test_match(void **state)
{
	struct llm llm =
		open_script("{\"stage\":\"code\",\"match\":\"pri(me|ze)\",\"reply\":\"primes\"}\n"
			    "{\"stage\":\"code\",\"match\":\"earlier\",\"reply\":\"never\"}\n"
			    "{\"stage\":\"code\",\"reply\":\"else\"}\n");

	(void)state;
	expect(&llm, "code", NULL, "sum", "else");
	expect(&llm, "code", NULL, "a prime", "primes");
	expect_end(&llm, "code", NULL);
	llm_close(&llm);
}

static void test_stop_usage_and_reasoning(void **state)
{
	struct llm llm = open_script(
		"{\"stage\":\"code\",\"reply\":\"<think>a</think>b\",\"stop_reason\":\"length\","
		"\"usage\":{\"input_tokens\":5,\"output_tokens\":6}}\n"
		"{\"stage\":\"code\",\"reply\":\"cu\",\"stop_reason\":\"truncated\"}\n");

	(void)state;
	expect(&llm, "code", NULL, "p", "b");
	assert_string_equal(reply.reasoning, "a");
	assert_int_equal(reply.stop, LLM_STOP_LENGTH);
	assert_int_equal(reply.usage.output_tokens, 6);
	assert_int_equal(reply.usage.source, LLM_USAGE_REPORTED);
	expect(&llm, "code", NULL, "p", "cu");
	assert_int_equal(reply.stop, LLM_STOP_TRUNCATED);
	assert_int_equal(reply.usage.source, LLM_USAGE_NONE);
	llm_close(&llm);
}

static void test_scripted_error(void **state)
{
	struct llm llm = open_script("{\"stage\":\"code\",\"error\":{\"class\":\"overloaded\","
				     "\"status\":529,\"message\":\"busy\"}}\n"
				     "{\"stage\":\"code\",\"error\":{\"class\":\"auth\"}}\n");

	(void)state;
	assert_int_equal(ask_with(&llm, "code", NULL, "p", -1, 0), -1);
	assert_int_equal(err.kind, ERR_PROVIDER);
	assert_int_equal(reply.error.class, LLM_ERROR_OVERLOADED);
	assert_int_equal(reply.error.status, 529);
	assert_int_equal(ask_with(&llm, "code", NULL, "p", -1, 0), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	llm_close(&llm);
}

static void test_delay(void **state)
{
	struct llm llm = open_script("{\"stage\":\"code\",\"reply\":\"a\",\"delay_ms\":30}\n"
				     "{\"stage\":\"plan\",\"reply\":\"b\",\"delay_ms\":60000}\n"
				     "{\"stage\":\"plan\",\"reply\":\"c\",\"delay_ms\":60000}\n");
	int64_t start = clock_mono_ms();
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	expect(&llm, "code", NULL, "p", "a");
	assert_true(clock_mono_ms() - start >= 30);
	assert_int_equal(ask_with(&llm, "plan", NULL, "p", -1, 20), -1);
	assert_int_equal(reply.error.class, LLM_ERROR_TIMEOUT);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(ask_with(&llm, "plan", NULL, "p", fds[0], 0), -1);
	assert_int_equal(err.kind, ERR_CANCELLED);
	assert_int_equal(reply.stop, LLM_STOP_CANCELLED);
	assert_true(clock_mono_ms() - start < 60000);
	close(fds[0]);
	close(fds[1]);
	llm_close(&llm);
}

static void test_malformed_lines(void **state)
{
	static const char *const bad[] = {
		"{\"stage\":\"code\"}",
		"{\"reply\":\"x\"}",
		"{\"stage\":\"cod\",\"reply\":\"x\"}",
		"{\"stage\":\"code\",\"reply\":7}",
		"[]",
		"nonsense",
		"{\"stage\":\"code\",",
		"{\"stage\":\"code\",\"reply\":\"x\",\"mtach\":\"y\"}",
		"{\"stage\":\"code\",\"reply\":\"x\",\"match\":\"(\"}",
		"{\"stage\":\"code\",\"reply\":\"x\",\"delay_ms\":-1}",
		"{\"stage\":\"code\",\"reply\":\"x\",\"stop_reason\":\"end\"}",
		"{\"stage\":\"code\",\"reply\":\"x\",\"error\":{\"class\":\"auth\"}}",
		"{\"stage\":\"code\",\"error\":{\"class\":\"none\"}}",
		"{\"stage\":\"code\",\"reply\":\"\xff\"}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *text = mem_printf("{\"stage\":\"code\",\"reply\":\"ok\"}\n\n%s\n", bad[i]);
		struct llm llm = { .ops = NULL };

		write_script(text);
		error_clear(&err);
		if (llm_script_open(&llm, path, is_stage, &err) == 0)
			print_error("accepted: %s\n", bad[i]);
		assert_null(llm.ops);
		assert_int_equal(err.kind, ERR_USAGE);
		assert_non_null(strstr(err.message, ":3"));
		free(text);
	}
}

static void test_no_such_script(void **state)
{
	struct llm llm = { .ops = NULL };

	(void)state;
	assert_int_equal(llm_script_open(&llm, "/nowhere/script.jsonl", is_stage, &err), -1);
	assert_non_null(strstr(err.message, "/nowhere/script.jsonl"));
	llm_close(&llm);
}

static void test_empty_script(void **state)
{
	struct llm llm = open_script("");

	(void)state;
	expect_end(&llm, "code", "t1");
	llm_close(&llm);
}

static void test_reply_json_round_trip(void **state)
{
	struct llm_reply full = {
		.text = mem_strdup("t"),
		.text_len = 1,
		.reasoning = mem_strdup("r"),
		.stop = LLM_STOP_FILTER,
		.raw_stop = mem_strdup("content_filter"),
		.model = mem_strdup("m"),
		.request_id = mem_strdup("q"),
		.usage = { 1, 2, 3, 4, LLM_USAGE_PARTIAL },
		.first_token_ms = 5,
		.duration_ms = 6,
		.error = { .class = LLM_ERROR_QUOTA, .status = 429, .message = mem_strdup("e") },
	};
	struct llm_reply back = { .text = NULL };

	(void)state;
	full.tries = mem_alloc(2 * sizeof(*full.tries));
	full.try_count = 2;
	full.tries[1] = (struct llm_try){ 429, 7, 500 };
	struct json *first = llm_reply_json(&full);
	assert_int_equal(llm_reply_from_json(first, &back, &err), 0);
	struct json *second = llm_reply_json(&back);
	assert_true(json_equal(first, second));
	char *text = json_print(first);
	assert_string_equal(
		text,
		"{\"text\":\"t\",\"reasoning\":\"r\",\"stop_reason\":\"filter\","
		"\"raw_stop_reason\":\"content_filter\",\"model\":\"m\",\"request_id\":\"q\","
		"\"usage\":{\"input_tokens\":1,\"cached_tokens\":2,\"output_tokens\":3,"
		"\"reasoning_tokens\":4,\"source\":\"partial\"},\"cost_usd\":null,"
		"\"tries\":[{\"status\":0,\"curl\":0,\"waited_ms\":0},"
		"{\"status\":429,\"curl\":7,\"waited_ms\":500}],\"first_token_ms\":5,"
		"\"duration_ms\":6,\"error\":{\"class\":\"quota\",\"status\":429,\"code\":null,"
		"\"message\":\"e\",\"retryable\":false}}");
	free(text);
	json_remove(first, "usage");
	llm_reply_release(&back);
	assert_int_equal(llm_reply_from_json(first, &back, &err), -1);
	json_free(first);
	json_free(second);
	llm_reply_release(&full);
}

/* What needs no network loads no network library: a start of 4 ms less. */
static void test_no_network_library_is_loaded(void **state)
{
	const struct llm_http_options options = { .provider = "test", .model = "m" };
	struct llm llm;
	FILE *f;

	(void)state;
	assert_int_equal(llm_http_open(&llm, &options, &err), 0);
	llm_close(&llm);
	f = fopen("/proc/self/maps", "r");
	assert_non_null(f);
	char line[512];
	while (fgets(line, sizeof(line), f))
		assert_null(strstr(line, "libcurl"));
	fclose(f);
}

static void test_repeats_read_anew(void **state)
{
	struct llm llm = open_script("{\"stage\":\"code\",\"reply\":\"second\",\"repeat\":2}\n"
				     "{\"stage\":\"code\",\"reply\":\"any\"}\n");
	const struct llm_message message = { "user", "p" };
	struct llm_request request = { .stage = "code",
				       .task = "t",
				       .messages = &message,
				       .message_count = 1,
				       .temperature = NAN,
				       .cancel_fd = -1 };
	const char *const wanted[] = { "any", "second", "any" };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		request.repeat = i;
		llm_reply_release(&reply);
		assert_int_equal(llm_call(&llm, &request, NULL, &reply, &err), 0);
		assert_string_equal(reply.text, wanted[i]);
	}
	llm_close(&llm);
}

/* What a batch of a hundred thousand tasks leaves behind, with a script of a thousand lines. */
static void test_memory_is_flat(void **state)
{
	cleanup_buf struct buf text = BUF_INIT((size_t)1 << 20);
	size_t before = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		buf_addstr(&text, "{\"stage\":\"code\",\"reply\":\"yes\"}\n");
	struct llm llm = open_script(text.data);
	for (int i = 0; i < 100000; i++) {
		char task[16];

		snprintf(task, sizeof(task), "t%d", i);
		expect(&llm, "code", task, "p", "yes");
		if (i == 1000)
			before = mallinfo2().uordblks;
	}
	/* Sanitizers have an allocator of their own, which counts nothing here. */
	assert_true(mallinfo2().uordblks <= before + ((size_t)64 << 10));
	llm_close(&llm);
}

static void test_names(void **state)
{
	(void)state;
	for (int i = LLM_STOP_STOP; i <= LLM_STOP_CANCELLED; i++)
		assert_int_equal(llm_stop_parse(llm_stop_name((enum llm_stop)i)), i);
	for (int i = LLM_ERROR_NONE; i <= LLM_ERROR_SERVER; i++)
		assert_int_equal(
			llm_error_class_parse(llm_error_class_name((enum llm_error_class)i)), i);
	assert_int_equal(llm_stop_parse("end_turn"), -1);
	assert_int_equal(llm_stop_parse(NULL), -1);
	assert_null(llm_stop_name(LLM_STOP_NONE));
}

/* A call that never had a reply has no reason why one stopped: null, there and back. */
static void test_no_stop_reason(void **state)
{
	struct llm_reply none = { .text = mem_strdup(""),
				  .stop = LLM_STOP_NONE,
				  .first_token_ms = -1 },
			 back;
	cleanup_json struct json *value = llm_reply_json(&none);

	(void)state;
	assert_non_null(json_get(value, "stop_reason"));
	assert_int_equal(json_type(json_get(value, "stop_reason")), JSON_NULL);
	assert_int_equal(llm_reply_from_json(value, &back, &err), 0);
	assert_int_equal(back.stop, LLM_STOP_NONE);
	llm_reply_release(&back);
	json_remove(value, "stop_reason");
	assert_int_equal(llm_reply_from_json(value, &back, &err), -1);
	llm_reply_release(&none);
}

static int group_setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	reply.first_token_ms = -1;
	return fd < 0 ? -1 : close(fd);
}

static int group_teardown(void **state)
{
	(void)state;
	llm_reply_release(&reply);
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest llm_script[] = {
		cmocka_unit_test(test_order_per_stage),
		cmocka_unit_test(test_each_task_reads_for_itself),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_stop_usage_and_reasoning),
		cmocka_unit_test(test_scripted_error),
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_malformed_lines),
		cmocka_unit_test(test_no_such_script),
		cmocka_unit_test(test_empty_script),
		cmocka_unit_test(test_reply_json_round_trip),
		cmocka_unit_test(test_no_network_library_is_loaded),
		cmocka_unit_test(test_repeats_read_anew),
		cmocka_unit_test(test_memory_is_flat),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_no_stop_reason),
	};

	return cmocka_run_group_tests(llm_script, group_setup, group_teardown);
}
