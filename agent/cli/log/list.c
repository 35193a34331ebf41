/*
 * assay log list, search: runs, a row each. Titles and words are from outside and shown as such;
 * an unknown status is an error, not an empty list.
 */
#include "agent/cli/log/log.h"

#include "agent/cli/exit_code.h"
#include "agent/cli/terminal/console.h"
#include "agent/cli/terminal/term.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ID_SHOWN       8 /* the last characters of an id: enough to name a run */
#define ROWS_DEFAULT   30
#define WIDE_COLUMNS   110 /* from here on a row has all its columns beside the question */
#define WIDE_FIXED     70
#define FULL_COLUMNS   150 /* from here on the model and the cost, too */
#define MODEL_COLUMNS  22
#define FULL_FIXED     (WIDE_FIXED + MODEL_COLUMNS + 12)
#define ITEM_COLUMNS   24
#define COST_SHOWN_MAX ((int64_t)1000000000000)
#define NARROW_FIXED   39
#define DATED_COLUMNS  60 /* below it a row has no date */
#define LEVEL_COLUMNS  9
#define SHORT_FIXED    (ID_SHOWN + LEVEL_COLUMNS + 3)
#define TITLE_MIN      20
#define PIPE_COLUMNS   160
#define DATE_LEN       11 /* of LOG_WHEN's short form, without the seconds */
#define SNIPPET_INDENT "          "

const char *log_status(const struct audit_row *row)
{
	return row->status && row->ended_ms ? row->status : LOG_UNFINISHED;
}

int log_print(struct terminal *term, struct json *document, struct error *err)
{
	cleanup_free char *text = json_print(document);

	json_free(document);
	return term_out_json(term, text, err);
}

static void set_bytes(struct json *object, const char *key, const char *bytes, size_t len)
{
	if (bytes)
		json_set_bytes(object, key, bytes, len);
	else
		json_set_null(object, key);
}

struct json *log_row_json(const struct audit_row *row)
{
	struct json *object = json_object();

	json_set_string(object, "run", row->id);
	json_set_string(object, "kind", row->kind);
	json_set_string(object, "status", log_status(row));
	json_set_string(object, "level", row->level);
	json_set_string(object, "reason", row->reason);
	json_set(object, "started", log_date_json(row->started_ms));
	json_set(object, "ended", log_date_json(row->ended_ms));
	int64_t took_ms;
	json_set(object, "duration_ms",
		 log_took(row, &took_ms) ? json_new_int(took_ms) : json_new_null());
	json_set_string(object, "provider", row->provider);
	json_set_string(object, "model", row->model);
	json_set_string(object, "item", row->item);
	json_set_string(object, "session", row->session);
	json_set_string(object, "replay_of", row->replay_of);
	json_set(object, "exit_code",
		 row->exit_code >= 0 ? json_new_int(row->exit_code) : json_new_null());
	json_set_int(object, "attempts", row->attempts);
	json_set_int(object, "input_tokens", row->input_tokens);
	json_set_int(object, "output_tokens", row->output_tokens);
	json_set(object, "cost_usd",
		 row->cost_micro_usd < 0 ? json_new_null() :
					   json_new_number((double)row->cost_micro_usd / 1e6));
	set_bytes(object, "prompt", row->prompt, row->prompt_len);
	set_bytes(object, "answer", row->answer, row->answer_len);
	return object;
}

/* --- rows --- */

struct listing {
	struct terminal *term;
	struct audit *audit;
	struct json *rows; /* NULL: print as they come */
	size_t shown;
	const char *match;	 /* what was searched for, or NULL */
	char mark[ULID_LEN + 1]; /* around each hit of a snippet */
	struct error *err;
};

static enum term_style style_of(const char *status)
{
	int known = run_status_parse(status);

	if (!strcmp(status, LOG_UNFINISHED)) /* is none yet */
		return TERM_YELLOW;
	return known < 0 ? TERM_RED : console_status_style((enum run_status)known);
}

/* The first line of a text, cut to columns, harmless. */
static void add_title(struct buf *out, const char *text, size_t len, size_t columns)
{
	cleanup_buf struct buf line = BUF_INIT(1 << 20);
	const char *end = text ? memchr(text, '\n', len) : NULL;
	size_t take = end ? (size_t)(end - text) : len;

	if (!text)
		return;
	utf8_visible(&line, text, take < 4096 ? take : 4096);
	buf_add(out, line.data, utf8_fit(line.data, line.len, columns));
}

