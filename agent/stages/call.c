/*
 * Asking the model: one call within the budget, logged, and what it is told. No call is made that
 * was not reserved and recorded first.
 */
#include "agent/stages/call.h"

#include "agent/prompt/images.h"
#include "agent/prompt/quote.h"
#include "agent/run.h"
#include "agent/stages/cell.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/lang/lang.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- one call --- */

struct text_sink {
	const struct progress *progress;
	const char *stage;
};

static void on_text(void *self, const char *bytes, size_t len)
{
	const struct text_sink *s = self;

	if (s->progress->text)
		s->progress->text(s->progress->self, s->stage, bytes, len);
}

static void on_reasoning(void *self, const char *bytes, size_t len)
{
	const struct text_sink *s = self;

	if (s->progress->reasoning)
		s->progress->reasoning(s->progress->self, bytes, len);
}

static void on_note(void *self, const char *line)
{
	const struct text_sink *s = self;

	if (s->progress->note)
		s->progress->note(s->progress->self, line);
}

static void on_wait(void *self, int64_t left_ms)
{
	const struct text_sink *s = self;

	if (s->progress->wait)
		s->progress->wait(s->progress->self, left_ms);
}

static int record_call(struct run *r, const char *stage, const struct llm_reply *reply,
		       const struct error *failure, struct error *err)
{
	struct json *f = failure->kind != ERR_NONE ? json_object() : NULL;

	if (f) {
		json_set_int(f, "kind", failure->kind);
		json_set_string(f, "message", failure->message);
	}
	return journal_call(&r->journal, stage, r->attempt, reply, f, err);
}

/* A bound on the reply that the user set with -o, whatever its name; 0: none. */
static int64_t wanted_tokens(const struct json *options)
{
	static const char *const names[] = { "max_tokens", "max_completion_tokens",
					     "max_output_tokens", "num_predict" };
	int64_t wanted = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && wanted <= 0; i++)
		wanted = json_get_int(options, names[i], 0);
	return wanted > 0 ? wanted : 0;
}

static int reserve_call(struct run *r, size_t prompt_bytes, const struct price *price,
			struct llm_request *q, struct error *err)
{
	cleanup_free char *options = q->options ? json_print(q->options) : NULL;
	const struct budget_call call = {
		.prompt_bytes = prompt_bytes + (options ? strlen(options) : 0),
		.messages = q->message_count,
		.wanted = wanted_tokens(q->options),
		.tries = r->means->retries + 1,
	};
	struct budget_grant grant;

	if (budget_reserve_call(&r->budget, &call, price, &grant, err) < 0)
		return -1;
	q->max_tokens = grant.max_tokens;
	q->billed_max = grant.tries;
	return 0;
}

/* Model, options, time and tokens of a call; fails when the budget is out. */
static int prepare_call(struct run *r, enum role role, size_t prompt_bytes, struct price *ret_price,
			struct llm_request *q, struct error *err)
{
	const struct policy *s = r->policy;
	const struct clock_ops *clock = &r->loop->clock;

	q->stage = role_name(role);
	q->task = r->task->id;
	q->model = s->roles[role].model ? s->roles[role].model : s->model;
	q->options = s->model_options;
	q->temperature = NAN;
	q->stream = r->means->stream;
	q->cancel_fd = r->loop->cancel_fd;
	*ret_price = price_of(&r->means->prices, q->model);
	int64_t left;
	if (budget_deadline(&r->budget, clock->elapsed_ms(clock->self, q->stage, r->attempt), &left,
			    err) < 0)
		return -1;
	q->timeout_ms = r->means->request_timeout_ms < left ? r->means->request_timeout_ms : left;
	return reserve_call(r, prompt_bytes, ret_price, q, err);
}

/* A reply without its end is used as far as it goes, and never in silence. */
static void tell_cut(struct run *r, const char *stage, const struct llm_reply *reply)
{
	if (reply->stop != LLM_STOP_TRUNCATED)
		return;
	if (!r->result.cut_replies)
		r->result.cut_replies = json_array();
	json_append(r->result.cut_replies, json_new_string(stage));
	cleanup_free char *line =
		mem_printf("%s: the reply was cut: its stream ended without its end; only what "
			   "came can be used",
			   stage);
	if (r->loop->progress.note)
		r->loop->progress.note(r->loop->progress.self, line);
}

int run_call(struct run *r, enum role role, const struct prompt *prompt,
	     const struct follow_up *follow_up, struct llm_reply *ret, struct error *err)
{
	struct llm_message messages[5] = {
		{ "system", r->contract },
		{ "system", prompt->system },
		{ "user", prompt->user },
		{ "assistant", follow_up ? follow_up->said : NULL },
		{ "user", follow_up ? follow_up->request : NULL },
	};
	struct text_sink text_sink = { &r->loop->progress, role_name(role) };
	struct llm_sink sink = { .text = on_text,
				 .note = on_note,
				 .wait = on_wait,
				 .reasoning = on_reasoning,
				 .self = &text_sink };
	struct llm_request q = { .messages = messages, .message_count = follow_up ? 5 : 3 };

	struct llm_image images[IMAGES_MAX];
	messages[2].images = images;
	messages[2].image_count = run_images(r, role, images);
	size_t bytes = messages[2].image_count * IMAGE_COST_BYTES;
	for (size_t i = 0; i < q.message_count; i++)
		bytes += strlen(messages[i].content);
	*ret = (struct llm_reply){ .text = NULL };
	struct price price;
	if (prepare_call(r, role, bytes, &price, &q, err) < 0 ||
	    journal_call_start(&r->journal, r->attempt, &q, prompt->sha256, err) < 0)
		return -1;
	if (r->loop->progress.stage)
		r->loop->progress.stage(r->loop->progress.self, role_name(role), r->attempt);
	struct error failure = ERROR_INIT;
	llm_call(r->loop->llm, &q, &sink, ret, &failure);
	/* A call cut short by the deadline is no fault of the provider. */
	if (failure.kind == ERR_PROVIDER && ret->error.class == LLM_ERROR_TIMEOUT &&
	    q.timeout_ms < r->means->request_timeout_ms)
		error_set(&failure, ERR_DEADLINE,
			  "the deadline of %" PRId64 " ms passed during the call",
			  r->budget.limits.deadline_ms);
	budget_settle_call(&r->budget, ret, &price);
	if (record_call(r, q.stage, ret, &failure, err) < 0)
		return -1;
	if (failure.kind == ERR_NONE) {
		tell_cut(r, q.stage, ret);
		return 0;
	}
	*err = failure;
	return error_wrap(err, "%s", q.stage);
}

