/*
 * Budgets of one question: reserved before the act, settled after it, so that
 * a cap is met before it is passed and not after.
 */
#ifndef AGENT_BUDGET_H
#define AGENT_BUDGET_H

#include "agent/settings.h"
#include "base/error.h"
#include "llm/llm.h"

struct budget {
	struct budget_limits limits;
	int64_t calls, tokens, exec_ms;	/* settled */
	int64_t cost_micro_usd;
	bool cost_known;		/* every call so far had a price and usage */
	struct llm_usage usage;		/* summed */
	int64_t reserved_tokens, reserved_cost;	/* of the call under way */
};

void budget_init(struct budget *b, const struct budget_limits *limits);

/*
 * Before a model call whose messages have prompt_bytes: ERR_BUDGET naming the
 * cap and its flag when calls, tokens or cost would pass it. *ret_max_tokens
 * is what the reply may have (wanted, or less).
 */
int budget_reserve_call(struct budget *b, size_t prompt_bytes, int64_t wanted,
			const struct price *price, int64_t *ret_max_tokens, struct error *err);
void budget_settle_call(struct budget *b, const struct llm_reply *reply, const struct price *price);

/* Before an execution: *ret_wall_ms is the wall limit to use, wanted or what
 * is left; ERR_BUDGET when nothing is. */
int budget_reserve_exec(struct budget *b, int64_t wanted_ms, int64_t *ret_wall_ms,
			struct error *err);
void budget_settle_exec(struct budget *b, double wall_ms);

/* Milliseconds left of --deadline at elapsed_ms; INT64_MAX without one;
 * ERR_DEADLINE when it has passed. */
int budget_deadline(const struct budget *b, int64_t elapsed_ms, int64_t *ret_left_ms,
		    struct error *err);

#endif
