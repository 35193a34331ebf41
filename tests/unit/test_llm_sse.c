/*
 * The event splitter and the inline-reasoning splitter, one byte at a time and whole. What an event
 * means is test_llm_wire.c's, any other bytes tests/fuzz/sse.c's.
 */
#include "base/mem.h"
#include "llm/wire/sse.h"
#include "llm/think.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Events are collected as "[data]", a tail as "<data>". */
static void collect(void *self, const char *data, size_t len, bool tail)
{
	struct buf *out = self;

	buf_addch(out, tail ? '<' : '[');
	buf_add(out, data, len);
	buf_addch(out, tail ? '>' : ']');
}

static void check_bytes(enum sse_framing framing, const char *in, size_t len, size_t step,
			const char *expected)
{
	struct buf out = BUF_INIT(4096);
	struct sse s;

	sse_init(&s, framing, 4096, collect, &out);
	for (size_t i = 0; i < len; i += step)
		assert_int_equal(sse_feed(&s, in + i, len - i < step ? len - i : step), 0);
	assert_int_equal(sse_finish(&s), 0);
	assert_string_equal(out.data, expected);
	sse_release(&s);
	buf_release(&out);
}

static void check(const char *in, const char *expected)
{
	for (size_t step = 1; step < 8; step++)
		check_bytes(SSE_EVENTS, in, strlen(in), step, expected);
	check_bytes(SSE_EVENTS, in, strlen(in), strlen(in) + 1, expected);
}

static void test_line_ends(void **state)
{
	(void)state;
	check("data: a\n\ndata: b\n\n", "[a][b]");
	check("data: a\r\n\r\ndata: b\r\n\r\n", "[a][b]");
	check("data: a\r\rdata: b\r\r", "[a][b]");
	check("data: a\r\n\ndata: b\n\r\n", "[a][b]");
}

static void test_fields(void **state)
{
	(void)state;
	check("\xef\xbb\xbf"
	      "data: a\n\n",
	      "[a]");
	check("data: \xef\xbb\xbf\n\n", "[\xef\xbb\xbf]");
	check(": ping\n\ndata: a\n: x\ndata: b\n\n: y\n\n", "[a\nb]");
	check("event: e\nid: 7\nretry: 9\ndata:a\n\n", "[a]");
	check("data:  a\n\n", "[ a]");
	check("data\n\ndata:\n\n", "[][]");
	check("database: x\ndat: y\nDATA: z\n\n", "");
	check("event: only\n\n\n\n", "");
}

static void test_missing_last_blank_line(void **state)
{
	(void)state;
	check("data: a\n\ndata: b\n", "[a]<b>");
	check("data: a\n\ndata: b", "[a]<b>");
	check("data: a\n\n", "[a]");
	check("", "");
}

static void test_nul_and_high_bytes(void **state)
{
	static const char in[] = "data: a\0b\xff\n\n";
	struct buf out = BUF_INIT(64);
	struct sse s;

	(void)state;
	sse_init(&s, SSE_EVENTS, 64, collect, &out);
	assert_int_equal(sse_feed(&s, in, sizeof(in) - 1), 0);
	assert_int_equal(out.len, 6);
	assert_memory_equal(out.data, "[a\0b\xff]", 6);
	sse_release(&s);
	buf_release(&out);
}

static void test_lines(void **state)
{
	(void)state;
	for (size_t step = 1; step < 9; step++)
		check_bytes(SSE_LINES, "{1}\n\r\n{2}\r\n{3}", 14, step, "[{1}][{2}]<{3}>");
}

static void count(void *self, const char *data, size_t len, bool tail)
{
	(void)data;
	(void)tail;
	*(size_t *)self += len;
}

static void test_a_long_line_and_the_ceiling(void **state)
{
	const size_t len = (size_t)1 << 20;
	char *line = mem_alloc(len);
	size_t total = 0;

	(void)state;
	memset(line, 'x', len);
	memcpy(line, "data: ", 6);
	line[len - 2] = line[len - 1] = '\n';
	struct sse s;
	sse_init(&s, SSE_EVENTS, 2 * len, count, &total);
	for (size_t i = 0; i < len; i += 1000)
		assert_int_equal(sse_feed(&s, line + i, len - i < 1000 ? len - i : 1000), 0);
	assert_int_equal(total, len - 8);
	sse_release(&s);

	total = 0;
	sse_init(&s, SSE_EVENTS, len / 2, count, &total);
	assert_int_equal(sse_feed(&s, line, len - 2), -1);
	assert_int_equal(total, 0);
	sse_release(&s);
	free(line);
}

/* An endless event of many short lines has a ceiling too. */
static void test_endless_event(void **state)
{
	size_t total = 0;
	struct sse s;
	int rc = 0;

	(void)state;
	sse_init(&s, SSE_EVENTS, 1000, count, &total);
	for (int i = 0; i < 1000 && rc == 0; i++)
		rc = sse_feed(&s, "data: abc\n", 10);
	assert_int_equal(rc, -1);
	sse_release(&s);
}

/* Reasoning in (), text as it is. */
static void take_piece(void *self, bool reasoning, const char *bytes, size_t len)
{
	struct buf *out = self;

	for (size_t i = 0; i < len; i++)
		buf_addf(out, reasoning ? "(%c)" : "%c", bytes[i]);
}

static void check_think_end(const char *in, bool cut, const char *expected)
{
	for (size_t step = 1; step <= strlen(in) + 1; step++) {
		struct buf out = BUF_INIT(4096);
		struct think t = { .piece = take_piece, .self = &out };
		size_t len = strlen(in);

		for (size_t i = 0; i < len; i += step)
			think_feed(&t, in + i, len - i < step ? len - i : step);
		think_finish(&t, cut);
		assert_string_equal(out.data, expected);
		buf_release(&out);
	}
}

