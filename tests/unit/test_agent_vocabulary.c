/*
 * Stages, roles and statuses: each name once, there and back, and no hole in a table. What a stage
 * does is not shown here, only that it has its name and its prompt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/prompt/prompt.h"
#include "agent/stage.h"
#include "agent/status.h"
#include "base/json.h"

static void test_stages(void **state)
{
	(void)state;
	for (int i = 0; i < STAGE_COUNT; i++)
		assert_int_equal(stage_parse(stage_name((enum stage)i)), i);
	assert_int_equal(stage_parse("nowhere"), -1);
	assert_true(stage_asks_model("judge"));
	assert_true(stage_asks_model("complete"));
	assert_false(stage_asks_model("execute"));
	assert_false(stage_asks_model("nowhere"));
}

static void test_roles(void **state)
{
	(void)state;
	for (int i = 0; i < ROLE_COUNT; i++)
		assert_int_equal(role_parse(role_name((enum role)i)), i);
	assert_int_equal(role_parse("complete"), -1); /* a stage, but nobody's role */
	assert_int_equal(role_parse("execute"), -1);
	assert_int_equal(role_parse("nobody"), -1);
}

/* Each role is asked with a prompt of its name, and the record has its hash. */
static void test_every_role_has_its_prompt(void **state)
{
	struct error err = ERROR_INIT;
	const struct prompt_source source = { .dir = NULL };
	cleanup_json struct json *texts = prompt_texts(&source, &err);
	cleanup_json struct json *hashes = prompt_hashes(texts);

	(void)state;
	assert_non_null(texts);
	for (int i = 0; i < ROLE_COUNT; i++)
		assert_non_null(json_get_string(hashes, role_name((enum role)i)));
}

static void test_statuses(void **state)
{
	(void)state;
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		assert_int_equal(run_status_parse(run_status_name((enum run_status)i)), i);
	assert_int_equal(run_status_parse("unfinished"), -1);
	assert_int_equal(run_status_of_error(ERR_DEADLINE), RUN_BUDGET);
	assert_int_equal(run_status_of_error(ERR_CANCELLED), RUN_CANCELLED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stages),
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_every_role_has_its_prompt),
		cmocka_unit_test(test_statuses),
	};

	return cmocka_run_group_tests_name("agent_vocabulary", tests, NULL, NULL);
}
