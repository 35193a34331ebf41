/* Requests as they are built, and responses as they are decoded: recorded and made up. */
#include "base/io.h"
#include "base/mem.h"
#include "llm/decode.h"
#include "llm/errors.h"
#include "llm/wire.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INDEX_MAX ((size_t)64 << 20)

/* --- the recorded interactions --- */

static const char *data_folder(void)
{
	const char *folder = getenv("ASSAY_DATA");

	return folder ? folder : "../shared/data";
}

static bool read_data(const char *name, struct buf *out)
{
	struct error err = ERROR_INIT;
	char *path = mem_printf("%s/http/%s", data_folder(), name);
	int rc = io_read_file(path, out, &err);

	free(path);
	return rc == 0;
}

struct record {
	const struct wire *wire;
	const struct json *row, *expect;
	const char *id;
	bool stream;
	struct buf body;
};

static const struct wire *wire_named(const char *name)
{
	static const struct wire *const wires[] = { &wire_openai_chat, &wire_anthropic,
						    &wire_openai_responses };

	for (size_t i = 0; name && i < ARRAY_SIZE(wires); i++)
		if (strcmp(wires[i]->name, name) == 0)
			return wires[i];
	return NULL;
}

/* Calls check for each recorded response with an expectation; returns how many. */
static int each_record(bool stream, void (*check)(const struct record *r))
{
	struct buf index = BUF_INIT(INDEX_MAX);
	char *line, *rest;
	int count = 0;

	if (!read_data("index.jsonl", &index)) {
		buf_release(&index);
		return 0;
	}
	for (line = strtok_r(index.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct error err = ERROR_INIT;
		struct json *row = json_parse(line, strlen(line), JSON_BIG_AS_STRING, &err);
		struct record r = { .wire = wire_named(json_get_string(row, "wire")), .row = row,
				    .expect = json_get(row, "expect"),
				    .id = json_get_string(row, "id"),
				    .stream = json_get_bool(row, "stream", false) };

		assert_non_null(row);
		buf_init(&r.body, INDEX_MAX);
		if (r.wire && r.expect && r.stream == stream) {
			assert_true(read_data(json_get_string(row, "body_file"), &r.body));
			check(&r);
			count++;
		}
		buf_release(&r.body);
		json_free(row);
	}
	buf_release(&index);
	return count;
}

/* Text of the expectation, split from inline reasoning as assay does. Caller frees. */
static char *expected_text(const struct json *expect)
{
	const struct json *text = json_get(expect, "text");
	const char *s = json_string(text);
	struct buf joined = BUF_INIT(INDEX_MAX);
	const char *close;

	for (const struct json *part = json_first(text); part; part = json_next(part))
		if (json_get_string(part, "text"))
			buf_addstr(&joined, json_get_string(part, "text"));
	if (s && strncmp(s, "<think>", 7) == 0 && (close = strstr(s, "</think>")) != NULL)
		s = close + 8 + strspn(close + 8, "\n");
	buf_addstr(&joined, s ? s : "");
	return buf_take(&joined, NULL);
}

static int64_t expected_input(const struct json *usage)
{
	if (json_get(usage, "prompt_tokens"))
		return json_get_int(usage, "prompt_tokens", -1);
	return json_get_int(usage, "input_tokens", 0) +
	       json_get_int(usage, "cache_creation_input_tokens", 0) +
	       json_get_int(usage, "cache_read_input_tokens", 0);
}

static void check_decoded(const struct record *r, const struct decode *d)
{
	char *text = expected_text(r->expect);
	const char *finish = json_get_string(r->expect, "finish");
	const char *reasoning = json_get_string(r->expect, "reasoning");
	const struct json *usage = json_get(r->expect, "usage");

	if (d->failed)
		print_error("%s: %s\n", r->id, d->error.message);
	assert_false(d->failed);
	assert_true(d->terminal);
	if (strcmp(text, d->text.data) != 0)
		print_error("%s: text differs\n", r->id);
	assert_string_equal(text, d->text.data);
	if (finish && *finish)
		assert_string_equal(finish, d->raw_stop);
	else
		assert_int_equal(d->stop, LLM_STOP_STOP);
	if (reasoning && *reasoning)
		assert_non_null(strstr(d->reasoning.data, reasoning));
	if (json_count(usage) > 0) {
		const char *out = json_get(usage, "completion_tokens") ? "completion_tokens" :
									 "output_tokens";

		assert_int_equal(d->usage.source, LLM_USAGE_REPORTED);
		assert_int_equal(d->usage.input_tokens, expected_input(usage));
		assert_int_equal(d->usage.output_tokens, json_get_int(usage, out, -1));
	}
	free(text);
}

/* size 0: random chunks. */
static void feed_in_chunks(struct decode *d, const struct buf *body, size_t size)
{
	size_t at = 0;

	while (at < body->len) {
		size_t n = size ? size : 1 + (size_t)rand() % 700;

		if (n > body->len - at)
			n = body->len - at;
		assert_int_equal(decode_feed(d, body->data + at, n), 0);
		at += n;
	}
	decode_finish(d);
}

static void check_stream(const struct record *r)
{
	const size_t sizes[] = { r->body.len, 1, 0, 0, 0, 4096 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct decode d;

		decode_init(&d, r->wire, NULL);
		feed_in_chunks(&d, &r->body, sizes[i]);
		check_decoded(r, &d);
		decode_release(&d);
	}
}

static void check_body(const struct record *r)
{
	struct decode d;

	decode_init(&d, r->wire, NULL);
	decode_body(&d, r->body.data, r->body.len);
	check_decoded(r, &d);
	decode_release(&d);
}

/* Where the wire's last event is complete: cuts after it lose nothing. */
static size_t terminal_end(const struct record *r)
{
	static const char *const marks[] = { "[DONE]", "\"message_stop\"",
					     "\"response.completed\"" };
	const char *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(marks) && !found; i++)
		found = memmem(r->body.data, r->body.len, marks[i], strlen(marks[i]));
	if (!found)
		return r->body.len;
	if (strncmp(found, "[DONE]", 6) == 0)
		return (size_t)(found - r->body.data) + 6;
	return (size_t)(strchr(found, '\n') - r->body.data);
}

