/*
 * A check that an earlier program could have decided (verifier/cells.h) is looked at where it could
 * not: the program runs once more, from nothing, after those earlier ones alone that it needs and
 * that could forge nothing. Where it does the same, byte for byte, the others had no part in it.
 *
 * Which those are is a parser's word, and a wrong one proves nothing: that they could forge nothing
 * is asked of their texts here, after it, and that they are enough shows in what the program does.
 */
#include "agent/run.h"

#include "agent/execution.h"
#include "agent/stage.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* More than it took the first time, so that a busy machine decides nothing. */
#define SPARE_MS 1000

/* The cells, without the words of those that are not to be run. */
static void blank(struct cell *list, size_t count, const bool *kept)
{
	for (size_t i = 0; i < count; i++)
		if (!kept[i])
			list[i] = (struct cell){ .code = "" };
}

/* Whether those that are kept could forge nothing, together. */
static bool is_clean(const struct run *r, const struct cell *list, size_t count, const bool *kept)
{
	cleanup_free struct cell *all = mem_array(NULL, count, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (kept[i])
			all[n++] = list[i];
	cleanup_free char *why = cells_forge(r->language, all, n);
	return !why;
}

/* The cells it is to run after: ret has one more, for the program itself. */
static bool choose(const struct run *r, struct cell *list, size_t count, bool *ret)
{
	const struct execute_ops *ops = &r->loop->execute;
	cleanup_free bool *unable = mem_alloc(count + 1);

	cells_unable(r->language, list, count, unable);
	blank(list, count, unable);
	list[count] = (struct cell){ .code = r->code, .len = r->code_len };
	memset(ret, true, count + 1);
	if (!ops->needs(ops->self, stage_name(STAGE_VERIFY), r->attempt, r->language, list,
			count + 1, ret))
		return false;
	for (size_t i = 0; i < count; i++)
		ret[i] = ret[i] && unable[i];
	return is_clean(r, list, count, ret);
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

/* "cell 2" or "cells 2, 5"; none of them: it was no cell of the language's. */
static char *name_others(const bool *kept, size_t count)
{
	struct buf out = BUF_INIT((size_t)1 << 20);
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += !kept[i];
	buf_addstr(&out, !n ? "code of another language's" : n == 1 ? "cell " : "cells ");
	for (size_t i = 0, told = 0; i < count; i++)
		if (!kept[i])
			buf_addf(&out, "%s%zu", told++ ? ", " : "", i + 1);
	return buf_take(&out, NULL);
}

static int run_after(struct run *r, const bool *kept, size_t count, struct again *ret,
		     struct error *err)
{
	cleanup_execution struct execution x = {
		.code = r->code,
		.len = r->code_len,
		.cell = true,
		.after = kept,
		.wall_ms = wanted_ms(r),
	};

	if (run_record_needed(r, STAGE_VERIFY, kept, count, err) < 0 ||
	    execution_run(r, &x, 1, err) < 0 ||
	    execution_check_stopped(r, &x.result, x.cut, err) < 0)
		return -1;
	ret->without = name_others(kept, count);
	ret->same = is_same(&r->execution, &x.result);
	return 0;
}

int run_again(struct run *r, struct again *ret, struct error *err)
{
	*ret = (struct again){ .without = NULL };
	/* What tests ran was no cell: it printed what all of them do. */
	if (!r->context || r->task->tests || !r->loop->execute.needs || !has_time(r, wanted_ms(r)))
		return 0;
	size_t count;
	cleanup_free struct cell *list = context_cells(r->context, r->language->name, &count);
	cleanup_free bool *kept = mem_alloc(count + 1);
	list = mem_array(list, count + 1, sizeof(*list));
	return choose(r, list, count, kept) ? run_after(r, kept, count, ret, err) : 0;
}
