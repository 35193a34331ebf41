/*
 * The HTTP client against a small hostile server of our own. When nothing comes is
 * test_llm_wait.c's, and what a body means test_llm_wire.c's.
 */
#include "base/mem.h"
#include "llm/llm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/test_llm_call.h"

static void test_stream(void **state)
{
	(void)state;
	RUN(WITH(), GOOD);
	assert_int_equal(got.rc, 0);
	assert_string_equal(got.reply.text, "hello");
	assert_string_equal(got.seen, "hello");
	assert_string_equal(got.reply.request_id, "req-7");
	assert_int_equal(got.reply.usage.input_tokens, 3);
	assert_int_equal(got.reply.stop, LLM_STOP_STOP);
	assert_true(got.reply.first_token_ms >= 0);
	assert_non_null(strstr(shared->requests[0], "POST /v1/chat/completions HTTP/1.1\r\n"));
	assert_non_null(strstr(shared->requests[0], "Authorization: Bearer " KEY "\r\n"));
	assert_non_null(strstr(shared->requests[0], "\"max_tokens\":9"));
	assert_null(strstr(shared->requests[0], "Expect:"));
	done();
}

static void test_gzip(void **state)
{
	static const char head[] =
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
		"Content-Encoding: gzip\r\nConnection: close\r\n\r\n"
		"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x0d\xc9\xb1\x0d\x80\x30\x0c\x04\xc0"
		"\x5d\xbe\x66\x82\xac\x82\x10\x8a\x8c\x21\x2e\xb0\x2d\x3e\x15\x51\x76\x87\x6b"
		"\x6f\x40\x5a\x98\x28\x51\xd6\x81\x5b\xc9\x7a\x29\xca\x80\x84\x77\xf5\x8e\x82"
		"\xd7\x32\xf5\xc0\x5c\x70\x9a\x1b\xdb\xfe\x68\x65\xf8\x3f\xec\x91\x98\xdb\xfc"
		"\x00\x86\x16\xb9\x83\x45\x00\x00\x00";
	const struct answer answers[] = { { .head = head, .head_len = sizeof(head) - 1 } };

	(void)state;
	run(answers, 1, &(const struct setting){ .whole = true });
	assert_int_equal(got.rc, 0);
	assert_string_equal(got.reply.text, "zipped");
	done();
}

static void test_rate_limit_then_good(void **state)
{
	(void)state;
	RUN(WITH(), STATUS("429 Slow", "Retry-After: 0.05\r\n", "{}"), GOOD);
	assert_int_equal(got.rc, 0);
	assert_string_equal(got.reply.text, "hello");
	assert_int_equal(got.reply.try_count, 2);
	assert_int_equal(got.reply.tries[0].status, 429);
	assert_int_equal(got.reply.tries[1].waited_ms, 50);
	assert_non_null(strstr(got.notes, "rate_limit, HTTP 429: {}; retry 1 of 2 in 0.1 s"));
	done();
}

/* A note says why, in a few words and without the key. */
static void test_note_of_a_retry(void **state)
{
	(void)state;
	RUN(WITH(),
	    STATUS("429 Slow", "Retry-After: 0.05\r\n",
		   "{\"error\":{\"message\":\"slow down " KEY "\"}}"),
	    GOOD);
	assert_int_equal(got.rc, 0);
	assert_non_null(strstr(got.notes, "slow down ***"));
	assert_null(strstr(got.notes, KEY));
	done();
}

static void test_retries_run_out(void **state)
{
	(void)state;
	RUN(WITH(), STATUS("500 X", "retry-after-ms: 5\r\n", "{\"error\":{\"message\":\"a\"}}"),
	    STATUS("503 X", "retry-after-ms: 5\r\n", ""),
	    STATUS("529 X", "retry-after-ms: 5\r\n", "{\"error\":{\"message\":\"last\"}}"), GOOD);
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.err.kind, ERR_PROVIDER);
	assert_int_equal(got.reply.try_count, 3);
	assert_int_equal(got.reply.error.class, LLM_ERROR_OVERLOADED);
	assert_string_equal(got.reply.error.message, "last");
	assert_int_equal(shared->count, 3);
	done();
}

