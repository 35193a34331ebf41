/* Asking the model: one call within the budget, logged; the roles that make it. */
#include "agent/run.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A reply cut inside its code is continued this often, before the cut counts. */
#define CONTINUATIONS_MAX 2
#define OUTPUT_KEEP ((size_t)6000)

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
		.tries = r->settings->retries + 1,
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
	const struct settings *s = r->settings;
	const struct clock_ops *clock = &r->loop->clock;
	int64_t left;

	q->stage = role_name(role);
	q->task = r->task->id;
	q->model = s->roles[role].model ? s->roles[role].model : s->model;
	q->options = s->model_options;
	q->temperature = NAN;
	q->stream = s->stream;
	q->cancel_fd = r->loop->cancel_fd;
	*ret_price = settings_price(s, q->model);
	if (budget_deadline(&r->budget, clock->elapsed_ms(clock->self, q->stage, r->attempt), &left,
			    err) < 0)
		return -1;
	q->timeout_ms = s->request_timeout_ms < left ? s->request_timeout_ms : left;
	return reserve_call(r, prompt_bytes, ret_price, q, err);
}

/* Code that was cut goes on where it stopped. */
static const char continue_request[] =
	"Your reply was cut at its length limit. Go on exactly where it stopped, without repeating "
	"anything and without a new fence.";

int run_call(struct run *r, enum role role, const struct prompt *prompt, const char *prefill,
	     struct llm_reply *ret, struct error *err)
{
	struct llm_message messages[4] = {
		{ "system", prompt->system }, { "user", prompt->user },
		{ "assistant", prefill }, { "user", continue_request },
	};
	struct text_sink text_sink = { &r->loop->progress, role_name(role) };
	struct llm_sink sink = { .text = on_text, .note = on_note, .wait = on_wait,
				 .reasoning = on_reasoning, .self = &text_sink };
	struct llm_request q = { .messages = messages, .message_count = prefill ? 4 : 2 };
	struct error failure = ERROR_INIT;
	struct price price;
	size_t bytes =
		strlen(prompt->system) + strlen(prompt->user) + (prefill ? strlen(prefill) : 0);

	*ret = (struct llm_reply){ .text = NULL };
	if (prepare_call(r, role, bytes, &price, &q, err) < 0 ||
	    journal_call_start(&r->journal, r->attempt, &q, prompt->sha256, err) < 0)
		return -1;
	if (r->loop->progress.stage)
		r->loop->progress.stage(r->loop->progress.self, role_name(role), r->attempt);
	llm_call(r->loop->llm, &q, &sink, ret, &failure);
	/* A call cut short by the deadline is no fault of the provider. */
	if (failure.kind == ERR_PROVIDER && ret->error.class == LLM_ERROR_TIMEOUT &&
	    q.timeout_ms < r->settings->request_timeout_ms)
		error_set(&failure, ERR_DEADLINE,
			  "the deadline of %" PRId64 " ms passed during the call",
			  r->budget.limits.deadline_ms);
	budget_settle_call(&r->budget, ret, &price);
	if (record_call(r, q.stage, ret, &failure, err) < 0)
		return -1;
	if (failure.kind == ERR_NONE)
		return 0;
	*err = failure;
	return error_wrap(err, "%s", q.stage);
}

/* --- prompts of the roles --- */

static char *cut_stream(const struct sandbox_stream *s)
{
	struct buf out = BUF_INIT(OUTPUT_KEEP * 8);

	if (s->len)
		context_cut(&out, s->bytes, s->len, s->total, OUTPUT_KEEP);
	return buf_take(&out, NULL);
}

static char *artifact_list(const struct sandbox_result *x)
{
	struct buf out = BUF_INIT((size_t)1 << 20);
	size_t i;

	for (i = 0; i < x->artifact_count; i++) {
		const struct sandbox_artifact *a = &x->artifacts[i];

		buf_addstr(&out, out.len ? ", " : "");
		utf8_repair(&out, a->path, strlen(a->path));
		buf_addf(&out, " (%s, %llu bytes%s)", a->type && *a->type ? a->type : "unread",
			 (unsigned long long)a->size, a->kept ? "" : ", refused");
	}
	return buf_take(&out, NULL);
}

static char *language_names(void)
{
	struct buf out = BUF_INIT(4096);
	const struct language *language;
	size_t i;

	for (i = 0; (language = language_at(i)); i++)
		buf_addf(&out, "%s%s", i ? ", " : "", language->name);
	return buf_take(&out, NULL);
}

