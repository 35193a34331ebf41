/*
 * What the parser in the sandbox says, when it cannot, and what is made of that. What the rules
 * make of a tree that is right is test_verifier_screen.c's.
 */
#include "tests/unit/test_verifier_screening.h"

#include "base/buf.h"
#include "base/mem.h"
#include "verifier/screen/rules.h"
#include "verifier/screen/tree.h"

static const char *const unreadable[] = {
	"",
	"null",
	"[]",
	"{}",
	"{\"syntax_error\":null,\"failed\":null}",
	"{\"syntax_error\":null,\"failed\":null,\"facts\":[[\"call os.system\",1]]}",
	"{\"syntax_error\":null,\"failed\":null,\"facts\":[[\"call os.system\",0,1]]}",
	"{\"syntax_error\":null,\"failed\":null,\"facts\":[[1,1,1]]}",
	"{\"syntax_error\":null,\"failed\":null,\"facts\":{}}",
	"{\"syntax_error\":{\"type\":\"SyntaxError\"},\"failed\":null,\"facts\":[]}",
	"{\"syntax_error\":null,\"failed\":\"RecursionError\",\"facts\":[]}",
	"{\"syntax_error\":null,\"failed\":1,\"facts\":[]}",
	"{\"syntax_error\":null,\"failed\":null,\"facts\":[]}\n{}",
};

static void test_unreadable_answers_deny(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(unreadable); i++) {
		struct tree tree = { 0 };
		struct screen_options options = { .tree = &tree };
		struct screening s = { 0 };
		struct error err = ERROR_INIT;

		tree_parse(unreadable[i], strlen(unreadable[i]), &tree);
		if (tree.state != TREE_FAILED)
			print_error("%s\n", unreadable[i]);
		assert_int_equal(tree.state, TREE_FAILED);
		assert_int_equal(screen_code("python", "print(1)", 8, &options, &s, &err), 0);
		assert_int_equal(s.verdict, SCREEN_DENY);
		assert_true(has_finding(&s, "limit.parser"));
		screening_release(&s);
		tree_release(&tree);
	}
}

static void screen_once(const char *code, size_t len, struct screening *s)
{
	struct screen_options options = { .profile = SCREEN_STANDARD };
	struct error err = ERROR_INIT;

	if (screen_program(sandbox, -1, "python", code, len, &options, s, &err) < 0)
		fail_msg("%s", err.message);
}

