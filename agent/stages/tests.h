/* Tests with the program. */
#ifndef AGENT_STAGES_TESTS_H
#define AGENT_STAGES_TESTS_H

#include "agent/execution.h"
#include "verifier/check/check.h"

/* The tests' verdict. *ret is the run that shows what the program did: its own,
 * or the one together when the pair was no pass. */
int run_tests(struct run *r, const char *tests, enum check_source source, struct execution *ret,
	      struct check_result *ret_check, struct error *err);
/* Tests that a model wrote: run, tried on a stub, and their verdict added. */
int run_written_tests(struct run *r, const char *tests, struct error *err);

#endif
