/* JavaScript's reader: what it makes of odd programs, what is done without a
 * parser, and the figures on programs written to get round it. */
#include "tests/unit/test_verifier_screening.h"

#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "verifier/screen/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void screen_once(const char *code, enum screen_profile profile, struct screening *s)
{
	struct screen_options options = { .profile = profile };
	struct error err = ERROR_INIT;

	if (screen_program(sandbox, -1, "javascript", code, strlen(code), &options, s, &err) < 0)
		fail_msg("%s", err.message);
}

/* --- without a parser --- */

static void screen_unread(const char *fact, const char *code, enum screen_profile profile,
			  struct screening *s)
{
	cleanup_free char *answer = mem_printf("{\"syntax_error\":null,\"failed\":null,"
					       "\"facts\":[[\"%s\",1,1]]}",
					       fact);
	cleanup_tree struct tree tree = { 0 };
	struct screen_options options = { .profile = profile, .tree = &tree };
	struct error err = ERROR_INIT;

	tree_parse(answer, strlen(answer), &tree);
	assert_int_equal(tree.state, TREE_READ);
	assert_int_equal(screen_code("javascript", code, strlen(code), &options, s, &err), 0);
}

static void test_without_a_parser(void **state)
{
	static const struct {
		const char *fact, *code, *rule;
		enum screen_profile profile;
		enum screen_action verdict;
	} cases[] = {
		{ "no tree: parser", "console.log(1)", "js.parser", SCREEN_STRICT, SCREEN_DENY },
		{ "no tree: parser", "console.log(1)", "js.parser", SCREEN_STANDARD, SCREEN_WARN },
		{ "no tree: parser", "eval(x)", "js.dynamic", SCREEN_STANDARD, SCREEN_DENY },
		{ "no tree: syntax", "console.log(1)", "js.unread", SCREEN_STRICT, SCREEN_DENY },
		{ "no tree: syntax", "fetch(x)", "js.import.network", SCREEN_STANDARD,
		  SCREEN_DENY },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct screening s = { 0 };

		screen_unread(cases[i].fact, cases[i].code, cases[i].profile, &s);
		if (!has_finding(&s, cases[i].rule))
			fail_msg("%s: no %s", cases[i].code, cases[i].rule);
		assert_int_equal(s.verdict, cases[i].verdict);
		screening_release(&s);
	}
}

static void test_remedy_is_named(void **state)
{
	struct screening s = { 0 };

	(void)state;
	screen_unread("no tree: parser", "console.log(1)", SCREEN_STRICT, &s);
	assert_int_equal(s.count, 1);
	assert_non_null(strstr(s.findings[0].message, "node-acorn"));
	screening_release(&s);
}

/* --- positions --- */

static void test_positions(void **state)
{
	static const struct {
		const char *code;
		size_t line, column;
	} cases[] = {
		{ "const x = 1;\nlet y = ;\n", 2, 9 },
		{ "const s = '\xc3\xa4\xf0\x9f\x98\x80' $;\n", 1, 20 },
		{ "import x from;\n", 1, 14 },
	};
	struct screening s = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		screen_once(cases[i].code, SCREEN_STANDARD, &s);
		assert_non_null(s.syntax_message);
		assert_string_equal(s.syntax_type, "SyntaxError");
		assert_int_equal(s.syntax_line, cases[i].line);
		assert_int_equal(s.syntax_column, cases[i].column);
		screening_release(&s);
	}
	screen_once("const a = '\xc3\xa4\xf0\x9f\x98\x80'; eval(a);\n", SCREEN_STANDARD, &s);
	assert_true(has_finding(&s, "js.dynamic"));
	assert_int_equal(s.findings[0].line, 1);
	assert_int_equal(s.findings[0].column, 21);
	screening_release(&s);
}

/* Each version of node takes one of these, and its parser for tools maybe none. */
static void test_newer_than_the_parser(void **state)
{
	static const char *const programs[] = {
		"import a from '/in/a.json' with { type: 'json' };\nconsole.log(a);\n",
		"import a from '/in/a.json' assert { type: 'json' };\nconsole.log(a);\n",
	};
	size_t called_invalid = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct screening s = { 0 };

		screen_once(programs[i], SCREEN_STANDARD, &s);
		called_invalid += s.syntax_message != NULL;
		assert_true(s.syntax_message || s.count == 0 || has_finding(&s, "js.unread"));
		screening_release(&s);
	}
	assert_true(called_invalid < ARRAY_SIZE(programs));
}