static void check_cut_at(const struct record *r, size_t at)
{
	char *whole = expected_text(r->expect);
	struct decode d;

	decode_init(&d, r->wire, NULL);
	decode_feed(&d, r->body.data, at);
	decode_finish(&d);
	assert_false(d.failed);
	assert_false(d.terminal);
	assert_int_equal(d.stop, LLM_STOP_TRUNCATED);
	assert_int_not_equal(d.usage.source, LLM_USAGE_REPORTED);
	if (strncmp(whole, d.text.data, d.text.len) != 0)
		print_error("%s cut at %zu\n", r->id, at);
	assert_int_equal(strncmp(whole, d.text.data, d.text.len), 0);
	decode_release(&d);
	free(whole);
}

static void check_cuts(const struct record *r)
{
	size_t end = terminal_end(r);
	/* the JSON of the terminal event may be followed by padding */
	size_t last = r->body.data[end - 1] == ']' ? end - 1 : end;
	size_t step = 1 + last / 60;

	while (r->body.data[last - 1] == ' ')
		last--;
	if (last == end && last > 0)
		last--;
	for (size_t i = 0; i < 60; i++)
		check_cut_at(r, (size_t)rand() % last);
	for (const char *p = r->body.data; (p = strstr(p, "\n\n")) != NULL; p += 2)
		if ((size_t)(p + 2 - r->body.data) <= last &&
		    (last < 60000 || (size_t)rand() % step == 0))
			check_cut_at(r, (size_t)(p + 2 - r->body.data));
}

static void need(int count, int least)
{
	if (count == 0) {
		print_message("skipped: no %s/http/index.jsonl (set ASSAY_DATA)\n",
			      data_folder());
		skip();
	}
	assert_true(count >= least);
}

static void test_recorded_streams(void **state)
{
	(void)state;
	need(each_record(true, check_stream), 43);
}

static void test_recorded_bodies(void **state)
{
	(void)state;
	need(each_record(false, check_body), 233);
}

static void test_recorded_streams_cut(void **state)
{
	(void)state;
	need(each_record(true, check_cuts), 43);
}

/* --- made-up responses --- */

static void decode_whole(struct decode *d, const struct wire *wire, const char *stream)
{
	decode_init(d, wire, NULL);
	decode_feed(d, stream, strlen(stream));
	decode_finish(d);
}

#define CHAT(content) "data: {\"choices\":[{\"delta\":{\"content\":\"" content "\"}}]}\n\n"
#define CHAT_STOP "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define CHAT_DONE "data: [DONE]\n\n"

static void test_error_after_200(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat, CHAT("par") "data: {\"error\":{\"message\":\"boom\","
		     "\"type\":\"server_error\"}}\n\n");
	assert_true(d.failed);
	assert_int_equal(d.error.class, LLM_ERROR_SERVER);
	assert_true(d.error.retryable);
	assert_string_equal(d.error.message, "boom");
	assert_string_equal(d.text.data, "par");
	decode_release(&d);
	decode_whole(&d, &wire_anthropic, "event: error\ndata: {\"type\":\"error\",\"error\":"
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
	decode_whole(&d, &wire_openai_chat, CHAT("<thi") CHAT("nk>a</th") CHAT("ink>\\n\\nb")
		     CHAT_STOP CHAT_DONE);
	assert_string_equal(d.reasoning.data, "a");
	assert_string_equal(d.text.data, "b");
	decode_release(&d);
	decode_whole(&d, &wire_openai_chat, CHAT("hm\\n</think>\\n\\nyes") CHAT_STOP CHAT_DONE);
	assert_string_equal(d.reasoning.data, "hm\n");
	assert_string_equal(d.text.data, "yes");
	decode_release(&d);
	decode_whole(&d, &wire_openai_chat, CHAT("a < b, `</think>` and <think>") CHAT_STOP
		     CHAT_DONE);
	assert_string_equal(d.text.data, "a < b, `</think>` and <think>");
	assert_int_equal(d.reasoning.len, 0);
	decode_release(&d);
}

