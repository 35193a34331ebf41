/*
 * Budgets against servers that use, cut, fail and lie. No model is asked: each reply is made up
 * here.
 */
#include "agent/budget.h"
#include "base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct price free_price = { .known = false };
/* dollars per million tokens */
static const struct price price = { .known = true, .input = 3, .cached = 0.3, .output = 15 };

static struct budget_limits limits(int64_t tokens, int64_t cost)
{
	return (struct budget_limits){ .attempts = 4,
				       .calls = 1000,
				       .tokens = tokens,
				       .exec_ms = 30000,
				       .cost_micro_usd = cost };
}

static struct llm_reply used(int64_t input, int64_t cached, int64_t output, int unmetered)
{
	return (struct llm_reply){
		.usage = { input, cached, output, 0,
			   unmetered ? LLM_USAGE_PARTIAL : LLM_USAGE_REPORTED },
		.unmetered_tries = unmetered,
	};
}

static const struct budget_call small = { .prompt_bytes = 1000, .messages = 2, .tries = 3 };

static void test_the_prompt_is_bounded_by_its_bytes(void **state)
{
	const struct budget_limits l = limits(100000, -1);
	struct error err = ERROR_INIT;
	struct budget_grant grant;
	struct budget b;

	(void)state;
	budget_init(&b, &l);
	assert_int_equal(budget_reserve_call(&b, &small, &free_price, &grant, &err), 0);
	assert_true(b.reserved_tokens >= 1000 + grant.max_tokens);
	assert_int_equal(grant.tries, 3);
	assert_int_equal(b.tokens, 3 * b.reserved_tokens);
	budget_settle_call(&b, &(struct llm_reply){ .usage = { 10, 0, 5, 0, LLM_USAGE_REPORTED } },
			   &free_price);
	assert_int_equal(b.tokens, 15);
	assert_false(b.cost_known); /* no price: unknown, not nothing */
}

/* What an honest server can bill at most never passes the caps, whatever happens. */
static void test_never_overrun(void **state)
{
	(void)state;
	srand(4);
	for (int round = 0; round < 3000; round++) {
		const struct budget_limits l =
			limits(1000 + rand() % 60000, 1000 + rand() % 300000);
		struct error err = ERROR_INIT;
		int64_t true_tokens = 0;
		double true_cost = 0;
		struct budget b;

		budget_init(&b, &l);
		for (int call = 0; call < 30; call++) {
			const struct budget_call c = { .prompt_bytes = (size_t)(rand() % 20000),
						       .messages = 1 + (size_t)(rand() % 4),
						       .wanted = rand() % 3 ? 0 : rand() % 30000,
						       .tries = 1 + rand() % 3 };
			struct llm_reply reply = { .first_token_ms = -1 };
			struct budget_grant grant;

			if (budget_reserve_call(&b, &c, &price, &grant, &err) < 0)
				break;
			assert_true(b.tokens <= l.tokens);
			assert_true(b.cost_micro_usd <= l.cost_micro_usd);
			assert_in_range(grant.tries, 1, c.tries);
			int billed = rand() % (grant.tries + 1);
			for (int i = 0; i < billed; i++) {
				int64_t in = (int64_t)(rand() % (int)(c.prompt_bytes + 192));
				int64_t out = rand() % ((int)grant.max_tokens + 1);
				int64_t cached = in ? rand() % in : 0;

				true_tokens += in + out;
				true_cost += (double)(in - cached) * price.input +
					     (double)cached * price.cached +
					     (double)out * price.output;
				if (rand() % 2) { /* cut: the server does not say */
					reply.unmetered_tries++;
				} else {
					reply.usage.input_tokens += in;
					reply.usage.cached_tokens += cached;
					reply.usage.output_tokens += out;
				}
			}
			reply.usage.source =
				reply.unmetered_tries ? LLM_USAGE_PARTIAL : LLM_USAGE_REPORTED;
			budget_settle_call(&b, &reply, &price);
			assert_true(b.tokens >= true_tokens);
			assert_true(b.tokens <= l.tokens);
			assert_true((double)b.cost_micro_usd >= true_cost - 1);
			assert_true(b.cost_micro_usd <= l.cost_micro_usd);
		}
		assert_true(true_tokens <= l.tokens);
		assert_true(true_cost <= (double)l.cost_micro_usd);
	}
}