static void test_never_retried(void **state)
{
	(void)state;
	RUN(WITH(), STATUS("500 X", "x-should-retry: false\r\n", ""), GOOD);
	assert_int_equal(got.reply.try_count, 1);
	done();
	RUN(WITH(), STATUS("401 X", "", "{\"error\":{\"message\":\"no key " KEY "!\"}}"), GOOD);
	assert_int_equal(got.reply.try_count, 1);
	assert_int_equal(got.err.kind, ERR_CONFIG);
	assert_null(strstr(got.reply.error.message, KEY));
	done();
	RUN(WITH(), STATUS("429 X", "", "{\"error\":{\"code\":\"insufficient_quota\"}}"), GOOD);
	assert_int_equal(got.reply.try_count, 1);
	assert_int_equal(got.reply.error.class, LLM_ERROR_QUOTA);
	done();
}

static void test_redirect_is_not_followed(void **state)
{
	(void)state;
	RUN(WITH(), STATUS("302 X", "Location: http://127.0.0.1:1/elsewhere\r\n", ""), GOOD);
	assert_int_equal(got.rc, -1);
	assert_int_equal(shared->count, 1);
	assert_non_null(strstr(got.err.message, "elsewhere"));
	done();
}

static void test_cut_after_text(void **state)
{
	(void)state;
	RUN(WITH(), { .head = OK_HEAD TEXT("hel") "data: {\"choi" }, GOOD);
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.stop, LLM_STOP_TRUNCATED);
	assert_string_equal(got.reply.text, "hel");
	assert_int_equal(got.reply.try_count, 1);
	done();
}

static void test_cut_before_text(void **state)
{
	(void)state;
	RUN(WITH(), { .head = OK_HEAD ": ping\n\n" }, GOOD);
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.try_count, 2);
	assert_string_equal(got.reply.text, "hello");
	done();
	RUN({ .retries = 0 }, { .head = OK_HEAD });
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.error.class, LLM_ERROR_NETWORK);
	done();
}

static void test_cut_chunked_encoding(void **state)
{
	(void)state;
	RUN(WITH(), { .head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
			      "Transfer-Encoding: chunked\r\n\r\n36\r\n" TEXT("hel") "\r\n" });
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.stop, LLM_STOP_TRUNCATED);
	assert_int_not_equal(got.reply.tries[0].curl, 0);
	done();
}

/* An error after text is final: a second try would show the text twice. */
static void test_error_event_after_text(void **state)
{
	(void)state;
	RUN(WITH(),
	    { .head = OK_HEAD TEXT("hel") "data: {\"error\":{\"type\":"
					  "\"overloaded_error\",\"message\":\"O\"}}\n\n" },
	    GOOD);
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.try_count, 1);
	assert_int_equal(got.reply.error.class, LLM_ERROR_OVERLOADED);
	assert_string_equal(got.reply.text, "hel");
	done();
	RUN(WITH(),
	    { .head = OK_HEAD "data: {\"error\":{\"type\":\"overloaded_error\","
			      "\"message\":\"O\"}}\n\n" },
	    GOOD);
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.try_count, 2);
	done();
}

static void test_web_page(void **state)
{
	(void)state;
	RUN({ .retries = 0 },
	    STATUS("200 OK", "Content-Type: text/html\r\n", "<html><title>Sign in</title></html>"));
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.error.class, LLM_ERROR_PROTOCOL);
	assert_non_null(strstr(got.err.message, "web page"));
	done();
}

