#include "agent/budget.h"

#include <inttypes.h>
#include <math.h>

/* A reply's share when nothing says more; also what a call must leave room for. */
#define REPLY_TOKENS_DEFAULT 8192
#define REPLY_TOKENS_LEAST 64
/* Real tokenisers make 3 to 5 bytes of English or code a token; 2 is safe for both. */
#define BYTES_PER_TOKEN 2

void budget_init(struct budget *b, const struct budget_limits *limits)
{
	*b = (struct budget){ .limits = *limits, .cost_known = true };
}

static int64_t cost_of(const struct price *p, int64_t input, int64_t cached, int64_t output)
{
	return (int64_t)ceil((double)(input - cached) * p->input + (double)cached * p->cached +
			     (double)output * p->output);
}

int budget_reserve_call(struct budget *b, size_t prompt_bytes, int64_t wanted,
			const struct price *price, int64_t *ret_max_tokens, struct error *err)
{
	int64_t input = (int64_t)(prompt_bytes / BYTES_PER_TOKEN) + 16;
	int64_t left = b->limits.tokens - b->tokens - input, reply, cost;

	if (b->calls >= b->limits.calls)
		return error_set(err, ERR_BUDGET, "all %" PRId64 " model calls are used (--max-calls)",
				 b->limits.calls);
	if (left < REPLY_TOKENS_LEAST)
		return error_set(err, ERR_BUDGET,
				 "the next call needs about %" PRId64 " tokens and %" PRId64 " of %" PRId64
				 " are used (--max-tokens)", input + REPLY_TOKENS_LEAST, b->tokens,
				 b->limits.tokens);
	reply = wanted > 0 ? wanted : REPLY_TOKENS_DEFAULT;
	reply = reply < left ? reply : left;
	cost = price->known ? cost_of(price, input, 0, reply) : 0;
	if (b->limits.cost_micro_usd >= 0 && !price->known)
		return error_set(err, ERR_CONFIG, "--max-cost needs the model's price: put \"MODEL = "
				 "INPUT,OUTPUT\" (dollars per million tokens) under [prices] in the "
				 "configuration");
	if (b->limits.cost_micro_usd >= 0 && b->cost_micro_usd + cost > b->limits.cost_micro_usd)
		return error_set(err, ERR_BUDGET,
				 "the next call may cost $%.4f and $%.4f of $%.4f are used (--max-cost)",
				 (double)cost / 1e6, (double)b->cost_micro_usd / 1e6,
				 (double)b->limits.cost_micro_usd / 1e6);
	b->calls++;
	b->reserved_tokens = input + reply;
	b->reserved_cost = cost;
	b->tokens += b->reserved_tokens;
	b->cost_micro_usd += cost;
	*ret_max_tokens = reply;
	return 0;
}

void budget_settle_call(struct budget *b, const struct llm_reply *reply, const struct price *price)
{
	const struct llm_usage *u = &reply->usage;

	/* Without usage from the wire the reservation stands: never an underestimate. */
	if (u->source == LLM_USAGE_REPORTED) {
		b->tokens += u->input_tokens + u->output_tokens - b->reserved_tokens;
		b->cost_micro_usd -= b->reserved_cost;
		if (price->known)
			b->cost_micro_usd += cost_of(price, u->input_tokens, u->cached_tokens,
						     u->output_tokens);
	}
	if (!price->known || u->source != LLM_USAGE_REPORTED)
		b->cost_known = false;
	b->usage.input_tokens += u->input_tokens;
	b->usage.cached_tokens += u->cached_tokens;
	b->usage.output_tokens += u->output_tokens;
	b->usage.reasoning_tokens += u->reasoning_tokens;
	if (b->calls == 1)
		b->usage.source = u->source;
	else if (u->source != b->usage.source)
		b->usage.source = LLM_USAGE_PARTIAL;
	b->reserved_tokens = 0;
	b->reserved_cost = 0;
}

int budget_reserve_exec(struct budget *b, int64_t wanted_ms, int64_t *ret_wall_ms,
			struct error *err)
{
	int64_t left = b->limits.exec_ms - b->exec_ms;

	if (left <= 0)
		return error_set(err, ERR_BUDGET,
				 "%" PRId64 " ms of execution are used (--max-exec-seconds)", b->exec_ms);
	*ret_wall_ms = wanted_ms < left ? wanted_ms : left;
	return 0;
}

void budget_settle_exec(struct budget *b, double wall_ms)
{
	b->exec_ms += (int64_t)ceil(wall_ms);
}

int budget_deadline(const struct budget *b, int64_t elapsed_ms, int64_t *ret_left_ms,
		    struct error *err)
{
	*ret_left_ms = INT64_MAX;
	if (!b->limits.deadline_ms)
		return 0;
	if (elapsed_ms >= b->limits.deadline_ms)
		return error_set(err, ERR_DEADLINE, "the deadline of %" PRId64 " ms has passed",
				 b->limits.deadline_ms);
	*ret_left_ms = b->limits.deadline_ms - elapsed_ms;
	return 0;
}
