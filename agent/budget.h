/*
 * Budgets of one question: reserved before the act, settled after it, so that
 * a cap is met before it is passed and not after.
 */
#ifndef AGENT_BUDGET_H
#define AGENT_BUDGET_H

#include "agent/policy.h"
#include "agent/price.h"
#include "agent/setting.h"
#include "base/error.h"
#include "llm/llm.h"

struct budget {
	const struct setting_names *names; /* of the caps, for messages; borrowed; NULL: none */
	struct budget_limits limits;
	int64_t calls, tokens, exec_ms; /* settled */
	int64_t cost_micro_usd;
	/* Of the calls that were not played back out of a record: */
	bool cost_known; /* each so far had a price and usage */
	int64_t asked;
	int64_t spent_micro_usd;
	struct llm_usage usage; /* summed */
	/* Of the call under way, for each try of it that may be billed. */
	int64_t reserved_tokens, reserved_cost;
	int reserved_tries;
};

/* What a call asks for, and what it may have. */
struct budget_call {
	size_t prompt_bytes; /* of the messages and of options sent with them */
	size_t messages;
	int64_t wanted; /* tokens of the reply; 0: as many as is usual */
	int tries;	/* that may be billed */
};
struct budget_grant {
	int64_t max_tokens; /* of the reply */
	int tries;	    /* that may be billed, 1 or more */
};

void budget_init(struct budget *b, const struct budget_limits *limits);

/*
 * Before a model call: reserves the most that it can come to, so that no cap is
 * passed whatever happens: every byte of the prompt a token (a tokeniser makes
 * no more of it than that, and the framing of messages is allowed for), the
 * whole reply used, and each try billed. The reply and the tries are cut to
 * what fits; ERR_BUDGET naming the cap, by its name if it has one, when nothing useful does.
 */
int budget_reserve_call(struct budget *b, const struct budget_call *call, const struct price *price,
			struct budget_grant *ret, struct error *err);
/*
 * Puts what was used in place of the reservation: what tries reported, and for
 * each try that may have been billed without a report what was reserved for
 * one. cost_known ends with the first call that was not played back and is without price or
 * full report.
 */
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
