/*
 * The cases of tests/cases/verdict and the forgeries of the data set, each run started cold. Those
 * started as forks of a template are test_cases_verdict_forked.c's.
 */
#include "tests/unit/test_cases_verdict.h"

int main(void)
{
	const struct CMUnitTest verdicts[] = {
		cmocka_unit_test(test_verdict_cases),
		cmocka_unit_test(test_forgeries_of_the_data_set),
	};

	return cmocka_run_group_tests_name("verdicts", verdicts, open_sandbox, close_sandbox);
}
