/*
 * Walks tests/cases/ground; the format is in tests/cases/README. Nothing runs and no model is
 * asked: a case has the answer and what it is to rest on.
 */
#include "tests/unit/test_cases.h"

#include "verifier/ground/ground.h"

static bool run_ground(const struct one_case *c)
{
	const char *output = get(c, "output"), *notes = get(c, "notes"), *file = get(c, "file"),
		   *want = get(c, "fault");
	struct ground from = {
		.output = output ? output : "",
		.output_len = output ? strlen(output) : 0,
		.notes = notes ? notes : "",
		.notes_len = notes ? strlen(notes) : 0,
		.question = get(c, "question"),
		.restated = get(c, "restated"),
		.names = &file,
		.name_count = file ? 1 : 0,
	};

	assert_non_null(want);
	assert_non_null(get(c, "answer"));
	cleanup_free char *fault = ground_fault(&from, get(c, "answer"));
	if (!strcmp(want, "none") ? !fault : fault && strstr(fault, want))
		return true;
	print_error("%s: fault is \"%s\", expected \"%s\"\n", c->name, fault ? fault : "none",
		    want);
	return false;
}

static void test_ground(void **state)
{
	(void)state;
	run_folder("ground", run_ground);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_ground) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
