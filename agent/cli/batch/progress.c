/*
 * The live lines of a batch on a terminal: how far it is, and what each worker does. It writes to
 * stderr alone, and nothing where that is no terminal.
 */
#include "agent/cli/batch/batch.h"

#include "agent/cli/terminal/term.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAW_EVERY_MS 200
#define BAR_COLUMNS   20
#define WORKERS_SHOWN 8
#define LINE_MAX_LEN  1024

static void add_bar(struct buf *out, size_t done, size_t total)
{
	size_t full = total ? done * BAR_COLUMNS / total : BAR_COLUMNS;

	buf_addch(out, '[');
	for (size_t i = 0; i < BAR_COLUMNS; i++)
		buf_addch(out, i < full ? '#' : '-');
	buf_addf(out, "] %zu/%zu", done, total);
}

/* The rate so far, and what it leaves. */
static void add_pace(struct buf *out, size_t done, size_t total, int64_t elapsed_ms)
{
	double rate = elapsed_ms > 0 ? (double)done * 1000 / (double)elapsed_ms : 0;
	long left = rate > 0 ? (long)((double)(total - done) / rate + 0.5) : 0;

	if (!done)
		return;
	if (rate >= 1)
		buf_addf(out, "  %.1f/s", rate);
	else
		buf_addf(out, "  %.1f/min", rate * 60);
	buf_addf(out, "  ETA ");
	if (left >= 3600)
		buf_addf(out, "%ld:%02ld:%02ld", left / 3600, left / 60 % 60, left % 60);
	else
		buf_addf(out, "%ld:%02ld", left / 60, left % 60);
}

static char *first_line(const struct batch_watch *w, int64_t now_ms)
{
	const struct batch_results *r = w->results;
	int64_t tokens = r->input_tokens + r->output_tokens;
	cleanup_buf struct buf out = BUF_INIT(LINE_MAX_LEN);

	add_bar(&out, r->count, w->total);
	add_pace(&out, r->count, w->total, now_ms - w->began_ms);
	buf_addf(&out, "  %zu passed, %zu failed", r->success, r->failed);
	if (r->retries + r->died)
		buf_addf(&out, ", %zu retries", r->retries + r->died);
	if (tokens >= 10000)
		buf_addf(&out, "  %.1fk tokens", (double)tokens / 1000);
	else
		buf_addf(&out, "  %lld tokens", (long long)tokens);
	if (r->cost_known && r->count)
		buf_addf(&out, "  $%.4f", r->cost_usd);
	return buf_take(&out, NULL);
}

static char *worker_line(const struct batch_watch *w, size_t worker, int64_t now_ms)
{
	const struct batch_doing *doing = &w->doing[worker];
	char which[16] = "";

	if (!doing->id)
		return mem_printf("%3zu  -", worker + 1);
	if (w->batch->repeats)
		snprintf(which, sizeof(which), " [%u]", doing->repeat + 1);
	return mem_printf("%3zu  %.100s%s  %s%s  %.0f s", worker + 1, doing->id, which,
			  *doing->stage.name ? doing->stage.name : "begins",
			  doing->stage.attempt > 1 ? ", again" : "",
			  (double)(now_ms - doing->since_ms) / 1000);
}

void batch_progress_draw(struct batch_watch *w, bool now)
{
	int64_t now_ms = clock_mono_ms();
	size_t workers = w->jobs < WORKERS_SHOWN ? w->jobs : WORKERS_SHOWN;
	char *lines[1 + WORKERS_SHOWN];

	if (!w->live || (!now && batch_progress_in(w, now_ms) > 0))
		return;
	w->drawn_ms = now_ms;
	lines[0] = first_line(w, now_ms);
	for (size_t i = 0; i < workers; i++)
		lines[1 + i] = worker_line(w, i, now_ms);
	term_block((const char *const *)lines, 1 + workers);
	for (size_t i = 0; i <= workers; i++)
		free(lines[i]);
}

int batch_progress_in(const struct batch_watch *w, int64_t now_ms)
{
	int64_t left_ms = w->drawn_ms + DRAW_EVERY_MS - now_ms;

	if (!w->live)
		return -1;
	return left_ms > 0 ? (int)left_ms : 0;
}
