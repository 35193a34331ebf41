/* What the tests of screening share. */
#ifndef TEST_VERIFIER_SCREENING_H
#define TEST_VERIFIER_SCREENING_H

#include "tests/unit/test_verifier_sandbox.h"

#include "verifier/screen/screen.h"

#include <string.h>

static bool has_finding(const struct screening *s, const char *rule)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->findings[i].rule, rule))
			return true;
	return false;
}

#endif
