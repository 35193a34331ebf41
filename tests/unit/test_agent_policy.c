/*
 * The policy of a run: copied whole, recorded and read back. No run has it here: what a policy does
 * to one is tested with the loop (test_cases_loop.c).
 */
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

/* Every member differs from what policy_init makes of it, and is written without its name: who adds
 * one has to add it here. What is owned, or of a table, is filled below. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wmissing-field-initializers"
static const struct policy filled = {
	NULL, /* provider */
	NULL, /* model */
	{ { false, NULL } },
	NULL, /* model_options */
	NULL, /* lang */
	NULL, /* sandbox */
	true, /* weaker */
	NULL, /* python */
	NULL, /* node_modules */
	{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 },
	{ 12, 13, 14, 15, 16, 17 },
	SCREEN_STRICT,
	NULL, /* rules */
	NULL, /* allow */
	APPROVE_NEVER,
	IMAGES_NEVER,
	MODE_CAREFUL,
	false, /* judge */
	true,  /* tests */
	true,  /* cross_check */
	LEVEL_EXPECTED,
};
#pragma GCC diagnostic pop

static void fill(struct policy *p)
{
	struct error err = ERROR_INIT;

	memcpy(p, &filled, sizeof(*p)); /* what lies between the members, too */
	p->provider = mem_strdup("vendor");
	p->model = mem_strdup("big");
	p->roles[ROLE_JUDGE].model = mem_strdup("small");
	p->roles[ROLE_PLAN].off = true;
	p->model_options = json_object();
	json_set_int(p->model_options, "seed", 7);
	p->lang = language_find("bash")->name;
	p->sandbox = mem_strdup(sandbox_name_find(NULL));
	p->python = mem_strdup("/opt/python");
	p->node_modules = mem_strdup("/opt/node_modules");
	p->rules = mem_alloc(sizeof(*p->rules));
	assert_int_equal(ruleset_parse(rules_text, strlen(rules_text), p->rules, &err), 0);
	p->allow = mem_strdup("py.*");
}

/* Byte by byte, but for what each owns for itself, which is there in both or in neither. */
static void assert_same(const struct policy *a, const struct policy *b)
{
	static const size_t owned[] = {
		offsetof(struct policy, provider),	offsetof(struct policy, model),
		offsetof(struct policy, model_options), offsetof(struct policy, sandbox),
		offsetof(struct policy, python),	offsetof(struct policy, node_modules),
		offsetof(struct policy, rules),		offsetof(struct policy, allow),
	};
	struct policy x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++) {
		void *one, *other;

		memcpy(&one, (char *)&x + owned[i], sizeof(one));
		memcpy(&other, (char *)&y + owned[i], sizeof(other));
		assert_non_null(one);
		assert_non_null(other);
		assert_ptr_not_equal(one, other);
		memset((char *)&x + owned[i], 0, sizeof(one));
		memset((char *)&y + owned[i], 0, sizeof(one));
	}
	for (size_t i = 0; i < ROLE_COUNT; i++) {
		assert_int_equal(!x.roles[i].model, !y.roles[i].model);
		x.roles[i].model = y.roles[i].model = NULL;
	}
	assert_memory_equal(&x, &y, sizeof(x));
}

/* What becomes of the original does not reach the copy. */
static void test_a_copy_is_whole_and_its_own(void **state)
{
	struct policy p;

	(void)state;
	fill(&p);
	cleanup_json struct json *before = policy_json(&p);
	struct policy copy;
	memset(&copy, 0, sizeof(copy));
	policy_copy(&copy, &p);
	assert_same(&p, &copy);
	p.model[0] = 'X';
	p.roles[ROLE_JUDGE].model[0] = 'X';
	json_set_int(p.model_options, "seed", 8);
	p.rules->text[0] = '#';
	p.allow[0] = 'X';
	policy_release(&p);
	cleanup_json struct json *after = policy_json(&copy);
	assert_true(json_equal(before, after));
	assert_string_equal(copy.rules->rules[0].id, "my.rule");
	policy_release(&copy);
}

/* A policy is what is recorded of it, and nothing else: read into one that has nothing, the record
 * of one in which each member is set makes that one again. */
