/*
 * The recorded interactions: each reply decodes to what it is known to be, however
 * it is cut into pieces; one that was cut short is never a success.
 */
#include "base/io.h"
#include "base/mem.h"
#include "llm/wire/decode.h"
#include "llm/wire/errors.h"
#include "llm/wire/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INDEX_MAX ((size_t)64 << 20)
#define SEEDS	  12 /* ways of cutting each stream into random chunks */

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
	long status;
	bool stream;
	struct buf body;
};

static const struct wire *wire_named(const char *name)
{
	static const struct wire *const wires[] = { &wire_openai_chat, &wire_anthropic,
						    &wire_openai_responses };

	for (size_t i = 0; name && i < ARRAY_SIZE(wires); i++)
		if (!strcmp(wires[i]->name, name))
			return wires[i];
	return NULL;
}

/* What is recorded: replies of both kinds, which have an expectation, and refusals. */
enum kind { STREAMS, BODIES, REFUSALS };

static enum kind kind_of(const struct record *r)
{
	if (r->status >= 300)
		return REFUSALS;
	return r->stream ? STREAMS : BODIES;
}

/* Calls check for each recorded response of a kind; returns how many. */
static int each_record(enum kind kind, void (*check)(const struct record *r))
{
	struct buf index = BUF_INIT(INDEX_MAX);
	char *rest;
	int count = 0;

	if (!read_data("index.jsonl", &index)) {
		buf_release(&index);
		return 0;
	}
	for (char *line = strtok_r(index.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct error err = ERROR_INIT;
		struct json *row = json_parse(line, strlen(line), JSON_BIG_AS_STRING, &err);
		struct record r = { .wire = wire_named(json_get_string(row, "wire")),
				    .row = row,
				    .expect = json_get(row, "expect"),
				    .id = json_get_string(row, "id"),
				    .status = (long)json_get_int(row, "status", 0),
				    .stream = json_get_bool(row, "stream", false) };

		assert_non_null(row);
		buf_init(&r.body, INDEX_MAX);
		if (r.wire && (r.expect || kind == REFUSALS) && kind_of(&r) == kind) {
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
	if (s && !strncmp(s, "<think>", 7) && (close = strstr(s, "</think>")))
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
	if (strcmp(text, d->text.data))
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
	const size_t sizes[] = { r->body.len, 1, 2, 3, 4096 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes) + SEEDS; i++) {
		struct decode d;

		decode_init(&d, &r->wire->responses, NULL);
		feed_in_chunks(&d, &r->body, i < ARRAY_SIZE(sizes) ? sizes[i] : 0);
		check_decoded(r, &d);
		decode_release(&d);
	}
}

static void check_body(const struct record *r)
{
	struct decode d;

	decode_init(&d, &r->wire->responses, NULL);
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
	if (!strncmp(found, "[DONE]", 6))
		return (size_t)(found - r->body.data) + 6;
	return (size_t)(strchr(found, '\n') - r->body.data);
}

static void check_cut_at(const struct record *r, size_t at)
{
	char *whole = expected_text(r->expect);
	struct decode d;

	decode_init(&d, &r->wire->responses, NULL);
	decode_feed(&d, r->body.data, at);
	decode_finish(&d);
	assert_false(d.failed);
	assert_false(d.terminal);
	assert_int_equal(d.stop, LLM_STOP_TRUNCATED);
	assert_int_not_equal(d.usage.source, LLM_USAGE_REPORTED);
	if (strncmp(whole, d.text.data, d.text.len))
		print_error("%s cut at %zu\n", r->id, at);
	assert_int_equal(strncmp(whole, d.text.data, d.text.len), 0);
	decode_release(&d);
	free(whole);
}

/* What a cut after each event before `last` would leave: nothing done, and no other text. */
static void check_each_event(const struct record *r, size_t last)
{
	cleanup_free char *whole = expected_text(r->expect);
	const char *at = r->body.data, *blank;
	struct decode d;

	decode_init(&d, &r->wire->responses, NULL);
	for (; (blank = strstr(at, "\n\n")); at = blank + 2) {
		if ((size_t)(blank + 2 - r->body.data) > last)
			break;
		decode_feed(&d, at, (size_t)(blank + 2 - at));
		assert_false(d.failed || d.terminal);
		assert_int_equal(strncmp(whole, d.text.data, d.text.len), 0);
	}
	decode_finish(&d);
	assert_int_equal(d.stop, LLM_STOP_TRUNCATED);
	assert_int_not_equal(d.usage.source, LLM_USAGE_REPORTED);
	decode_release(&d);
}

static void check_cuts(const struct record *r)
{
	size_t end = terminal_end(r);
	/* the JSON of the terminal event may be followed by padding */
	size_t last = r->body.data[end - 1] == ']' ? end - 1 : end;

	while (r->body.data[last - 1] == ' ')
		last--;
	if (last == end && last > 0)
		last--;
	for (size_t i = 0; i < 60; i++)
		check_cut_at(r, (size_t)rand() % last);
	check_each_event(r, last);
}

static void need(int count, int least)
{
	if (count == 0) {
		print_message("skipped: no %s/http/index.jsonl (set ASSAY_DATA)\n", data_folder());
		skip();
	}
	assert_true(count >= least);
}

static void test_recorded_streams(void **state)
{
	(void)state;
	need(each_record(STREAMS, check_stream), 43);
}

static void test_recorded_bodies(void **state)
{
	(void)state;
	need(each_record(BODIES, check_body), 233);
}

static void test_recorded_streams_cut(void **state)
{
	(void)state;
	need(each_record(STREAMS, check_cuts), 43);
}

static void check_refusal(const struct record *r)
{
	struct llm_error e = { .class = LLM_ERROR_NONE };
	char *param = NULL;

	errors_classify(r->status, r->body.data, r->body.len, &e, &param);
	assert_int_equal(e.class, LLM_ERROR_INVALID);
	assert_int_equal(e.status, r->status);
	assert_false(e.retryable);
	assert_non_null(e.message);
	assert_non_null(e.code);
	llm_error_release(&e);
	free(param);
}

static void test_recorded_refusals(void **state)
{
	(void)state;
	need(each_record(REFUSALS, check_refusal), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded_streams),
		cmocka_unit_test(test_recorded_bodies),
		cmocka_unit_test(test_recorded_refusals),
		cmocka_unit_test(test_recorded_streams_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
