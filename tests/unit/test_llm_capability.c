/*
 * What servers refuse: known beforehand, repaired once, remembered. No server is asked: each answer
 * is written here.
 */
#include "base/mem.h"
#include "llm/wire/capability.h"

#include "llm/http/target.h"
#include "llm/wire/errors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OPENAI "https://api.openai.com/v1"

static struct json *parsed(const char *text)
{
	struct error err = ERROR_INIT;
	struct json *value = json_parse(text, strlen(text), 0, &err);

	assert_non_null(value);
	return value;
}

static struct capability_lessons lessons;

static struct capability_target target(enum llm_wire wire, const char *url, const char *model)
{
	return (struct capability_target){
		.wire = wire,
		.base_url = url,
		.model = model,
		.official = target_official(wire, url) || target_azure(url),
	};
}

/* --- known --- */

static void check_apply(const struct capability_target *t, const char *body_text,
			const char *options_text, const char *expected, size_t notes_expected)
{
	struct json *body = parsed(body_text), *options = parsed(options_text), *notes = NULL;

	capability_apply(body, t, &lessons, options, &notes);
	char *after = json_print(body);
	assert_string_equal(after, expected);
	assert_int_equal(json_count(notes), notes_expected);
	free(after);
	json_free(body);
	json_free(options);
	json_free(notes);
}

static void test_openai_reasoning_models(void **state)
{
	static const char *const models[] = { "o1", "o3-mini", "o4-mini", "gpt-5.2", "gpt-5-mini" };
	static const char *const others[] = { "gpt-4o", "olmo", "o", "claude" };
	struct capability_target t;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		t = target(LLM_WIRE_OPENAI_CHAT, OPENAI, models[i]);
		check_apply(&t, "{\"max_tokens\":5,\"temperature\":0}", "{\"temperature\":0}",
			    "{\"max_completion_tokens\":5}", 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		t = target(LLM_WIRE_OPENAI_CHAT, OPENAI, others[i]);
		check_apply(&t, "{\"max_tokens\":5,\"temperature\":0}", "{\"temperature\":0}",
			    "{\"max_tokens\":5,\"temperature\":0}", 0);
	}
	/* Another's server with a model of that name: nothing is known of it. */
	t = target(LLM_WIRE_OPENAI_CHAT, "http://127.0.0.1:8080/v1", "gpt-5");
	check_apply(&t, "{\"max_tokens\":5}", "{}", "{\"max_tokens\":5}", 0);
	t = target(LLM_WIRE_OPENAI_CHAT, "https://r.openai.azure.com/openai/v1", "gpt-5");
	check_apply(&t, "{\"max_tokens\":5}", "{}", "{\"max_completion_tokens\":5}", 0);
}

static void test_quirks_and_anthropic(void **state)
{
	struct capability_target t = target(LLM_WIRE_OPENAI_CHAT, "https://x/v1", "m");

	(void)state;
	t.quirks = LLM_QUIRK_NO_STREAM_OPTIONS;
	check_apply(&t, "{\"stream\":true,\"stream_options\":{}}", "{}", "{\"stream\":true}", 0);
	t.quirks = LLM_QUIRK_COMPLETION_TOKENS;
	check_apply(&t, "{\"max_tokens\":7}", "{}", "{\"max_completion_tokens\":7}", 0);
	t = target(LLM_WIRE_ANTHROPIC, "https://api.anthropic.com", "claude-opus-4-7");
	check_apply(&t, "{\"max_tokens\":7,\"top_k\":1}", "{\"top_k\":1}", "{\"max_tokens\":7}", 1);
	t.model = "claude-sonnet-4-5";
	check_apply(&t, "{\"max_tokens\":7,\"top_k\":1}", "{\"top_k\":1}",
		    "{\"max_tokens\":7,\"top_k\":1}", 0);
}

/* --- refused --- */

static void check_repair(const char *model, const char *body_text, const char *error_text,
			 const char *expected)
{
	struct capability_target t = target(LLM_WIRE_OPENAI_CHAT, "http://server/v1", model);
	struct json *body = parsed(body_text);
	struct llm_error e = { .class = LLM_ERROR_NONE };
	char *param = NULL;

	errors_classify(400, error_text, strlen(error_text), &e, &param);
	char *what = capability_repair(body, &t, &lessons, &e, param);
	char *after = json_print(body);
	assert_string_equal(after, expected ? expected : body_text);
	assert_true(!what == !expected);
	free(what);
	free(after);
	free(param);
	llm_error_release(&e);
	json_free(body);
}

static const char no_max_tokens[] =
	"{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens' is not supported with this "
	"model. Use 'max_completion_tokens' instead.\",\"param\":\"max_tokens\",\"code\":"
	"\"unsupported_parameter\"}}";

static void test_repair(void **state)
{
	(void)state;
	check_repair("a", "{\"model\":\"m\",\"messages\":[],\"max_tokens\":5}", no_max_tokens,
		     "{\"model\":\"m\",\"messages\":[],\"max_completion_tokens\":5}");
	check_repair("b", "{\"model\":\"m\",\"temperature\":0.5}",
		     "{\"error\":{\"message\":\"Unsupported value: 'temperature' does not support "
		     "0.5\",\"param\":\"temperature\",\"code\":\"unsupported_value\"}}",
		     "{\"model\":\"m\"}");
	check_repair("c", "{\"model\":\"m\",\"stream_options\":{}}",
		     "{\"error\":{\"message\":\"Unrecognized request argument supplied: "
		     "'stream_options'\"}}",
		     "{\"model\":\"m\"}");
	check_repair("d", "{\"model\":\"m\",\"top_k\":1}",
		     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
		     "\"message\":\"top_k: Extra inputs are not permitted\"}}",
		     "{\"model\":\"m\"}");
	check_repair("e", "{\"model\":\"m\",\"temperature\":1}",
		     "{\"error\":{\"type\":\"invalid_request_error\",\"message\":"
		     "\"`temperature` is deprecated for this model.\"}}",
		     "{\"model\":\"m\"}");
}

