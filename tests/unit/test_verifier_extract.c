/*
 * Fences against the CommonMark examples and real replies; the choice. Nothing that is found may
 * run; any other reply is tests/fuzz/extract.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "tests/unit/test_moment.h"
#include "verifier/reply/extract.h"
#include "verifier/reply/fence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *data_path(const char *name)
{
	const char *dir = getenv("ASSAY_DATA");

	return mem_printf("%s/%s", dir ? dir : "../shared/data", name);
}

static bool load(const char *name, struct buf *out)
{
	cleanup_free char *path = data_path(name);
	struct error err = ERROR_INIT;

	if (!io_read_file(path, out, &err))
		return true;
	printf("skipped: %s\n", err.message);
	return false;
}

static void unescape(struct buf *out, const char *html, size_t len)
{
	static const char *const entities[][2] = {
		{ "&lt;", "<" },
		{ "&gt;", ">" },
		{ "&amp;", "&" },
		{ "&quot;", "\"" },
	};
	size_t at = 0;

	while (at < len) {
		size_t i;

		for (i = 0; i < 4; i++)
			if (!strncmp(html + at, entities[i][0], strlen(entities[i][0])))
				break;
		buf_addstr(out, i < 4 ? entities[i][1] : (char[]){ html[at], '\0' });
		at += i < 4 ? strlen(entities[i][0]) : 1;
	}
}

/* Whether html holds one more <pre><code> at *at with this content. */
static bool html_has_code(const char *html, const char **at, const struct fence *f)
{
	cleanup_buf struct buf want = BUF_INIT(1 << 20);
	const char *start = strstr(*at ? *at : html, "<pre><code");

	if (!start)
		return false;
	start = strchr(start + 5, '>') + 1;
	const char *end = strstr(start, "</code></pre>");
	*at = end;
	unescape(&want, start, (size_t)(end - start));
	return want.len == f->code_len && !memcmp(want.data, f->code, want.len);
}

static size_t count_text(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		text++;
		n++;
	}
	return n;
}

/* An example whose HTML has code blocks of which none is indented code: the
 * fences must be those blocks, in order. Others: no more fences than blocks. */
static void spec_example(const struct json *e, size_t *compared)
{
	const char *md = json_get_string(e, "markdown"), *html = json_get_string(e, "html");
	cleanup_fences struct fence_list list = { 0 };
	struct error err = ERROR_INIT;
	const char *at = NULL;
	size_t i, blocks = count_text(html, "<pre><code");

	assert_int_equal(fence_scan(md, strlen(md), 0, &list, &err), 0);
	if (!strstr(md, "```") && !strstr(md, "~~~")) {
		assert_int_equal(list.count, 0);
		return;
	}
	if (json_get_int(e, "example", 0) == 134) /* indented code that shows a fence */
		blocks = 0;
	if (json_get_int(e, "example", 0) == 280) /* the last of its two is indented */
		blocks = 1;
	if (list.count != blocks)
		print_error("example %d\n", (int)json_get_int(e, "example", 0));
	assert_int_equal(list.count, blocks);
	for (i = 0; i < list.count; i++)
		assert_true(html_has_code(html, &at, &list.fences[i]));
	++*compared;
}

static void test_commonmark_spec(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	struct error err = ERROR_INIT;
	size_t compared = 0;

	(void)state;
	if (!load("commonmark-spec.json", &text))
		skip();
	cleanup_json struct json *spec = json_parse(text.data, text.len, 0, &err);
	assert_non_null(spec);
	for (const struct json *e = json_first(spec); e; e = json_next(e))
		spec_example(e, &compared);
	assert_true(compared >= 29);
	printf("%zu examples with fences compared\n", compared);
}

/* Replies whose graded program is known: is it the block that would run? */
static size_t graded, chosen_as_graded;

static size_t compare_reply(const struct json *r)
{
	const char *reply = json_get_string(r, "reply");
	const struct json *want = json_first(json_get(r, "fences"));
	struct extract_options options = { 0 };
	struct extraction x = { 0 };
	struct error err = ERROR_INIT;

	assert_int_equal(extract_code(reply, strlen(reply), &options, &x, &err), 0);
	assert_int_equal(x.count, json_count(json_get(r, "fences")));
	for (size_t i = 0; i < x.count; i++, want = json_next(want)) {
		const struct code_block *b = &x.blocks[i];

		assert_string_equal(b->info, json_get_string(want, "info"));
		assert_string_equal(b->fence, json_get_string(want, "markup"));
		assert_string_equal(b->code, json_get_string(want, "content"));
		assert_int_equal(b->closed, json_get_bool(want, "closed", false));
		assert_int_equal(b->start_line, json_get_int(want, "line", -9) + 1);
		assert_non_null(b->why);
	}
	if (json_get_string(r, "ref_code")) {
		const char *ref = json_get_string(r, "ref_code");
		const struct code_block *b = extraction_chosen(&x);

		chosen_as_graded += b && !strncmp(ref, b->code, strlen(ref));
		graded++;
	}
	size_t count = x.count;
	extraction_release(&x);
	return count;
}