static void check_think(const char *in, const char *expected)
{
	check_think_end(in, false, expected);
}

static void test_think(void **state)
{
	(void)state;
	check_think("<think>ab</think>\n\nc", "(a)(b)c");
	check_think(" \n<think>a</think>b", "(a)b");
	check_think("<think>a<</think>b", "(a)(<)b");
	check_think("<think>a</thin</think>b", "(a)(<)(/)(t)(h)(i)(n)b");
	check_think("<think>a", "(a)");
	check_think("<think>a</th", "(a)(<)(/)(t)(h)");
	check_think("<thi", "<thi");
	check_think("  plain", "  plain");
	check_think("x<think>y</think>", "x<think>y</think>");
	check_think("<think></think>", "");
	check_think("\n\n\n", "\n\n\n");
}

/* What was to be a tag is no answer; what may have been one is, when nothing was cut. */
static void test_think_cut(void **state)
{
	(void)state;
	check_think_end("<thi", true, "(<)(t)(h)(i)");
	check_think_end(" \n<think", true, "( )(\n)(<)(t)(h)(i)(n)(k)");
	check_think_end("<think>a</th", true, "(a)(<)(/)(t)(h)");
	check_think_end("<think>a</think>b<", true, "(a)b<");
	check_think_end("<table", true, "<table");
	check_think_end("\n\n", true, "\n\n");
	check_think_end("", true, "");
}

static void test_think_after_much_blank(void **state)
{
	struct buf out = BUF_INIT(4096);
	struct think t = { .piece = take_piece, .self = &out };

	(void)state;
	for (int i = 0; i < 1000; i++)
		think_feed(&t, " ", 1);
	think_feed(&t, "x", 1);
	think_finish(&t, false);
	assert_int_equal(out.len, 1001);
	buf_release(&out);
}

static const char *const kinds[] = { "think", "thinking", "thought", "reasoning" };

/* Whatever the tag is called, and wherever a piece of the stream ends in it. */
static void test_every_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cleanup_free char *in = mem_printf("\n<%s>a</%s>\n\nb", kinds[i], kinds[i]);
		cleanup_free char *about =
			mem_printf("x <%s>y</%s> `</%s>`", kinds[i], kinds[i], kinds[i]);

		check_think(in, "(a)b");
		check_think(about, about);
	}
}

/* The stream is cut after each byte of the two tags. */
static void test_cut_in_every_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cleanup_free char *in = mem_printf("<%s></%s>", kinds[i], kinds[i]);
		size_t open = strlen(kinds[i]) + 2;

		for (size_t len = 1; len < strlen(in); len++) {
			cleanup_free char *cut = mem_strndup(in, len);
			cleanup_buf struct buf thought = BUF_INIT(4096);

			buf_addstr(&thought, "");
			for (size_t at = len < open ? 0 : open; at < len; at++)
				buf_addf(&thought, "(%c)", in[at]);
			check_think_end(cut, true, thought.data);
		}
	}
}

/* A tag of another kind is part of what is thought. */
static void test_kinds_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
			cleanup_free char *in = mem_printf("<%s></%s>", kinds[i], kinds[k]);
			cleanup_buf struct buf thought = BUF_INIT(4096);

			buf_addstr(&thought, "");
			for (const char *c = strchr(in, '>') + 1; i != k && *c; c++)
				buf_addf(&thought, "(%c)", *c);
			check_think(in, thought.data);
		}
	check_think("<thinking>a</think>b</thinking>c", "(a)(<)(/)(t)(h)(i)(n)(k)(>)(b)c");
}

static void test_closing_only(void **state)
{
	size_t end, start;

	(void)state;
	assert_true(think_closing_only("a</think>\nb", 11, &end, &start));
	assert_int_equal(end, 1);
	assert_int_equal(start, 10);
	assert_false(think_closing_only("a", 1, &end, &start));
	assert_false(think_closing_only("`</think>`", 10, &end, &start));
	assert_false(think_closing_only("```\n</think>\n```", 16, &end, &start));
	assert_true(think_closing_only("```\nx\n```\n</think>", 18, &end, &start));
	assert_int_equal(start, 18);
	assert_true(think_closing_only("a</reasoning>b", 14, &end, &start));
	assert_int_equal(end, 1);
	assert_int_equal(start, 13);
	/* The first that nothing of its kind has opened. */
	assert_true(think_closing_only("<thought>a</thought></think>b", 29, &end, &start));
	assert_int_equal(end, 20);
	assert_true(think_closing_only("a</thought>b</think>", 20, &end, &start));
	assert_int_equal(end, 1);
	assert_false(think_closing_only("<thought>a</thought>", 20, &end, &start));
}

int main(void)
{
	const struct CMUnitTest llm_sse[] = {
		cmocka_unit_test(test_line_ends),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_missing_last_blank_line),
		cmocka_unit_test(test_nul_and_high_bytes),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_a_long_line_and_the_ceiling),
		cmocka_unit_test(test_endless_event),
		cmocka_unit_test(test_think),
		cmocka_unit_test(test_think_cut),
		cmocka_unit_test(test_think_after_much_blank),
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_cut_in_every_kind),
		cmocka_unit_test(test_kinds_apart),
		cmocka_unit_test(test_closing_only),
	};

	return cmocka_run_group_tests(llm_sse, NULL, NULL);
}
