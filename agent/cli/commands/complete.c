/*
 * assay complete: one bare model call, streamed and logged; nothing is run. A reply that was cut
 * is an error, after what came of it.
 */
#include "agent/cli/command.h"

#include "agent/budget.h"
#include "agent/cli/terminal/console.h"
#include "agent/record/journal.h"
#include "agent/cli/provider.h"
#include "agent/cli/task_given.h"
#include "agent/cli/terminal/term.h"
#include "audit/redact/redact.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct complete {
	const struct settings *settings;
	struct policy policy; /* of the settings, with the model that was found; owned */
	struct task task;
	struct audit *audit;
	struct llm llm;
	struct journal journal;
	struct llm_reply reply;
	struct budget budget; /* for the cost */
	struct console console;
	struct progress progress; /* told to it */
	bool stream;		  /* text goes to stdout as it comes */
	struct error output;	  /* the first failure to write it */
};

/* --- the call --- */

static void on_text(void *self, const char *bytes, size_t len)
{
	struct complete *c = self;

	console_end_reasoning(&c->console);
	term_status(&c->settings->app->terminal, NULL);
	if (c->stream && c->output.kind == ERR_NONE &&
	    term_out(&c->settings->app->terminal, bytes, len, &c->output) < 0)
		command_cancel(); /* nobody reads any more */
}

static void on_reasoning(void *self, const char *bytes, size_t len)
{
	const struct complete *c = self;

	c->progress.reasoning(c->progress.self, bytes, len);
}

static void on_note(void *self, const char *line)
{
	const struct complete *c = self;

	c->progress.note(c->progress.self, line);
}

static void on_wait(void *self, int64_t left_ms)
{
	const struct complete *c = self;

	c->progress.wait(c->progress.self, left_ms);
}

/* --max-tokens as given for this call; its default is for whole questions. */
static int64_t reply_limit(const struct settings *s)
{
	const char *origin;

	settings_text(s, OPT_MAX_TOKENS, &origin);
	return strcmp(origin, "default") ? s->policy.budget.tokens : 0;
}

static int64_t cost_of(struct complete *c)
{
	const struct price price = price_of(&c->settings->means.prices, c->policy.model);
	const struct budget_limits none = { .cost_micro_usd = -1 };

	budget_init(&c->budget, &none);
	budget_settle_call(&c->budget, &c->reply, &price);
	return c->budget.cost_known ? c->budget.cost_micro_usd : -1;
}

static int finish(struct complete *c, const struct error *failure, enum exit_code code,
		  struct error *err)
{
	const struct llm_reply *r = &c->reply;
	enum run_status status = failure->kind == ERR_NONE	? RUN_SUCCESS :
				 failure->kind == ERR_CANCELLED ? RUN_CANCELLED :
								  RUN_PROVIDER_ERROR;
	struct audit_end end = {
		.status = run_status_name(status),
		.level = level_name(LEVEL_NONE),
		.reason = failure->kind == ERR_NONE ? NULL : failure->message,
		.answer = r->text,
		.answer_len = r->text_len,
		.exit_code = (int)code,
		.input_tokens = r->usage.input_tokens,
		.output_tokens = r->usage.output_tokens,
		.cost_micro_usd = cost_of(c),
	};

	if (journal_call(&c->journal, stage_name(STAGE_COMPLETE), 0, r,
			 end.reason ? json_new_string(end.reason) : NULL, err) < 0)
		return -1;
	return journal_end(&c->journal, &end, err);
}

/* --- telling --- */

static int show(struct complete *c, bool failed, struct error *err)
{
	int64_t cost = cost_of(c);
	struct terminal *term = &c->settings->app->terminal;

	if (c->settings->json) {
		cleanup_json struct json *object = llm_reply_json(&c->reply);
		json_set(object, "cost_usd",
			 cost < 0 ? json_new_null() : json_new_number((double)cost / 1e6));
		json_set_string(object, "run", *c->journal.run ? c->journal.run : NULL);
		cleanup_free char *text = redact_print(audit_redactor(c->audit), object);
		return term_out_json(term, text, err);
	}
	if (!c->stream && term_out(term, c->reply.text, c->reply.text_len, err) < 0)
		return -1;
	if (c->reply.text_len && c->reply.text[c->reply.text_len - 1] != '\n' &&
	    term_out(term, "\n", 1, err) < 0)
		return -1;
	if (!failed && c->reply.stop != LLM_STOP_STOP)
		term_note(term, TERM_YELLOW, "the reply ended early: %s\n",
			  llm_stop_name(c->reply.stop));
	return 0;
}

/* A stream that was cut is kept and shown, and is a failure all the same. */
static void refuse_cut(struct llm_reply *reply, struct error *failure)
{
	static const char why[] = "the reply was cut: the stream ended without its end";

	if (failure->kind != ERR_NONE || reply->stop != LLM_STOP_TRUNCATED)
		return;
	error_set(failure, ERR_PROVIDER, "%s", why);
	free(reply->error.message);
	reply->error.class = LLM_ERROR_NETWORK;
	reply->error.status = reply->try_count ? reply->tries[reply->try_count - 1].status : 0;
	reply->error.message = mem_strdup(why);
	reply->error.retryable = true;
}