/* Text from outside in so many columns, filled with blanks. */
static int print_cell(struct terminal *term, const char *text, size_t columns, struct error *err)
{
	cleanup_buf struct buf cell = BUF_INIT(1 << 20);

	add_title(&cell, text, strlen(text), columns);
	for (size_t width = utf8_width(cell.data, cell.len); width < columns; width++)
		buf_addch(&cell, ' ');
	return term_outf(term, err, "%s", cell.data);
}

/* What only a very wide terminal has room for. */
static int print_price(struct terminal *term, const struct audit_row *row, struct error *err)
{
	char cost[32] = "-";

	if (row->cost_micro_usd >= COST_SHOWN_MAX)
		strcpy(cost, ">$999999"); /* only a forged log has such a one */
	else if (row->cost_micro_usd >= 0)
		snprintf(cost, sizeof(cost), "$%.4f", (double)row->cost_micro_usd / 1e6);
	return print_cell(term, row->model ? row->model : "-", MODEL_COLUMNS, err) < 0 ?
		       -1 :
		       term_outf(term, err, " %9s  ", cost);
}

/* Everything of a run in a line. */
static int print_wide(struct terminal *term, const struct audit_row *row, const char *title,
		      bool full, struct error *err)
{
	char when[LOG_WHEN_SIZE];

	log_when(row->started_ms, false, when);
	char took[32] = "-";
	int64_t took_ms;
	if (log_took(row, &took_ms))
		snprintf(took, sizeof(took), "%.1fs", (double)took_ms / 1000);
	if (term_outf(term, err, "  %s  %-8s ", when, row->kind) < 0 ||
	    term_out_style(term, style_of(log_status(row)), err, "%-14s ", log_status(row)) < 0)
		return -1;
	if (term_outf(term, err, "%-8s %7s  ", row->level ? row->level : "-", took) < 0 ||
	    (full && print_price(term, row, err) < 0))
		return -1;
	return term_outf(term, err, "%s\n", title);
}

/* What there is room for in half a terminal. */
static int print_short(struct terminal *term, const struct audit_row *row, const char *title,
		       struct error *err)
{
	const char *status = log_status(row);
	bool good = !strcmp(status, run_status_name(RUN_SUCCESS)) && row->level;

	if (term_out_style(term, style_of(status), err, "  %-*.*s", LEVEL_COLUMNS,
			   LEVEL_COLUMNS - 1, good ? row->level : status) < 0)
		return -1;
	return term_outf(term, err, "%s\n", title);
}

/* What a narrow terminal has room for: a success is told by its level, so that the question
 * is to be seen. */
static int print_narrow(struct terminal *term, const struct audit_row *row, const char *title,
			struct error *err)
{
	const char *status = log_status(row);
	bool good = !strcmp(status, run_status_name(RUN_SUCCESS)) && row->level;
	char when[LOG_WHEN_SIZE];

	log_when(row->started_ms, false, when);
	if (term_outf(term, err, "  %.*s  ", DATE_LEN, when) < 0 ||
	    term_out_style(term, style_of(status), err, "%-14s ", good ? row->level : status) < 0)
		return -1;
	return term_outf(term, err, " %s\n", title);
}

static int print_row(struct terminal *term, const struct audit_row *row, struct error *err)
{
	cleanup_buf struct buf title = BUF_INIT(1 << 20);
	size_t columns = isatty(STDOUT_FILENO) ? term_columns() : PIPE_COLUMNS;
	bool wide = columns >= WIDE_COLUMNS, full = columns >= FULL_COLUMNS;
	bool dated = columns >= DATED_COLUMNS;
	size_t fixed = full ? FULL_FIXED : wide ? WIDE_FIXED : dated ? NARROW_FIXED : SHORT_FIXED;
	size_t least = dated ? TITLE_MIN : 1;
	size_t room = columns > fixed + least ? columns - fixed : least;

	if (wide && row->item) {
		add_title(&title, row->item, strlen(row->item), ITEM_COLUMNS);
		buf_addstr(&title, ": ");
	}
	add_title(&title, row->prompt, row->prompt_len, room - utf8_width(title.data, title.len));
	if (term_out_style(term, TERM_CYAN, err, "%s", row->id + ULID_LEN - ID_SHOWN) < 0)
		return -1;
	if (!dated)
		return print_short(term, row, title.data, err);
	return wide ? print_wide(term, row, title.data, full, err) :
		      print_narrow(term, row, title.data, err);
}

/* --- snippets --- */

/* A snippet in one line: every blank and line end is one blank. */
static void flatten(struct buf *text)
{
	for (size_t i = 0; i < text->len; i++)
		if (strchr("\n\t", text->data[i]) && text->data[i])
			text->data[i] = ' ';
}