static void test_real_replies(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	struct error err = ERROR_INIT;
	size_t replies = 0, fences = 0;
	char *line;

	(void)state;
	if (!load("replies.jsonl", &text))
		skip();
	for (char *rest = text.data; (line = strsep(&rest, "\n")) && *line; replies++) {
		cleanup_json struct json *r = json_parse(line, strlen(line), 0, &err);

		assert_non_null(r);
		fences += compare_reply(r);
	}
	printf("%zu replies, %zu fences; the graded program chosen in %zu of %zu\n", replies,
	       fences, chosen_as_graded, graded);
	assert_true(replies > 600);
}

/* The larger replies, one by one: how fast is printed. */
static void test_larger_replies(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	struct error err = ERROR_INIT;
	size_t bytes = 0;
	int64_t start = clock_cpu_us(), took;
	char *line;

	(void)state;
	if (!load("replies.jsonl", &text))
		skip();
	for (char *rest = text.data; (line = strsep(&rest, "\n")) && *line;) {
		cleanup_json struct json *r = json_parse(line, strlen(line), 0, &err);
		const char *reply = json_get_string(r, "reply");
		size_t n = strlen(reply);

		if (n < 3000)
			continue;
		bytes += 50 * n;
		for (size_t i = 0; i < 50; i++) {
			struct fence_list list = { 0 };

			assert_int_equal(fence_scan(reply, n, FENCE_SKIP_THINKING, &list, &err), 0);
			fence_list_release(&list);
		}
	}
	took = clock_cpu_us() - start;
	printf("replies over 3 kB: %.0f MB/s\n", (double)bytes / (double)(took ? took : 1));
	ASSERT_MOMENT("reading the larger replies", start);
}

static void scan(const char *name, const char *text, size_t len)
{
	cleanup_fences struct fence_list list = { 0 };
	struct error err = ERROR_INIT;
	int64_t start = clock_cpu_us(), took;

	fence_scan(text, len, FENCE_SKIP_THINKING, &list, &err);
	took = clock_cpu_us() - start;
	printf("%-28s %4zu MB %8.1f ms %8.0f MB/s\n", name, len >> 20, (double)took / 1000,
	       (double)len / (double)(took ? took : 1));
	ASSERT_MOMENT(name, start);
}

static void fill(char *text, size_t len, const char *pattern)
{
	size_t i, n = strlen(pattern);

	for (i = 0; i < len; i++)
		text[i] = pattern[i % n];
}

/* No shape of text may make the scanner slower than linear: of so much text it would take hours. */
static void test_linear_time(void **state)
{
	static const char *const patterns[] = {
		"`",	   "```\n",   "> ",  "- ",	 "> > > a\n", "1. ",
		"\t",	   "~~~ a\n", "<",   "</think>", "<think>",   "    ",
		"* ```\n", "\n",      "a\n", "<a b=\"",	 "</",	      "think> ",
	};
	size_t len = (size_t)8 << 20, i;
	cleanup_free char *text = mem_alloc(len + 1);

	(void)state;
	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		fill(text, len, patterns[i]);
		scan(patterns[i], text, len);
	}
	memset(text, ' ', 100);
	fill(text, len, "- - - - - - - - - - - - - - - -");
	memset(text + len / 2, '\n', len / 2);
	scan("deep items, blank lines", text, len);
}

/* Nor any of the conventions, nor the choice. */
static void test_conventions_linear(void **state)
{
	static const char *const patterns[] = {
		"<code",
		"<code>",
		"<execute>\n",
		"<tool_call>{",
		"{",
		"{\"code\":\"",
		"    x = 1\n\n",
		"a ```b",
		"[TOOL_CALLS]",
		"<parameter=code>",
		"x = (\n",
		"```python\nx\n```\n",
		"f'{",
	};
	size_t len = (size_t)1 << 20, i;
	cleanup_free char *text = mem_alloc(len + 1);

	(void)state;
	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct extraction x = { 0 };
		struct error err = ERROR_INIT;
		int64_t start = clock_cpu_us(), took;

		fill(text, i == 11 ? len / 16 : len, patterns[i]);
		text[i == 11 ? len / 16 : len] = '\0';
		if (!extract_code(text, strlen(text), NULL, &x, &err))
			extraction_release(&x);
		took = clock_cpu_us() - start;
		printf("%-28s %8.1f ms\n", patterns[i], (double)took / 1000);
		ASSERT_MOMENT(patterns[i], start);
	}
}