/* A question asks again; of a bare call to a program nothing is left but its silence. */
static void refuse_silence(const struct policy *policy, struct llm_reply *reply,
			   struct error *failure)
{
	static const char why[] = "the model command printed no reply";

	if (failure->kind != ERR_NONE || strcmp(policy->provider, "command") ||
	    strspn(reply->text, " \t\r\n") < reply->text_len)
		return;
	error_set(failure, ERR_PROVIDER, "%s", why);
	free(reply->error.message);
	reply->error.class = LLM_ERROR_PROTOCOL;
	reply->error.message = mem_strdup(why);
}

static int call(struct complete *c, struct error *err)
{
	struct llm_message message = { "user", c->task.prompt };
	struct llm_sink sink = { .text = on_text,
				 .note = on_note,
				 .wait = on_wait,
				 .reasoning = on_reasoning,
				 .self = c };
	int64_t deadline_ms = c->policy.budget.deadline_ms;
	struct llm_request q = {
		.stage = stage_name(STAGE_COMPLETE),
		.model = c->policy.model,
		.messages = &message,
		.message_count = 1,
		.max_tokens = reply_limit(c->settings),
		.temperature = NAN,
		.options = c->policy.model_options,
		.stream = c->settings->means.stream,
		.timeout_ms = c->settings->means.request_timeout_ms,
		.cancel_fd = c->settings->app->cancel_fd,
	};

	if (deadline_ms && deadline_ms < q.timeout_ms)
		q.timeout_ms = deadline_ms;
	if (journal_call_start(&c->journal, 0, &q, NULL, err) < 0)
		return exit_code_of_error(err);
	c->console.term = &c->settings->app->terminal;
	c->console.show_reasoning = c->settings->show_reasoning;
	console_progress(&c->progress, &c->console);
	c->progress.stage(c->progress.self, stage_name(STAGE_COMPLETE), 1);
	struct error failure = ERROR_INIT;
	llm_call(&c->llm, &q, &sink, &c->reply, &failure);
	console_end_reasoning(&c->console);
	term_status(&c->settings->app->terminal, NULL);
	refuse_cut(&c->reply, &failure);
	refuse_silence(&c->policy, &c->reply, &failure);
	enum exit_code code = exit_code_of_error(&failure);
	if (finish(c, &failure, code, err) < 0)
		return exit_code_of_error(err);
	if (c->output.kind != ERR_NONE) {
		*err = c->output;
		return exit_code_of_error(err);
	}
	if (show(c, failure.kind != ERR_NONE, err) < 0)
		return exit_code_of_error(err);
	*err = failure;
	return (int)code;
}

static int open_complete(struct complete *c, const struct settings *settings, struct error *err)
{
	struct audit_run run = { .kind = "complete" };

	if (task_prompt_argument(&c->task, settings->options, err) < 0)
		return -1;
	/* The key first, so that the log knows what to keep out. */
	if (provider_open(&c->llm, settings, &c->policy, err) < 0 ||
	    command_open_log(&c->audit, settings, LOG_RECORD, err) < 0)
		return -1;
	console_log(&settings->app->terminal, c->audit);
	run.prompt = c->task.prompt;
	run.prompt_len = strlen(run.prompt);
	run.provider = c->policy.provider;
	run.model = c->policy.model;
	return journal_begin(&c->journal, c->audit, &run, &c->policy, err);
}

/* A call that could not begin has a document, too, and its usual exit code. */
static int could_not_begin(struct complete *c, const struct error *why)
{
	struct error ignored = ERROR_INIT; /* why is what the user must hear of */

	if (c->settings->json && (why->kind == ERR_CONFIG || why->kind == ERR_PROVIDER)) {
		c->reply.text = mem_strdup("");
		c->reply.stop = LLM_STOP_NONE;
		c->reply.first_token_ms = -1;
		c->reply.error.class = why->kind == ERR_CONFIG ? LLM_ERROR_AUTH : LLM_ERROR_NETWORK;
		c->reply.error.message = mem_strdup(why->message);
		show(c, true, &ignored);
	}
	return exit_code_of_error(why);
}

int cmd_complete(const struct settings *settings, struct error *err)
{
	struct complete c = { .settings = settings,
			      .stream = !settings->json && settings->means.stream };

	policy_copy(&c.policy, &settings->policy);
	int code = open_complete(&c, settings, err) < 0 ? could_not_begin(&c, err) : call(&c, err);
	llm_reply_release(&c.reply);
	console_release(&c.console);
	llm_close(&c.llm);
	journal_release(&c.journal);
	code = command_finish_log(c.audit, code, err);
	audit_close(c.audit);
	task_release(&c.task);
	policy_release(&c.policy);
	return code;
}
