/*
 * From the reply to the program: the one block that is meant to be run, told
 * apart from those tried before. A reply without code may be the answer itself.
 */
#include "agent/stages/extract.h"

#include "agent/attempt.h"
#include "agent/run.h"
#include "agent/stages/execute.h"
#include "agent/stages/look.h"
#include "agent/stages/write.h"
#include "base/mem.h"
#include "verifier/reply/convention.h"
#include "verifier/reply/extract.h"

#include <stdlib.h>
#include <string.h>

struct extract_memory {
	const struct language *language; /* that the program was taken as */
	bool asked_again; /* a reply without a program was answered with one request */
};

static int record_extraction(struct run *r, const struct extraction *x, struct error *err)
{
	cleanup_json struct json *data = extraction_json(x);

	return journal_queue(&r->journal, stage_name(STAGE_EXTRACT), r->attempt, "done", data, NULL,
			     0, err);
}

static enum step no_code(struct run *r, const char *what)
{
	bool cut = r->reply_cut;

	return run_attempt_failed(
		r, (struct feedback){
			   .failure = mem_printf("%s%s", what,
						 cut ? " The reply ended before it was complete." :
						       ""),
			   .advice = "Reply with the whole program in exactly one fenced block.",
			   .status = RUN_FAILED,
		   });
}

/* The program, now the run's; false when it is one of those tried before. What
 * another program printed is not shown with it. */
static bool take_code(struct run *r, const struct program *program)
{
	size_t len = run_trimmed(program->code, program->code_len);
	bool same = r->code && r->extract->language == r->language &&
		    run_trimmed(r->code, r->code_len) == len &&
		    !memcmp(r->code, program->code, len);

	if (!same)
		run_forget_execution(r);
	free(r->code);
	r->code = mem_strndup(program->code, program->code_len);
	r->code_len = program->code_len;
	r->extract->language = r->language;
	return run_is_new(r);
}

/* What is said of a reply that no program was found in, when it is asked for again. */
static const struct {
	const char *convention, *said;
} empty_handed[] = {
	{ CONVENTION_EMPTY, "The reply was empty." },
	{ CONVENTION_THINKING, "The reply ended inside its thinking. Think less." },
	{ CONVENTION_REFUSAL, "Nothing is asked here but to write a program: it is run for you, "
			      "in a sandbox. The reply holds no program." },
};

static const char *what_came(const struct extraction *x)
{
	for (size_t i = 0; x->convention && i < ARRAY_SIZE(empty_handed); i++)
		if (!strcmp(x->convention, empty_handed[i].convention))
			return empty_handed[i].said;
	return "The reply holds no program that can be run.";
}

static bool follows(const struct extraction *x, const char *convention)
{
	return x->convention && !strcmp(x->convention, convention);
}

static bool is_wordless(const struct extraction *x)
{
	return follows(x, CONVENTION_EMPTY) || follows(x, CONVENTION_THINKING);
}

/* Whether a reply without code, of which was asked before, can be the answer. Half
 * an answer can say the opposite of the whole; a refusal is none; nor are the words
 * of one who has just planned a program. */
static bool may_answer(const struct run *r, const struct extraction *x)
{
	bool own_plan = r->plan.usable && r->policy->mode != MODE_CAREFUL;

	return !run_has_expectation(r) && r->attempt == 1 && !r->reply_cut && !is_wordless(x) &&
	       !follows(x, CONVENTION_REFUSAL) && !own_plan;
}

/* Once. */
static int ask_again(struct run *r, const char *what, struct error *err)
{
	r->extract->asked_again = true;
	return run_ask_again(r, what, err);
}

/* A plan says by itself that the answer needs no code; whatever else came without
 * any is asked about first. */
static int direct_answer(struct run *r, const struct extraction *x, struct error *err)
{
	if (r->plan.usable && !r->plan.needs_code && !run_has_expectation(r) && r->attempt == 1)
		return run_answer_directly(r, mem_strdup(r->plan.answer),
					   "answered without running code");
	if (!r->extract->asked_again && (!r->reply_cut || is_wordless(x)))
		return ask_again(r, what_came(x), err);
	if (follows(x, CONVENTION_EMPTY))
		return run_finish(r, RUN_PROVIDER_ERROR,
				  "the model sent nothing, and nothing again when it was asked for "
				  "the program");
	if (!may_answer(r, x))
		return no_code(r, what_came(x));
	return run_answer_directly(r, mem_strndup(r->reply, r->reply_len),
				   "the model answered without code");
}

/* Why none of the blocks is the program, block by block. */
static char *ambiguity(const struct extraction *x)
{
	struct buf out = BUF_INIT((size_t)64 << 10);

	buf_addstr(&out, "No block of the reply can be told to be the program.");
	for (size_t i = 0; i < x->count; i++)
		buf_addf(&out, " Line %zu: %s.", x->blocks[i].start_line,
			 x->blocks[i].why ? x->blocks[i].why : "not chosen");
	return buf_take(&out, NULL);
}

/* A program that came before. It is not run again: what is known of it says
 * how the run ends. */
static enum step known_code(struct run *r)
{
	return run_finish(r, r->feedback.failure ? r->feedback.status : RUN_FAILED,
			  "the model sent a program that had already failed; stopped instead of "
			  "running it again");
}

/* A program in another language than the one that was asked for is no matter of
 * form: it is repaired like any other that is wrong. */
static bool is_other_language(const struct extraction *x)
{
	for (size_t i = 0; i < x->count; i++)
		if (x->blocks[i].run_as || x->blocks[i].foreign)
			return true;
	return false;
}

/* There is code, and none of it can run: asked about once. */
static int unfit_code(struct run *r, const char *what, struct error *err)
{
	return r->extract->asked_again || r->reply_cut ? no_code(r, what) : ask_again(r, what, err);
}

static int extracted(struct run *r, const struct extraction *x, struct error *err)
{
	cleanup_free char *why = x->status == EXTRACT_AMBIGUOUS ? ambiguity(x) : NULL;

	switch (x->status) {
	case EXTRACT_NONE:
		return direct_answer(r, x, err);
	case EXTRACT_AMBIGUOUS:
		return is_other_language(x) ? no_code(r, why) : unfit_code(r, why, err);
	case EXTRACT_TRUNCATED:
		return no_code(r, "The reply was cut inside the program.");
	case EXTRACT_OK:
	case EXTRACT_UNCLOSED:
	default:
		break;
	}
	const struct language *language =
		x->program.run_as ? language_find(x->program.run_as) : NULL;
	if (!language) {
		why = mem_printf("The program is in %s, which does not run here.", x->program.lang);
		return unfit_code(r, why, err);
	}
	r->language = language;
	if (!take_code(r, &x->program))
		return known_code(r);
	return STEP_ON;
}

int stage_extract(struct run *r, struct error *err)
{
	cleanup_extraction struct extraction x = { .blocks = NULL };
	int looked = run_look(r, err);
	struct extract_options options = {
		.want_lang = run_wanted_language(r),
		.truncated = r->reply_cut,
	};

	if (looked != STEP_ON)
		return looked;
	if (extract_code(r->reply, r->reply_len, &options, &x, err) < 0 ||
	    record_extraction(r, &x, err) < 0)
		return -1;
	return extracted(r, &x, err);
}

void run_extract_begin(struct run *r)
{
	r->extract = mem_alloc(sizeof(*r->extract));
}

void run_extract_release(struct run *r)
{
	free(r->extract);
}