static void test_syntax_errors(void **state)
{
	static const struct {
		const char *code, *type;
		size_t line, column;
	} cases[] = {
		{ "x = 1\nprint(x\n", "SyntaxError", 2, 6 },
		{ "if 1:\nx = 1\n", "IndentationError", 2, 1 },
		{ "if 1:\n\tx = 1\n        y = 2\n", "TabError", 3, 1 },
		{ "x = 1\nreturn x\n", "SyntaxError", 2, 1 },
		{ "s = '\xc3\xa4\xc3\xb6' $\n", "SyntaxError", 1, 12 },
		{ "s = '\xc3\xa4\xc3\xb6' $", "SyntaxError", 1, 12 },
		{ "s = '\xc3\xa4\xc3\xb6'; x = (]\n", "SyntaxError", 1, 18 },
		{ "s = '\xc3\xa4\xc3\xb6'; return s\n", "SyntaxError", 1, 13 },
		/* wider than any line of the reader's own text */
		{ "x = '                                                                    "
		  "                                                                    '; return\n",
		  "SyntaxError", 1, 145 },
		{ "# coding: no-such-encoding\nx = 1\n", "SyntaxError", 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct screening s = { 0 };

		screen_once(cases[i].code, strlen(cases[i].code), &s);
		assert_int_equal(s.verdict, SCREEN_ALLOW);
		assert_non_null(s.syntax_message);
		assert_string_equal(s.syntax_type, cases[i].type);
		assert_int_equal(s.syntax_line, cases[i].line);
		assert_int_equal(s.syntax_column, cases[i].column);
		screening_release(&s);
	}
}

/* An encoding that hides the text from the lexer hides nothing from the parser. */
static void test_hidden_by_encoding(void **state)
{
	static const char code[] = "# coding: utf-7\n+AGkAbQBwAG8AcgB0ACAAcwBvAGMAawBlAHQ-\n";
	struct screening s = { 0 };

	(void)state;
	screen_once(code, strlen(code), &s);
	assert_true(has_finding(&s, "py.import.network"));
	assert_int_equal(s.verdict, SCREEN_DENY);
	screening_release(&s);
}

/* Programs that wear the parser out are refused, not waved through. */
static void test_parser_worn_out(void **state)
{
	cleanup_buf struct buf deep = BUF_INIT(1 << 20), wide = BUF_INIT(1 << 20);
	struct screening s = { 0 };

	(void)state;
	buf_addstr(&deep, "x = 1");
	for (int i = 0; i < 200000; i++)
		buf_addstr(&deep, "+ 1");
	screen_once(deep.data, deep.len, &s);
	assert_int_equal(s.verdict, SCREEN_DENY);
	assert_true(has_finding(&s, "limit.parser"));
	screening_release(&s);
	for (int i = 0; i < 60000; i++)
		buf_addf(&wide, "a.b%d\n", i);
	screen_once(wide.data, wide.len, &s);
	assert_true(has_finding(&s, "limit.parser"));
	screening_release(&s);
}

/* --- what is known to be clean is not looked at again --- */

static char *screen_with(const struct screen_options *options, const char *code, size_t len)
{
	struct screening s = { 0 };
	struct error err = ERROR_INIT;

	assert_int_equal(screen_code("python", code, len, options, &s, &err), 0);
	cleanup_json struct json *json = screening_json(&s);
	screening_release(&s);
	return json_print(json);
}

static bool is_found(const struct screen_options *options, const char *code, size_t len,
		     const char *rule)
{
	cleanup_free char *text = screen_with(options, code, len);

	return strstr(text, rule) != NULL;
}

static void test_clean_is_of_that_code_alone(void **state)
{
	static const char code[] = "print(1)\n", own[] = "rule own.print\nstandard deny\n"
							 "strict deny\nin code\nmatch print\n"
							 "message No.\nyes print(1)\nno x\n";
	cleanup_tree struct tree tree = { 0 }, recorded = { 0 };
	struct screen_options options = { .tree = &tree };
	struct ruleset rules = { 0 };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(screen_read(sandbox, -1, "python", code, strlen(code), SCREEN_STANDARD,
				     &tree, &err),
			 0);
	assert_string_not_equal(tree.clean_code, "");
	cleanup_json struct json *json = tree_json(&tree);
	tree_from_json(json, &recorded);
	assert_string_equal(recorded.clean_code, "");
	cleanup_free char *known = screen_with(&options, code, strlen(code));
	options.tree = &recorded;
	cleanup_free char *looked = screen_with(&options, code, strlen(code));
	assert_string_equal(known, looked);
	options.tree = &tree;
	assert_true(is_found(&options, "print(1)\n\0", strlen(code) + 1, "limit.nul"));
	if (ruleset_parse(own, strlen(own), &rules, &err) < 0)
		fail_msg("%s", err.message);
	options.rules = &rules;
	assert_true(is_found(&options, code, strlen(code), "own.print"));
	ruleset_release(&rules);
}

/* Of one in which something was found, if only a warning, it is not known. */
static void test_found_is_not_clean(void **state)
{
	static const char *const codes[] = { "import socket\n", "eval(input())\n", "x = (\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		cleanup_tree struct tree tree = { 0 };
		struct error err = ERROR_INIT;

		assert_int_equal(screen_read(sandbox, -1, "python", codes[i], strlen(codes[i]),
					     SCREEN_STANDARD, &tree, &err),
				 0);
		assert_string_equal(tree.clean_code, "");
	}
}

/* --- bash, whose tree another program reads --- */

static enum screen_action screen_shell(const char *code, size_t len, enum screen_profile profile,
				       const char *rule, const char *syntax)
{
	struct screen_options options = { .profile = profile };
	struct screening s = { 0 };
	struct error err = ERROR_INIT;

	if (screen_program(sandbox, -1, "bash", code, len, &options, &s, &err) < 0)
		fail_msg("%s", err.message);
	if (rule)
		assert_true(has_finding(&s, rule));
	if (syntax)
		assert_string_equal(s.syntax_message ? s.syntax_message : "none", syntax);
	else
		assert_null(s.syntax_message);
	enum screen_action verdict = s.verdict;
	screening_release(&s);
	return verdict;
}

static void test_shell_syntax(void **state)
{
	static const char open[] = "for i in 1 2; do\n  echo $i\n",
			  globs[] = "shopt -s extglob\ncase $1 in\n+([0-9])) echo n ;;\nesac\n";

	(void)state;
	screen_shell(open, strlen(open), SCREEN_STANDARD, NULL,
		     "syntax error: unexpected end of file");
	assert_int_equal(screen_shell(globs, strlen(globs), SCREEN_STANDARD, NULL, NULL),
			 SCREEN_ALLOW);
}

/* Strict knows nothing of a program that nobody read; standard has its rules on the text. */
static void test_shell_without_tree(void **state)
{
	static const char missing[] = "{\"syntax_error\":null,\"failed\":null,\"facts\":[[\"no "
				      "tree: shfmt is missing\",1,1]]}";
	static const struct {
		const char *code;
		enum screen_profile profile;
		enum screen_action verdict;
	} cases[] = {
		{ "echo 1\n", SCREEN_STANDARD, SCREEN_ALLOW },
		{ "echo 1\n", SCREEN_STRICT, SCREEN_DENY },
		{ "curl http://x\n", SCREEN_STANDARD, SCREEN_DENY },
	};
	cleanup_tree struct tree tree = { 0 };

	(void)state;
	tree_parse(missing, strlen(missing), &tree);
	assert_int_equal(tree.state, TREE_READ);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct screen_options options = { .profile = cases[i].profile, .tree = &tree };
		struct screening s = { 0 };
		struct error err = ERROR_INIT;

		assert_int_equal(screen_code("bash", cases[i].code, strlen(cases[i].code), &options,
					     &s, &err),
				 0);
		assert_int_equal(s.verdict, cases[i].verdict);
		assert_int_equal(has_finding(&s, "sh.strict.parser"),
				 cases[i].profile == SCREEN_STRICT);
		screening_release(&s);
	}
}

