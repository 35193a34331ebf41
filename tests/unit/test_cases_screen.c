/*
 * Walks tests/cases/screen, each case through the reader of its language in the sandbox; the format
 * is in tests/cases/README. Python's is asked by a process that serves, as where interpreters wait.
 * Those of the other languages are given all of their cases at once, and now and then one by
 * itself, which must come to the same.
 */
#include "tests/unit/test_cases.h"
#include "tests/unit/test_verifier_sandbox.h"
#include "tests/unit/test_verifier_trees.h"

#include "verifier/lang/lang.h"
#include "verifier/screen/screen.h"

#include <string.h>

#define CASES_MAX  1000 /* of a language */
#define ALONE_EACH 6	/* so manieth is read by itself, too */

static struct {
	const char *lang;
	char *codes[CASES_MAX];
	struct tree trees[CASES_MAX];
	size_t count, next;
} read_at_once[] = { { "bash" }, { "javascript" }, { "perl" } };

static size_t place_of(const struct one_case *c)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(read_at_once); i++)
		if (!strcmp(read_at_once[i].lang, get(c, "lang")))
			break;
	return i;
}

static struct screen_options options_of(const struct one_case *c)
{
	const char *profile = get(c, "profile");

	return (struct screen_options){ .profile = (enum screen_profile)screen_profile_parse(
						profile ? profile : "standard") };
}

static bool is_as_expected(const struct one_case *c, const char *how, const struct screening *s)
{
	bool ok, found = !get(c, "rule");

	for (size_t i = 0; !found && i < s->count; i++)
		found = !strcmp(s->findings[i].rule, get(c, "rule")) &&
			(!get(c, "line") || (size_t)number(c, "line", 0) == s->findings[i].line);
	if (!found)
		print_error("%s: no finding %s\n", c->name, get(c, "rule"));
	ok = same(c, "verdict", screen_action_name(s->verdict)) &&
	     same(c, "syntax", s->syntax_type) && found &&
	     same(c, "flagged", s->verdict >= SCREEN_CONFIRM ? "yes" : "no");
	if (!ok)
		print_error("%s: read %s\n", c->name, how);
	for (size_t i = 0; !ok && i < s->count; i++)
		print_error("%s: %s, line %zu\n", c->name, s->findings[i].rule,
			    s->findings[i].line);
	return ok;
}

static bool is_screened_alone(const struct one_case *c)
{
	const char *code = get(c, "code");
	struct screen_options options = options_of(c);
	struct screening s = { 0 };
	struct error err = ERROR_INIT;

	if (screen_program(sandbox, -1, get(c, "lang"), code, strlen(code), &options, &s, &err) < 0)
		fail_msg("%s: %s", c->name, err.message);
	bool ok = is_as_expected(c, "by itself", &s);
	screening_release(&s);
	return ok;
}

static bool is_screened(const struct one_case *c, const struct tree *tree)
{
	const char *code = get(c, "code");
	struct screen_options options = options_of(c);
	struct screening s = { 0 };
	struct error err = ERROR_INIT;

	options.tree = tree;
	if (screen_code(get(c, "lang"), code, strlen(code), &options, &s, &err) < 0)
		fail_msg("%s: %s", c->name, err.message);
	bool ok = is_as_expected(c, "with the others", &s);
	screening_release(&s);
	return ok;
}

static bool gather(const struct one_case *c)
{
	size_t at = place_of(c);

	if (at == ARRAY_SIZE(read_at_once))
		return true;
	assert_true(read_at_once[at].count < CASES_MAX);
	read_at_once[at].codes[read_at_once[at].count++] = mem_strdup(get(c, "code"));
	return true;
}

static bool run_screen(const struct one_case *c)
{
	size_t at = place_of(c), n;

	if (at == ARRAY_SIZE(read_at_once))
		return is_screened_alone(c);
	n = read_at_once[at].next++;
	return is_screened(c, &read_at_once[at].trees[n]) &&
	       (n % ALONE_EACH || is_screened_alone(c));
}

static void test_screen_cases(void **state)
{
	(void)state;
	run_folder("screen", gather);
	for (size_t i = 0; i < ARRAY_SIZE(read_at_once); i++)
		read_trees(read_at_once[i].lang, (const char *const *)read_at_once[i].codes,
			   read_at_once[i].count, read_at_once[i].trees);
	run_folder("screen", run_screen);
	size_t k;
	for (size_t i = 0; i < ARRAY_SIZE(read_at_once); i++)
		for (k = 0; k < read_at_once[i].count; k++) {
			free(read_at_once[i].codes[k]);
			tree_release(&read_at_once[i].trees[k]);
		}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(test_screen_cases),
	};

	warm_interpreters = 2;
	return cmocka_run_group_tests(cases, open_sandbox, close_sandbox);
}