/* --- wearing it out --- */

static void repeat(struct buf *b, const char *text, int n)
{
	for (; n; n--)
		buf_addstr(b, text);
}

static void test_worn_out(void **state)
{
	cleanup_buf struct buf sum = BUF_INIT(1 << 20), deep = BUF_INIT(1 << 20);
	cleanup_buf struct buf constants = BUF_INIT(1 << 20);
	static const char path[] = "require('fs').readFileSync(['', 'etc', 'passwd'].join('/'));\n";
	struct screening s = { 0 };

	(void)state;
	for (int i = 1; i <= 24000; i++) {
		buf_addf(&constants, "x = 'a' + 'b'.repeat(3) + [1, 2].at(0);\n");
		if (i != 2000 && i != 24000)
			continue;
		buf_addstr(&constants, path);
		screen_once(constants.data, SCREEN_STANDARD, &s);
		assert_true(s.verdict >= SCREEN_CONFIRM);
		assert_true(has_finding(&s, i == 2000 ? "js.path" : "limit.parser"));
		screening_release(&s);
	}
	buf_addstr(&sum, "const x = 1");
	repeat(&sum, " + 1", 5000);
	screen_once(sum.data, SCREEN_STRICT, &s);
	assert_int_equal(s.verdict, SCREEN_ALLOW);
	screening_release(&s);
	buf_addstr(&deep, "x = ");
	repeat(&deep, "!", 200000);
	buf_addstr(&deep, "1");
	screen_once(deep.data, SCREEN_STANDARD, &s);
	assert_int_equal(s.verdict, SCREEN_DENY);
	assert_true(has_finding(&s, "limit.parser"));
	screening_release(&s);
}

/* --- the figures --- */

/* How many JavaScript programs of a file are refused; false when it is not there. */
static bool count_refused(const char *file, enum screen_profile profile, size_t *ret_refused,
			  size_t *ret_total)
{
	const char *dir = getenv("ASSAY_DATA");
	cleanup_free char *path = mem_printf("%s/%s", dir ? dir : "../shared/data", file);
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	struct error err = ERROR_INIT;
	char *line;

	*ret_refused = *ret_total = 0;
	if (io_read_file(path, &text, &err)) {
		printf("skipped: %s\n", err.message);
		return false;
	}
	for (char *rest = text.data; (line = strsep(&rest, "\n")) && *line;) {
		cleanup_json struct json *r = json_parse(line, strlen(line), 0, &err);
		struct screening s = { 0 };

		if (!r || strcmp(json_get_string(r, "lang"), "javascript"))
			continue;
		screen_once(json_get_string(r, "code"), profile, &s);
		*ret_total += 1;
		*ret_refused += s.verdict >= SCREEN_CONFIRM;
		screening_release(&s);
	}
	return true;
}

static void test_figures(void **state)
{
	size_t refused, total;

	(void)state;
	if (!count_refused("evasions.jsonl", SCREEN_STRICT, &refused, &total))
		skip();
	printf("evasions, strict: %zu of %zu refused\n", refused, total);
	assert_true(total && (total - refused) * 20 <= total);
	if (!count_refused("honest.jsonl", SCREEN_STRICT, &refused, &total))
		skip();
	printf("honest, strict: %zu of %zu refused\n", refused, total);
	assert_true(total && refused * 20 <= total);
	count_refused("honest.jsonl", SCREEN_STANDARD, &refused, &total);
	printf("honest, standard: %zu of %zu refused\n", refused, total);
	assert_int_equal(refused, 0);
}

int main(void)
{
	const struct CMUnitTest javascript[] = {
		cmocka_unit_test(test_without_a_parser),
		cmocka_unit_test(test_remedy_is_named),
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_worn_out),
		cmocka_unit_test(test_newer_than_the_parser),
		cmocka_unit_test(test_figures),
	};

	return cmocka_run_group_tests(javascript, open_sandbox, close_sandbox);
}
