/*
 * What an error means, when to try again, what to repair, where to send: the pure parts. No server
 * is asked: what a connection makes of it is test_llm_http.c's.
 */
#include "base/io.h"
#include "base/mem.h"
#include "llm/wire/errors.h"
#include "llm/http/retry.h"
#include "llm/split.h"
#include "llm/http/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* --- errors --- */

struct expectation {
	long status;
	const char *body;
	enum llm_error_class class;
	bool retryable;
	const char *message; /* NULL: not looked at */
};

static const struct expectation expectations[] = {
	{ 401, "{\"error\":{\"message\":\"bad\",\"code\":401}}", LLM_ERROR_AUTH, false, "bad" },
	{ 403, "{\"error\":{\"type\":\"permission_error\",\"message\":\"x\"}}", LLM_ERROR_AUTH,
	  false, "x" },
	{ 402, "{}", LLM_ERROR_QUOTA, false, NULL },
	{ 429, "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"q\"}}", LLM_ERROR_QUOTA,
	  false, "q" },
	{ 429,
	  "{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"reduce the prompt length "
	  "or maximum context length\"}}",
	  LLM_ERROR_RATE_LIMIT, true, NULL },
	{ 529, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"O\"}}",
	  LLM_ERROR_OVERLOADED, true, "O" },
	{ 200,
	  "{\"type\":\"error\",\"error\":{\"details\":null,\"type\":\"overloaded_error\","
	  "\"message\":\"Overloaded\"}}",
	  LLM_ERROR_OVERLOADED, true, "Overloaded" },
	{ 400, "{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"m\"}}",
	  LLM_ERROR_CONTEXT, false, "m" },
	{ 400,
	  "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
	  "\"prompt is too long: 9 tokens\"}}",
	  LLM_ERROR_CONTEXT, false, NULL },
	{ 413, "", LLM_ERROR_CONTEXT, false, NULL },
	{ 404, "{\"error\":{\"type\":\"not_found_error\",\"message\":\"m\"}}", LLM_ERROR_INVALID,
	  false, "m" },
	{ 422, "{\"detail\":[{\"loc\":[\"body\",\"stop\"],\"msg\":\"bad stop\"}]}",
	  LLM_ERROR_INVALID, false, "bad stop" },
	{ 422, "{\"detail\":\"plain\"}", LLM_ERROR_INVALID, false, "plain" },
	{ 400,
	  "[{\"error\":{\"code\":400,\"message\":\"API key not valid. Please\",\"status\":"
	  "\"INVALID_ARGUMENT\"}}]",
	  LLM_ERROR_AUTH, false, "API key not valid. Please" },
	{ 429,
	  "\"{\\\"error\\\":{\\\"code\\\":429,\\\"message\\\":\\\"twice\\\","
	  "\\\"status\\\":\\\"RESOURCE_EXHAUSTED\\\"}}\"",
	  LLM_ERROR_RATE_LIMIT, true, "twice" },
	{ 503, "{\"error\":{\"message\":\"{\\\"error\\\":{\\\"message\\\":\\\"inner\\\"}}\"}}",
	  LLM_ERROR_OVERLOADED, true, "inner" },
	{ 404, "{\"error\":\"model 'x' not found\"}", LLM_ERROR_INVALID, false,
	  "model 'x' not found" },
	{ 502, "<!DOCTYPE html>\n<html><title>api | 502: Bad gateway</title>", LLM_ERROR_SERVER,
	  true, "a web page: api | 502: Bad gateway" },
	{ 500, "boom", LLM_ERROR_SERVER, true, "boom" },
	{ 500, "", LLM_ERROR_SERVER, true, NULL },
	{ 500, "\xff\xfe\0x", LLM_ERROR_SERVER, true, NULL },
	{ 408, "", LLM_ERROR_TIMEOUT, true, NULL },
	{ 409, "{}", LLM_ERROR_SERVER, true, NULL },
	{ 504, "", LLM_ERROR_TIMEOUT, true, NULL },
	{ 200, "{\"error\":{\"code\":502,\"message\":\"upstream\"}}", LLM_ERROR_SERVER, true,
	  "upstream" },
};