/* What the reader did not finish is no more seen by rules of text: it runs in no profile. */
static void test_shell_worn_out(void **state)
{
	cleanup_buf struct buf wide = BUF_INIT(1 << 20), deep = BUF_INIT(1 << 20);
	const struct buf *programs[] = { &wide, &deep };
	static const enum screen_profile profiles[] = { SCREEN_STANDARD, SCREEN_STRICT };

	(void)state;
	for (int i = 0; i < 30000; i++)
		buf_addf(&wide, "echo a b%d\n", i);
	for (int i = 0; i < 140; i++)
		buf_addstr(&deep, "echo $(");
	for (int i = 0; i < 140; i++)
		buf_addstr(&deep, ")");
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		for (size_t j = 0; j < ARRAY_SIZE(profiles); j++)
			assert_int_equal(screen_shell(programs[i]->data, programs[i]->len,
						      profiles[j], "limit.parser", NULL),
					 SCREEN_DENY);
}

int main(void)
{
	const struct CMUnitTest tree[] = {
		cmocka_unit_test(test_unreadable_answers_deny),
		cmocka_unit_test(test_syntax_errors),
		cmocka_unit_test(test_hidden_by_encoding),
		cmocka_unit_test(test_parser_worn_out),
		cmocka_unit_test(test_clean_is_of_that_code_alone),
		cmocka_unit_test(test_found_is_not_clean),
		cmocka_unit_test(test_shell_syntax),
		cmocka_unit_test(test_shell_without_tree),
		cmocka_unit_test(test_shell_worn_out),
	};

	return cmocka_run_group_tests(tree, open_sandbox, close_sandbox);
}