static void test_json_although_a_stream_was_asked(void **state)
{
	(void)state;
	RUN(WITH(), STATUS("200 OK", "Content-Type: application/json\r\n",
			   "{\"choices\":[{\"message\":{\"content\":\"w\"},"
			   "\"finish_reason\":\"stop\"}]}"));
	assert_int_equal(got.rc, 0);
	assert_string_equal(got.reply.text, "w");
	done();
}

static void test_repair_once(void **state)
{
	(void)state;
	RUN(WITH(.temperature = 0.5),
	    STATUS("400 X", "",
		   "{\"error\":{\"message\":\"Unsupported value: 'temperature'\","
		   "\"param\":\"temperature\",\"code\":\"unsupported_value\"}}"),
	    GOOD);
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.try_count, 2);
	assert_non_null(strstr(shared->requests[0], "temperature"));
	assert_null(strstr(shared->requests[1], "temperature"));
	assert_non_null(strstr(got.notes, "the server rejects temperature"));
	done();
	RUN(WITH(.temperature = 0.5),
	    STATUS("400 X", "",
		   "{\"error\":{\"message\":"
		   "\"Unsupported parameter: 'temperature'\"}}"),
	    STATUS("400 X", "",
		   "{\"error\":{\"message\":"
		   "\"Unsupported parameter: 'max_tokens'\"}}"),
	    GOOD);
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.try_count, 2);
	done();
}

/* A refusal is learnt from once; the client does not ask for it again. Another one
 * knows nothing of it. */
static void test_repair_is_remembered(void **state)
{
	static const struct answer answers[] = {
		STATUS("400 Bad Request", "",
		       "{\"error\":{\"message\":"
		       "\"Unknown parameter: 'stop'\","
		       "\"param\":\"stop\",\"code\":\"unknown_parameter\"}}"),
		GOOD,
		GOOD,
		GOOD,
	};
	const struct setting s = { .options = "{\"stop\":[\"x\"]}", .model = "remembers" };
	struct llm llm;

	(void)state;
	start_server(answers, ARRAY_SIZE(answers));
	open_client(&llm, &s);
	call_client(&llm, &s);
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.try_count, 2);
	assert_int_equal(json_count(got.reply.adapted), 1);
	assert_int_equal(got.reply.unmetered_tries, 0); /* a refusal is not billed */
	done();
	call_client(&llm, &s);
	llm_close(&llm);
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.try_count, 1);
	assert_non_null(strstr(got.notes, "rejected stop before"));
	assert_int_equal(json_count(got.reply.adapted), 1);
	assert_null(strstr(shared->requests[2], "\"stop\""));
	done();
	call(&s);
	assert_non_null(strstr(shared->requests[3], "\"stop\""));
	done();
	stop_server();
}

#define USED_UP                                                 \
	"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5," \
	"\"completion_tokens\":7}}\n\n"                         \
	"data: {\"error\":{\"message\":\"overloaded\",\"type\":\"overloaded_error\"}}\n\n"

/* What failed tries used is part of the bill. */
static void test_usage_of_failed_tries(void **state)
{
	(void)state;
	RUN(WITH(), { .head = OK_HEAD USED_UP }, GOOD);
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.usage.input_tokens, 8);
	assert_int_equal(got.reply.usage.output_tokens, 11);
	/* a count before the end may not be the last: the worst is assumed beside it */
	assert_int_equal(got.reply.usage.source, LLM_USAGE_PARTIAL);
	assert_int_equal(got.reply.unmetered_tries, 1);
	done();
	RUN(WITH(), { .head = OK_HEAD }, GOOD); /* cut: nobody says what it cost */
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.usage.input_tokens, 3);
	assert_int_equal(got.reply.usage.source, LLM_USAGE_PARTIAL);
	assert_int_equal(got.reply.unmetered_tries, 1);
	done();
	RUN(WITH(), STATUS("503 Busy", "Retry-After: 0\r\n", "{}"), GOOD);
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.usage.source, LLM_USAGE_REPORTED);
	assert_int_equal(got.reply.unmetered_tries, 0);
	done();
}

