/*
 * The verdicts of Python where interpreters wait: program and judge are forks of templates of their
 * own that have run our definitions before, and every verdict is what it is when they start cold.
 */
#include "tests/unit/test_cases_verdict.h"

/* What looks at what is loaded starts cold, as does the first of those after one that took long to
 * die. */
static void test_most_were_forked(void **state)
{
	(void)state;
	printf("%zu of %zu halves of pairs were forked\n", forked_halves, all_halves);
	assert_true(forked_halves * 4 > all_halves * 3);
}

int main(void)
{
	const struct CMUnitTest verdicts[] = {
		cmocka_unit_test(test_verdict_cases),
		cmocka_unit_test(test_forgeries_of_the_data_set),
		cmocka_unit_test(test_most_were_forked),
	};

	only_language = "python";
	warm_interpreters = 64;
	return cmocka_run_group_tests_name("forked", verdicts, open_sandbox, close_sandbox);
}
