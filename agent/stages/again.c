/*
 * A check that an earlier program could have decided (verifier/cells.h) is looked at where it could
 * not: the program runs once more, from nothing, after those earlier ones alone that it needs, and
 * without those that could forge something: whole programs, for a part of one is a text that nobody
 * has screened. Where it does the same, byte for byte, what was left out had no part in it.
 *
 * Which those are is a parser's word, and a wrong one proves nothing: that what runs could forge
 * nothing is asked of its text here, after it, and that it is enough shows in what the program
 * does.
 */
#include "agent/stages/again.h"

#include "agent/execution.h"
#include "agent/run.h"
#include "agent/stage.h"
#include "agent/stages/cell.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* More than it took the first time, so that a busy machine decides nothing. */
#define SPARE_MS 1000

/* What it is to run after. */
struct before {
	struct cell *list; /* of the context; then those that are to run, in their order */
	size_t count, used_count;
	bool *used; /* of each, whether it is to run */
};

static void before_init(struct before *b, const struct run *r)
{
	b->list = context_cells(r->context, r->language->name, &b->count);
	b->list = mem_array(b->list, b->count + 1, sizeof(*b->list));
	b->used = mem_alloc(b->count + 1);
	cells_leave_out(r->language, b->list, b->count);
}

static void before_release(struct before *b)
{
	free(b->list);
	free(b->used);
}
#define cleanup_before __attribute__((cleanup(before_release)))

/* Whether those that are to run could forge nothing, together. */
static bool choose(const struct run *r, struct before *b)
{
	const struct execute_ops *ops = &r->loop->execute;

	b->list[b->count] = (struct cell){ .code = r->code, .len = r->code_len };
	memset(b->used, true, b->count + 1);
	if (!ops->needs(ops->self, stage_name(STAGE_VERIFY), r->attempt, r->language, b->list,
			b->count + 1, b->used))
		return false;
	for (size_t i = 0; i < b->count; i++) {
		b->used[i] = b->used[i] && b->list[i].len;
		if (b->used[i])
			b->list[b->used_count++] = b->list[i];
	}
	cleanup_free char *why = cells_forge(r->language, b->list, b->used_count);
	return !why;
}

/* All of it, with what the earlier ones took: a run that has no more is not to end for this. */
static int64_t wanted_ms(const struct run *r)
{
	return 2 * (int64_t)r->execution.metrics.wall_ms +
	       2 * context_took_ms(r->context, r->language->name) + SPARE_MS;
}

static bool has_time(struct run *r, int64_t wall_ms)
{
	struct error ignored = ERROR_INIT;
	int64_t granted_ms = wall_ms;

	return execution_reserve(r, stage_name(STAGE_EXECUTE), &granted_ms, NULL, &ignored) == 0 &&
	       granted_ms == wall_ms;
}

static bool is_same_file(const struct sandbox_artifact *a, const struct sandbox_artifact *b)
{
	return !strcmp(a->path, b->path) && a->size == b->size && a->kept && b->kept &&
	       !memcmp(a->bytes, b->bytes, (size_t)a->size);
}

static bool is_same(const struct sandbox_result *a, const struct sandbox_result *b)
{
	if (b->outcome != SANDBOX_EXIT || b->exit_code != 0 || a->out.truncated ||
	    b->out.truncated || a->out.len != b->out.len ||
	    a->artifact_count != b->artifact_count ||
	    (a->out.len && memcmp(a->out.bytes, b->out.bytes, a->out.len)))
		return false;
	for (size_t i = 0; i < a->artifact_count; i++)
		if (!is_same_file(&a->artifacts[i], &b->artifacts[i]))
			return false;
	return true;
}

/* "cell 2, cell 5"; none of them: it was no cell of the language's. */
static char *name_others(const struct before *b)
{
	struct buf out = BUF_INIT((size_t)1 << 20);

	for (size_t i = 0; i < b->count; i++)
		if (!b->used[i])
			buf_addf(&out, "%scell %zu", out.len ? ", " : "", i + 1);
	if (!out.len)
		buf_addstr(&out, "code of another language's");
	return buf_take(&out, NULL);
}

/* With all that runs. */
static int record(struct run *r, const struct before *b, struct error *err)
{
	size_t len;
	cleanup_free char *all =
		cells_join(r->language, b->list, b->used_count, r->code, r->code_len, &len);
	const struct audit_blob program = { "program", "text/plain", all, len };

	return run_record_needed(r, STAGE_VERIFY, b->used, b->count, &program, err);
}

static int run_after(struct run *r, const struct before *b, struct again *ret, struct error *err)
{
	cleanup_execution struct execution x = {
		.code = r->code,
		.len = r->code_len,
		.cell = true,
		.after = b->list,
		.after_count = b->used_count,
		.wall_ms = wanted_ms(r),
	};

	if (record(r, b, err) < 0 || execution_run(r, &x, 1, err) < 0 ||
	    execution_check_stopped(r, &x.result, x.cut, err) < 0)
		return -1;
	ret->without = name_others(b);
	ret->same = is_same(&r->execution, &x.result);
	return 0;
}

int run_again(struct run *r, struct again *ret, struct error *err)
{
	*ret = (struct again){ .without = NULL };
	/* What tests ran was no cell: it printed what all of them do. */
	if (!r->context || r->task->tests || !r->loop->execute.needs || !has_time(r, wanted_ms(r)))
		return 0;
	cleanup_before struct before b = { .count = 0 };
	before_init(&b, r);
	return choose(r, &b) ? run_after(r, &b, ret, err) : 0;
}