/* No try beyond what was reserved for; a refused one does not count. */
static void test_billed_tries_are_bounded(void **state)
{
	(void)state;
	RUN(WITH(.billed_max = 1), { .head = OK_HEAD }, GOOD);
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.try_count, 1);
	assert_non_null(strstr(got.err.message, "beyond the budget"));
	done();
	RUN(WITH(.billed_max = 1), STATUS("503 Busy", "Retry-After: 0\r\n", "{}"), GOOD);
	assert_int_equal(got.rc, 0);
	done();
	RUN(WITH(.billed_max = 2), { .head = OK_HEAD }, GOOD);
	assert_int_equal(got.rc, 0);
	done();
}

static void test_usage_that_cannot_be(void **state)
{
	(void)state;
	RUN(WITH(), { .head = OK_HEAD TEXT("x") "data: {\"choices\":[],\"usage\":{"
						"\"prompt_tokens\":-7,"
						"\"completion_tokens\":9007199254740991}}\n\n"
						"data: [DONE]\n\n" });
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.usage.input_tokens, 0);
	assert_int_equal(got.reply.usage.output_tokens, (int64_t)1 << 40);
	done();
}

/* A server that reads only a part of a long prompt is found out by its count. */
static void test_cut_context_is_told(void **state)
{
	char *prompt = mem_printf("%040000d", 1);
	const struct answer answers[] = { GOOD, GOOD };

	(void)state;
	start_server(answers, 2);
	call(&(const struct setting){ .prompt = prompt, .quirks = LLM_QUIRK_CUTS_CONTEXT });
	assert_int_equal(got.rc, 0);
	assert_non_null(strstr(got.notes, "cut the prompt"));
	done();
	call(&(const struct setting){ .prompt = prompt });
	assert_null(strstr(got.notes, "cut the prompt"));
	done();
	stop_server();
	free(prompt);
}

/* Ollama's answer in one piece, but not done: nothing to use is an error, a part is cut. */
static void test_unfinished_body(void **state)
{
	(void)state;
	RUN(ONCE(.wire = LLM_WIRE_OLLAMA, .whole = true),
	    STATUS("200 OK", "Content-Type: application/json\r\n",
		   "{\"message\":{\"content\":\"\"}}"));
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.error.class, LLM_ERROR_PROTOCOL);
	done();
	RUN(ONCE(.wire = LLM_WIRE_OLLAMA, .whole = true),
	    STATUS("200 OK", "Content-Type: application/json\r\n",
		   "{\"message\":{\"content\":\"a\"}}"));
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.stop, LLM_STOP_TRUNCATED);
	done();
}

static void test_floods(void **state)
{
	(void)state;
	RUN({ .retries = 0 }, { .head = "HTTP/1.1 200 OK\r\n",
				.tail = "X-Junk: aaaaaaaaaaaa"
					"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n",
				.flood = 100000 });
	assert_int_equal(got.rc, -1);
	done();
	RUN({ .retries = 0 },
	    { .head = OK_HEAD "data: ",
	      .tail = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	      .flood = 1000000 });
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.error.class, LLM_ERROR_PROTOCOL);
	done();
}

static void test_nobody_listens(void **state)
{
	(void)state;
	snprintf(base_url, sizeof(base_url), "http://127.0.0.1:1/v1");
	call(&(const struct setting){ .retries = 0 });
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.error.class, LLM_ERROR_NETWORK);
	assert_non_null(strstr(got.err.message, "127.0.0.1:1: "));
	assert_non_null(strstr(got.err.message, "is the server running"));
	assert_int_equal(got.reply.stop, LLM_STOP_NONE);
	done();
	snprintf(base_url, sizeof(base_url), "ftp://127.0.0.1/v1");
	call(&(const struct setting){ .retries = 2 });
	assert_int_equal(got.reply.try_count, 1);
	assert_int_equal(got.reply.error.class, LLM_ERROR_INVALID);
	done();
}

