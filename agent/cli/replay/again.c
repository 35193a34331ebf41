/*
 * A program that does not do as recorded may do another thing each time: it tells the
 * time, draws, or prints in the order of a race. It is run once more to see, within the
 * walls and limits it just had, and nobody takes what it does then for a result.
 */
#include "agent/cli/replay/replay.h"

#include "base/mem.h"
#include "verifier/tests.h"

#include <stdlib.h>
#include <string.h>

static bool same_stream(const struct sandbox_stream *a, const struct sandbox_stream *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->bytes, b->bytes, a->len));
}

static bool same_artifacts(const struct sandbox_result *a, const struct sandbox_result *b)
{
	for (size_t i = 0; i < a->artifact_count && i < b->artifact_count; i++)
		if (tests_is_state(a->artifacts[i].path) && tests_is_state(b->artifacts[i].path))
			continue;
		else if (strcmp(a->artifacts[i].path, b->artifacts[i].path) ||
			 strcmp(a->artifacts[i].sha256, b->artifacts[i].sha256))
			return false;
	return a->artifact_count == b->artifact_count;
}

static bool same_result(const struct sandbox_result *a, const struct sandbox_result *b)
{
	return a->outcome == b->outcome && a->exit_code == b->exit_code &&
	       same_stream(&a->out, &b->out) && same_stream(&a->err, &b->err) &&
	       same_artifacts(a, b);
}

/* It does not do the same twice: in what, by what it printed and what it is. */
static enum divergence varies_in(const struct sandbox_job *job, const struct sandbox_result *one,
				 const struct sandbox_result *two)
{
	bool by_error = same_stream(&one->out, &two->out);
	const struct sandbox_stream *a = by_error ? &one->err : &one->out;
	const struct sandbox_stream *b = by_error ? &two->err : &two->out;
	const struct divergence_texts texts = {
		.before = a->bytes ? a->bytes : "",
		.after = b->bytes ? b->bytes : "",
		.before_len = a->len,
		.after_len = b->len,
		.code = job->code,
		.code_len = job->code_len,
	};
	enum divergence in = divergence_of_texts(&texts);

	return in == DIVERGED_BY_VALUE ? DIVERGED_BY_RANDOMNESS : in;
}

/* It does the same twice, but not what it did then: a date, say, differs by the day. What it
 * is does not count: it has just not drawn anything. */
static enum divergence differs_in(struct replay *p, int attempt, const struct sandbox_result *now)
{
	struct divergence_texts texts = { .code = NULL };
	cleanup_free char *before = recorded_output(&p->before, attempt, &texts.before_len);

	if (!before)
		return DIVERGED_BY_VALUE;
	texts.before = before;
	texts.after = now->out.bytes ? now->out.bytes : "";
	texts.after_len = now->out.len;
	return divergence_of_texts(&texts);
}

void replay_look_again(struct replay *p, int attempt, const struct sandbox_job *job,
		       const struct sandbox_result *result)
{
	cleanup_sandbox_result struct sandbox_result second = { .exit_code = -1 };

	/* What it called is served once: a second time it would be recorded, too. */
	if (p->again.ran || job->port || result->outcome == SANDBOX_CANCELLED ||
	    recorded_result_is(&p->before, attempt, result))
		return;
	struct execute_ops ops;
	live_execute(&ops, &p->live);
	struct error ignored = ERROR_INIT;
	if (ops.run(ops.self, attempt, job, &second, &ignored) < 0)
		return;
	p->again.ran = true;
	p->again.varied = !same_result(result, &second);
	p->again.in =
		p->again.varied ? varies_in(job, result, &second) : differs_in(p, attempt, result);
}