/* A value of the user's that is out of range is the user's to change. */
static void test_no_repair(void **state)
{
	(void)state;
	check_repair("m", "{\"temperature\":-1}",
		     "{\"error\":{\"message\":\"Invalid 'temperature': "
		     "decimal below minimum value\",\"param\":\"temperature\"}}",
		     NULL);
	check_repair("m", "{\"model\":\"m\"}",
		     "{\"error\":{\"message\":\"Unknown parameter: 'zzz'\","
		     "\"param\":\"zzz\"}}",
		     NULL);
	check_repair("m", "{\"model\":\"m\"}",
		     "{\"error\":{\"message\":\"model not supported\","
		     "\"param\":\"model\"}}",
		     NULL);
	check_repair("m", "{\"messages\":[]}",
		     "{\"error\":{\"message\":\"unsupported\",\"param\":"
		     "\"messages[0].role\"}}",
		     NULL);
}

/* Without a bound the reply could cost anything: it is renamed or the error stands. */
static void test_a_bound_is_never_given_up(void **state)
{
	(void)state;
	check_repair("m", "{\"max_completion_tokens\":5,\"max_tokens\":5}", no_max_tokens, NULL);
	check_repair("n", "{\"max_completion_tokens\":5}",
		     "{\"error\":{\"message\":\"Unknown parameter: 'max_completion_tokens'\","
		     "\"param\":\"max_completion_tokens\"}}",
		     "{\"max_tokens\":5}");
}

static void test_remembered(void **state)
{
	struct capability_target t = target(LLM_WIRE_OPENAI_CHAT, "http://server/v1", "taught");

	(void)state;
	check_apply(&t, "{\"max_tokens\":5}", "{}", "{\"max_tokens\":5}", 0);
	check_repair("taught", "{\"max_tokens\":5}", no_max_tokens,
		     "{\"max_completion_tokens\":5}");
	check_apply(&t, "{\"max_tokens\":5}", "{}", "{\"max_completion_tokens\":5}", 1);
	t.model = "another";
	check_apply(&t, "{\"max_tokens\":5}", "{}", "{\"max_tokens\":5}", 0);
	t = target(LLM_WIRE_OPENAI_CHAT, "http://other/v1", "taught");
	check_apply(&t, "{\"max_tokens\":5}", "{}", "{\"max_tokens\":5}", 0);
}

/* What one client was taught is not what another knows. */
static void test_lessons_are_the_clients(void **state)
{
	struct capability_target t = target(LLM_WIRE_OPENAI_CHAT, "http://server/v1", "taught");

	(void)state;
	check_repair("taught", "{\"max_tokens\":5}", no_max_tokens,
		     "{\"max_completion_tokens\":5}");
	struct capability_lessons taught = lessons;
	lessons = (struct capability_lessons){ .count = 0 };
	check_apply(&t, "{\"max_tokens\":5}", "{}", "{\"max_tokens\":5}", 0);
	capability_forget(&taught);
	assert_int_equal(taught.count, 0);
}

/* --- bounds --- */

static void check_bound(const char *body_text, int64_t most, const char *options_text,
			const char *expected)
{
	struct json *body = parsed(body_text), *options = parsed(options_text), *notes = NULL;

	capability_bound(body, most, options, &notes);
	char *after = json_print(body);
	assert_string_equal(after, expected);
	free(after);
	json_free(body);
	json_free(options);
	json_free(notes);
}

static void test_options_cannot_pass_the_bound(void **state)
{
	(void)state;
	check_bound("{\"max_tokens\":90000}", 100, "{\"max_tokens\":90000}",
		    "{\"max_tokens\":100}");
	check_bound("{\"max_tokens\":50}", 100, "{\"max_tokens\":50}", "{\"max_tokens\":50}");
	check_bound("{\"max_tokens\":-1}", 100, "{\"max_tokens\":-1}", "{\"max_tokens\":100}");
	check_bound("{\"max_tokens\":\"x\"}", 100, "{}", "{\"max_tokens\":100}");
	check_bound("{\"max_tokens\":100,\"max_completion_tokens\":900}", 100,
		    "{\"max_completion_tokens\":900}", "{\"max_completion_tokens\":100}");
	check_bound("{\"options\":{\"num_predict\":-2}}", 100, "{}",
		    "{\"options\":{\"num_predict\":100}}");
	check_bound("{\"n\":5,\"best_of\":9}", 100, "{\"n\":5}", "{}");
	check_bound("{\"max_tokens\":90000}", 0, "{\"max_tokens\":90000}",
		    "{\"max_tokens\":90000}");
}

int main(void)
{
	const struct CMUnitTest llm_capability[] = {
		cmocka_unit_test(test_openai_reasoning_models),
		cmocka_unit_test(test_quirks_and_anthropic),
		cmocka_unit_test(test_repair),
		cmocka_unit_test(test_no_repair),
		cmocka_unit_test(test_a_bound_is_never_given_up),
		cmocka_unit_test(test_remembered),
		cmocka_unit_test(test_lessons_are_the_clients),
		cmocka_unit_test(test_options_cannot_pass_the_bound),
	};

	return cmocka_run_group_tests(llm_capability, NULL, NULL);
}