static void test_classify(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expectations); i++) {
		const struct expectation *x = &expectations[i];
		struct llm_error e = { .class = LLM_ERROR_NONE };
		char *param = NULL;

		errors_classify(x->status, x->body, strlen(x->body), &e, &param);
		if (e.class != x->class || e.retryable != x->retryable)
			print_error("%ld %s\n", x->status, x->body);
		assert_int_equal(e.class, x->class);
		assert_int_equal(e.retryable, x->retryable);
		if (x->message)
			assert_string_equal(e.message, x->message);
		llm_error_release(&e);
		free(param);
	}
}

/* Errors copied from public issue threads. */
static void test_classify_recorded(void **state)
{
	static const struct {
		const char *id;
		enum llm_error_class class;
		bool retryable;
	} known[] = {
		{ "issue-02", LLM_ERROR_OVERLOADED, true },
		{ "issue-06", LLM_ERROR_RATE_LIMIT, true },
		{ "issue-08", LLM_ERROR_AUTH, false },
		{ "issue-10", LLM_ERROR_AUTH, false },
		{ "issue-11", LLM_ERROR_AUTH, false },
		{ "issue-12", LLM_ERROR_QUOTA, false },
		{ "issue-15", LLM_ERROR_SERVER, true },
	};
	const char *folder = getenv("ASSAY_DATA") ? getenv("ASSAY_DATA") : "../shared/data";
	cleanup_free char *path = mem_printf("%s/http/errors_from_issues.jsonl", folder);
	cleanup_buf struct buf text = BUF_INIT((size_t)1 << 20);
	struct error err = ERROR_INIT;
	char *rest = NULL;
	size_t found = 0;

	(void)state;
	if (io_read_file(path, &text, &err) < 0) {
		print_message("skipped: %s\n", err.message);
		skip();
	}
	for (char *l = strtok_r(text.data, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest)) {
		struct json *row = json_parse(l, strlen(l), 0, &err);
		const char *id = json_get_string(row, "id"), *body = json_get_string(row, "body");

		for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
			struct llm_error e = { .class = LLM_ERROR_NONE };
			char *param = NULL;

			if (strcmp(id, known[i].id))
				continue;
			errors_classify((long)json_get_int(row, "status", 200), body, strlen(body),
					&e, &param);
			assert_int_equal(e.class, known[i].class);
			assert_int_equal(e.retryable, known[i].retryable);
			assert_non_null(e.message);
			llm_error_release(&e);
			free(param);
			found++;
		}
		json_free(row);
	}
	assert_int_equal(found, ARRAY_SIZE(known));
}

