/*
 * What a run may spend, reserved before each call and each execution, settled after. A
 * reservation is the most that can be billed; what cannot be priced is not taken for free.
 */
#include "agent/budget.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* A reply's share when nothing says more; also what a call must leave room for. */
#define REPLY_TOKENS_DEFAULT 8192
#define REPLY_TOKENS_LEAST   64
/* What a server's template may add, to a conversation and to each message. */
#define FRAME_TOKENS	  192
#define FRAME_TOKENS_EACH 16
/* Past any bill; keeps sums from overflowing whatever a server claims. */
#define TOKENS_MAX ((int64_t)1 << 40)
#define COST_MAX   1e15

void budget_init(struct budget *b, const struct budget_limits *limits)
{
	*b = (struct budget){ .limits = *limits, .cost_known = true };
}

/* A price that is no number is no price. */
static bool is_priced(const struct price *p)
{
	return p->known && p->input >= 0 && p->cached >= 0 && p->output >= 0 &&
	       isfinite(p->input) && isfinite(p->cached) && isfinite(p->output);
}

static int64_t sane(int64_t tokens)
{
	return tokens < 0 ? 0 : tokens < TOKENS_MAX ? tokens : TOKENS_MAX;
}

static int64_t clamp_cost(double cost)
{
	return (int64_t)ceil(cost < COST_MAX ? cost : COST_MAX);
}

static int64_t cost_of(const struct price *p, int64_t input, int64_t cached, int64_t output)
{
	return clamp_cost((double)(input - cached) * p->input + (double)cached * p->cached +
			  (double)output * p->output);
}

/* The most it can be: nothing says yet which tokens the cache has. */
static double worst_input(const struct price *p, int64_t input)
{
	return (double)input * fmax(p->input, p->cached);
}

/* The message, and the cap's name behind it where it has one. */
__attribute__((format(printf, 4, 5))) static int over(const struct budget *b, enum setting cap,
						      struct error *err, const char *fmt, ...)
{
	cleanup_free char *name = setting_in_words(b->names, cap, " (", ")", "");
	char message[ERROR_MESSAGE_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return error_set(err, ERR_BUDGET, "%s%s", message, name);
}

static int check_calls(const struct budget *b, const struct price *price, struct error *err)
{
	if (b->calls >= b->limits.calls)
		return over(b, SETTING_CALLS, err, "all %" PRId64 " model calls are used",
			    b->limits.calls);
	if (b->limits.cost_micro_usd < 0 || is_priced(price))
		return 0;
	cleanup_free char *cap =
		setting_in_words(b->names, SETTING_COST, "", "", "a limit of the cost");
	return error_set(err, ERR_CONFIG,
			 "%s needs the model's price: put \"MODEL = INPUT,OUTPUT\" (dollars per "
			 "million tokens) under [prices] in the configuration",
			 cap);
}

/* Tokens of a reply that the money left pays for, after the prompt. */
static int64_t affordable(const struct budget *b, const struct price *price, int64_t input,
			  int64_t reply)
{
	if (b->limits.cost_micro_usd < 0)
		return reply;
	double left = (double)(b->limits.cost_micro_usd - b->cost_micro_usd) - 1 -
		      worst_input(price, input);
	if (left < 0)
		return -1;
	if (price->output <= 0 || left / price->output >= (double)reply)
		return reply;
	return (int64_t)(left / price->output);
}

/* How many tries of these costs fit beside what is used. */
static int fitting_tries(const struct budget *b, int wanted, int64_t tokens, int64_t cost)
{
	int64_t tries = (b->limits.tokens - b->tokens) / tokens;

	if (b->limits.cost_micro_usd >= 0 && cost > 0) {
		int64_t paid = (b->limits.cost_micro_usd - b->cost_micro_usd) / cost;
		tries = paid < tries ? paid : tries;
	}
	return tries < wanted ? (int)(tries > 1 ? tries : 1) : wanted > 1 ? wanted : 1;
}

static int too_few_tokens(const struct budget *b, int64_t input, struct error *err)
{
	return over(b, SETTING_TOKENS, err,
		    "the next call may need %" PRId64 " tokens and %" PRId64 " of %" PRId64
		    " are used",
		    input + REPLY_TOKENS_LEAST, b->tokens, b->limits.tokens);
}

static int too_dear(const struct budget *b, const struct price *price, int64_t input,
		    struct error *err)
{
	return over(b, SETTING_COST, err,
		    "the next call may cost $%.6f and $%.6f of $%.6f are used",
		    (double)(cost_of(price, input, 0, REPLY_TOKENS_LEAST)) / 1e6,
		    (double)b->cost_micro_usd / 1e6, (double)b->limits.cost_micro_usd / 1e6);
}

int budget_reserve_call(struct budget *b, const struct budget_call *call, const struct price *price,
			struct budget_grant *ret, struct error *err)
{
	int64_t input = sane((int64_t)call->prompt_bytes) + FRAME_TOKENS +
			(int64_t)call->messages * FRAME_TOKENS_EACH;
	int64_t left = b->limits.tokens - b->tokens - input;

