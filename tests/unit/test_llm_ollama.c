/*
 * Ollama's native wire. There is no recording of it: the streams are as
 * docs.ollama.com/api/streaming and /errors and docs/api.md describe them.
 */
#include "llm/wire/decode.h"
#include "llm/wire/wire.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OLLAMA(members) \
	"{\"model\":\"qwen3:8b\",\"created_at\":\"2025-10-26T17:15:24.097767Z\"," members "}\n"
#define OLLAMA_SAID(message) \
	OLLAMA("\"message\":{\"role\":\"assistant\"," message "},\"done\":false")
#define OLLAMA_DONE(reason)                                                                       \
	OLLAMA("\"message\":{\"role\":\"assistant\",\"content\":\"\"},"                           \
	       "\"done\":true," reason "\"total_duration\":4883583458,\"load_duration\":1334875," \
	       "\"prompt_eval_count\":26,\"prompt_eval_duration\":342546000,\"eval_count\":282,"  \
	       "\"eval_duration\":4535599000")
#define OLLAMA_CALL                                                             \
	OLLAMA_SAID("\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":" \
		    "\"get_weather\",\"arguments\":{\"city\":\"Paris\"}}}]")

static const struct ollama_case {
	const char *stream, *text, *reasoning, *raw_stop;
	enum llm_stop stop;
} ollama_cases[] = {
	{ OLLAMA_SAID("\"content\":\"The \"") OLLAMA_SAID("\"content\":\"sky\",\"images\":null")
		  OLLAMA_DONE("\"done_reason\":\"stop\","),
	  "The sky", "", "stop", LLM_STOP_STOP },
	/* as versions before 0.1.33 end: no reason */
	{ OLLAMA_SAID("\"content\":\"x\"") OLLAMA_DONE(""), "x", "", NULL, LLM_STOP_STOP },
	{ OLLAMA_SAID("\"content\":\"half of\"") OLLAMA_DONE("\"done_reason\":\"length\","),
	  "half of", "", "length", LLM_STOP_LENGTH },
	{ OLLAMA_SAID("\"content\":\"\",\"thinking\":\"The user \"")
		  OLLAMA_SAID("\"content\":\"\",\"thinking\":\"asks\"")
			  OLLAMA_SAID("\"content\":\"7\"") OLLAMA_DONE("\"done_reason\":\"stop\","),
	  "7", "The user asks", "stop", LLM_STOP_STOP },
	/* a model that thinks, asked without "think" */
	{ OLLAMA_SAID("\"content\":\"<think>\"") OLLAMA_SAID("\"content\":\"\\nhm\"")
		  OLLAMA_SAID("\"content\":\"</think>\"") OLLAMA_SAID("\"content\":\"\\n\\n7\"")
			  OLLAMA_DONE("\"done_reason\":\"stop\","),
	  "7", "\nhm", "stop", LLM_STOP_STOP },
	{ OLLAMA_CALL OLLAMA_DONE("\"done_reason\":\"stop\","), "", "", "stop", LLM_STOP_TOOL },
	{ OLLAMA_SAID("\"content\":\"I look.\"")
		  OLLAMA_CALL OLLAMA_DONE("\"done_reason\":\"stop\","),
	  "I look.", "", "stop", LLM_STOP_STOP },
	{ OLLAMA_DONE("\"done_reason\":\"load\","), "", "", "load", LLM_STOP_STOP },
	{ "\r\n" OLLAMA_SAID("\"content\":\"\\u00e9\\ud83d\\ude00\"") "\n\r\n" OLLAMA_DONE(
		  "\"done_reason\":\"stop\","),
	  "é😀", "", "stop", LLM_STOP_STOP },
};

static void feed_bytes(struct decode *d, const char *stream, size_t len, size_t size)
{
	decode_init(d, &wire_ollama.responses, NULL);
	for (size_t at = 0; at < len; at += size)
		decode_feed(d, stream + at, size < len - at ? size : len - at);
	decode_finish(d);
}

