/*
 * The cases of tests/cases/verdict and the forgeries of the data set, each run started cold: of
 * those in Python every third. All of these are run as forks of a template by
 * test_cases_verdict_forked.c, by the same harness.
 */
#include "tests/unit/test_cases_verdict.h"

int main(void)
{
	const struct CMUnitTest verdicts[] = {
		cmocka_unit_test(test_verdict_cases),
		cmocka_unit_test(test_forgeries_of_the_data_set),
	};

	python_every = 3;
	return cmocka_run_group_tests_name("verdicts", verdicts, open_sandbox, close_sandbox);
}
