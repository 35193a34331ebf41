/*
 * What a person watches of a run: stages, code, results, checks, the answer's worth. It prints
 * and decides nothing; the answer itself goes to stdout elsewhere.
 */
#include "agent/cli/terminal/console.h"

#include "agent/record/render.h"
#include "agent/cli/terminal/sequence.h"
#include "agent/cli/terminal/term.h"
#include "base/diff.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_SHOWN  ((size_t)4000)
#define CHANGES_SHOWN ((size_t)60)
#define ID_SHOWN      8 /* as log list shows them */
#define CHANGE_BYTES  ((size_t)200)
#define NOTES_SHOWN   ((size_t)2000) /* bytes of standard error, in at most so many lines: */
#define NOTE_LINES    ((size_t)20)

/* What is going on; where it takes no time that anybody notices, nothing is said. */
static const char *const labels[STAGE_COUNT] = {
	[STAGE_PLAN] = "planning",
	[STAGE_CODE] = "writing the program",
	[STAGE_REPAIR] = "repairing",
	[STAGE_APPROVE] = "asking for approval",
	[STAGE_EXECUTE] = "running",
	[STAGE_LOOK] = "looking first",
	[STAGE_VERIFY] = "checking",
	[STAGE_TESTS] = "writing tests",
	[STAGE_CROSS_CHECK] = "writing a second program",
	[STAGE_JUDGE] = "judging",
	[STAGE_ANSWER] = "writing the answer",
	[STAGE_COMPLETE] = "waiting for the model",
};

void console_end_reasoning(struct console *c)
{
	if (c->reasoning)
		term_note(c->term, TERM_PLAIN, "\n");
	c->reasoning = false;
}

static void on_reasoning(void *self, const char *bytes, size_t len)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_MAX_DEFAULT);
	struct console *c = self;

	if (!c->show_reasoning)
		return;
	utf8_visible(&shown, bytes, len);
	term_status(c->term, NULL);
	term_note(c->term, TERM_DIM, "%s", shown.data);
	c->reasoning = true;
}

static void show_busy(const struct console *c)
{
	char line[128];

	if (c->attempt > 1)
		snprintf(line, sizeof(line), "%s (attempt %d) ...", c->label, c->attempt);
	else
		snprintf(line, sizeof(line), "%s ...", c->label);
	term_busy(c->term, line);
}

/* What the plan in the reply that just ended means to do: it stays to be read. */
static void tell_approach(struct console *c)
{
	const char *approach = c->show_code ? stream_approach(&c->stream) : NULL;

	if (!approach || (c->approach && !strcmp(c->approach, approach)))
		return;
	free(c->approach);
	c->approach = mem_strdup(approach);
	term_line(c->term, TERM_DIM, 0, "approach: %s", approach);
}

void console_begin(struct console *c)
{
	console_release(c);
	stream_begin(&c->stream, false);
}

void console_release(struct console *c)
{
	stream_release(&c->stream);
	free(c->approach);
	free(c->code);
	c->approach = c->code = NULL;
}

static void on_stage(void *self, const char *stage, int attempt)
{
	struct console *c = self;
	int known = stage_parse(stage);

	console_end_reasoning(c);
	tell_approach(c);
	c->label = known >= 0 && labels[known] ? labels[known] : stage;
	c->attempt = attempt;
	stream_begin(&c->stream, known >= 0 && stage_asks_model(stage));
	if (known == STAGE_APPROVE) {
		term_status(c->term, NULL);
		return;
	}
	show_busy(c);
}

static void on_text(void *self, const char *stage, const char *bytes, size_t len)
{
	struct console *c = self;

	(void)stage;
	console_end_reasoning(c);
	stream_add(c->term, &c->stream, c->label, bytes, len);
}

/* What a program prints while it runs; what is to be seen of it stays when it has ended. */
static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	struct console *c = self;

	(void)is_stderr;
	stream_add(c->term, &c->stream, c->label, bytes, len);
}

static void on_used(void *self, int64_t memory_bytes)
{
	struct console *c = self;

	stream_used(c->term, &c->stream, c->label, memory_bytes);
}

/* A line of a difference. */
static void show_change(struct terminal *term, const char *line, size_t len)
{
	enum term_style style = *line == '+' ? TERM_GREEN :
				*line == '-' ? TERM_RED :
				*line == '@' ? TERM_CYAN :
					       TERM_PLAIN;

	term_note(term, style, "%.*s\n", (int)len, line);
}