static void test_long_texts(void **state)
{
	static const char program[] = "    for i in range(10):\n        total += values[i] * 2\n";
	static const char prose[] = "Here is what the program does, in a line of ordinary length "
				    "as models write them.\n\n";
	size_t len = (size_t)20 << 20;
	cleanup_free char *text = mem_alloc(len + 1);

	(void)state;
	fill(text, len, "`");
	scan("backticks", text, len);
	fill(text, len, program);
	memcpy(text, "```python\n", 10);
	scan("one long program", text, len);
	fill(text, len, prose);
	scan("prose", text, len);
}

struct choice {
	const char *reply, *want, *code;
	enum extract_status status;
};

static const struct choice choices[] = {
	{ "No code here, sorry.", NULL, NULL, EXTRACT_NONE },
	{ "", NULL, NULL, EXTRACT_NONE },
	{ "```python\nprint(1)\n```\n```\n1\n```\n", "python", "print(1)\n", EXTRACT_OK },
	{ "```py\nx\n", "python", "x\n", EXTRACT_UNCLOSED },
	{ "<think>\n```python\nbad()\n```\n</think>\n```python\ngood()\n```", "python", "good()\n",
	  EXTRACT_OK },
	{ "```python\nbad()\n```\nhm.\n</think>\n\n```python\ngood()\n```", "python", "good()\n",
	  EXTRACT_OK },
	{ "let me see\n```python\nhalf\n</think>\n```python\ngood()\n```", "python", "good()\n",
	  EXTRACT_OK },
	{ "<think>\n```python\nbad()\n```\n", "python", NULL, EXTRACT_NONE },
	{ "```python\ns = '''\n<think>\n</think>\n'''\n```", "python",
	  "s = '''\n<think>\n</think>\n'''\n", EXTRACT_OK },
	{ "<answer>\n```python\nprint(1)\n```\n</answer>\n", "python", "print(1)\n", EXTRACT_OK },
	{ "```python\r\nprint(1)\r\n```\r\n", "python", "print(1)\n", EXTRACT_OK },
	{ "```python\nprint(1)\n```\n```javascript\nx\n```", "javascript", "x\n", EXTRACT_OK },
	{ "```cpp\nint main;\n```\n", "python", NULL, EXTRACT_AMBIGUOUS },
	{ "print(sum(range(10)))\n", NULL, "print(sum(range(10)))\n", EXTRACT_OK },
	{ "The answer is 42.\nIt = good.", NULL, NULL, EXTRACT_NONE },
};

static void test_choices(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		const struct choice *c = &choices[i];
		struct extract_options options = { c->want, false };
		struct extraction x = { 0 };
		struct error err = ERROR_INIT;

		assert_int_equal(extract_code(c->reply, strlen(c->reply), &options, &x, &err), 0);
		const struct code_block *b = extraction_chosen(&x);
		if (x.status != c->status || !b != !c->code)
			print_error("choice %zu: %s\n", i, extract_status_name(x.status));
		assert_int_equal(x.status, c->status);
		if (c->code)
			assert_string_equal(b ? b->code : "", c->code);
		else
			assert_null(b);
		extraction_release(&x);
	}
}

static void test_truncated(void **state)
{
	static const char reply[] = "```python\nold()\n```\nBetter:\n```python\nnew(";
	struct extract_options options = { "python", true };
	struct extraction x = { 0 };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(extract_code(reply, strlen(reply), &options, &x, &err), 0);
	assert_int_equal(x.status, EXTRACT_TRUNCATED);
	assert_string_equal(extraction_chosen(&x)->code, "new(");
	extraction_release(&x);
	options.truncated = false;
	assert_int_equal(extract_code(reply, strlen(reply), &options, &x, &err), 0);
	assert_int_equal(x.status, EXTRACT_OK);
	assert_string_equal(extraction_chosen(&x)->code, "old()\n");
	extraction_release(&x);
}

static void test_too_many_blocks(void **state)
{
	size_t n = FENCE_BLOCKS_MAX + 10, i;
	cleanup_free char *text = mem_alloc(n * 8 + 1);
	cleanup_fences struct fence_list list = { 0 };
	struct error err = ERROR_INIT;

	(void)state;
	for (i = 0; i < n; i++)
		memcpy(text + i * 8, "```\n```\n", 8);
	assert_int_equal(fence_scan(text, n * 8, 0, &list, &err), -1);
	assert_non_null(strstr(err.message, "code blocks"));
}

int main(void)
{
	const struct CMUnitTest extract[] = {
		cmocka_unit_test(test_commonmark_spec),
		cmocka_unit_test(test_real_replies),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_too_many_blocks),
		cmocka_unit_test(test_linear_time),
		cmocka_unit_test(test_conventions_linear),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_larger_replies),
	};

	return cmocka_run_group_tests(extract, NULL, NULL);
}
