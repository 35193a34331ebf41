/*
 * The plan, the program, and its repairs: what the model writes before anything runs. A reply is
 * text: nothing of it is believed before it is extracted and screened.
 */
#include "agent/stages/write.h"

#include "agent/attempt.h"
#include "agent/prompt/context.h"
#include "agent/run.h"
#include "agent/stages/cell.h"
#include "agent/stages/call.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/lang/lang.h"

#include <stdlib.h>
#include <string.h>

struct write_memory {
	char *said; /* the beginning of the coder's words as it came, the plan included; owned; or
		       NULL */
};

/* A reply cut inside its code is continued this often, before the cut counts. */
#define CONTINUATIONS_MAX 2

/* --- plan --- */

/* What is known from outside needs no planner: the language, and how the
 * answer will be checked. */
static bool plan_is_known(const struct run *r)
{
	return r->policy->mode != MODE_CAREFUL || r->policy->roles[ROLE_PLAN].off ||
	       ((r->task->lang || r->policy->lang) && run_has_expectation(r));
}

const char *run_wanted_language(const struct run *r)
{
	return r->task->lang ? r->task->lang : r->policy->lang ? r->policy->lang : r->plan.language;
}

static void choose_language(struct run *r)
{
	const char *name = run_wanted_language(r);

	r->language = language_find(name ? name : lang_at(0)->name);
}

static int record_plan(struct run *r, size_t refused, struct error *err)
{
	cleanup_json struct json *data = json_object();

	json_set_bool(data, "usable", r->plan.usable);
	json_set_bool(data, "needs_code", r->plan.needs_code);
	json_set_string(data, "language", r->language->name);
	json_set_int(data, "checks_proposed", (int64_t)json_count(r->plan.checks));
	json_set_int(data, "checks_refused", (int64_t)refused);
	return journal_queue(&r->journal, stage_name(STAGE_PLAN), 0, "note", data, NULL, 0, err);
}

/* What the person asked for, as it was understood: a follow-up says only half of it. */
static void tell_question(const struct run *r)
{
	if (!r->task->turn_count || !r->plan.question || !r->loop->progress.note)
		return;
	cleanup_free char *line = mem_printf("the question in full: %s", r->plan.question);
	r->loop->progress.note(r->loop->progress.self, line);
}

static int follow_plan(struct run *r, struct error *err)
{
	choose_language(r);
	size_t refused = check_add_plan(&r->checks, r->plan.checks);
	run_context_requirements(r);
	tell_question(r);
	return record_plan(r, refused, err);
}