static void test_raise(void **state)
{
	struct llm_error e = { .class = LLM_ERROR_NONE };
	struct error err = ERROR_INIT;

	(void)state;
	llm_error_set(&e, LLM_ERROR_AUTH, 401, "no");
	assert_int_equal(llm_error_raise(&e, "openai", &err), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	assert_string_equal(err.message, "openai: auth (HTTP 401): no");
	llm_error_set(&e, LLM_ERROR_NETWORK, 0, "x");
	llm_error_raise(&e, "openai", &err);
	assert_int_equal(err.kind, ERR_PROVIDER);
	llm_error_release(&e);
}

/* --- retries --- */

static void test_delays(void **state)
{
	struct http_response r = { .status = 429 };

	(void)state;
	assert_int_equal(retry_delay_ms(&r, 0, 0, 0), 500);
	assert_int_equal(retry_delay_ms(&r, 1, 0, 0), 1000);
	assert_int_equal(retry_delay_ms(&r, 4, 0, 0), 8000);
	assert_int_equal(retry_delay_ms(&r, 60, 0, 0), 8000);
	assert_int_equal(retry_delay_ms(&r, 0, 1, 0), 375);
	strcpy(r.retry_after, "2.5");
	assert_int_equal(retry_delay_ms(&r, 0, 0, 0), 2500);
	strcpy(r.retry_after, "Sun, 06 Nov 1994 08:49:37 GMT");
	assert_int_equal(retry_delay_ms(&r, 0, 0, INT64_C(784111767000)), 10000);
	assert_int_equal(retry_delay_ms(&r, 0, 0, INT64_C(984111767000)), 0);
	strcpy(r.retry_after_ms, "70");
	assert_int_equal(retry_delay_ms(&r, 0, 0, 0), 70);
	strcpy(r.retry_after_ms, "1e300");
	assert_true(retry_delay_ms(&r, 0, 0, 0) > RETRY_CAP_MS);
}

static void test_bad_retry_headers_are_ignored(void **state)
{
	static const char *const bad[] = { "-5",
					   "nan",
					   "inf",
					   "soon",
					   "5 s",
					   "",
					   "Sun, 99 Foo 1994 08:49:37 GMT",
					   "Sunday, 06-Nov-94 08:49:37 GMT",
					   "0x" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct http_response r = { .status = 429 };

		strcpy(r.retry_after, bad[i]);
		assert_int_equal(retry_delay_ms(&r, 0, 0, 0), 500);
	}
}

static void test_should_retry_header(void **state)
{
	struct http_response r = { .status = 429 };

	(void)state;
	assert_true(retry_wanted(&r, true));
	strcpy(r.should_retry, "false");
	assert_false(retry_wanted(&r, true));
	strcpy(r.should_retry, "True");
	assert_true(retry_wanted(&r, false));
}

static void test_wait_ends_on_cancel(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_true(retry_wait(5, fds[0], NULL, NULL));
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_false(retry_wait(60000, fds[0], NULL, NULL));
	close(fds[0]);
	close(fds[1]);
	assert_true(retry_wait(1, -1, NULL, NULL));
}

static void on_tick(void *self, int64_t left_ms)
{
	int64_t *ticks = self;

	if (ticks[0] < 9)
		ticks[++ticks[0]] = left_ms;
}

static void test_wait_counts_down(void **state)
{
	int64_t ticks[10] = { 0 };

	(void)state;
	assert_true(retry_wait(1100, -1, on_tick, ticks));
	assert_in_range(ticks[0], 2, 3); /* one may be missed on a busy machine */
	assert_int_equal(ticks[1], 1100);
	assert_int_equal(ticks[ticks[0]], 0);
	ticks[0] = 0;
	assert_true(retry_wait(5, -1, on_tick, ticks));
	assert_int_equal(ticks[0], 0);
}

/* --- targets --- */

static void check_url(const char *base, const char *path, const char *expected)
{
	char *url = target_url(base, path, "m-1");

	assert_string_equal(url, expected);
	free(url);
}

static void test_urls(void **state)
{
	(void)state;
	check_url("https://h/v1", "/chat/completions", "https://h/v1/chat/completions");
	check_url("https://h/v1//", "/chat/completions", "https://h/v1/chat/completions");
	check_url("https://h", "/v1/messages", "https://h/v1/messages");
	check_url("https://h/v1/", "/v1/messages", "https://h/v1/messages");
	check_url("http://h/v1", "/api/chat", "http://h/api/chat");
	check_url("https://x/openai/deployments/d?api-version=1", "/chat/completions",
		  "https://x/openai/deployments/d/chat/completions?api-version=1");
	check_url("https://x?a=1", "/v1/models?limit=1000", "https://x/v1/models?limit=1000&a=1");
}

static void test_model_in_url(void **state)
{
	static const char dated[] = "https://x/openai/deployments/{model}?api-version=2024-10-21";

	(void)state;
	check_url(dated, "/chat/completions",
		  "https://x/openai/deployments/m-1/chat/completions?api-version=2024-10-21");
	char *url = target_url(dated, "/models", NULL);
	assert_string_equal(url, "https://x/openai/models?api-version=2024-10-21");
	free(url);
}

/* How long a server is left alone of which nothing is left until then. */
static int64_t until_reset(const char *text, int64_t wall_ms)
{
	struct http_response r = { .requests_left = "0" };

	snprintf(r.requests_reset, sizeof(r.requests_reset), "%s", text);
	return retry_hold_ms(&r, false, 1, wall_ms);
}

static void test_reset_times(void **state)
{
	struct http_response r = { .requests_left = "0",
				   .requests_reset = "2s",
				   .tokens_left = "50",
				   .tokens_reset = "6m0s" };

	(void)state;
	assert_int_equal(until_reset("6m0s", 0), 360000);
	assert_int_equal(until_reset("1h2m3.5s", 0), 3723500);
	assert_int_equal(until_reset("20ms", 0), 20);
	assert_int_equal(until_reset("1.5", 0), 1500);
	assert_int_equal(until_reset("1970-01-01T00:00:10Z", 4000), 6000);
	assert_int_equal(until_reset("1970-01-01T00:00:10.123Z", 60000), 0);
	assert_int_equal(until_reset("", 0), 0);
	assert_int_equal(until_reset("soon", 0), 0);
	assert_int_equal(until_reset("5", 0), 5000);
	assert_int_equal(until_reset("-5s", 0), 0);
	assert_int_equal(retry_hold_ms(&r, false, 10, 0), 2000);
	assert_int_equal(retry_hold_ms(&r, false, 100, 0), 360000);
	r = (struct http_response){ .retry_after = "3" };
	assert_int_equal(retry_hold_ms(&r, true, 1, 0), 3000);
	assert_int_equal(retry_hold_ms(&r, false, 1, 0), 0);
}

static void test_official(void **state)
{
	(void)state;
	assert_true(target_official(LLM_WIRE_OPENAI_CHAT, "https://API.openai.com/v1"));
	assert_true(target_official(LLM_WIRE_OPENAI_CHAT, "https://api.openai.com:443"));
	assert_false(target_official(LLM_WIRE_OPENAI_CHAT, "https://api.openai.com.evil.net/v1"));
	assert_false(target_official(LLM_WIRE_OPENAI_CHAT, "https://evil.net/api.openai.com"));
	assert_false(target_official(LLM_WIRE_OPENAI_CHAT, "https://api.openai.com@evil.net/"));
	assert_false(target_official(LLM_WIRE_OPENAI_CHAT, "http://[::1]:8080/v1"));
}

static void check_header(enum llm_wire wire, const char *base, const char *key, const char *line)
{
	char *headers[TARGET_HEADERS_MAX];
	bool found = false;

	target_headers(wire, base, NULL, key, headers);
	for (size_t i = 0; headers[i]; i++)
		found = found || !strcmp(headers[i], line);
	assert_true(found);
	target_headers_free(headers);
}

static void test_headers(void **state)
{
	(void)state;
	check_header(LLM_WIRE_OPENAI_CHAT, "https://h/v1", "k", "Authorization: Bearer k");
	check_header(LLM_WIRE_OPENAI_CHAT, "https://r.openai.azure.com/v1", "k", "api-key: k");
	check_header(LLM_WIRE_ANTHROPIC, "https://h", "k", "x-api-key: k");
	check_header(LLM_WIRE_ANTHROPIC, "https://h", NULL, "anthropic-version: 2023-06-01");
	char *headers[TARGET_HEADERS_MAX];
	target_headers(LLM_WIRE_OPENAI_CHAT, "https://h", "X-Team: Token", "k", headers);
	assert_string_equal(headers[1], "X-Team: Token k");
	target_headers_free(headers);
	target_headers(LLM_WIRE_OPENAI_CHAT, "https://h", "api-key", "k", headers);
	assert_string_equal(headers[1], "api-key: k");
	target_headers_free(headers);
}

/* --- splitting a command --- */

static void check_split(const char *command, size_t n, const char *const *expected)
{
	struct error err = ERROR_INIT;
	char **argv = split_command(command, &err);

	assert_non_null(argv);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(argv[i], expected[i]);
	assert_null(argv[n]);
	split_free(argv);
}

#define SPLIT(command, ...)                                                      \
	check_split(command, ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })), \
		    (const char *const[]){ __VA_ARGS__ })

