/*
 * The live lines of a batch on a terminal: how far it is, and what each worker does. It writes to
 * stderr alone, and nothing where that is no terminal.
 */
#include "agent/cli/batch/progress.h"

#include "agent/cli/app.h"
#include "agent/cli/batch/batch.h"
#include "agent/cli/batch/results.h"
#include "agent/cli/batch/watch.h"
#include "agent/cli/terminal/term.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAW_EVERY_MS  200
#define BAR_COLUMNS    20
#define WORKERS_SHOWN  8
#define LINE_MAX_LEN   1024
#define ID_COLUMNS_MIN 8
#define ID_COLUMNS_MAX 100

/* Pieces of a line; where it is too narrow for all, those of the highest rank go first. */
struct piece {
	char *text; /* owned */
	int rank;
};

static void add_bar(struct buf *out, size_t done, size_t total)
{
	size_t full = total ? done * BAR_COLUMNS / total : BAR_COLUMNS;

	buf_addch(out, '[');
	for (size_t i = 0; i < BAR_COLUMNS; i++)
		buf_addch(out, i < full ? '#' : '-');
	buf_addstr(out, "] ");
}

static double rate_of(size_t done, int64_t elapsed_ms)
{
	return elapsed_ms > 0 ? (double)done * 1000 / (double)elapsed_ms : 0;
}

static char *pace(double rate)
{
	return rate >= 1 ? mem_printf("  %.1f/s", rate) : mem_printf("  %.1f/min", rate * 60);
}

static char *time_left(size_t left, double rate)
{
	long s = rate > 0 ? (long)((double)left / rate + 0.5) : 0;

	return s >= 3600 ? mem_printf("  ETA %ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60) :
			   mem_printf("  ETA %ld:%02ld", s / 60, s % 60);
}

/* As many of the pieces as columns hold; takes their texts. */
static char *join(struct piece *pieces, size_t count, size_t columns)
{
	cleanup_buf struct buf out = BUF_INIT(LINE_MAX_LEN);
	int most;

	do {
		buf_clear(&out);
		most = 0;
		for (size_t i = 0; i < count; i++) {
			buf_addstr(&out, pieces[i].text ? pieces[i].text : "");
			if (pieces[i].text && pieces[i].rank > most)
				most = pieces[i].rank;
		}
		for (size_t i = 0; out.len > columns && i < count; i++)
			if (pieces[i].rank == most && most)
				mem_cleanup_free(&pieces[i].text);
	} while (out.len > columns && most);
	for (size_t i = 0; i < count; i++)
		free(pieces[i].text);
	return buf_take(&out, NULL);
}

static char *first_line(const struct batch_watch *w, int64_t now_ms, size_t columns)
{
	const struct batch_results *r = w->results;
	const size_t retries = r->retries + r->died;
	const double rate = rate_of(r->count, now_ms - w->began_ms);
	int64_t tokens = r->input_tokens + r->output_tokens;
	cleanup_buf struct buf bar = BUF_INIT(LINE_MAX_LEN);
	struct piece pieces[] = {
		{ NULL, 3 },
		{ mem_printf("%zu/%zu", r->count, w->total), 0 },
		{ r->count ? pace(rate) : NULL, 5 },
		{ r->count ? time_left(w->total - r->count, rate) : NULL, 1 },
		{ mem_printf("  %zu passed, %zu failed", r->success, r->failed), 0 },
		{ retries ? mem_printf(", %zu retries", retries) : NULL, 4 },
		{ tokens >= 10000 ? mem_printf("  %.1fk tokens", (double)tokens / 1000) :
				    mem_printf("  %lld tokens", (long long)tokens),
		  6 },
		{ r->cost_known && r->count ? mem_printf("  $%.4f", r->cost_usd) : NULL, 2 },
	};

	add_bar(&bar, r->count, w->total);
	pieces[0].text = buf_take(&bar, NULL);
	return join(pieces, ARRAY_SIZE(pieces), columns);
}

/* An id in so many columns at the most. What a terminal would act on is shown, and then counts. */
static char *short_id(const char *id, size_t columns)
{
	cleanup_buf struct buf out = BUF_INIT(SIZE_MAX / 2);

	utf8_visible(&out, id, strlen(id));
	if (utf8_width(out.data, out.len) > columns) {
		buf_truncate(&out, utf8_fit(out.data, out.len, columns - 2));
		buf_addstr(&out, "..");
	}
	return buf_take(&out, NULL);
}

/* The id gives way to what is done: it is cut, with a sign that it was. */
static char *worker_line(const struct batch_watch *w, size_t worker, int64_t now_ms, size_t columns)
{
	const struct batch_doing *doing = &w->doing[worker];

	if (!doing->id)
		return mem_printf("%3zu  -", worker + 1);
	char which[16] = "";
	if (w->batch->repeats)
		snprintf(which, sizeof(which), " [%u]", doing->repeat + 1);
	cleanup_free char *rest = mem_printf("%s  %s%s  %.0f s", which,
					     *doing->stage.name ? doing->stage.name : "begins",
					     doing->stage.attempt > 1 ? ", again" : "",
					     (double)(now_ms - doing->since_ms) / 1000);
	size_t room = columns > strlen(rest) + 5 + ID_COLUMNS_MIN ? columns - strlen(rest) - 5 :
								    ID_COLUMNS_MIN;
	cleanup_free char *id = short_id(doing->id, room < ID_COLUMNS_MAX ? room : ID_COLUMNS_MAX);
	return mem_printf("%3zu  %s%s", worker + 1, id, rest);
}

void batch_progress_draw(struct batch_watch *w, bool now)
{
	int64_t now_ms = clock_mono_ms();
	size_t workers = w->jobs < WORKERS_SHOWN ? w->jobs : WORKERS_SHOWN;
	size_t columns = term_columns() - 1;

	if (!w->live || (!now && batch_progress_in(w, now_ms) > 0))
		return;
	w->drawn_ms = now_ms;
	char *lines[1 + WORKERS_SHOWN];
	lines[0] = first_line(w, now_ms, columns);
	for (size_t i = 0; i < workers; i++)
		lines[1 + i] = worker_line(w, i, now_ms, columns);
	term_block(&w->batch->settings->app->terminal, (const char *const *)lines, 1 + workers);
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
