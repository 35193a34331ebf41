/* Walks tests/cases/weigh: whether a plan's checks carry a level. The format is in
 * tests/cases/README. */
#include "tests/unit/test_cases.h"

#include "verifier/check/check.h"

static void add_checks(struct check_list *list, const char *text, const char *about)
{
	cleanup_free char *copy = mem_strdup(text);
	struct error err = ERROR_INIT;
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line && check_add_text(list, line, CHECK_PLANNER, &err))
			fail_msg("%s: %s", about, err.message);
}

static bool run_weigh(const struct one_case *c)
{
	cleanup_free char *output = mem_strdup(get(c, "output"));
	struct sandbox_artifact file = { .path = (char[]){ "a.txt" },
					 .size = 3,
					 .type = "text/plain",
					 .bytes = (char[]){ "a\n" },
					 .kept = true };
	struct sandbox_result result = { .outcome = SANDBOX_EXIT,
					 .artifacts = &file,
					 .artifact_count = get(c, "file") ? 1 : 0 };
	struct check_list list = { 0 };
	struct check_weight w;

	result.out = (struct sandbox_stream){ output, strlen(output), strlen(output), false };
	add_checks(&list, get(c, "checks"), c->name);
	check_weigh(&list, &result, NULL, &w);
	bool ok = same(c, "carries", w.carries ? "yes" : "no") && same(c, "by", w.by);
	if (!ok)
		print_error("%s: %zu of %zu by \"%s\"\n", c->name, w.rejected, w.wrong, w.by);
	check_list_release(&list);
	return ok;
}

static void test_weigh(void **state)
{
	(void)state;
	run_folder("weigh", run_weigh);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_weigh) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