/* Code that mentions the tag must stay code. */
static void test_tag_inside_code(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat, CHAT("See:\\n```python\\nprint('</think>')\\n```\\n")
		     CHAT_STOP CHAT_DONE);
	assert_string_equal(d.text.data, "See:\n```python\nprint('</think>')\n```\n");
	decode_release(&d);
}

static void test_refusal(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat, "data: {\"choices\":[{\"delta\":{\"refusal\":"
		     "\"No.\"}}]}\n\n" CHAT_STOP CHAT_DONE);
	assert_int_equal(d.stop, LLM_STOP_REFUSAL);
	assert_string_equal(d.text.data, "No.");
	decode_release(&d);
}

static void test_usage_in_a_chunk_without_choices(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat, CHAT("x") CHAT_STOP
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
	decode_whole(&d, &wire_openai_chat, CHAT("a\\ud83d")
		     CHAT("\\ude00b\\u0000\\\\u0000 \\ud83d\\ude00")
		     CHAT_STOP CHAT_DONE);
	assert_false(d.failed);
	assert_string_equal(d.text.data, "a\xf0\x9f\x98\x80" "b\xef\xbf\xbd\\u0000 "
			    "\xf0\x9f\x98\x80");
	decode_release(&d);
}

/* Halves that never meet their other one are lost, and only they. */
static void test_lonely_halves(void **state)
{
	static const char lost[] = "\xef\xbf\xbd";
	struct decode d;
	char *want;

	(void)state;
	decode_whole(&d, &wire_openai_chat, CHAT("a\\ud83d") CHAT("b\\ude00c")
		     CHAT("\\ud83d\\ud83d")
		     CHAT("\\ude00") CHAT("\\ude00z\\ud83d") CHAT_STOP CHAT_DONE);
	want = mem_printf("a%sb%sc%s\xf0\x9f\x98\x80%sz%s", lost, lost, lost, lost, lost);
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
	decode_whole(&d, &wire_openai_chat, "data: {\"choices\":[{\"delta\":{\"content\":\"x\","
		     "\"content\":\"y\"}}]}\n\n" CHAT_STOP CHAT_DONE);
	assert_false(d.failed);
	assert_string_equal(d.text.data, "x");
	decode_release(&d);
}

/* Gemini and xAI count reasoning in the total only. */
static void test_reasoning_outside_of_completion(void **state)
{
	struct decode d;

	(void)state;
	decode_whole(&d, &wire_openai_chat, CHAT("x") CHAT_STOP "data: {\"choices\":[],\"usage\":{"
		     "\"prompt_tokens\":10,\"completion_tokens\":2,\"total_tokens\":512}}\n\n"
		     CHAT_DONE);
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
	decode_whole(&d, &wire_openai_chat, "data: 7\n\ndata: \"s\"\n\ndata: {\"choices\":7}\n\n"
		     "data: {\"choices\":[null]}\n\ndata: {\"choices\":[{\"delta\":[]}]}\n\n");
	assert_false(d.failed);
	assert_int_equal(d.stop, LLM_STOP_TRUNCATED);
	decode_release(&d);
	decode_init(&d, &wire_anthropic, NULL);
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
			mem_printf("%sdata: {\"choices\":[],\"usage\":%s}\n\n%s", CHAT("hi")
				   CHAT_STOP, cases[i].usage, CHAT_DONE);
		struct decode d;

		decode_whole(&d, &wire_openai_chat, stream);
		assert_true(d.terminal);
		assert_int_equal(d.usage.source, cases[i].source);
		decode_release(&d);
	}
}

/* --- requests --- */

static const struct llm_message messages[] = {
	{ "system", "be brief" }, { "user", "hi \"you\"\n" }, { "assistant", "yes" },
	{ "user", "go" },
};

static struct llm_request request(void)
{
	return (struct llm_request){ .stage = "code", .messages = messages, .message_count = 4,
				     .max_tokens = 50, .temperature = 0.5, .stream = true,
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

static void test_build_openai(void **state)
{
	struct llm_request r = request();
	char *text = built(&wire_openai_chat, &r, "gpt-4o", false);

	(void)state;
	assert_string_equal(text, "{\"model\":\"gpt-4o\",\"messages\":["
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
	char *text;

	(void)state;
	r.temperature = NAN;
	r.options = options;
	text = built(&wire_anthropic, &r, "claude-x", true);
	assert_string_equal(text, "{\"model\":\"claude-x\",\"max_tokens\":9,"
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
	char *text;

	(void)state;
	r.messages = &one;
	r.message_count = 1;
	text = built(&wire_ollama, &r, "llama", false);
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
		cmocka_unit_test(test_recorded_streams),
		cmocka_unit_test(test_recorded_bodies),
		cmocka_unit_test(test_recorded_streams_cut),
		cmocka_unit_test(test_error_after_200),
		cmocka_unit_test(test_inline_reasoning),
		cmocka_unit_test(test_tag_inside_code),
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_usage_in_a_chunk_without_choices),
		cmocka_unit_test(test_surrogates_and_nul),
		cmocka_unit_test(test_lonely_halves),
		cmocka_unit_test(test_a_key_given_twice),
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
