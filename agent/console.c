#include "agent/console.h"

#include "agent/render.h"
#include "agent/term.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OUTPUT_SHOWN ((size_t)4000)

static const struct {
	const char *stage, *label;
} labels[] = {
	{ "plan", "planning" },		  { "code", "writing the program" },
	{ "repair", "repairing" },	  { "approve", "asking for approval" },
	{ "execute", "running" },	  { "verify", "checking" },
	{ "tests", "writing tests" },	  { "cross_check", "writing a second program" },
	{ "judge", "judging" },		  { "answer", "writing the answer" },
	{ "complete", "waiting for the model" },
};

void console_end_reasoning(struct console *c)
{
	if (c->reasoning)
		term_note(TERM_PLAIN, "\n");
	c->reasoning = false;
}

static void on_reasoning(void *self, const char *bytes, size_t len)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_MAX_DEFAULT);
	struct console *c = self;

	if (!c->show_reasoning)
		return;
	utf8_visible(&shown, bytes, len);
	term_status(NULL);
	term_note(TERM_DIM, "%s", shown.data);
	c->reasoning = true;
}

static void show_busy(const struct console *c)
{
	char line[128];

	if (c->attempt > 1)
		snprintf(line, sizeof(line), "%s (attempt %d) ...", c->label, c->attempt);
	else
		snprintf(line, sizeof(line), "%s ...", c->label);
	term_busy(line);
}

