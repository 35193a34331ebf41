/* Many programs read by one reader: to start one for each is what most of the time would go to. */
#ifndef TEST_VERIFIER_TREES_H
#define TEST_VERIFIER_TREES_H

#include "tests/unit/test_verifier_sandbox.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "verifier/screen/tree.h"
#include "verifier/lang/lang.h"

#include <string.h>

/* Python's reader, and bash's, which is written in it. */
#define MANY_IN_PYTHON                                       \
	"def many(data):\n"                                  \
	"    at = 0\n"                                       \
	"    while at < len(data):\n"                        \
	"        n = int(data[at:at + 8])\n"                 \
	"        print(facts_of(data[at + 8:at + 8 + n]))\n" \
	"        at += 8 + n\n"                              \
	"\n"                                                 \
	"many(sys.stdin.buffer.read())\n"

/* In place of the reader's last line: programs in a row, each after its length. */
static const struct many {
	const char *lang, *last, *code;
} many[] = {
	{ "python", "main()\n", MANY_IN_PYTHON },
	{ "bash", "main()\n", MANY_IN_PYTHON },
	{ "javascript", "main();\n",
	  "const data = fs.readFileSync(0);\n"
	  "for (let at = 0, n; at < data.length; at += 8 + n) {\n"
	  "	n = Number(data.toString('latin1', at, at + 8));\n"
	  "	console.log(JSON.stringify(factsOf(data.subarray(at + 8, at + 8 + n))));\n"
	  "}\n" },
	{ "perl", "main();\n",
	  "binmode STDIN;\n"
	  "my $data = do { local $/; <STDIN> };\n"
	  "for (my ($at, $n) = (0); $at < length $data; $at += 8 + $n) {\n"
	  "	$n = substr $data, $at, 8;\n"
	  "	print facts_of(substr $data, $at + 8, $n), \"\\n\";\n"
	  "}\n" },
};

static const struct many *many_of(const char *lang)
{
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		if (!strcmp(many[i].lang, lang))
			return &many[i];
	return NULL;
}

static void read_answers(const struct sandbox_result *x, struct tree *trees, size_t count)
{
	const char *at = x->out.bytes, *nl;

	if (x->outcome != SANDBOX_EXIT || x->exit_code)
		print_error("%.*s\n", (int)x->err.len, x->err.bytes);
	assert_int_equal(x->outcome, SANDBOX_EXIT);
	assert_int_equal(x->exit_code, 0);
	for (size_t i = 0; i < count; i++, at = nl + 1) {
		nl = strchr(at, '\n');
		assert_non_null(nl);
		tree_parse(at, (size_t)(nl - at), &trees[i]);
	}
}

/* The trees of so many programs, by one reader that is given all of them. */
static void read_trees(const char *lang, const char *const *codes, size_t count, struct tree *trees)
{
	struct sandbox_file files[LANG_PARTS_MAX];
	struct sandbox_job job;
	bool has_reader = tree_reader_job(lang, true, files, &job);
	const struct many *m = many_of(lang);
	const char *reader = job.code;
	size_t shared = job.code_len - strlen(m->last), i;
	cleanup_free char *program = mem_printf("%.*s%s", (int)shared, reader, m->code);
	cleanup_buf struct buf input = BUF_INIT(BUF_MAX_DEFAULT);
	cleanup_sandbox_result struct sandbox_result x = { 0 };
	struct sandbox_watch watch = { .cancel_fd = -1 };
	struct error err = ERROR_INIT;

	assert_true(has_reader);
	assert_string_equal(reader + shared, m->last);
	job.code = program;
	job.code_len = strlen(program);
	for (i = 0; i < count; i++) {
		buf_addf(&input, "%08zu", strlen(codes[i]));
		buf_addstr(&input, codes[i]);
	}
	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = job.limits.cpu_ms = 300000;
	job.limits.stdout_bytes = (int64_t)256 << 20;
	job.stdin_bytes = input.data;
	job.stdin_len = input.len;
	if (sandbox_run(sandbox, &job, &watch, &x, &err) < 0)
		fail_msg("%s", err.message);
	read_answers(&x, trees, count);
}

#endif