static void test_cost_cuts_the_reply(void **state)
{
	const struct budget_limits l = limits(1000000, 20000); /* two cents */
	struct error err = ERROR_INIT;
	struct budget_grant grant;
	struct budget b;

	(void)state;
	budget_init(&b, &l);
	assert_int_equal(budget_reserve_call(&b, &small, &price, &grant, &err), 0);
	assert_in_range(grant.max_tokens, 900, 1200); /* of 8192 */
	assert_int_equal(grant.tries, 1);
	budget_settle_call(&b,
			   &(struct llm_reply){ .usage = { 900, 0, 1000, 0, LLM_USAGE_REPORTED } },
			   &price);
	assert_int_equal(b.cost_micro_usd, 17700);
	assert_int_equal(budget_reserve_call(&b, &small, &price, &grant, &err), -1);
	assert_int_equal(err.kind, ERR_BUDGET);
	assert_int_equal(b.cost_micro_usd, 17700); /* a refusal reserves nothing */
	assert_int_equal(b.calls, 1);
}

static void test_cached_tokens_have_their_rate(void **state)
{
	const struct budget_limits l = limits(1000000, -1);
	struct budget b;

	(void)state;
	budget_init(&b, &l);
	budget_settle_call(&b,
			   &(struct llm_reply){ .usage = { 1000, 800, 10, 0, LLM_USAGE_REPORTED } },
			   &price);
	assert_int_equal(b.cost_micro_usd, 200 * 3 + 240 + 150);
	assert_true(b.cost_known);
}

static void test_a_price_is_needed_and_must_be_one(void **state)
{
	const struct budget_limits l = limits(1000000, 1000000);
	const struct price bad[] = { { .known = false },
				     { true, false, NAN, 1, 1 },
				     { true, false, 1, 1, -1 },
				     { true, false, 1, INFINITY, 1 } };
	struct error err = ERROR_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct budget_grant grant;
		struct budget b;

		budget_init(&b, &l);
		assert_int_equal(budget_reserve_call(&b, &small, &bad[i], &grant, &err), -1);
		assert_int_equal(err.kind, ERR_CONFIG);
		budget_settle_call(
			&b, &(struct llm_reply){ .usage = { 9, 0, 9, 0, LLM_USAGE_REPORTED } },
			&bad[i]);
		assert_false(b.cost_known);
	}
}

/* Counts that no server can mean. */
static void test_lies(void **state)
{
	const struct budget_limits l = limits(100000, 1000000);
	const struct llm_reply lies[] = {
		used(INT64_MAX, 0, INT64_MAX, 0),
		used(-5, -5, -5, 0),
		used(10, INT64_MAX, 10, 0),
		used(INT64_MIN, INT64_MIN, INT64_MIN, 2),
		used(INT64_MAX, INT64_MAX, INT64_MAX, 1000000),
	};
	struct error err = ERROR_INIT;
	struct budget_grant grant;
	struct budget b;

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		budget_init(&b, &l);
		for (int n = 0;
		     n < 100 && budget_reserve_call(&b, &small, &price, &grant, &err) == 0; n++)
			budget_settle_call(&b, &lies[i], &price);
		assert_true(b.tokens >= 0);
		assert_true(b.cost_micro_usd >= 0);
		assert_true(b.usage.input_tokens >= 0);
	}
	/* After a bill beyond every cap nothing more is spent. */
	budget_init(&b, &l);
	assert_int_equal(budget_reserve_call(&b, &small, &price, &grant, &err), 0);
	budget_settle_call(&b, &lies[0], &price);
	assert_int_equal(budget_reserve_call(&b, &small, &price, &grant, &err), -1);
}