int run_prompt(struct run *r, enum role role, struct prompt *ret, struct error *err)
{
	cleanup_buf struct buf kinds = BUF_INIT((size_t)1 << 20);
	cleanup_free char *out = cut_stream(&r->execution.out);
	cleanup_free char *errors = cut_stream(&r->execution.err);
	cleanup_free char *files = artifact_list(&r->execution), *languages = language_names();
	cleanup_free char *attempt = mem_printf("%d", r->attempt);
	cleanup_free char *code = r->code ? mem_strndup(r->code, r->code_len) : NULL;
	const struct feedback *f = &r->feedback;
	bool streams = role != ROLE_REPAIR || f->with_output;

	check_describe_kinds(&kinds);
	const struct prompt_value values[] = {
		{ "question", r->task->prompt },
		{ "contract", r->contract },
		{ "previews", r->previews },
		{ "history", r->history },
		{ "requirements", r->requirements },
		{ "tests", r->task->tests },
		{ "language", r->language ? r->language->name : "python" },
		{ "languages", languages },
		{ "fixed_language", r->task->lang ? r->task->lang : r->settings->lang },
		{ "check_kinds", kinds.data },
		{ "approach", r->plan.approach },
		{ "attempt", attempt },
		{ "code", code },
		{ "failure", f->told ? f->told : f->failure },
		{ "tried", r->tried },
		{ "excerpt", f->excerpt },
		{ "advice", f->advice },
		{ "stdout", streams ? out : NULL },
		{ "stderr", streams ? errors : NULL },
		{ "artifacts", files },
		{ "outcome", "exit code 0" },	/* only such a run is judged or answered from */
	};
	return prompt_fill(ret, r->settings->prompts_dir, role_name(role), values,
			   ARRAY_SIZE(values), err);
}

/* Fills the prompt of a role and makes its call. */
static int ask(struct run *r, enum role role, struct llm_reply *ret, struct error *err)
{
	struct prompt prompt;
	int rc;

	*ret = (struct llm_reply){ .text = NULL };
	if (run_prompt(r, role, &prompt, err) < 0)
		return -1;
	rc = run_call(r, role, &prompt, NULL, ret, err);
	prompt_release(&prompt);
	return rc;
}

/* --- plan --- */

/* What is known from outside needs no planner: the language, and how the
 * answer will be checked. */
static bool plan_is_known(const struct run *r)
{
	return r->settings->roles[ROLE_PLAN].off ||
	       ((r->task->lang || r->settings->lang) && run_has_expectation(r));
}

const char *run_wanted_language(const struct run *r)
{
	return r->task->lang	 ? r->task->lang :
	       r->settings->lang ? r->settings->lang :
				   r->plan.language;
}

static void choose_language(struct run *r)
{
	const char *name = run_wanted_language(r);

	r->language = language_find(name ? name : "python");
}

static int record_plan(struct run *r, size_t refused, struct error *err)
{
	cleanup_json struct json *data = json_object();

	json_set_bool(data, "usable", r->plan.usable);
	json_set_bool(data, "needs_code", r->plan.needs_code);
	json_set_string(data, "language", r->language->name);
	json_set_int(data, "checks_proposed", (int64_t)json_count(r->plan.checks));
	json_set_int(data, "checks_refused", (int64_t)refused);
	return journal_queue(&r->journal, "plan", 0, "note", data, NULL, 0, err);
}

int stage_plan(struct run *r, struct error *err)
{
	cleanup_llm_reply struct llm_reply reply = { .text = NULL };
	size_t refused;

	r->state = STATE_CODE;
	r->plan.needs_code = true;
	choose_language(r);
	if (plan_is_known(r))
		return 0;
	if (ask(r, ROLE_PLAN, &reply, err) < 0)
		return -1;
	plan_release(&r->plan);
	plan_read(&r->plan, reply.text, reply.text_len);
	choose_language(r);
	refused = check_add_plan(&r->checks, r->plan.checks);
	run_context_requirements(r);
	if (record_plan(r, refused, err) < 0)
		return -1;
	if (r->plan.usable && !r->plan.needs_code && !run_has_expectation(r))
		run_answer_directly(r, mem_strdup(r->plan.answer),
				    "answered without running code, so nothing is verified; "
				    "--require none accepts it");
	return 0;
}

/* --- code and repair --- */