/* Every second piece between two marks is a hit. */
static int print_snippet(const struct listing *l, const char *text)
{
	const size_t mark_len = strlen(l->mark);

	if (term_outf(l->term, l->err, SNIPPET_INDENT) < 0)
		return -1;
	bool hit = false;
	for (;; hit = !hit) {
		const char *end = strstr(text, l->mark);
		int len = (int)(end ? (size_t)(end - text) : strlen(text));

		if (term_out_style(l->term, hit ? TERM_YELLOW : TERM_DIM, l->err, "%.*s", len,
				   text) < 0)
			return -1;
		if (!end)
			return term_outf(l->term, l->err, "\n");
		text = end + mark_len;
	}
}

static void remove_marks(struct buf *text, const char *mark)
{
	cleanup_free char *marked = mem_strndup(text->data, text->len);
	const char *at = marked;

	buf_clear(text);
	for (const char *next; (next = strstr(at, mark)); at = next + strlen(mark))
		buf_add(text, at, (size_t)(next - at));
	buf_addstr(text, at);
}

/* The row's object for JSON, or NULL and a line. */
static int add_snippet(const struct listing *l, const struct audit_row *row, struct json *object)
{
	cleanup_buf struct buf text = BUF_INIT(1 << 20);

	if (audit_snippet(l->audit, row->id, l->match, l->mark, &text, l->err) < 0)
		return -1;
	if (object && text.len)
		remove_marks(&text, l->mark);
	if (object)
		json_set(object, "snippet",
			 text.len ? json_new_bytes(text.data, text.len) : json_new_null());
	if (object || !text.len)
		return 0;
	flatten(&text);
	return print_snippet(l, text.data);
}

static int each_row(void *self, const struct audit_row *row)
{
	struct listing *l = self;

	l->shown++;
	struct json *object = NULL;
	if (l->rows) {
		object = log_row_json(row);
		json_append(l->rows, object);
	} else if (print_row(l->term, row, l->err) < 0) {
		return -1;
	}
	return l->match ? add_snippet(l, row, object) : 0;
}

static int limit_of(const struct settings *settings, int64_t *ret, struct error *err)
{
	const char *text = settings_text(settings, OPT_LIMIT, NULL);

	*ret = isatty(STDOUT_FILENO) && !settings->json ? ROWS_DEFAULT : 0;
	if (!text)
		return 0;
	char *end;
	*ret = strtoll(text, &end, 10);
	if (end == text || *end || *ret < 1)
		return error_set(err, ERR_USAGE,
				 "--limit \"%.60s\": a whole number, 1 or more, expected", text);
	return 0;
}

static int list(const struct log *log, const char *match, struct error *err)
{
	const struct settings *s = log->settings;
	struct listing l = { .term = log->term, .audit = log->audit, .match = match, .err = err };
	struct log_filter which;

	if (log_filter_read(s, &which, err) < 0)
		return exit_code_of_error(err);
	struct audit_filter filter = which.filter;
	filter.match = match;
	if (log_since(s, &filter.since_ms, err) < 0 || limit_of(s, &filter.limit, err) < 0)
		return exit_code_of_error(err);
	if (match)
		ulid_new(clock_wall_ms(), l.mark);
	l.rows = s->json ? json_array() : NULL;
	if (audit_list(log->audit, &filter, each_row, &l, err) < 0 || err->kind != ERR_NONE) {
		json_free(l.rows);
		return exit_code_of_error(err);
	}
	if (l.rows)
		log_print(log->term, l.rows, err);
	else if (!l.shown)
		term_note(log->term, TERM_DIM, "no such run\n");
	else if (filter.limit && (int64_t)l.shown == filter.limit &&
		 !settings_text(s, OPT_LIMIT, NULL))
		term_note(log->term, TERM_DIM,
			  "the newest %zu; --limit N shows more, log show RUN one\n", l.shown);
	return exit_code_of_error(err);
}

int log_list(const struct log *log, struct error *err)
{
	if (log->count) {
		error_set(err, ERR_USAGE,
			  "log list takes no argument; log search WORDS... searches");
		return EXIT_USAGE;
	}
	return list(log, NULL, err);
}

int log_search(const struct log *log, struct error *err)
{
	cleanup_buf struct buf words = BUF_INIT(1 << 16);

	for (size_t i = 0; i < log->count; i++)
		buf_addf(&words, "%s%s", i ? " " : "", log->args[i]);
	if (!words.len) {
		error_set(err, ERR_USAGE, "log search needs WORDS");
		return EXIT_USAGE;
	}
	return list(log, words.data, err);
}