int stage_plan(struct run *r, struct error *err)
{
	cleanup_llm_reply struct llm_reply reply = { .text = NULL };

	r->plan.needs_code = true;
	choose_language(r);
	if (plan_is_known(r))
		return STEP_ON;
	if (run_ask(r, ROLE_PLAN, NULL, &reply, err) < 0)
		return -1;
	plan_release(&r->plan);
	plan_read(&r->plan, reply.text, reply.text_len);
	if (follow_plan(r, err) < 0)
		return -1;
	if (!r->plan.usable || r->plan.needs_code || run_has_expectation(r))
		return STEP_ON;
	return run_answer_directly(r, mem_strdup(r->plan.answer), "answered without running code");
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

/* Code that was cut goes on where it stopped. */
static const char continue_request[] =
	"Your reply was cut at its length limit. Go on exactly where it stopped, without repeating "
	"anything and without a new fence.";

static int continue_reply(struct run *r, enum role role, const struct prompt *prompt,
			  struct llm_reply *reply, struct error *err)
{
	for (int i = 0; i < CONTINUATIONS_MAX && reply->stop == LLM_STOP_LENGTH &&
			ends_inside_fence(reply->text);
	     i++) {
		cleanup_llm_reply struct llm_reply more = { .text = NULL };
		struct follow_up rest = { reply->text, continue_request };

		if (run_call(r, role, prompt, &rest, &more, err) < 0)
			return -1;
		char *joined = mem_printf("%s%s", reply->text, more.text);
		free(reply->text);
		reply->text = joined;
		reply->text_len = strlen(joined);
		reply->stop = more.stop;
	}
	return 0;
}

/* The model would not: what it said instead is all there is. */
static enum step refused(struct run *r, struct llm_reply *reply)
{
	r->result.answer = reply->text_len ? TAKE_PTR(reply->text) : NULL;
	return run_finish(r, RUN_FAILED,
			  reply->stop == LLM_STOP_REFUSAL ?
				  "the model refused to answer" :
				  "the provider's filter stopped the reply");
}

/* The first plan is the run's. A later one is only kept from being taken for the
 * program, unless it takes the program back. */
static int take_plan(struct run *r, struct error *err)
{
	bool first = !r->plan.usable;
	struct plan plan;

	plan_take(&plan, r->reply, r->reply_len);
	if (first || (plan.usable && !plan.needs_code)) {
		plan_release(&r->plan);
		r->plan = plan;
	} else {
		plan_release(&plan);
	}
	return first && r->plan.usable ? follow_plan(r, err) : 0;
}

/* Of what is sent back only the start: long thinking without an end would cost
 * its length again. */
#define SAID_BYTES 2000

static char *start_of(const struct llm_reply *reply)
{
	size_t len = reply->text_len < SAID_BYTES ? reply->text_len : SAID_BYTES;
	size_t kept = utf8_valid_prefix(reply->text, len);

	return kept ? mem_strndup(reply->text, kept) : mem_strdup("(nothing)");
}

/* The reply is the run's, and so is a plan in it. */
static int take_reply(struct run *r, enum role role, struct llm_reply *reply, struct error *err)
{
	free(r->write->said);
	free(r->reply);
	r->write->said = start_of(reply);
	r->reply_len = reply->text_len;
	r->reply = TAKE_PTR(reply->text);
	r->reply_cut = reply->stop == LLM_STOP_LENGTH || reply->stop == LLM_STOP_TRUNCATED;
	return role == ROLE_CODE && r->policy->mode != MODE_CAREFUL ? take_plan(r, err) : STEP_ON;
}

#define FORESEEN_MAX (64 << 10)

/* Programs that the log has had lately. */
#define RECENT_MAX 4
struct recent {
	char *programs[RECENT_MAX + 1]; /* owned; NULL ends them */
	size_t count;
};

static int add_recent(void *self, const char *code, size_t len)
{
	struct recent *recent = self;

	recent->programs[recent->count++] = mem_strndup(code, len);
	return recent->count == RECENT_MAX;
}

/* What the task, its plan and the names of its files speak of, a program is likely to use, as is
 * what the last programs did. One with tests runs beside them, and one of a context where its state
 * is: no template with packages is for those. */
static void foresee(const struct run *r)
{
	const struct execute_ops *ops = &r->loop->execute;
	cleanup_buf struct buf text = BUF_INIT(FORESEEN_MAX);
	struct recent recent = { .count = 0 };
	struct error ignored = ERROR_INIT;

	if (!ops->foresee || r->task->tests || run_is_cell(r))
		return;
	for (size_t i = 0; i < r->task->file_count; i++)
		buf_addf(&text, "%s\n", r->task->files[i].path);
	buf_addf(&text, "%s\n%s", r->plan.approach ? r->plan.approach : "", r->task->prompt);
	audit_programs(r->loop->audit, RECENT_MAX, add_recent, &recent, &ignored);
	ops->foresee(ops->self, r->language,
		     &(struct sandbox_hint){ .text = text.data,
					     .len = text.len,
					     .programs = (const char *const *)recent.programs });
	for (size_t i = 0; i < recent.count; i++)
		free(recent.programs[i]);
}

static int write_code(struct run *r, enum role role, const struct follow_up *follow_up,
		      struct error *err)
{
	cleanup_llm_reply struct llm_reply reply = { .text = NULL };
	const struct execute_ops *ops = &r->loop->execute;
	struct prompt prompt;

	if (run_prompt(r, role, NULL, &prompt, err) < 0)
		return -1;
	if (ops->expect)
		ops->expect(ops->self, r->language->name, r->policy->screen_profile);
	if (!follow_up)
		foresee(r);
	int rc = run_call(r, role, &prompt, follow_up, &reply, err);
	if (!rc && !follow_up)
		rc = continue_reply(r, role, &prompt, &reply, err);
	prompt_release(&prompt);
	if (rc)
		return rc;
	if (reply.stop == LLM_STOP_REFUSAL || reply.stop == LLM_STOP_FILTER)
		return refused(r, &reply);
	return take_reply(r, role, &reply, err);
}

int run_ask_on(struct run *r, const char *request, struct error *err)
{
	cleanup_free char *said = TAKE_PTR(r->write->said);
	const struct follow_up follow_up = { said, request };
	int step = write_code(r, r->attempt > 1 ? ROLE_REPAIR : ROLE_CODE, &follow_up, err);

	return step == STEP_ON ? STEP_AGAIN : step;
}

int run_ask_again(struct run *r, const char *what, struct error *err)
{
	static const char request[] =
		"Reply again, with the whole program in one fenced block marked with its language, "
		"and nothing else. If no program can answer the question, reply with one JSON "
		"object instead: {\"needs_code\": false, \"answer\": \"what is missing\"}";
	cleanup_free char *again = mem_printf("%s %s", what, request);

	return run_ask_on(r, again, err);
}

int stage_code(struct run *r, struct error *err)
{
	r->attempt++;
	return write_code(r, ROLE_CODE, NULL, err);
}

/* What the repairer is not shown whole, its program may read. */
static void keep_output(struct run *r)
{
	const struct sandbox_stream *out = &r->execution.out;

	free(r->previous);
	r->previous = NULL;
	if (!r->executed || out->len <= RUN_OUTPUT_SHOWN)
		return;
	r->previous = mem_strndup(out->bytes, out->len);
	r->previous_len = out->len;
}

int stage_repair(struct run *r, struct error *err)
{
	int64_t ignored;

	/* A repair that could not be run is not worth its call. */
	if (budget_reserve_exec(&r->budget, 1, &ignored, err) < 0)
		return -1;
	keep_output(r);
	r->attempt++;
	return write_code(r, ROLE_REPAIR, NULL, err);
}

void run_write_begin(struct run *r)
{
	r->write = mem_alloc(sizeof(*r->write));
}

void run_write_release(struct run *r)
{
	free(r->write->said);
	free(r->write);
}
