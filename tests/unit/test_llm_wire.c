/*
 * Requests as they are built, and made-up responses as they are decoded. No server is asked: real
 * recorded responses are test_llm_recorded.c's.
 */
#include "base/mem.h"
#include "llm/wire/decode.h"
#include "llm/wire/wire.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- made-up responses --- */

static void decode_whole(struct decode *d, const struct wire *wire, const char *stream)
{
	decode_init(d, &wire->responses, NULL);
	decode_feed(d, stream, strlen(stream));
	decode_finish(d);
}

#define CHAT(content) "data: {\"choices\":[{\"delta\":{\"content\":\"" content "\"}}]}\n\n"
#define CHAT_STOP     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define CHAT_DONE     "data: [DONE]\n\n"

static void test_error_after_200(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat,
		     CHAT("par") "data: {\"error\":{\"message\":\"boom\","
				 "\"type\":\"server_error\"}}\n\n");
	assert_true(d.failed);
	assert_int_equal(d.error.class, LLM_ERROR_SERVER);
	assert_true(d.error.retryable);
	assert_string_equal(d.error.message, "boom");
	assert_string_equal(d.text.data, "par");
	decode_release(&d);
	decode_whole(&d, &wire_anthropic,
		     "event: error\ndata: {\"type\":\"error\",\"error\":"
		     "{\"details\":null,\"type\":\"overloaded_error\",\"message\":\"Overloaded\"},"
		     "\"request_id\":\"req_1\"}\n\n");
	assert_int_equal(d.error.class, LLM_ERROR_OVERLOADED);
	assert_string_equal(d.request_id, "req_1");
	decode_release(&d);
}

static void test_inline_reasoning(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat,
		     CHAT("<thi") CHAT("nk>a</th") CHAT("ink>\\n\\nb") CHAT_STOP CHAT_DONE);
	assert_string_equal(d.reasoning.data, "a");
	assert_string_equal(d.text.data, "b");
	decode_release(&d);
	decode_whole(&d, &wire_openai_chat, CHAT("hm\\n</think>\\n\\nyes") CHAT_STOP CHAT_DONE);
	assert_string_equal(d.reasoning.data, "hm\n");
	assert_string_equal(d.text.data, "yes");
	decode_release(&d);
	decode_whole(&d, &wire_openai_chat,
		     CHAT("a < b, `</think>` and <think>") CHAT_STOP CHAT_DONE);
	assert_string_equal(d.text.data, "a < b, `</think>` and <think>");
	assert_int_equal(d.reasoning.len, 0);
	decode_release(&d);
}

/* Code that mentions the tag must stay code. */
static void test_tag_inside_code(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat,
		     CHAT("See:\\n```python\\nprint('</think>')\\n```\\n") CHAT_STOP CHAT_DONE);
	assert_string_equal(d.text.data, "See:\n```python\nprint('</think>')\n```\n");
	decode_release(&d);
}

static void test_refusal(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat,
		     "data: {\"choices\":[{\"delta\":{\"refusal\":"
		     "\"No.\"}}]}\n\n" CHAT_STOP CHAT_DONE);
	assert_int_equal(d.stop, LLM_STOP_REFUSAL);
	assert_string_equal(d.text.data, "No.");
	decode_release(&d);
}

static void test_usage_in_a_chunk_without_choices(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat,
		     CHAT("x") CHAT_STOP
		     "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,"
		     "\"prompt_tokens_details\":{\"cached_tokens\":2}}}\n\n" CHAT_DONE);
	assert_int_equal(d.usage.input_tokens, 7);
	assert_int_equal(d.usage.cached_tokens, 2);
	assert_int_equal(d.usage.output_tokens, 3);
	assert_int_equal(d.usage.source, LLM_USAGE_REPORTED);
	decode_release(&d);
}

static void test_surrogates_and_nul(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat,
		     CHAT("a\\ud83d") CHAT("\\ude00b\\u0000\\\\u0000 \\ud83d\\ude00")
			     CHAT_STOP CHAT_DONE);
	assert_false(d.failed);
	assert_string_equal(d.text.data, "a\xf0\x9f\x98\x80"
					 "b\xef\xbf\xbd\\u0000 "
					 "\xf0\x9f\x98\x80");
	decode_release(&d);
}

