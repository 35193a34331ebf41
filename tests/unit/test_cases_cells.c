/* Walks tests/cases/cells: what an earlier cell could make of a later one's output, told by its
 * text. The format is in tests/cases/README. */
#include "tests/unit/test_cases.h"

#include "verifier/cells.h"

#include <stdlib.h>

/* Those that stay without those that could, could not. */
static bool is_left_out(const struct language *lang, const struct cell *list, size_t count)
{
	struct cell left[2];
	size_t stay = 0;

	memcpy(left, list, count * sizeof(*list));
	cells_leave_out(lang, left, count);
	for (size_t i = 0; i < count; i++)
		if (left[i].len)
			left[stay++] = left[i];
	cleanup_free char *why = cells_forge(lang, left, stay);
	return !why;
}

/* Alone, unless another comes before it, and as one of several. */
static bool run_case(const struct one_case *c)
{
	const struct language *lang = language_find(get(c, "lang"));
	const char *before = get(c, "before");
	struct cell list[] = { { .code = before ? before : "x=1" }, { .code = get(c, "cell") } };
	bool could = !strcmp(get(c, "forges"), "yes");

	assert_non_null(lang);
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		list[i].len = strlen(list[i].code);
	bool ok = true;
	for (size_t i = 0; i < (before ? 1 : ARRAY_SIZE(list)); i++) {
		cleanup_free char *why = cells_forge(lang, list + i, ARRAY_SIZE(list) - i);

		if (!!why != could)
			print_error("%s: %s\n", c->name, why ? why : "could not");
		ok = ok && !!why == could;
		assert_true(is_left_out(lang, list + i, ARRAY_SIZE(list) - i));
	}
	return ok;
}

static void test_cells(void **state)
{
	(void)state;
	run_folder("cells", run_case);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cells) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
