/*
 * Walks tests/cases/wire; the format is in tests/cases/README. What test_llm_recorded asks of
 * recorded replies is asked here of our own, at every byte: however a stream is cut into pieces it
 * says the same, and one that breaks off before its end is never a success.
 */
#include "tests/unit/test_cases.h"

#include "llm/wire/decode.h"
#include "llm/wire/errors.h"
#include "llm/wire/wire.h"

static const struct wire *const wires[] = { &wire_openai_chat, &wire_openai_responses,
					    &wire_anthropic, &wire_ollama };

/* There is a case of each for every wire; calls are of tools. */
enum kind { STREAM, STREAM_CUT, STREAM_ERROR, STREAM_CALL, BODY, BODY_ERROR, BODY_CALL, KINDS };
static const char *const kind_names[] = { "a stream",	  "a stream that is cut",
					  "its error",	  "its call of a tool",
					  "a whole body", "an error as a body",
					  "a body's call" };
static size_t met[ARRAY_SIZE(wires)][KINDS];

static enum kind kind_of(const struct one_case *c)
{
	const char *stream = get(c, "stream"), *stop = get(c, "stop");

	if (stream && !strcmp(stream, "cut"))
		return STREAM_CUT;
	if (get(c, "class"))
		return stream ? STREAM_ERROR : BODY_ERROR;
	if (stop && !strcmp(stop, "tool"))
		return stream ? STREAM_CALL : BODY_CALL;
	return stream ? STREAM : BODY;
}

/* The case is of that wire, which is noted. */
static const struct wire *wire_of(const struct one_case *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(wires); i++) {
		if (!strcmp(wires[i]->name, get(c, "wire"))) {
			met[i][kind_of(c)]++;
			return wires[i];
		}
	}
	fail_msg("no wire %s", get(c, "wire"));
	return NULL;
}

/* Of a text in a section the last newline is the section's. */
static bool same_text(const struct one_case *c, const char *key, const char *is)
{
	const char *want = get(c, key);
	size_t len = want ? strlen(want) : 0;

	if (len && want[len - 1] == '\n')
		len--;
	if (!want || (strlen(is) == len && !memcmp(want, is, len)))
		return true;
	print_error("%s: %s is \"%s\", expected \"%.*s\"\n", c->name, key, is, (int)len, want);
	return false;
}

static bool same_error(const struct one_case *c, const struct llm_error *e)
{
	return same(c, "class", llm_error_class_name(e->class)) && says(c, e->message) &&
	       same(c, "retryable", e->retryable ? "yes" : "no");
}

static bool is_as_said(const struct one_case *c, const struct decode *d)
{
	if (!!get(c, "class") != d->failed) {
		print_error("%s: %s\n", c->name, d->failed ? d->error.message : "no error");
		return false;
	}
	return same_error(c, &d->error) && same_text(c, "text", d->text.data) &&
	       same_text(c, "reasoning", d->reasoning.data) &&
	       (d->failed || same(c, "stop", llm_stop_name(d->stop))) &&
	       same(c, "raw", d->raw_stop) && same(c, "model", d->model) &&
	       same(c, "usage", llm_usage_source_name(d->usage.source)) &&
	       same_number(c, "input", (long)d->usage.input_tokens) &&
	       same_number(c, "cached", (long)d->usage.cached_tokens) &&
	       same_number(c, "output", (long)d->usage.output_tokens) &&
	       same_number(c, "thought", (long)d->usage.reasoning_tokens);
}

/* The first len bytes of a stream in pieces of that size. */
static void feed(struct decode *d, const struct wire *wire, const char *bytes, size_t len,
		 size_t size)
{
	decode_init(d, &wire->responses, NULL);
	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < size ? len - at : size;
		if (decode_feed(d, bytes + at, n) < 0)
			break;
	}
	decode_finish(d);
}

static bool in_pieces(const struct one_case *c, const struct wire *wire, const char *bytes)
{
	size_t len = strlen(bytes);
	bool ok = true;

	for (size_t size = 1; ok && size <= len; size += size < 16 ? 1 : size / 2) {
		cleanup_decode struct decode d;

		feed(&d, wire, bytes, len, size);
		ok = is_as_said(c, &d);
		if (!ok)
			print_error("%s: in pieces of %zu\n", c->name, size);
	}
	return ok;
}

/* Cut at each byte: before its end it is cut, and its text the beginning of the whole. */
static bool cut_everywhere(const struct one_case *c, const struct wire *wire, const char *bytes)
{
	cleanup_decode struct decode whole;
	size_t len = strlen(bytes), cuts = 0, at;
	bool ended = false;

	feed(&whole, wire, bytes, len, len);
	for (at = 0; at < len; at++) {
		cleanup_decode struct decode d;

		feed(&d, wire, bytes, at, len);
		if (d.failed || strncmp(whole.text.data, d.text.data, d.text.len))
			break;
		if (ended ? !d.terminal : !d.terminal && d.stop != LLM_STOP_TRUNCATED)
			break;
		if (!d.terminal && d.usage.source == LLM_USAGE_REPORTED)
			break;
		ended = d.terminal;
		cuts += !ended;
	}
	if (at == len && cuts * 2 > len)
		return true;
	print_error("%s: cut at %zu of %zu, %zu of them before its end\n", c->name, at, len, cuts);
	return false;
}

static bool run_refusal(const struct one_case *c)
{
	struct llm_error e = { .class = LLM_ERROR_NONE };
	const char *body = get(c, "response");
	char *param = NULL;

	errors_classify(number(c, "status", 0), body, strlen(body), &e, &param);
	bool ok = same_error(c, &e) && same(c, "param", param) && same(c, "code", e.code);
	llm_error_release(&e);
	free(param);
	return ok;
}

static bool run_body(const struct one_case *c, const struct wire *wire, const char *bytes)
{
	cleanup_decode struct decode d;

	decode_init(&d, &wire->responses, NULL);
	decode_body(&d, bytes, strlen(bytes));
	return is_as_said(c, &d);
}

static bool run_cut(const struct one_case *c, const struct wire *wire, const char *bytes)
{
	cleanup_free char *cut = mem_strndup(bytes, strlen(bytes) - 1);

	return in_pieces(c, wire, cut);
}

static bool run_wire(const struct one_case *c)
{
	const char *bytes = get(c, "response");

	if (!get(c, "wire"))
		return run_refusal(c);
	const struct wire *wire = wire_of(c);
	if (!get(c, "stream"))
		return run_body(c, wire, bytes);
	if (!strcmp(get(c, "stream"), "cut"))
		return run_cut(c, wire, bytes);
	return in_pieces(c, wire, bytes) && (get(c, "class") || cut_everywhere(c, wire, bytes));
}

static void test_wire_cases(void **state)
{
	(void)state;
	run_folder("wire", run_wire);
}

/* After the cases: nothing that is recorded outside the repository is without one of our own. */
static void test_each_kind_has_a_case(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wires); i++)
		for (size_t kind = 0; kind < KINDS; kind++)
			if (!met[i][kind])
				fail_msg("no case of %s: %s", wires[i]->name, kind_names[kind]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_wire_cases),
					    cmocka_unit_test(test_each_kind_has_a_case) };

	return cmocka_run_group_tests_name("wire cases", tests, NULL, NULL);
}