/* Halves that never meet their other one are lost, and only they. */
static void test_lonely_halves(void **state)
{
	static const char lost[] = "\xef\xbf\xbd";
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat,
		     CHAT("a\\ud83d") CHAT("b\\ude00c") CHAT("\\ud83d\\ud83d") CHAT("\\ude00")
			     CHAT("\\ude00z\\ud83d") CHAT_STOP CHAT_DONE);
	char *want = mem_printf("a%sb%sc%s\xf0\x9f\x98\x80%sz%s", lost, lost, lost, lost, lost);
	assert_string_equal(d.text.data, want);
	free(want);
	decode_release(&d);
	/* Characters of the carriers' own plane pass where no half is about. */
	decode_whole(&d, &wire_openai_chat, CHAT("\xf4\x8f\xa0\xbd") CHAT_STOP CHAT_DONE);
	assert_string_equal(d.text.data, "\xf4\x8f\xa0\xbd");
	decode_release(&d);
}

static void test_a_key_given_twice(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat,
		     "data: {\"choices\":[{\"delta\":{\"content\":\"x\","
		     "\"content\":\"y\"}}]}\n\n" CHAT_STOP CHAT_DONE);
	assert_false(d.failed);
	assert_string_equal(d.text.data, "x");
	decode_release(&d);
}

/* Only a completed reply is done; an incomplete one has met its limit. */
static void test_status_of_a_response(void **state)
{
	static const struct {
		const char *status, *output;
		bool failed, terminal;
		enum llm_stop stop;
	} cases[] = {
		{ "\"completed\"", "half", false, true, LLM_STOP_STOP },
		{ "\"incomplete\"", "half", false, true, LLM_STOP_LENGTH },
		{ "\"queued\"", "", false, false, LLM_STOP_TRUNCATED },
		{ "\"in_progress\"", "", false, false, LLM_STOP_TRUNCATED },
		{ "\"in_progress\"", "half", false, false, LLM_STOP_TRUNCATED },
		{ "\"cancelled\"", "half", false, false, LLM_STOP_TRUNCATED },
		{ "\"cancelled\"", "", false, false, LLM_STOP_TRUNCATED },
		{ "\"paused\"", "half", false, false, LLM_STOP_TRUNCATED },
		{ "null", "half", false, false, LLM_STOP_TRUNCATED },
		{ "\"failed\"", "half", true, false, LLM_STOP_TRUNCATED },
		{ "\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"boom\"}", "", true,
		  false, LLM_STOP_TRUNCATED },
	};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		const size_t n = i / 2;
		cleanup_free char *body =
			mem_printf("{\"status\":%s,\"output\":[{\"type\":\"message\",\"content\":[{"
				   "\"type\":\"output_text\",\"text\":\"%s\"}]}]}",
				   cases[n].status, cases[n].output);
		cleanup_free char *stream = mem_printf(
			"data: {\"type\":\"response.completed\",\"response\":%s}\n\n", body);
		struct decode d;

		if (i % 2 && (!strcmp(cases[n].status, "null") || strstr(body, "boom")))
			continue; /* there the event's name says what it is */
		if (i % 2) {
			decode_whole(&d, &wire_openai_responses, stream);
		} else {
			decode_init(&d, &wire_openai_responses.responses, NULL);
			decode_body(&d, body, strlen(body));
		}
		if (d.terminal != cases[n].terminal || d.failed != cases[n].failed)
			print_error("%s\n", body);
		assert_int_equal(d.failed, cases[n].failed);
		assert_int_equal(d.terminal, cases[n].terminal);
		assert_int_equal(d.stop, cases[n].stop);
		assert_string_equal(d.text.data, cases[n].output);
		decode_release(&d);
	}
}

/* "[DONE]" is the end of a stream, not of a reply that never said why it stopped. */
static void test_done_without_a_reason(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat, CHAT("half") CHAT_DONE);
	assert_int_equal(d.stop, LLM_STOP_TRUNCATED);
	assert_false(d.terminal);
	decode_release(&d);
	decode_whole(&d, &wire_openai_chat, CHAT_DONE);
	assert_int_equal(d.stop, LLM_STOP_TRUNCATED);
	decode_release(&d);
	decode_whole(&d, &wire_openai_chat, CHAT("all") CHAT_STOP CHAT_DONE);
	assert_int_equal(d.stop, LLM_STOP_STOP);
	decode_release(&d);
}

/* Gemini and xAI count reasoning in the total only. */
static void test_reasoning_outside_of_completion(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat,
		     CHAT("x") CHAT_STOP "data: {\"choices\":[],\"usage\":{"
					 "\"prompt_tokens\":10,\"completion_tokens\":2,\"total_"
					 "tokens\":512}}\n\n" CHAT_DONE);
	assert_int_equal(d.usage.output_tokens, 502);
	decode_release(&d);
}

