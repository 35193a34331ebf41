/*
 * What the loop is given for a replay: the recorded ends, or, for what is to happen
 * again, the live ones with the time that was left then. Below tier model nothing here
 * can make a call: there is no live model to make it.
 */
#include "agent/cli/replay/replay.h"

#include "agent/cli/app.h"
#include "agent/cli/batch/pool.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/option_names.h"
#include "agent/cli/provider.h"
#include "base/clock.h"

/* What a program took is what it took then: whether the loop went on depends on it, what
 * a check of its time says and what a model was told, and this host may be faster. */
static bool budget_is_recorded(const struct replay *p)
{
	return p->tier == TIER_EXEC && !p->before.from;
}

/* A fork begins with what is recorded: it goes on live from there, or where the record
 * has no more. */
static bool is_before_fork(struct replay *p, int attempt)
{
	if (p->before.from && !p->before.forked && !recording_has_execution(&p->before, attempt))
		p->before.forked = true;
	return p->before.from && !p->before.forked;
}

static int live_run(void *self, int attempt, const struct sandbox_job *job,
		    struct sandbox_result *ret, struct error *err)
{
	struct replay *p = self;
	struct sandbox_job again = *job;

	if (stop_check(&p->stop, err) < 0)
		return -1;
	struct execute_ops ops;
	recorded_execute(&ops, &p->before);
	if (is_before_fork(p, attempt))
		return ops.run(ops.self, attempt, job, ret, err);
	live_execute(&ops, &p->live);
	if (budget_is_recorded(p))
		again.limits.wall_ms =
			recorded_wall_limit(&p->before, attempt, job->limits.wall_ms);
	int64_t left_ms = p->stop.deadline_ms - clock_mono_ms();
	if (left_ms < again.limits.wall_ms)
		again.limits.wall_ms = left_ms > 0 ? left_ms : 1;
	if (ops.run(ops.self, attempt, &again, ret, err) < 0)
		return -1;
	if (!p->before.from)
		replay_look_again(p, attempt, &again, ret);
	return 0;
}

static int live_run_pair(void *self, int attempt, const struct sandbox_job jobs[2],
			 struct sandbox_result ret[2], struct error *err)
{
	struct replay *p = self;
	struct sandbox_job again[2] = { jobs[0], jobs[1] };
	struct execute_ops ops;

	recorded_execute(&ops, &p->before);
	if (is_before_fork(p, attempt))
		return ops.run_pair(ops.self, attempt, jobs, ret, err);
	live_execute(&ops, &p->live);
	for (size_t i = 0; i < 2 && budget_is_recorded(p); i++)
		again[i].limits.wall_ms =
			recorded_wall_limit(&p->before, attempt, jobs[i].limits.wall_ms);
	return ops.run_pair(ops.self, attempt, again, ret, err);
}

static void took(void *self, int attempt, const struct sandbox_result *result,
		 struct sandbox_metrics *ret)
{
	struct replay *p = self;

	*ret = result->metrics;
	if (budget_is_recorded(p))
		recorded_took(&p->before, attempt, result, ret);
}

/* What the parser says depends on the rules, too: where they are those of then, so is
 * what it said, as far as the record goes. */
static bool parse_is_recorded(struct replay *p, const char *stage, int attempt)
{
	return ((p->before.from && !p->before.forked) || p->rules) &&
	       recording_has_parse(&p->before, stage, attempt);
}

static int live_parse(void *self, const char *stage, int attempt, const char *lang,
		      enum screen_profile profile, const char *code, size_t len, struct tree *ret,
		      struct error *err)
{
	struct replay *p = self;
	struct execute_ops ops;

	live_execute(&ops, &p->live);
	if (parse_is_recorded(p, stage, attempt))
		recorded_execute(&ops, &p->before);
	return ops.parse(ops.self, stage, attempt, lang, profile, code, len, ret, err);
}

/* Code runs live, but the prompts say what was installed and seen then. */
static int describe_as_recorded(void *self, const struct language *language,
				struct sandbox_environment *ret, struct error *err)
{
	struct replay *p = self;

	return recorded_describe(&p->before, language, ret, err);
}

static int inspect_as_recorded(void *self, const struct sandbox_file *file, int64_t wall_ms,
			       struct inspection *ret, struct error *err)
{
	struct replay *p = self;

	return recorded_inspect(&p->before, file, wall_ms, ret, err);
}

/* Another program may need others. */
static bool needs(void *self, const char *stage, int attempt, const struct language *language,
		  const struct cell *list, size_t count, bool *ret_used)
{
	struct replay *p = self;
	struct execute_ops ops;

	live_execute(&ops, &p->live);
	if (p->tier != TIER_MODEL && !(p->before.from && p->before.forked))
		recorded_execute(&ops, &p->before);
	return ops.needs(ops.self, stage, attempt, language, list, count, ret_used);
}

int replay_open_ends(struct replay *p, const struct task *task, struct error *err)
{
	bool needs_model = (p->tier == TIER_MODEL || p->before.from) && !task->program;

	if (needs_model && provider_open(&p->live_llm, p->given, &p->policy, err) < 0)
		return -1;
	if (needs_model && p->given->app->meter)
		batch_meter_wrap(p->given->app->meter, &p->live_llm);
	recorded_llm(&p->recorded_llm, &p->before);
	p->before.live = &p->live_llm;
	p->loop = (struct loop){
		.basis = &p->basis,
		.policy = &p->policy,
		.means = &p->given->means,
		.llm = p->tier == TIER_MODEL ? &p->live_llm : &p->recorded_llm,
		.audit = p->audit,
		.cache_dir = p->sandbox ? sandbox_cache_dir(p->sandbox) : NULL,
		.cancel_fd = p->given->app->cancel_fd,
		.names = &option_names,
		.exit_code = exit_code_of_run,
		.kind = "replay",
		.session = p->before.row.session,
		.replay_of = p->before.row.id,
		.tier = replay_tier_name(p->tier),
		.from = p->before.from,
	};
	p->live = (struct live){ .sandbox = p->sandbox, .cancel_fd = p->given->app->cancel_fd };
	if (p->tier == TIER_PIPELINE)
		recorded_execute(&p->loop.execute, &p->before);
	else
		p->loop.execute = (struct execute_ops){ live_run,
							live_run_pair,
							took,
							describe_as_recorded,
							live_parse,
							NULL,
							inspect_as_recorded,
							p,
							NULL,
							needs };
	if (p->tier == TIER_MODEL || p->before.from)
		live_clock(&p->loop.clock, &p->live);
	else
		recorded_clock(&p->loop.clock, &p->before);
	recorded_approve(&p->loop.approve, &p->before);
	if (replay_steps(p))
		replay_step_end(p, &p->loop.pause);
	else if (!p->given->json)
		console_progress(&p->loop.progress, &p->console);
	replay_open_tools(p, task);
	return 0;
}