/* What a repair changed; false where that is no shorter than the program. */
static bool show_changes(const struct console *c, const char *code, size_t len)
{
	const struct diff_bounds bounds = { CHANGES_SHOWN, CHANGE_BYTES };
	cleanup_buf struct buf changes = BUF_INIT((size_t)1 << 20);

	if (!c->code)
		return false;
	diff_unified(c->code, c->code_len, code, len, &bounds, &changes);
	if (!changes.len || changes.len >= len)
		return false;
	const char *nl;
	for (const char *at = changes.data; (nl = strchr(at, '\n')); at = nl + 1)
		show_change(c->term, at, (size_t)(nl - at));
	return true;
}

static void on_code(void *self, int attempt, const char *lang, const char *code, size_t len)
{
	struct console *c = self;

	tell_approach(c);
	if (!c->show_code)
		return;
	term_status(c->term, NULL);
	term_note(c->term, TERM_CYAN, "%s, attempt %d:\n", lang, attempt);
	if (!show_changes(c, code, len))
		term_code(c->term, lang, code, len);
	free(c->code);
	c->code = mem_strndup(code, len);
	c->code_len = len;
}

static void on_result(void *self, int attempt, const struct sandbox_result *result,
		      const struct failure *failure)
{
	cleanup_buf struct buf line = BUF_INIT(65536);
	bool good = result->outcome == SANDBOX_EXIT && result->exit_code == 0;
	const struct console *c = self;

	(void)attempt;
	term_status(c->term, NULL);
	render_outcome(result, &line);
	term_line(c->term, good ? TERM_GREEN : TERM_RED, 0, "%s %s",
		  good ? "ran:" : "failed:", line.data);
	if (!good && failure->message && result->outcome != SANDBOX_CANCELLED) {
		buf_clear(&line);
		utf8_visible(&line, failure->message, strlen(failure->message));
		if (failure->line > 0)
			buf_addf(&line, " (line %ld)", failure->line);
		term_line(c->term, TERM_RED, 0, "  %s%s%s", failure->type ? failure->type : "",
			  failure->type ? ": " : "", line.data);
	}
}

static void on_check(void *self, const struct check_result *check)
{
	static const enum term_style styles[] = { TERM_GREEN, TERM_RED, TERM_YELLOW, TERM_DIM };
	cleanup_buf struct buf detail = BUF_INIT(65536);
	const struct console *c = self;

	/* What proves nothing would only look like evidence; JSON and the log have it. */
	if (check->source == CHECK_PLANNER && check->verdict == VERDICT_SKIPPED)
		return;
	term_status(c->term, NULL);
	if (check->detail)
		utf8_visible(&detail, check->detail, strlen(check->detail));
	term_line(c->term, styles[check->verdict], 0, "%s: %s (%s)%s%s",
		  verdict_name(check->verdict), check->kind, check_source_name(check->source),
		  detail.len ? ": " : "", detail.data);
}

static void on_note(void *self, const char *line)
{
	cleanup_buf struct buf shown = BUF_INIT(65536);
	struct console *c = self;

	console_end_reasoning(c);
	utf8_visible(&shown, line, strlen(line));
	term_status(c->term, NULL);
	term_line(c->term, TERM_YELLOW, 0, "%s", shown.data);
}

static void on_wait(void *self, int64_t left_ms)
{
	struct console *c = self;

	console_end_reasoning(c);
	if (left_ms > 0)
		term_status(c->term, "%s: trying again in %" PRId64 " s ...", c->label,
			    (left_ms + 999) / 1000);
	else
		show_busy(c);
}

void console_progress(struct progress *ret, struct console *console)
{
	*ret = (struct progress){
		.stage = on_stage,
		.text = on_text,
		.reasoning = on_reasoning,
		.code = on_code,
		.output = on_output,
		.used = on_used,
		.result = on_result,
		.check = on_check,
		.note = on_note,
		.wait = on_wait,
		.self = console,
	};
}

/* Saved under a name that does no harm (artifacts_save): a link where the terminal has them. */
static void show_saved(struct terminal *term, const char *folder, const struct sandbox_artifact *a,
		       const char *name)
{
	cleanup_free char *path = mem_printf("%s/%s", folder, a->path);
	cleanup_free char *text = mem_printf("%s/%s", folder, name);

	sequence_link(term, path, text);
	term_line(term, TERM_CYAN, utf8_width(text, strlen(text)), " (%llu byte%s, %s)",
		  (unsigned long long)a->size, a->size == 1 ? "" : "s", a->type);
}

