/* The policy of a run: copied whole, recorded and read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/policy.h"
#include "base/mem.h"
#include "verifier/screen/rules.h"

#include <stdlib.h>
#include <string.h>

static const char rules_text[] = "rule my.rule\nstandard deny\nstrict deny\nin code\n"
				 "match \\bforbidden\\b\nmessage not here\n"
				 "yes forbidden()\nno allowed()\n";

/* Every owned member filled. */
static void fill(struct policy *p)
{
	struct error err = ERROR_INIT;

	policy_init(p);
	p->provider = mem_strdup("vendor");
	p->model = mem_strdup("big");
	p->roles[ROLE_JUDGE].model = mem_strdup("small");
	p->roles[ROLE_PLAN].off = true;
	p->model_options = json_object();
	json_set_int(p->model_options, "seed", 7);
	p->lang = "bash";
	p->rules = mem_alloc(sizeof(*p->rules));
	assert_int_equal(ruleset_parse(rules_text, strlen(rules_text), p->rules, &err), 0);
	p->allow = mem_strdup("py.*");
	p->approve = APPROVE_NEVER;
	p->mode = MODE_CAREFUL;
	p->tests = true;
	p->require = LEVEL_EXPECTED;
	p->limits.wall_ms = 1234;
	p->budget.deadline_ms = 99;
	p->prompts_dir = mem_strdup("/prompts");
	p->retries = 5;
	price_list_add(&p->prices, "big*", "1,2,3");
}

/* What becomes of the original does not reach the copy. */
static void test_a_copy_is_whole_and_its_own(void **state)
{
	struct policy p, copy;
	cleanup_json struct json *before = NULL, *after = NULL;

	(void)state;
	fill(&p);
	before = policy_json(&p);
	policy_copy(&copy, &p);
	p.model[0] = 'X';
	p.roles[ROLE_JUDGE].model[0] = 'X';
	json_set_int(p.model_options, "seed", 8);
	p.rules->text[0] = '#';
	p.allow[0] = 'X';
	policy_release(&p);
	after = policy_json(&copy);
	assert_true(json_equal(before, after));
	assert_string_equal(copy.rules->rules[0].id, "my.rule");
	assert_string_equal(copy.prompts_dir, "/prompts");
	assert_int_equal(copy.retries, 5);
	assert_true(price_of(&copy.prices, "bigger").known);
	policy_release(&copy);
}

static void test_the_record_replaces_what_it_holds(void **state)
{
	struct error err = ERROR_INIT;
	struct policy p, back;
	cleanup_json struct json *record = NULL, *again = NULL;

	(void)state;
	fill(&p);
	record = policy_json(&p);
	fill(&back);
	free(back.roles[ROLE_CODE].model);
	back.roles[ROLE_CODE].model = mem_strdup("to be forgotten");
	back.mode = MODE_FAST;
	back.retries = 1;
	assert_int_equal(policy_from_json(&back, record, &err), 0);
	again = policy_json(&back);
	assert_true(json_equal(record, again));
	assert_null(back.roles[ROLE_CODE].model);
	assert_int_equal(back.retries, 1); /* not recorded: as it was */
	policy_release(&p);
	policy_release(&back);
}

/* A run of the time before there were modes, rules and approvals. */
static void test_an_old_record_is_read(void **state)
{
	static const char text[] = "{\"profile\":\"strict\",\"require\":\"ran\",\"model\":\"m\","
				   "\"limits\":{\"wall_ms\":50},\"budget\":{\"calls\":3}}";
	struct error err = ERROR_INIT;
	cleanup_json struct json *record = json_parse(text, strlen(text), 0, &err);
	struct policy p;

	(void)state;
	policy_init(&p);
	assert_int_equal(policy_from_json(&p, record, &err), 0);
	assert_string_equal(p.model, "m");
	assert_int_equal(p.mode, MODE_CAREFUL);
	assert_int_equal(p.approve, APPROVE_AUTO);
	assert_int_equal(p.limits.wall_ms, 50);
	assert_int_equal(p.budget.calls, 3);
	assert_int_equal(p.budget.attempts, 4);
	policy_release(&p);
}

static void test_names_there_and_back(void **state)
{
	(void)state;
	for (int i = APPROVE_AUTO; i <= APPROVE_NEVER; i++)
		assert_int_equal(approve_mode_parse(approve_mode_name((enum approve_mode)i)), i);
	assert_int_equal(approve_mode_parse(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_copy_is_whole_and_its_own),
		cmocka_unit_test(test_the_record_replaces_what_it_holds),
		cmocka_unit_test(test_an_old_record_is_read),
		cmocka_unit_test(test_names_there_and_back),
	};

	return cmocka_run_group_tests_name("agent_policy", tests, NULL, NULL);
}
