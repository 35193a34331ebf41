/*
 * From the reply to the program: the one block that is meant to be run, told
 * apart from those tried before. A reply without code may be the answer itself.
 */
#include "agent/run.h"

#include "base/mem.h"
#include "verifier/extract.h"

#include <stdlib.h>
#include <string.h>

static int record_extraction(struct run *r, const struct extraction *x, struct error *err)
{
	cleanup_json struct json *data = extraction_json(x);

	return journal_queue(&r->journal, "extract", r->attempt, "done", data, NULL, 0, err);
}

static int no_code(struct run *r, const char *what)
{
	bool cut = r->reply_cut;

	return run_attempt_failed(r, (struct feedback){
		.failure = mem_printf("%s%s", what,
				      cut ? " The reply ended before it was complete." : ""),
		.advice = "Reply with the whole program in exactly one fenced block.",
		.status = RUN_FAILED,
	});
}

/* The length without the blanks at the end: they make no other program. */
static size_t trimmed(const char *code, size_t len)
{
	while (len && strchr(" \t\r\n", code[len - 1]))
		len--;
	return len;
}

bool run_is_new(struct run *r)
{
	cleanup_free char *program = mem_printf("%s\n%.*s", r->language->name,
						(int)trimmed(r->code, r->code_len), r->code);
	char hash[HASH_HEX_LEN + 1];
	size_t i;

	hash_sha256(program, strlen(program), hash);
	for (i = 0; i < r->seen_count; i++)
		if (!strcmp(r->seen[i], hash))
			return false;
	r->seen = mem_array(r->seen, r->seen_count + 1, sizeof(*r->seen));
	memcpy(r->seen[r->seen_count++], hash, sizeof(hash));
	return true;
}

/* The program, now the run's; false when it is one of those tried before. What
 * another program printed is not shown with it. */
static bool take_code(struct run *r, const struct code_block *block)
{
	size_t len = trimmed(block->code, block->code_len);
	bool same = r->code && r->code_language == r->language &&
		    trimmed(r->code, r->code_len) == len && !memcmp(r->code, block->code, len);

	if (!same)
		run_forget_execution(r);
	free(r->code);
	r->code = mem_strndup(block->code, block->code_len);
	r->code_len = block->code_len;
	r->code_language = r->language;
	return run_is_new(r);
}

/* A reply without code is an answer, unless something outside is to be met or
 * it was cut: half an answer can say the opposite of the whole. */
static int direct_answer(struct run *r)
{
	if (run_has_expectation(r) || r->attempt > 1 || r->reply_cut)
		return no_code(r, "The reply holds no program.");
	run_answer_directly(r, mem_strndup(r->reply, r->reply_len),
			    "the model answered without code, so nothing is verified; --require "
			    "none accepts it");
	return 0;
}

/* Why none of the blocks is the program, block by block. */
static char *ambiguity(const struct extraction *x)
{
	struct buf out = BUF_INIT((size_t)64 << 10);
	size_t i;

	buf_addstr(&out, "No block of the reply can be told to be the program.");
	for (i = 0; i < x->count; i++)
		buf_addf(&out, " Line %zu: %s.", x->blocks[i].start_line,
			 x->blocks[i].why ? x->blocks[i].why : "not chosen");
	return buf_take(&out, NULL);
}

/* A program that came before. It is not run again: what is known of it says
 * how the run ends, unless all that spoke against it was a guess. */
static int known_code(struct run *r, struct error *err)
{
	if (r->executed && run_may_dispute(r))
		return run_dispute(r, err);
	run_finish(r, r->feedback.failure ? r->feedback.status : RUN_FAILED,
		   r->feedback.status == RUN_DENIED ? EXIT_DENIED : EXIT_FAILED,
		   "the model sent a program that had already failed; stopped instead of running "
		   "it again");
	return 0;
}

static int extracted(struct run *r, const struct extraction *x, struct error *err)
{
	cleanup_free char *why = x->status == EXTRACT_AMBIGUOUS ? ambiguity(x) : NULL;
	const struct code_block *block = extraction_chosen(x);
	const struct language *language;

	switch (x->status) {
	case EXTRACT_NONE:
		return direct_answer(r);
	case EXTRACT_AMBIGUOUS:
		return no_code(r, why);
	case EXTRACT_TRUNCATED:
		return no_code(r, "The reply was cut inside the program.");
	case EXTRACT_OK:
	case EXTRACT_UNCLOSED:
	default:
		break;
	}
	if (!block)
		return no_code(r, "The reply holds no program.");
	language = block->run_as ? language_find(block->run_as) : NULL;
	if (language)
		r->language = language;
	if (!take_code(r, block))
		return known_code(r, err);
	r->state = STATE_SCREEN;
	return 0;
}

int stage_extract(struct run *r, struct error *err)
{
	cleanup_extraction struct extraction x = { .blocks = NULL };
	struct extract_options options = {
		.want_lang = run_wanted_language(r),
		.truncated = r->reply_cut,
	};

	if (extract_code(r->reply, r->reply_len, &options, &x, err) < 0 ||
	    record_extraction(r, &x, err) < 0)
		return -1;
	return extracted(r, &x, err);
}