void console_artifact(struct terminal *term, const char *folder, const struct sandbox_artifact *a,
		      const char *why_not)
{
	cleanup_buf struct buf name = BUF_INIT((size_t)1 << 20);

	utf8_visible(&name, a->path, strlen(a->path));
	/* A name with a line end in it must not look like two lines of ours. */
	for (size_t i = 0; i < name.len; i++)
		if (name.data[i] == '\n' || name.data[i] == '\t')
			name.data[i] = '?';
	if (why_not)
		term_note(term, TERM_YELLOW, "not saved: %s (%s)\n", name.data, why_not);
	else
		show_saved(term, folder, a, name.data);
}

/* What the level, or the status where nothing was reached, means to who reads the answer. */
static void meaning(const struct loop_result *r, struct buf *out)
{
	static const char *const levels[] = {
		[LEVEL_NONE] = "a model's own words; no program ran",
		[LEVEL_RAN] = "the program ended well; no more is known of what it printed",
		[LEVEL_JUDGED] = "a model found no fault",
		[LEVEL_CHECKED] = "held by checks that wrong answers fail",
		[LEVEL_EXPECTED] = "as you demanded",
	};
	static const char *const statuses[] = {
		[RUN_UNVERIFIED] = "less than was required, level",
		[RUN_FAILED] = "no program passed",
		[RUN_BUDGET] = "a budget is used up",
		[RUN_DENIED] = "the program was not run",
		[RUN_PROVIDER_ERROR] = "the model gave no usable reply",
		[RUN_SANDBOX_ERROR] = "nothing could be run",
		[RUN_CANCELLED] = "stopped before its end",
	};

	buf_addstr(out, r->status == RUN_SUCCESS ? levels[r->level] :
			r->begun		 ? "a program began, and its end is not known" :
						   statuses[r->status]);
	if (r->status == RUN_UNVERIFIED)
		buf_addf(out, " %s", level_name(r->level));
	if (r->carried_by && r->level > LEVEL_JUDGED)
		buf_addf(out, ", by %s", r->carried_by);
}

static void add_usage(const struct loop_result *r, struct buf *out)
{
	int64_t tokens = r->usage.input_tokens + r->usage.output_tokens;

	if (tokens >= 1000)
		buf_addf(out, " · %.1fk tokens", (double)tokens / 1000);
	else if (tokens)
		buf_addf(out, " · %" PRId64 " tokens", tokens);
	if (tokens && r->cost_micro_usd >= 0) {
		buf_addstr(out, " · ");
		render_cost(r->cost_micro_usd, out);
	}
}

enum term_style console_status_style(enum run_status status)
{
	static const enum term_style styles[RUN_STATUS_COUNT] = {
		[RUN_SUCCESS] = TERM_GREEN,	[RUN_UNVERIFIED] = TERM_YELLOW,
		[RUN_FAILED] = TERM_RED,	[RUN_BUDGET] = TERM_RED,
		[RUN_DENIED] = TERM_RED,	[RUN_PROVIDER_ERROR] = TERM_RED,
		[RUN_SANDBOX_ERROR] = TERM_RED, [RUN_CANCELLED] = TERM_YELLOW,
	};

	return styles[status];
}

/* How much of a run's id is left out at its front so that a line that is so wide without it does
 * not wrap inside it: its end names the run, too. */
static size_t id_cut(size_t width)
{
	bool fits = width + strlen(":  · run ") - 1 + ULID_LEN <= term_columns();

	return isatty(STDERR_FILENO) && !fits ? ULID_LEN - ID_SHOWN : 0;
}

void console_conclusion(struct terminal *term, const struct loop_result *r)
{
	enum term_style style = console_status_style(r->status);
	cleanup_buf struct buf reason = BUF_INIT(65536), line = BUF_INIT(65536);

	term_status(term, NULL);
	if (r->reason) {
		utf8_visible(&reason, r->reason, strlen(r->reason));
		term_line(term, style, 0, "%s", reason.data);
	}
	const char *word =
		r->status == RUN_SUCCESS ? level_name(r->level) : run_status_name(r->status);
	meaning(r, &line);
	buf_addf(&line, " · %d %s%s · %.1f s", r->attempts,
		 r->attempts && !r->code ? "attempt" : "program", r->attempts == 1 ? "" : "s",
		 (double)r->duration_ms / 1000);
	add_usage(r, &line);
	term_note(term, style, "%s", word);
	term_line(term, TERM_DIM, strlen(word), ": %s · run %s", line.data,
		  r->run + id_cut(strlen(word) + utf8_width(line.data, line.len)));
}

void console_log(struct terminal *term, const struct audit *audit)
{
	if (audit_note(audit))
		term_note(term, TERM_YELLOW, "%s\n", audit_note(audit));
}
