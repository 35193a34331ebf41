/*
 * What all workers of a batch may spend together, and the model that keeps to it.
 *
 * Theory of operation: one page of shared memory under a robust lock, made by the parent before it
 * forks. Before a call the most that it can come to is taken from what is left (agent/budget.h);
 * after it, what it did not use is put back. A call that does not fit waits while another is under
 * way, which will put something back, and is refused when none is. A worker that dies has spent all
 * it took. Where there is such a page no call may be made beside it.
 */
#include "agent/cli/batch/pool.h"

#include "agent/budget.h"
#include "agent/cli/batch/caps.h"
#include "base/clock.h"
#include "base/shared.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

#define ASK_MS 50	       /* how soon to ask again for what others may put back */
#define NO_CAP (INT64_MAX / 4) /* of tokens: past any bill */

struct batch_pool {
	struct shared shared;
	int64_t max_tokens, max_cost; /* max_cost -1: no cap */
	int64_t tokens, cost;	      /* spent and taken */
	bool under_way[BATCH_WORKERS_MAX];
};

struct batch_pool *batch_pool_create(const struct batch_caps *caps)
{
	struct batch_pool *p = shared_new(sizeof(*p));

	if (!p)
		return NULL;
	p->max_tokens = caps->tokens >= 0 ? caps->tokens : NO_CAP;
	p->max_cost = caps->cost_micro_usd;
	p->tokens = caps->tokens_before;
	p->cost = caps->cost_before;
	return p;
}

void batch_pool_free(struct batch_pool *p)
{
	shared_free(p, sizeof(*p));
}

void batch_pool_lost(struct batch_pool *p, size_t worker)
{
	if (!p)
		return;
	shared_lock(&p->shared);
	p->under_way[worker] = false;
	shared_unlock(&p->shared);
}

/* What is left, as the budget of one question. */
static struct budget budget_of(const struct batch_pool *p)
{
	return (struct budget){
		.limits = { .calls = INT64_MAX,
			    .tokens = p->max_tokens,
			    .cost_micro_usd = p->max_cost },
		.tokens = p->tokens,
		.cost_micro_usd = p->cost,
	};
}

static bool others_under_way(const struct batch_pool *p, size_t worker)
{
	for (size_t i = 0; i < BATCH_WORKERS_MAX; i++)
		if (i != worker && p->under_way[i])
			return true;
	return false;
}

/* --- a call --- */

static struct budget_call call_of(const struct llm_request *q)
{
	struct budget_call call = {
		.messages = q->message_count,
		.wanted = q->max_tokens,
		.tries = q->billed_max > 0 ? q->billed_max : 1,
	};

	for (size_t i = 0; i < q->message_count; i++)
		call.prompt_bytes += strlen(q->messages[i].content);
	return call;
}

/* 1: taken; 0: others may put something back yet; -1: it will never fit. */
static int try_take(struct batch_meter *m, const struct budget_call *call,
		    const struct price *price, struct budget *budget, struct budget_grant *grant)
{
	struct batch_pool *p = m->pool;

	shared_lock(&p->shared);
	*budget = budget_of(p);
	struct error why = ERROR_INIT;
	int rc = budget_reserve_call(budget, call, price, grant, &why);
	int got;
	if (rc < 0 || grant->max_tokens < call->wanted)
		got = others_under_way(p, m->worker) ? 0 : rc < 0 ? -1 : 1;
	else
		got = 1;
	if (got > 0) {
		p->tokens = budget->tokens;
		p->cost = budget->cost_micro_usd;
		p->under_way[m->worker] = true;
	}
	shared_unlock(&p->shared);
	return got;
}

static int refuse(struct batch_meter *m, struct error *err)
{
	const struct batch_pool *p = m->pool;

	m->capped = true;
	if (p->max_cost >= 0)
		return error_set(err, ERR_BUDGET,
				 "the next call does not fit: $%.6f of $%.6f and %" PRId64
				 " tokens are used in all (--total-cost, "
				 "--total-tokens)",
				 (double)p->cost / 1e6, (double)p->max_cost / 1e6, p->tokens);
	return error_set(err, ERR_BUDGET,
			 "the next call does not fit: %" PRId64 " of %" PRId64
			 " tokens are used in all (--total-tokens)",
			 p->tokens, p->max_tokens);
}

static int take(struct batch_meter *m, struct llm_request *q, const struct price *price,
		struct budget *budget, struct error *err)
{
	const struct budget_call call = call_of(q);
	struct pollfd cancel = { q->cancel_fd, POLLIN, 0 };
	struct budget_grant grant;
	int got;

	while (!(got = try_take(m, &call, price, budget, &grant)))
		if (poll(&cancel, 1, ASK_MS) > 0)
			return error_set(err, ERR_CANCELLED, "cancelled");
	if (got < 0)
		return refuse(m, err);
	q->max_tokens = grant.max_tokens;
	q->billed_max = grant.tries;
	return 0;
}

/* Puts back what the call did not use. */
static void settle(struct batch_meter *m, struct budget *budget, const struct llm_reply *reply,
		   const struct price *price)
{
	const int64_t tokens = budget->tokens, cost = budget->cost_micro_usd;

	budget_settle_call(budget, reply, price);
	shared_lock(&m->pool->shared);
	m->pool->tokens += budget->tokens - tokens;
	m->pool->cost += budget->cost_micro_usd - cost;
	m->pool->under_way[m->worker] = false;
	shared_unlock(&m->pool->shared);
}

static int metered_call(void *self, const struct llm_request *request, const struct llm_sink *sink,
			struct llm_reply *ret_reply, struct error *err)
{
	struct batch_meter *m = self;
	struct price price = price_of(m->prices, request->model);
	struct llm_request q = *request;

	q.repeat = m->repeat;
	struct budget budget;
	if (m->pool && take(m, &q, &price, &budget, err) < 0)
		return -1;
	int rc = m->inner.ops->call(m->inner.self, &q, sink, ret_reply, err);
	if (m->pool) {
		settle(m, &budget, ret_reply, &price);
		/* A reply that had to be shorter than usual, and was too short. */
		m->capped |=
			ret_reply->stop == LLM_STOP_LENGTH && q.max_tokens < request->max_tokens;
	}
	m->retries += ret_reply->try_count > 1 ? (int)ret_reply->try_count - 1 : 0;
	m->failed = rc < 0 ? ret_reply->error.class : LLM_ERROR_NONE;
	return rc;
}

static void metered_free(void *self)
{
	struct batch_meter *m = self;

	llm_close(&m->inner);
}

void batch_meter_wrap(struct batch_meter *m, struct llm *llm)
{
	static const struct llm_ops ops = { .call = metered_call, .free = metered_free };

	m->inner = *llm;
	*llm = (struct llm){ .ops = &ops, .self = m, .provider = m->inner.provider };
}
