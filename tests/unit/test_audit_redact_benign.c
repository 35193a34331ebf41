/* How much of honest programs, questions, replies and responses is taken for a secret: printed,
 * and bounded. What is found is listed, so that whoever changes a row of the table sees it. */
#include "audit/redact/redact.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SHOWN	 60
#define FILE_MAX ((size_t)64 << 20)

struct tally {
	struct redactor *redactor;
	size_t strings, bytes, hits;
	bool list;
};

static void look_at(struct tally *t, const char *where, const char *text, size_t len)
{
	cleanup_buf struct buf out = BUF_INIT(FILE_MAX);
	size_t found = redact_bytes(t->redactor, text, len, &out), at;

	t->strings++;
	t->bytes += len;
	t->hits += found;
	if (!found)
		return;
	const char *mark = strstr(out.data, "[REDACTED:");
	at = (size_t)(mark - out.data);
	print_message("  %s: %.26s for \"%.*s\"\n", where, mark,
		      (int)(len - (at < 30 ? 0 : at - 30) < SHOWN ? len - (at < 30 ? 0 : at - 30) :
								    SHOWN),
		      text + (at < 30 ? 0 : at - 30));
}

static void look_in(struct tally *t, const char *where, const struct json *value)
{
	if (json_type(value) == JSON_STRING)
		look_at(t, where, json_string(value), strlen(json_string(value)));
	for (const struct json *m = json_first(value); m; m = json_next(m))
		look_in(t, where, m);
}

static void look_at_lines(struct tally *t, const char *where, const struct buf *text)
{
	const char *line = text->data, *end = text->data + text->len;

	while (line < end) {
		const char *nl = memchr(line, '\n', (size_t)(end - line));
		size_t n = nl ? (size_t)(nl - line) : (size_t)(end - line);
		struct error err = ERROR_INIT;
		cleanup_json struct json *value = json_parse(line, n, 0, &err);

		if (value)
			look_in(t, where, value);
		else
			look_at(t, where, line, n);
		line += n + 1;
	}
}

/* Hits in the files of a pattern below the data. */
static size_t count_hits(struct redactor *redactor, const char *pattern)
{
	const char *folder = getenv("ASSAY_DATA") ? getenv("ASSAY_DATA") : "../shared/data";
	cleanup_free char *path = mem_printf("%s/%s", folder, pattern);
	struct tally t = { .redactor = redactor };
	glob_t files;

	if (glob(path, 0, NULL, &files)) {
		print_message("skipped: no %s (set ASSAY_DATA)\n", path);
		return 0;
	}
	for (size_t i = 0; i < files.gl_pathc; i++) {
		cleanup_buf struct buf text = BUF_INIT(FILE_MAX);
		struct error err = ERROR_INIT;

		assert_int_equal(io_read_file(files.gl_pathv[i], &text, &err), 0);
		look_at_lines(&t, strrchr(files.gl_pathv[i], '/') + 1, &text);
	}
	globfree(&files);
	print_message("%-20s %6zu texts, %8zu bytes, %zu hits\n", pattern, t.strings, t.bytes,
		      t.hits);
	return t.hits;
}

static void test_honest_data(void **state)
{
	static const struct {
		const char *pattern;
		size_t most;
	} sets[] = {
		{ "benign.jsonl", 0 },	     { "honest.jsonl", 0 },  { "humaneval.jsonl", 0 },
		{ "humaneval-js.jsonl", 0 }, { "mbpp.jsonl", 0 },    { "gsm8k.jsonl", 0 },
		{ "cruxeval.jsonl", 0 },     { "replies.jsonl", 0 }, { "http/json/*", 0 },
		{ "http/sse/*", 0 },	     { "http/errors/*", 0 },
	};
	struct redactor *redactor = redactor_new(NULL, 0, "0123456789abcdef");
	size_t over = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		over += count_hits(redactor, sets[i].pattern) > sets[i].most;
	redactor_free(redactor);
	assert_int_equal(over, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_honest_data) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