static void test_the_record_is_the_policy(void **state)
{
	struct error err = ERROR_INIT;
	struct policy p, usual;

	(void)state;
	fill(&p);
	policy_init(&usual);
	assert_true(usual.judge != p.judge && usual.tests != p.tests && usual.mode != p.mode &&
		    usual.cross_check != p.cross_check && usual.weaker != p.weaker &&
		    usual.require != p.require && usual.approve != p.approve &&
		    usual.images != p.images && usual.screen_profile != p.screen_profile);
	policy_release(&usual);
	cleanup_json struct json *record = policy_json(&p);
	struct policy back;
	memset(&back, 0, sizeof(back));
	back.judge = true;
	assert_int_equal(policy_from_json(&back, record, &err), 0);
	assert_same(&p, &back);
	cleanup_json struct json *again = policy_json(&back);
	assert_true(json_equal(record, again));
	policy_release(&p);
	policy_release(&back);
}

static void test_the_record_replaces_what_it_holds(void **state)
{
	struct error err = ERROR_INIT;
	struct policy p;

	(void)state;
	fill(&p);
	cleanup_json struct json *record = policy_json(&p);
	struct policy back;
	fill(&back);
	free(back.roles[ROLE_CODE].model);
	back.roles[ROLE_CODE].model = mem_strdup("to be forgotten");
	back.mode = MODE_FAST;
	assert_int_equal(policy_from_json(&back, record, &err), 0);
	cleanup_json struct json *again = policy_json(&back);
	assert_true(json_equal(record, again));
	assert_null(back.roles[ROLE_CODE].model);
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

/* A name that nobody has here is not taken for the one that lets the most through. */
static void test_unknown_names_are_refused(void **state)
{
	static const char *const keys[] = { "profile", "require", "approve", "images",
					    "mode",    "lang",	  "sandbox" };
	struct error err = ERROR_INIT;
	struct policy p;

	(void)state;
	fill(&p);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		for (int type = 0; type < 2; type++) {
			cleanup_json struct json *record = policy_json(&p);
			struct policy back;

			policy_init(&back);
			if (type)
				json_set_bool(record, keys[i], true);
			else
				json_set_string(record, keys[i], "always-yes");
			/* A sandbox that is not here is missed where code runs. */
			if (strcmp(keys[i], "sandbox") || type) {
				assert_int_equal(policy_from_json(&back, record, &err), -1);
				assert_int_equal(err.kind, ERR_LOG);
			} else {
				assert_int_equal(policy_from_json(&back, record, &err), 0);
				assert_null(back.sandbox);
			}
			policy_release(&back);
		}
	policy_release(&p);
}

/* What was agreed to then is nobody's consent now. */
static void test_a_record_brings_no_consent(void **state)
{
	struct error err = ERROR_INIT;
	struct policy then, given, ret = { .provider = NULL };

	(void)state;
	fill(&then);
	cleanup_json struct json *record = policy_json(&then);
	policy_init(&given);
	assert_int_equal(policy_of_record(&ret, &given, record, &err), 0);
	assert_false(ret.weaker);
	assert_string_equal(ret.model, "big");
	policy_release(&ret);
	given.weaker = true;
	json_set_bool(record, "weaker", false);
	assert_int_equal(policy_of_record(&ret, &given, record, &err), 0);
	assert_true(ret.weaker);
	policy_release(&ret);
	json_set_string(record, "mode", "none such");
	assert_int_equal(policy_of_record(&ret, &given, record, &err), -1);
	assert_null(ret.model);
	policy_release(&then);
	policy_release(&given);
}

static void test_names_there_and_back(void **state)
{
	(void)state;
	for (int i = APPROVE_AUTO; i <= APPROVE_NEVER; i++)
		assert_int_equal(approve_mode_parse(approve_mode_name((enum approve_mode)i)), i);
	for (int i = MODE_USUAL; i <= MODE_FAST; i++)
		assert_int_equal(mode_parse(mode_name((enum mode)i)), i);
	assert_int_equal(approve_mode_parse(""), -1);
	assert_int_equal(approve_mode_parse(NULL), -1);
	assert_int_equal(mode_parse(NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_copy_is_whole_and_its_own),
		cmocka_unit_test(test_the_record_is_the_policy),
		cmocka_unit_test(test_the_record_replaces_what_it_holds),
		cmocka_unit_test(test_an_old_record_is_read),
		cmocka_unit_test(test_unknown_names_are_refused),
		cmocka_unit_test(test_a_record_brings_no_consent),
		cmocka_unit_test(test_names_there_and_back),
	};

	return cmocka_run_group_tests_name("agent_policy", tests, NULL, NULL);
}
