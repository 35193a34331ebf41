/*
 * Whether a check could have failed. A check proposed by the planner is tried
 * on outputs that answer nothing, family by family; one that a whole family
 * passes ("any whole number will do") holds of nearly any program and proves
 * nothing about this one.
 */
#include "verifier/check/check.h"
#include "verifier/check/kind.h"

#include "base/mem.h"

#include <string.h>

#define FAMILY_MAX 5

static const struct {
	const char *name;
	const char *outputs[FAMILY_MAX]; /* NULL-terminated when fewer */
} families[] = {
	{ "any whole number", { "0", "1", "42", "907", "1000003" } },
	{ "any decimal number", { "0.5", "3.70", "12.125", "990.0" } },
	{ "any words", { "error", "None", "Hello", "the answer is not known", "n/a" } },
	{ "any column of numbers",
	  { "1\n2\n3", "3\n1\n2\n0", "5\n5", "9\n7\n6\n4\n2\n1", "0.5\n0.25\n4007" } },
	{ "any lines of words",
	  { "one\ntwo\nthree", "error\nerror", "no\nidea\nat\nall", "b\na\nd\nc\ne\nf" } },
	{ "any labelled value",
	  { "total: 5", "x: 1.5", "Result: none", "a b: 12", "answer: yes" } },
	{ "any list", { "1, 2, 3", "[5, 4]", "a, b, a", "x,y", "0.5, 0.25" } },
	{ "any table", { "a 1\nb 2", "y: 4\nx: 30\ny: 4", "k,v\np,1\nq,1\nr,4007" } },
};

/* A pattern that could not be tried may pass, for all one can tell. */
static bool passes(const struct check *check, const char *output, struct regex_effort *effort,
		   bool *untried)
{
	char bytes[] = "error\n", path[] = "decoy";
	struct sandbox_artifact file = { .path = path,
					 .size = sizeof(bytes) - 1,
					 .type = "text/plain",
					 .bytes = bytes,
					 .kept = true };
	struct sandbox_result result = { .outcome = SANDBOX_EXIT,
					 .artifacts = &file,
					 .artifact_count = 1 };
	cleanup_free char *copy = mem_printf("%s\n", output);

	result.out.bytes = copy;
	result.out.len = strlen(copy);
	result.out.total = result.out.len;
	struct check_result r;
	check_evaluate(check, &result, effort, &r);
	*untried |= r.verdict == VERDICT_ERROR;
	bool pass = r.verdict == VERDICT_PASS;
	check_result_release(&r);
	return pass;
}

const char *check_passed_by(const struct check *check, struct regex_effort *effort)
{
	bool untried = false;

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		size_t j;

		for (j = 0; j < FAMILY_MAX && families[i].outputs[j]; j++)
			if (!passes(check, families[i].outputs[j], effort, &untried))
				break;
		if (j == FAMILY_MAX || !families[i].outputs[j])
			return families[i].name;
	}
	return untried ? "for all one can tell, any output" : NULL;
}