static void test_nonsense(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat, "data: {\"choices\":[{\n\n");
	assert_int_equal(d.error.class, LLM_ERROR_PROTOCOL);
	decode_release(&d);
	decode_whole(&d, &wire_openai_chat,
		     "data: 7\n\ndata: \"s\"\n\ndata: {\"choices\":7}\n\n"
		     "data: {\"choices\":[null]}\n\ndata: {\"choices\":[{\"delta\":[]}]}\n\n");
	assert_false(d.failed);
	assert_int_equal(d.stop, LLM_STOP_TRUNCATED);
	decode_release(&d);
	decode_init(&d, &wire_anthropic.responses, NULL);
	decode_body(&d, "<html><title>x</title>", 22);
	assert_int_equal(d.error.class, LLM_ERROR_PROTOCOL);
	assert_non_null(strstr(d.error.message, "web page"));
	decode_release(&d);
}

/* Numbers that cannot be true are no report: nothing is free because a server says so. */
static void test_usage_that_cannot_be(void **state)
{
	static const struct {
		const char *usage;
		enum llm_usage_source source;
	} cases[] = {
		{ "{\"prompt_tokens\":1,\"completion_tokens\":1}", LLM_USAGE_REPORTED },
		/* OpenRouter says so of a video, which is billed */
		{ "{\"prompt_tokens\":0,\"completion_tokens\":1}", LLM_USAGE_REPORTED },
		{ "{\"prompt_tokens\":0,\"completion_tokens\":0}", LLM_USAGE_PARTIAL },
		{ "{\"completion_tokens\":1}", LLM_USAGE_PARTIAL },
		{ "{\"prompt_tokens\":1,\"completion_tokens\":0}", LLM_USAGE_PARTIAL },
		{ "{\"prompt_tokens\":-1,\"completion_tokens\":1}", LLM_USAGE_PARTIAL },
		{ "{\"prompt_tokens\":\"many\"}", LLM_USAGE_PARTIAL },
		{ "{\"prompt_tokens\":1.5,\"completion_tokens\":1}", LLM_USAGE_PARTIAL },
		{ "{\"prompt_tokens\":99999999999999999999,\"completion_tokens\":1}",
		  LLM_USAGE_PARTIAL },
		{ "{}", LLM_USAGE_NONE },
		{ "null", LLM_USAGE_NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *stream =
			mem_printf("%sdata: {\"choices\":[],\"usage\":%s}\n\n%s",
				   CHAT("hi") CHAT_STOP, cases[i].usage, CHAT_DONE);
		struct decode d;

		decode_whole(&d, &wire_openai_chat, stream);
		assert_true(d.terminal);
		assert_int_equal(d.usage.source, cases[i].source);
		decode_release(&d);
	}
}

/* --- requests --- */

static const struct llm_message messages[] = {
	{ "system", "be brief" },
	{ "user", "hi \"you\"\n" },
	{ "assistant", "yes" },
	{ "user", "go" },
};

static struct llm_request request(void)
{
	return (struct llm_request){ .stage = "code",
				     .messages = messages,
				     .message_count = 4,
				     .max_tokens = 50,
				     .temperature = 0.5,
				     .stream = true,
				     .cancel_fd = -1 };
}

static char *built(const struct wire *wire, const struct llm_request *r, const char *model,
		   bool official)
{
	struct json *body = wire->build(r, model, official);
	char *text = json_print(body);

	json_free(body);
	return text;
}

static void test_images(void **state)
{
	static const struct llm_image image = { "image/png", "\x89PN", 3 };
	static const struct llm_message seen[] = {
		{ "system", "be brief" },
		{ .role = "user", .content = "what?", .images = &image, .image_count = 1 },
	};
	static const struct {
		const struct wire *wire;
		const char *has;
	} cases[] = {
		{ &wire_openai_chat,
		  "[{\"type\":\"text\",\"text\":\"what?\"},{\"type\":\"image_url\",\"image_url\":"
		  "{\"url\":\"data:image/png;base64,iVBO\"}}]" },
		{ &wire_openai_responses,
		  "[{\"type\":\"input_text\",\"text\":\"what?\"},{\"type\":\"input_image\","
		  "\"image_url\":\"data:image/png;base64,iVBO\"}]" },
		{ &wire_anthropic, "[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_"
				   "type\":\"image/png\","
				   "\"data\":\"iVBO\"}},{\"type\":\"text\",\"text\":\"what?\"}]" },
		{ &wire_ollama, "\"content\":\"what?\",\"images\":[\"iVBO\"]" },
	};
	struct llm_request r = request();

	(void)state;
	r.messages = seen;
	r.message_count = 2;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = built(cases[i].wire, &r, "m", false);

		if (!strstr(text, cases[i].has))
			fail_msg("%s lacks %s", text, cases[i].has);
		free(text);
	}
	assert_true(llm_sees("gpt-5-mini") && llm_sees("anthropic/claude-sonnet-4-5"));
	assert_true(llm_sees("qwen2.5vl:7b") && llm_sees("llama3.2-vision"));
	assert_false(llm_sees("deepseek-chat") || llm_sees("qwen2.5-coder") || llm_sees(NULL));
	assert_string_equal(llm_image_type("GIF89a...", 9), "image/gif");
	assert_null(llm_image_type("text", 4));
}