/* An odd number of fence lines: the reply stopped inside its code. */
static bool ends_inside_fence(const char *text)
{
	bool inside = false;
	const char *line = text;

	while (line && *line) {
		if (!strncmp(line, "```", 3) || !strncmp(line, "~~~", 3))
			inside = !inside;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return inside;
}

static int continue_reply(struct run *r, enum role role, const struct prompt *prompt,
			  struct llm_reply *reply, struct error *err)
{
	int i;

	for (i = 0; i < CONTINUATIONS_MAX && reply->stop == LLM_STOP_LENGTH &&
		    ends_inside_fence(reply->text); i++) {
		cleanup_llm_reply struct llm_reply more = { .text = NULL };
		char *joined;

		if (run_call(r, role, prompt, reply->text, &more, err) < 0)
			return -1;
		joined = mem_printf("%s%s", reply->text, more.text);
		free(reply->text);
		reply->text = joined;
		reply->text_len = strlen(joined);
		reply->stop = more.stop;
	}
	return 0;
}

static int write_code(struct run *r, enum role role, struct error *err)
{
	cleanup_llm_reply struct llm_reply reply = { .text = NULL };
	struct prompt prompt;
	int rc;

	if (run_prompt(r, role, &prompt, err) < 0)
		return -1;
	r->attempt++;
	rc = run_call(r, role, &prompt, NULL, &reply, err);
	if (!rc)
		rc = continue_reply(r, role, &prompt, &reply, err);
	prompt_release(&prompt);
	if (rc)
		return rc;
	if (reply.stop == LLM_STOP_REFUSAL || reply.stop == LLM_STOP_FILTER) {
		run_finish(r, RUN_FAILED, EXIT_FAILED,
			   reply.stop == LLM_STOP_REFUSAL ?
				   "the model refused to answer" :
				   "the provider's filter stopped the reply");
		r->result.answer = reply.text_len ? TAKE_PTR(reply.text) : NULL;
		return 0;
	}
	free(r->reply);
	r->reply_len = reply.text_len;
	r->reply = TAKE_PTR(reply.text);
	r->reply_cut = reply.stop == LLM_STOP_LENGTH || reply.stop == LLM_STOP_TRUNCATED;
	r->state = STATE_EXTRACT;
	return 0;
}

int stage_code(struct run *r, struct error *err)
{
	return write_code(r, ROLE_CODE, err);
}

int stage_repair(struct run *r, struct error *err)
{
	int64_t ignored;

	/* A repair that could not be run is not worth its call. */
	if (budget_reserve_exec(&r->budget, 1, &ignored, err) < 0)
		return -1;
	return write_code(r, ROLE_REPAIR, err);
}

/* --- answer --- */

/* The next number in text from *at, digits only ("1,234.50" is 1234.50). */
static bool next_number(const char *text, size_t *at, char *ret, size_t size)
{
	size_t n = 0;

	while (text[*at] && !isdigit((unsigned char)text[*at]))
		(*at)++;
	for (; text[*at] && n < size - 1; (*at)++) {
		bool separator = text[*at] == ',' && isdigit((unsigned char)text[*at + 1]);
		bool point = text[*at] == '.' && isdigit((unsigned char)text[*at + 1]);

		if (!isdigit((unsigned char)text[*at]) && !separator && !point)
			break;
		if (!separator)
			ret[n++] = text[*at];
	}
	ret[n] = '\0';
	return n > 0;
}

static bool has_number(const char *text, const char *number)
{
	char found[64];
	size_t at = 0;

	while (next_number(text, &at, found, sizeof(found)))
		if (!strcmp(found, number))
			return true;
	return false;
}

/* Prose about a verified output must not bring in numbers of its own. */
static bool is_grounded(const char *answer, const char *output, const char *question)
{
	char number[64];
	size_t at = 0;

	while (next_number(answer, &at, number, sizeof(number)))
		if (strlen(number) > 1 && !has_number(output, number) &&
		    !has_number(question, number))
			return false;
	return true;
}

static void note(const struct run *r, const char *line)
{
	if (r->loop->progress.note)
		r->loop->progress.note(r->loop->progress.self, line);
}

int stage_answer(struct run *r, struct error *err)
{
	cleanup_llm_reply struct llm_reply reply = { .text = NULL };
	const char *output = r->execution.out.bytes;

	r->state = STATE_DONE;
	if (r->settings->roles[ROLE_ANSWER].off || run_has_expectation(r) || r->provider_failure ||
	    !r->execution.out.len) {
		r->result.answer = mem_strdup(output);
		return 0;
	}
	if (ask(r, ROLE_ANSWER, &reply, err) < 0) {
		if (err->kind == ERR_LOG || err->kind == ERR_CANCELLED)
			return -1;
		/* The evidence stands without prose: the output is the answer. */
		note(r, err->message);
	} else if (!reply.text_len) {
		note(r, "the answer was empty; showing the program's output");
	} else if (reply.stop != LLM_STOP_STOP) {
		note(r, "the written answer was not complete; showing the program's output");
	} else if (!is_grounded(reply.text, output, r->task->prompt)) {
		note(r, "the written answer had a number that the output lacks; showing the "
			"output");
	} else {
		r->result.answer = TAKE_PTR(reply.text);
		return 0;
	}
	r->result.answer = mem_strdup(output);
	return 0;
}