static void feed(struct decode *d, const char *stream)
{
	feed_bytes(d, stream, strlen(stream), strlen(stream));
}

static void check_ollama(const struct ollama_case *c, size_t size)
{
	struct decode d;

	feed_bytes(&d, c->stream, strlen(c->stream), size);
	assert_false(d.failed);
	assert_true(d.terminal);
	assert_string_equal(d.text.data, c->text);
	assert_string_equal(d.reasoning.data, c->reasoning);
	assert_int_equal(d.stop, c->stop);
	assert_int_equal(!d.raw_stop, !c->raw_stop);
	if (c->raw_stop)
		assert_string_equal(d.raw_stop, c->raw_stop);
	assert_string_equal(d.model, "qwen3:8b");
	assert_int_equal(d.usage.source, LLM_USAGE_REPORTED);
	assert_int_equal(d.usage.input_tokens, 26);
	assert_int_equal(d.usage.output_tokens, 282);
	decode_release(&d);
}

static void test_ollama_streams(void **state)
{
	const size_t sizes[] = { 1, 2, 3, 7, 64, 4096 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ollama_cases); i++)
		for (size_t n = 0; n < ARRAY_SIZE(sizes); n++)
			check_ollama(&ollama_cases[i], sizes[n]);
}

/* Cut at each byte before the brace that ends its last line, it is never a success. */
static void test_ollama_streams_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ollama_cases); i++) {
		const struct ollama_case *c = &ollama_cases[i];
		size_t end = (size_t)(strrchr(c->stream, '}') - c->stream);

		for (size_t at = 0; at <= end; at++) {
			struct decode d;

			feed_bytes(&d, c->stream, at, 4096);
			assert_false(d.failed);
			assert_false(d.terminal);
			assert_int_equal(d.stop, LLM_STOP_TRUNCATED);
			assert_int_equal(d.usage.source, LLM_USAGE_NONE);
			if (!strstr(c->stream, "think>"))
				assert_memory_equal(d.text.data, c->text, d.text.len);
			decode_release(&d);
		}
	}
}

static void test_ollama_errors(void **state)
{
	struct decode d;

	(void)state;
	feed(&d, OLLAMA_SAID("\"content\":\"I can\"") "{\"error\":\"an error was encountered while "
						      "running the model\"}\n");
	assert_true(d.failed);
	assert_int_equal(d.error.class, LLM_ERROR_SERVER);
	assert_true(d.error.retryable);
	assert_string_equal(d.error.message, "an error was encountered while running the model");
	assert_string_equal(d.text.data, "I can");
	decode_release(&d);
	feed(&d, OLLAMA_SAID("\"content\":\"I can\"") "{\"error\":\"broken");
	assert_false(d.failed);
	assert_int_equal(d.stop, LLM_STOP_TRUNCATED);
	decode_release(&d);
	feed(&d, "not JSON\n" OLLAMA_DONE(""));
	assert_int_equal(d.error.class, LLM_ERROR_PROTOCOL);
	decode_release(&d);
}

/* A cached prompt is not counted by every version: that is not known, and not zero. */
static void test_ollama_usage_in_part(void **state)
{
	struct decode d;

	(void)state;
	feed(&d, OLLAMA_SAID("\"content\":\"x\"")
			 OLLAMA("\"done\":true,\"done_reason\":\"stop\",\"eval_count\":3"));
	assert_true(d.terminal);
	assert_int_equal(d.usage.source, LLM_USAGE_PARTIAL);
	assert_int_equal(d.usage.output_tokens, 3);
	decode_release(&d);
	decode_init(&d, &wire_ollama.responses, NULL);
	decode_body(&d, ollama_cases[2].stream, strcspn(ollama_cases[2].stream, "\n"));
	assert_false(d.terminal); /* "done":false in one piece is no whole reply */
	decode_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ollama_streams),
		cmocka_unit_test(test_ollama_streams_cut),
		cmocka_unit_test(test_ollama_errors),
		cmocka_unit_test(test_ollama_usage_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
