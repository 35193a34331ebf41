/*
 * The model looks first: a block marked "look" is a small program whose output goes back to who
 * asked for it. It is screened and runs like any other, with the same inputs and little time; it is
 * no attempt, there are few, and each is in the record. Its output is the model's to read, never
 * the answer.
 */
#include "agent/stages/look.h"

#include "agent/execution.h"
#include "agent/prompt/quote.h"
#include "agent/run.h"
#include "agent/stages/cell.h"
#include "agent/stages/screen.h"
#include "agent/stages/write.h"
#include "base/mem.h"
#include "verifier/lang/lang.h"
#include "verifier/reply/fence.h"

#include <stdlib.h>
#include <string.h>

struct look_memory {
	int count; /* how often the model has looked before it wrote the program, over all attempts
		    */
};

#define LOOKS_MAX    3
#define LOOK_WALL_MS 5000
#define LOOK_SHOWN   ((size_t)2000) /* of each stream */
#define NOTES_MAX    ((size_t)1 << 20)

static const char request[] =
	"This is what your look showed. Reply now as you were asked to at first%s.";

static bool is_look(const struct fence *f)
{
	cleanup_free char *info = mem_strdup(f->info);
	char *at = info, *word;

	while ((word = strsep(&at, " \t")))
		if (!strcmp(word, "look"))
			return true;
	return false;
}

/* The language that the block is marked with, else the run's. */
static const struct language *language_of(const struct run *r, const struct fence *f)
{
	cleanup_free char *word = mem_strndup(f->info, strcspn(f->info, " \t"));
	const struct lang *lang = lang_find(word);
	const struct language *language = lang ? language_find(lang->name) : NULL;

	return language ? language : r->language;
}

static void add_stream(const struct run *r, struct buf *out, const char *called,
		       const struct sandbox_stream *s)
{
	cleanup_buf struct buf cut = BUF_INIT(NOTES_MAX);

	if (!s->len)
		return;
	context_cut(&cut, s->bytes, s->len, s->total, LOOK_SHOWN);
	cleanup_free char *fenced = context_fence(r, cut.data);
	buf_addf(out, "%s:\n%s\n", called, fenced);
}

/* How it ended, where it did not end well. */
static void add_end(struct buf *out, const struct sandbox_result *x)
{
	if (x->outcome == SANDBOX_EXIT && x->exit_code)
		buf_addf(out, "It ended with exit code %d.\n", x->exit_code);
	else if (x->outcome != SANDBOX_EXIT)
		buf_addf(out, "It was stopped (%s).\n", sandbox_outcome_name(x->outcome));
	else if (!x->out.len && !x->err.len)
		buf_addstr(out, "It printed nothing.\n");
}

static void tell(const struct run *r, const struct sandbox_result *x)
{
	const struct progress *p = &r->loop->progress;

	if (!p->note)
		return;
	cleanup_free char *line =
		mem_printf("the model looked first (%d of %d at most): %llu bytes of output",
			   r->look->count, LOOKS_MAX, (unsigned long long)x->out.total);
	p->note(p->self, line);
}

static int run_it(struct run *r, const struct language *language, const char *code, size_t len,
		  struct buf *out, struct error *err)
{
	cleanup_execution struct execution x = {
		.code = code,
		.len = len,
		.language = language,
		.cell = run_can_follow(r, language), /* from what is there, and leaves nothing */
		.is_look = true,
		.wall_ms = LOOK_WALL_MS,
	};

	if (execution_run(r, &x, 1, err) < 0 ||
	    execution_check_stopped(r, &x.result, x.cut, err) < 0)
		return -1;
	tell(r, &x.result);
	add_stream(r, out, "Standard output", &x.result.out);
	add_stream(r, out, "Standard error", &x.result.err);
	add_end(out, &x.result);
	return 0;
}

/* What is asked about it is asked under the rules of all code that a model wrote. */
static int screen_and_run(struct run *r, const struct fence *f, struct buf *out, struct error *err)
{
	cleanup_free char *code = mem_strndup(f->code, f->code_len), *reason = NULL;
	const struct language *language = language_of(r, f);
	size_t len = f->code_len;
	bool allowed = false;

	if (run_screen_code(r, stage_name(STAGE_LOOK), language, &code, &len, &allowed, &reason,
			    err) < 0)
		return -1;
	if (allowed)
		return run_it(r, language, code, len, out, err);
	buf_addf(out, "It was not run: %s\n", reason ? reason : "it was not approved");
	return 0;
}

/* What was looked at so far, for whoever writes next: the program and what came of it. */
static int look(struct run *r, const struct fence *f, struct error *err)
{
	struct buf out = BUF_INIT(NOTES_MAX);

	r->look->count++;
	buf_addf(&out, "%s[look %d]\n```\n%s```\n", r->looked ? r->looked : "", r->look->count,
		 f->code);
	if (screen_and_run(r, f, &out, err) < 0) {
		buf_release(&out);
		return -1;
	}
	free(r->looked);
	r->looked = buf_take(&out, NULL);
	return 0;
}

/* So that nobody takes it for the program. */
static void blank(char *text, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (text[i] != '\n')
			text[i] = ' ';
}

int run_look(struct run *r, struct error *err)
{
	cleanup_fences struct fence_list list = { 0 };
	struct error ignored = ERROR_INIT; /* then it is no look: extraction says what it is */
	bool looked = false;

	if (!r->reply ||
	    fence_scan(r->reply, r->reply_len, FENCE_SKIP_THINKING, &list, &ignored) < 0)
		return STEP_ON;
	for (size_t i = 0; i < list.count; i++) {
		const struct fence *f = &list.fences[i];

		if (!is_look(f))
			continue;
		blank(r->reply, f->start_byte, f->end_byte);
		if (r->look->count == LOOKS_MAX || !f->closed || !f->code_len)
			continue;
		if (look(r, f, err) < 0)
			return -1;
		looked = true;
	}
	if (!looked)
		return STEP_ON;
	cleanup_free char *asked =
		mem_printf(request, r->look->count == LOOKS_MAX ? "; no look is left" : "");
	cleanup_free char *all = mem_printf("%s\n%s", r->looked, asked);
	return run_ask_on(r, all, err);
}

void run_look_begin(struct run *r)
{
	r->look = mem_alloc(sizeof(*r->look));
}

void run_look_release(struct run *r)
{
	free(r->look);
}