static void test_a_huge_prompt(void **state)
{
	const struct budget_limits l = limits(INT64_MAX / 4, INT64_MAX / 4);
	const struct budget_call huge = { .prompt_bytes = SIZE_MAX / 2,
					  .messages = 1,
					  .tries = 101 };
	struct error err = ERROR_INIT;
	struct budget_grant grant;
	struct budget b;

	(void)state;
	budget_init(&b, &l);
	if (budget_reserve_call(&b, &huge, &price, &grant, &err) == 0)
		assert_true(b.tokens > 0 && b.cost_micro_usd > 0);
}

/* A call that was refused before it began costs nothing; one cut short its worst. */
static void test_refused_and_cut(void **state)
{
	const struct budget_limits l = limits(100000, -1);
	const struct llm_reply refused = { .usage = { .source = LLM_USAGE_NONE } };
	struct error err = ERROR_INIT;
	struct budget_grant grant;
	struct budget b;

	(void)state;
	budget_init(&b, &l);
	assert_int_equal(budget_reserve_call(&b, &small, &free_price, &grant, &err), 0);
	int64_t one = b.reserved_tokens;
	budget_settle_call(&b, &refused, &free_price);
	assert_int_equal(b.tokens, 0);
	assert_int_equal(budget_reserve_call(&b, &small, &free_price, &grant, &err), 0);
	budget_settle_call(&b, &(struct llm_reply){ .unmetered_tries = 2 }, &free_price);
	assert_int_equal(b.tokens, 2 * one);
}

static char *name_of(enum setting setting)
{
	return setting == SETTING_CALLS ? mem_strdup("max_calls") :
	       setting == SETTING_COST	? mem_strdup("the cap") :
					  NULL;
}

/* A cap is called as whoever runs the engine calls it, and by no name where it has none. */
static void test_a_cap_has_its_name_from_outside(void **state)
{
	static const struct setting_names names = { name_of };
	const struct budget_limits l = { .calls = 0, .tokens = 9, .cost_micro_usd = -1 };
	const struct budget_limits dear = { .calls = 9, .tokens = 9, .cost_micro_usd = 9 };
	struct error err = ERROR_INIT;
	struct budget_grant grant;
	struct budget b;

	(void)state;
	budget_init(&b, &l);
	assert_int_equal(budget_reserve_call(&b, &small, &free_price, &grant, &err), -1);
	assert_string_equal(err.message, "all 0 model calls are used");
	assert_int_equal(err.kind, ERR_BUDGET);
	b.names = &names;
	assert_int_equal(budget_reserve_call(&b, &small, &free_price, &grant, &err), -1);
	assert_string_equal(err.message, "all 0 model calls are used (max_calls)");
	int64_t ms;
	assert_int_equal(budget_reserve_exec(&b, 10, &ms, &err), -1);
	assert_string_equal(err.message, "0 ms of execution are used");
	budget_init(&b, &dear);
	assert_int_equal(budget_reserve_call(&b, &small, &free_price, &grant, &err), -1);
	assert_non_null(strstr(err.message, "a limit of the cost needs"));
	b.names = &names;
	assert_int_equal(budget_reserve_call(&b, &small, &free_price, &grant, &err), -1);
	assert_memory_equal(err.message, "the cap needs", strlen("the cap needs"));
	assert_int_equal(err.kind, ERR_CONFIG);
}

int main(void)
{
	const struct CMUnitTest agent_budget[] = {
		cmocka_unit_test(test_the_prompt_is_bounded_by_its_bytes),
		cmocka_unit_test(test_never_overrun),
		cmocka_unit_test(test_cost_cuts_the_reply),
		cmocka_unit_test(test_cached_tokens_have_their_rate),
		cmocka_unit_test(test_a_price_is_needed_and_must_be_one),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_a_huge_prompt),
		cmocka_unit_test(test_refused_and_cut),
		cmocka_unit_test(test_a_cap_has_its_name_from_outside),
	};

	return cmocka_run_group_tests(agent_budget, NULL, NULL);
}