static void test_bad_key(void **state)
{
	const struct llm_http_options options = { .provider = "test", .key = "a\r\nX: y" };
	struct error err = ERROR_INIT;
	struct llm llm;

	(void)state;
	assert_int_equal(llm_http_open(&llm, &options, &err), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
}

static void test_models(void **state)
{
	static const struct answer answers[] = {
		STATUS("200 OK", "",
		       "{\"data\":[{\"id\":\"a\",\"display_name\":\"A\"},{},"
		       "{\"id\":\"b\"}]}"),
		STATUS("401 X", "", "{\"error\":{\"message\":\"who?\"}}"),
		STATUS("200 OK", "", "hello"),
	};
	struct llm_http_options options = {
		.wire = LLM_WIRE_ANTHROPIC, .provider = "test", .base_url = base_url, .key = KEY
	};
	struct error err = ERROR_INIT;
	struct json *models;

	(void)state;
	start_server(answers, ARRAY_SIZE(answers));
	assert_int_equal(llm_http_models(&options, -1, &models, &err), 0);
	char *text = json_print(models);
	assert_string_equal(text, "[{\"id\":\"a\",\"name\":\"A\"},{\"id\":\"b\",\"name\":\"b\"}]");
	free(text);
	json_free(models);
	assert_non_null(strstr(shared->requests[0], "GET /v1/models?limit=1000 HTTP/1.1\r\n"));
	assert_int_equal(llm_http_models(&options, -1, &models, &err), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	assert_int_equal(llm_http_models(&options, -1, &models, &err), -1);
	assert_int_equal(err.kind, ERR_PROVIDER);
	stop_server();
}

static void test_find_local(void **state)
{
	static const struct answer answers[] = {
		STATUS("200 OK", "", ""), /* the plain connect that looks for the port */
		STATUS("200 OK", "", "{\"data\":[{\"id\":\"llama\"}]}"),
	};
	char *url = NULL, *model = NULL, host[64];

	(void)state;
	start_server(answers, ARRAY_SIZE(answers));
	snprintf(host, sizeof(host), "%.*s", (int)strlen(base_url) - 3, base_url);
	setenv("OLLAMA_HOST", host, 1);
	assert_int_equal(llm_find_local(2000, &url, &model), 1);
	assert_string_equal(url, base_url);
	assert_string_equal(model, "llama");
	free(url);
	free(model);
	unsetenv("OLLAMA_HOST");
	stop_server();
}

int main(void)
{
	const struct CMUnitTest llm_http[] = {
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_rate_limit_then_good),
		cmocka_unit_test(test_note_of_a_retry),
		cmocka_unit_test(test_retries_run_out),
		cmocka_unit_test(test_never_retried),
		cmocka_unit_test(test_redirect_is_not_followed),
		cmocka_unit_test(test_cut_after_text),
		cmocka_unit_test(test_cut_before_text),
		cmocka_unit_test(test_cut_chunked_encoding),
		cmocka_unit_test(test_error_event_after_text),
		cmocka_unit_test(test_web_page),
		cmocka_unit_test(test_json_although_a_stream_was_asked),
		cmocka_unit_test(test_repair_once),
		cmocka_unit_test(test_repair_is_remembered),
		cmocka_unit_test(test_usage_of_failed_tries),
		cmocka_unit_test(test_billed_tries_are_bounded),
		cmocka_unit_test(test_usage_that_cannot_be),
		cmocka_unit_test(test_cut_context_is_told),
		cmocka_unit_test(test_unfinished_body),
		cmocka_unit_test(test_floods),
		cmocka_unit_test(test_nobody_listens),
		cmocka_unit_test(test_bad_key),
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_find_local),
	};

	return cmocka_run_group_tests(llm_http, group_setup, NULL);
}