static void test_split(void **state)
{
	(void)state;
	SPLIT("ollama run llama3", "ollama", "run", "llama3");
	SPLIT("  a\t'b c'  ", "a", "b c");
	SPLIT("a \"b \\\"c\\\" $HOME\" d\\ e", "a", "b \"c\" $HOME", "d e");
	SPLIT("a '' \"\"", "a", "", "");
	SPLIT("a'b'\"c\"d", "abcd");
	SPLIT("'a\\b' \"a\\b\"", "a\\b", "a\\b");
	SPLIT("a;b|c&$(d)*", "a;b|c&$(d)*");
}

static void test_split_faults(void **state)
{
	static const char *const bad[] = { "", "  ", "a 'b", "a \"b", "a \\", "'" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error err = ERROR_INIT;

		assert_null(split_command(bad[i], &err));
		assert_int_equal(err.kind, ERR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest llm_policy[] = {
		cmocka_unit_test(test_classify),
		cmocka_unit_test(test_classify_recorded),
		cmocka_unit_test(test_raise),
		cmocka_unit_test(test_delays),
		cmocka_unit_test(test_bad_retry_headers_are_ignored),
		cmocka_unit_test(test_should_retry_header),
		cmocka_unit_test(test_wait_ends_on_cancel),
		cmocka_unit_test(test_wait_counts_down),
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_model_in_url),
		cmocka_unit_test(test_reset_times),
		cmocka_unit_test(test_official),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_faults),
	};

	return cmocka_run_group_tests(llm_policy, NULL, NULL);
}