static void on_stage(void *self, const char *stage, int attempt)
{
	struct console *c = self;
	size_t i;

	console_end_reasoning(c);
	c->label = stage;
	for (i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (!strcmp(labels[i].stage, stage))
			c->label = labels[i].label;
	c->began_ms = clock_mono_ms();
	c->bytes = 0;
	c->attempt = attempt;
	if (!strcmp(stage, "approve")) {
		term_status(NULL);
		return;
	}
	show_busy(c);
}

static void on_text(void *self, const char *stage, const char *bytes, size_t len)
{
	struct console *c = self;

	(void)stage;
	(void)bytes;
	console_end_reasoning(c);
	c->bytes += len;
	term_status("%s ... %.1f s, %zu bytes", c->label,
		    (double)(clock_mono_ms() - c->began_ms) / 1000, c->bytes);
}

static void on_code(void *self, int attempt, const char *lang, const char *code, size_t len)
{
	const struct console *c = self;

	if (!c->show_code)
		return;
	term_status(NULL);
	term_note(TERM_CYAN, "%s, attempt %d:\n", lang, attempt);
	term_code(lang, code, len);
}

static void on_result(void *self, int attempt, const struct sandbox_result *result,
		      const struct failure *failure)
{
	cleanup_buf struct buf line = BUF_INIT(65536);
	bool good = result->outcome == SANDBOX_EXIT && result->exit_code == 0;

	(void)self;
	(void)attempt;
	term_status(NULL);
	render_outcome(result, &line);
	term_note(good ? TERM_GREEN : TERM_RED, "%s %s\n", good ? "ran:" : "failed:", line.data);
	if (!good && failure->message && result->outcome != SANDBOX_CANCELLED) {
		buf_clear(&line);
		utf8_visible(&line, failure->message, strlen(failure->message));
		term_note(TERM_RED, "  %s%s%s%s", failure->type ? failure->type : "",
			  failure->type ? ": " : "", line.data, failure->line > 0 ? "" : "\n");
		if (failure->line > 0)
			term_note(TERM_RED, " (line %ld)\n", failure->line);
	}
}

static void on_check(void *self, const struct check_result *check)
{
	static const enum term_style styles[] = { TERM_GREEN, TERM_RED, TERM_YELLOW, TERM_DIM };
	cleanup_buf struct buf detail = BUF_INIT(65536);

	(void)self;
	term_status(NULL);
	if (check->detail)
		utf8_visible(&detail, check->detail, strlen(check->detail));
	term_note(styles[check->verdict], "%s: %s (%s)%s%s\n", verdict_name(check->verdict),
		  check->kind, check_source_name(check->source), detail.len ? ": " : "",
		  detail.data);
}

static void on_note(void *self, const char *line)
{
	cleanup_buf struct buf shown = BUF_INIT(65536);

	console_end_reasoning(self);
	utf8_visible(&shown, line, strlen(line));
	term_status(NULL);
	term_note(TERM_YELLOW, "%s\n", shown.data);
}

static void on_wait(void *self, int64_t left_ms)
{
	struct console *c = self;

	console_end_reasoning(c);
	if (left_ms > 0)
		term_status("%s: trying again in %" PRId64 " s ...", c->label,
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
		.result = on_result,
		.check = on_check,
		.note = on_note,
		.wait = on_wait,
		.self = console,
	};
}

void console_output(const struct sandbox_stream *s)
{
	size_t shown = s->len < OUTPUT_SHOWN ? s->len : OUTPUT_SHOWN;

	if (!s->len)
		return;
	term_status(NULL);
	term_visible(s->bytes, shown);
	if (s->bytes[shown - 1] != '\n')
		term_note(TERM_PLAIN, "\n");
	if (shown < s->total)
		term_note(TERM_DIM, "... %llu of %llu bytes not shown\n",
			  (unsigned long long)(s->total - shown), (unsigned long long)s->total);
}

/* The output behind an answer in other words, and that of a program that failed. */
void console_artifact(const char *folder, const struct sandbox_artifact *a, const char *why_not)
{
	cleanup_buf struct buf name = BUF_INIT((size_t)1 << 20);
	size_t i;

	utf8_visible(&name, a->path, strlen(a->path));
	/* A name with a line end in it must not look like two lines of ours. */
	for (i = 0; i < name.len; i++)
		if (name.data[i] == '\n' || name.data[i] == '\t')
			name.data[i] = '?';
	if (why_not)
		term_note(TERM_YELLOW, "not saved: %s (%s)\n", name.data, why_not);
	else
		term_note(TERM_CYAN, "%s/%s (%llu byte%s, %s)\n", folder, name.data,
			  (unsigned long long)a->size, a->size == 1 ? "" : "s", a->type);
}

/* Without the line ends that a program prints and a writer does not. */
static size_t text_len(const char *text, size_t len)
{
	while (len && strchr("\r\n", text[len - 1]))
		len--;
	return len;
}

void console_evidence(const struct loop_result *r)
{
	const struct sandbox_stream *out = &r->execution.out;
	size_t len = r->executed ? text_len(out->bytes, out->len) : 0;

	if (!r->executed || (r->answer && text_len(r->answer, strlen(r->answer)) == len &&
			     !memcmp(r->answer, out->bytes, len)))
		return;
	console_output(out);
}

void console_conclusion(const struct loop_result *r)
{
	static const enum term_style styles[] = {
		[RUN_SUCCESS] = TERM_GREEN,    [RUN_UNVERIFIED] = TERM_YELLOW,
		[RUN_FAILED] = TERM_RED,       [RUN_BUDGET] = TERM_RED,
		[RUN_DENIED] = TERM_RED,       [RUN_PROVIDER_ERROR] = TERM_RED,
		[RUN_SANDBOX_ERROR] = TERM_RED, [RUN_CANCELLED] = TERM_YELLOW,
	};
	cleanup_buf struct buf reason = BUF_INIT(65536);

	term_status(NULL);
	if (r->reason) {
		utf8_visible(&reason, r->reason, strlen(r->reason));
		term_note(styles[r->status], "%s\n", reason.data);
	}
	term_note(styles[r->status], "%s", run_status_name(r->status));
	term_note(TERM_DIM, " - level %s, %d attempt%s, %.1f s, run %s\n", level_name(r->level),
		  r->attempts, r->attempts == 1 ? "" : "s", (double)r->duration_ms / 1000, r->run);
}

void console_log(const struct audit *audit)
{
	if (audit_note(audit))
		term_note(TERM_YELLOW, "%s\n", audit_note(audit));
}
