/* Walks tests/cases/screen, each case through the reader of its language in the sandbox; the
 * format is in tests/cases/README. */
#include "tests/unit/test_cases.h"
#include "tests/unit/test_verifier_sandbox.h"

#include "verifier/screen/screen.h"

#include <string.h>

static bool run_screen(const struct one_case *c)
{
	const char *code = get(c, "code"), *profile = get(c, "profile");
	struct screen_options options = { .profile = (enum screen_profile)screen_profile_parse(
						  profile ? profile : "standard") };
	struct screening s = { 0 };
	struct error err = ERROR_INIT;
	bool ok, found = !get(c, "rule");
	size_t i;

	if (screen_program(sandbox, -1, get(c, "lang"), code, strlen(code), &options, &s, &err) < 0)
		fail_msg("%s: %s", c->name, err.message);
	for (i = 0; !found && i < s.count; i++)
		found = !strcmp(s.findings[i].rule, get(c, "rule")) &&
			(!get(c, "line") || (size_t)number(c, "line", 0) == s.findings[i].line);
	if (!found)
		print_error("%s: no finding %s\n", c->name, get(c, "rule"));
	ok = same(c, "verdict", screen_action_name(s.verdict)) &&
	     same(c, "syntax", s.syntax_type) && found &&
	     same(c, "flagged", s.verdict >= SCREEN_CONFIRM ? "yes" : "no");
	if (!ok)
		for (i = 0; i < s.count; i++)
			print_error("%s: %s, line %zu\n", c->name, s.findings[i].rule,
				    s.findings[i].line);
	screening_release(&s);
	return ok;
}

static void test_screen_cases(void **state)
{
	(void)state;
	run_folder("screen", run_screen);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(test_screen_cases),
	};

	return cmocka_run_group_tests(cases, open_sandbox, close_sandbox);
}