/* --- prompts of the roles --- */

static char *cut_stream(const struct run *r, const struct sandbox_stream *s)
{
	cleanup_buf struct buf out = BUF_INIT(RUN_OUTPUT_SHOWN * 8);

	if (s->len)
		context_cut(&out, s->bytes, s->len, s->total, RUN_OUTPUT_SHOWN);
	return context_fence(r, out.data);
}

static char *artifact_list(const struct run *r, const struct sandbox_result *x)
{
	cleanup_buf struct buf out = BUF_INIT((size_t)1 << 20);

	for (size_t i = 0; i < x->artifact_count; i++) {
		const struct sandbox_artifact *a = &x->artifacts[i];

		buf_addstr(&out, out.len ? ", " : "");
		utf8_repair(&out, a->path, strlen(a->path));
		buf_addf(&out, " (%s, %llu bytes%s)", a->type && *a->type ? a->type : "unread",
			 (unsigned long long)a->size, a->kept ? "" : ", refused");
	}
	return context_fence(r, out.data);
}

/* A role's prompt file: what writes program and plan at once is another one. */
static const char *prompt_name(const struct run *r, enum role role)
{
	return role == ROLE_CODE && r->policy->mode != MODE_CAREFUL ? "solve" : role_name(role);
}

int run_prompt(struct run *r, enum role role, const struct prompt_extra *extra, struct prompt *ret,
	       struct error *err)
{
	cleanup_buf struct buf kinds = BUF_INIT((size_t)1 << 20), names = BUF_INIT(4096);
	cleanup_free char *out = cut_stream(r, &r->execution.out);
	cleanup_free char *errors = cut_stream(r, &r->execution.err);
	cleanup_free char *files = artifact_list(r, &r->execution);
	cleanup_buf struct buf languages = BUF_INIT(4096);
	const struct lang *lang = lang_find(r->language ? r->language->name : lang_at(0)->name);
	/* Of the program that is told: a repair is asked for as the attempt after it. */
	cleanup_free char *attempt = mem_printf("%d", r->attempt - (role == ROLE_REPAIR));
	cleanup_free char *code = r->code ? mem_strndup(r->code, r->code_len) : NULL;
	cleanup_free char *cells = run_cells_text(r, role == ROLE_JUDGE);
	const struct feedback *f = &r->feedback;
	cleanup_free char *failure = context_fence(r, f->told ? f->told : f->failure);
	bool streams = role != ROLE_REPAIR || f->with_output;

	lang_list(&languages, ", ", ", ");
	check_describe_kinds(&kinds);
	check_list_kinds(&names);
	const struct prompt_value values[] = {
		{ "question", r->task->prompt },
		{ "restated", r->task->turn_count ? r->plan.question : NULL },
		{ "contract", NULL },
		{ "previews", NULL },
		{ "history", r->history },
		{ "requirements", r->requirements },
		{ "tests", r->task->tests },
		{ "language", lang->name },
		{ "languages", languages.data },
		{ "preferred_language", lang_at(0)->name },
		{ "assertions", lang->assertions },
		{ "fixed_language", r->task->lang ? r->task->lang : r->policy->lang },
		{ "check_kinds", kinds.data },
		{ "check_names", names.data },
		{ "approach", r->plan.approach },
		{ "attempt", attempt },
		{ "code", code },
		{ "failure", failure },
		{ "tried", r->tried },
		{ "looks", r->looked },
		{ "excerpt", f->excerpt },
		{ "advice", f->advice },
		{ "stdout", streams ? out : NULL },
		{ "stderr", streams ? errors : NULL },
		{ "artifacts", files },
		{ "previous", r->previous ? "/in/" RUN_PREVIOUS : NULL },
		{ "answer", r->draft },
		{ "failing", extra ? extra->failing : NULL },
		{ "again", extra ? extra->again : NULL },
		{ "state", r->context ? r->there : NULL },
		{ "cells", cells },
		{ "outcome", "exit code 0" }, /* only such a run is judged or answered from */
	};
	return prompt_fill(ret, &r->prompts, prompt_name(r, role), values, ARRAY_SIZE(values), err);
}

int run_ask(struct run *r, enum role role, const struct prompt_extra *extra, struct llm_reply *ret,
	    struct error *err)
{
	*ret = (struct llm_reply){ .text = NULL };
	struct prompt prompt;
	if (run_prompt(r, role, extra, &prompt, err) < 0)
		return -1;
	int rc = run_call(r, role, &prompt, NULL, ret, err);
	prompt_release(&prompt);
	return rc;
}