static void test_build_openai(void **state)
{
	struct llm_request r = request();
	char *text = built(&wire_openai_chat, &r, "gpt-4o", false);

	(void)state;
	assert_string_equal(
		text,
		"{\"model\":\"gpt-4o\",\"messages\":["
		"{\"role\":\"system\",\"content\":\"be brief\"},"
		"{\"role\":\"user\",\"content\":\"hi \\\"you\\\"\\n\"},"
		"{\"role\":\"assistant\",\"content\":\"yes\"},"
		"{\"role\":\"user\",\"content\":\"go\"}],\"max_tokens\":50,\"temperature\":0.5,"
		"\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
	free(text);
	text = built(&wire_openai_chat, &r, "gpt-5-mini", true);
	assert_non_null(strstr(text, "\"include_obfuscation\":false"));
	free(text);
}

static void test_build_anthropic(void **state)
{
	struct llm_request r = request();
	struct error err = ERROR_INIT;
	struct json *options = json_parse("{\"top_k\":3,\"max_tokens\":9}", 26, 0, &err);

	(void)state;
	r.temperature = NAN;
	r.options = options;
	char *text = built(&wire_anthropic, &r, "claude-x", true);
	assert_string_equal(text,
			    "{\"model\":\"claude-x\",\"max_tokens\":9,"
			    "\"system\":\"be brief\",\"messages\":["
			    "{\"role\":\"user\",\"content\":\"hi \\\"you\\\"\\n\"},"
			    "{\"role\":\"assistant\",\"content\":\"yes\"},"
			    "{\"role\":\"user\",\"content\":\"go\"}],\"stream\":true,\"top_k\":3}");
	free(text);
	r.options = NULL;
	r.max_tokens = 0;
	text = built(&wire_anthropic, &r, "claude-x", true);
	assert_non_null(strstr(text, "\"max_tokens\":8192"));
	free(text);
	json_free(options);
}

static void test_build_others(void **state)
{
	struct llm_request r = request();
	char *text = built(&wire_openai_responses, &r, "o3", true);

	(void)state;
	assert_non_null(strstr(text, "\"instructions\":\"be brief\""));
	assert_non_null(strstr(text, "\"max_output_tokens\":50"));
	assert_non_null(strstr(text, "\"store\":false"));
	free(text);
	text = built(&wire_ollama, &r, "llama", false);
	assert_non_null(strstr(text, "\"options\":{\"num_predict\":50,\"temperature\":0.5}"));
	free(text);
}

/* A conversation that Ollama would cut asks for a window it fits. */
static void test_ollama_window(void **state)
{
	char *prompt = mem_printf("%030000d", 7);
	const struct llm_message one = { "user", prompt };
	struct llm_request r = request();
	struct error err = ERROR_INIT;
	struct json *options = json_parse("{\"num_ctx\":512}", 15, 0, &err);

	(void)state;
	r.messages = &one;
	r.message_count = 1;
	char *text = built(&wire_ollama, &r, "llama", false);
	assert_non_null(strstr(text, "\"num_ctx\":16384"));
	free(text);
	r.options = options;
	text = built(&wire_ollama, &r, "llama", false);
	assert_non_null(strstr(text, "\"num_ctx\":512"));
	free(text);
	free(prompt);
	json_free(options);
}

int main(void)
{
	const struct CMUnitTest llm_wire[] = {
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_error_after_200),
		cmocka_unit_test(test_inline_reasoning),
		cmocka_unit_test(test_tag_inside_code),
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_usage_in_a_chunk_without_choices),
		cmocka_unit_test(test_surrogates_and_nul),
		cmocka_unit_test(test_lonely_halves),
		cmocka_unit_test(test_a_key_given_twice),
		cmocka_unit_test(test_status_of_a_response),
		cmocka_unit_test(test_done_without_a_reason),
		cmocka_unit_test(test_reasoning_outside_of_completion),
		cmocka_unit_test(test_usage_that_cannot_be),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_build_openai),
		cmocka_unit_test(test_build_anthropic),
		cmocka_unit_test(test_build_others),
		cmocka_unit_test(test_ollama_window),
	};

	srand(20261121);
	return cmocka_run_group_tests(llm_wire, NULL, NULL);
}