	if (check_calls(b, price, err) < 0)
		return -1;
	if (left < REPLY_TOKENS_LEAST)
		return too_few_tokens(b, input, err);
	int64_t reply = call->wanted > 0 ? call->wanted : REPLY_TOKENS_DEFAULT;
	reply = reply < left ? reply : left;
	int64_t paid = affordable(b, price, input, reply);
	if (paid < reply && paid < REPLY_TOKENS_LEAST)
		return too_dear(b, price, input, err);
	reply = paid < reply ? paid : reply;
	int64_t cost =
		is_priced(price) ?
			clamp_cost(worst_input(price, input) + (double)reply * price->output) :
			0;
	int tries = fitting_tries(b, call->tries, input + reply, cost);
	b->calls++;
	b->reserved_tokens = input + reply;
	b->reserved_cost = cost;
	b->reserved_tries = tries;
	b->tokens += b->reserved_tokens * tries;
	b->cost_micro_usd += cost * tries;
	*ret = (struct budget_grant){ .max_tokens = reply, .tries = tries };
	return 0;
}

static void add_usage(struct budget *b, const struct llm_usage *u)
{
	b->usage.input_tokens += sane(u->input_tokens);
	b->usage.cached_tokens += sane(u->cached_tokens);
	b->usage.output_tokens += sane(u->output_tokens);
	b->usage.reasoning_tokens += sane(u->reasoning_tokens);
	if (++b->asked <= 1)
		b->usage.source = u->source;
	else if (u->source != b->usage.source)
		b->usage.source = LLM_USAGE_PARTIAL;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

void budget_settle_call(struct budget *b, const struct llm_reply *reply, const struct price *price)
{
	const struct llm_usage *u = &reply->usage;
	int64_t input = sane(u->input_tokens), output = sane(u->output_tokens);
	int64_t cached = least(sane(u->cached_tokens), input);
	int64_t all_tokens = b->reserved_tokens * b->reserved_tries;
	int64_t all_cost = b->reserved_cost * b->reserved_tries;
	int64_t tokens = input + output;
	int64_t cost = is_priced(price) ? cost_of(price, input, cached, output) : 0;

	/* A cut try is both in the part reported and at its worst: not beyond what
	 * was reserved, unless the reports alone say so. */
	if (reply->unmetered_tries > 0) {
		int64_t more = reply->unmetered_tries;

		tokens += least(more * b->reserved_tokens,
				tokens < all_tokens ? all_tokens - tokens : 0);
		cost += least(more * b->reserved_cost, cost < all_cost ? all_cost - cost : 0);
	}
	b->tokens += tokens - all_tokens;
	b->cost_micro_usd += cost - all_cost;
	/* What is played back was paid then, if at all. */
	if (!reply->played) {
		if (!is_priced(price) || reply->unmetered_tries > 0)
			b->cost_known = false;
		add_usage(b, u);
		b->spent_micro_usd += cost;
	}
	b->reserved_tokens = 0;
	b->reserved_cost = 0;
	b->reserved_tries = 0;
}

int budget_reserve_exec(struct budget *b, int64_t wanted_ms, int64_t *ret_wall_ms,
			struct error *err)
{
	int64_t left = b->limits.exec_ms - b->exec_ms;

	if (left <= 0)
		return over(b, SETTING_EXEC_TIME, err, "%" PRId64 " ms of execution are used",
			    b->exec_ms);
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
