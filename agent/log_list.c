/* assay log list, search. */
#include "agent/log.h"

#include "agent/status.h"
#include "agent/term.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ID_SHOWN 8	/* the last characters of an id: enough to name a run */
#define ROWS_DEFAULT 30
#define FIXED_COLUMNS 62

const char *log_status(const struct audit_row *row)
{
	return row->status && row->ended_ms ? row->status : "unfinished";
}

int log_print(struct json *document, struct error *err)
{
	cleanup_free char *text = json_print(document);

	json_free(document);
	return term_outf(err, "%s\n", text);
}

static void set_time(struct json *object, const char *key, int64_t wall_ms)
{
	char text[CLOCK_TEXT_LEN + 1];

	clock_format(wall_ms, text);
	json_set_string(object, key, wall_ms ? text : NULL);
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
	set_time(object, "started", row->started_ms);
	set_time(object, "ended", row->ended_ms);
	json_set(object, "duration_ms",
		 row->ended_ms ? json_new_int(row->ended_ms - row->started_ms) : json_new_null());
	json_set_string(object, "provider", row->provider);
	json_set_string(object, "model", row->model);
	json_set_string(object, "item", row->item);
	json_set_string(object, "session", row->session);
	json_set_string(object, "replay_of", row->replay_of);
	json_set(object, "exit_code",
		 row->ended_ms ? json_new_int(row->exit_code) : json_new_null());
	json_set_int(object, "attempts", row->attempts);
	json_set_int(object, "input_tokens", row->input_tokens);
	json_set_int(object, "output_tokens", row->output_tokens);
	json_set(object, "cost_usd", row->cost_micro_usd < 0 ? json_new_null() :
				     json_new_number((double)row->cost_micro_usd / 1e6));
	set_bytes(object, "prompt", row->prompt, row->prompt_len);
	set_bytes(object, "answer", row->answer, row->answer_len);
	return object;
}

/* --- --since --- */

static int parse_ago(const char *text, int64_t *ret_ms)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value >= 0) || value > 1e6)
		return -1;
	if (!strcmp(end, "d"))
		*ret_ms = (int64_t)(value * 86400000);
	else if (!strcmp(end, "w"))
		*ret_ms = (int64_t)(value * 7 * 86400000);
	else
		return *end ? settings_parse_ms(text, ret_ms) : -1;
	return 0;
}

int log_since(const struct settings *settings, int64_t *ret_wall_ms, struct error *err)
{
	const char *text = settings_text(settings, OPT_SINCE, NULL), *end;
	struct tm day = { .tm_isdst = -1 };
	int64_t ago_ms;

	*ret_wall_ms = 0;
	if (!text)
		return 0;
	end = strptime(text, "%Y-%m-%d", &day);
	if (end && !*end) {
		*ret_wall_ms = (int64_t)mktime(&day) * 1000;
		return 0;
	}
	if (parse_ago(text, &ago_ms) < 0)
		return error_set(err, ERR_USAGE,
				 "--since \"%.60s\": 30m, 12h, 7d or YYYY-MM-DD expected", text);
	*ret_wall_ms = clock_wall_ms() - ago_ms;
	return 0;
}

/* --- rows --- */

struct listing {
	struct json *rows;	/* NULL: print as they come */
	size_t shown;
	struct error *err;
};

static enum term_style style_of(const char *status)
{
	if (!strcmp(status, "success"))
		return TERM_GREEN;
	if (!strcmp(status, "unverified") || !strcmp(status, "cancelled") ||
	    !strcmp(status, "unfinished"))
		return TERM_YELLOW;
	return TERM_RED;
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
	while (line.len && utf8_width(line.data, line.len) > columns)
		line.len = utf8_valid_prefix(line.data, line.len - 1);
	buf_add(out, line.data, line.len);
}

static int print_row(const struct audit_row *row, struct error *err)
{
	cleanup_buf struct buf title = BUF_INIT(1 << 20);
	time_t seconds = (time_t)(row->started_ms / 1000);
	size_t columns = isatty(STDOUT_FILENO) ? term_columns() : 160;
	char when[32], took[32] = "-";
	struct tm local;

	strftime(when, sizeof(when), "%m-%d %H:%M:%S", localtime_r(&seconds, &local));
	if (row->ended_ms)
		snprintf(took, sizeof(took), "%.1fs",
			 (double)(row->ended_ms - row->started_ms) / 1000);
	add_title(&title, row->prompt, row->prompt_len,
		  columns > FIXED_COLUMNS + 20 ? columns - FIXED_COLUMNS : 20);
	if (term_out_style(TERM_CYAN, err, "%s", row->id + ULID_LEN - ID_SHOWN) < 0 ||
	    term_outf(err, "  %s  %-8s ", when, row->kind) < 0 ||
	    term_out_style(style_of(log_status(row)), err, "%-14s ", log_status(row)) < 0)
		return -1;
	return term_outf(err, "%-8s %7s  %s\n", row->level ? row->level : "-", took, title.data);
}

static int each_row(void *self, const struct audit_row *row)
{
	struct listing *l = self;

	l->shown++;
	if (l->rows) {
		json_append(l->rows, log_row_json(row));
		return 0;
	}
	return print_row(row, l->err);
}

static int limit_of(const struct settings *settings, int64_t *ret, struct error *err)
{
	const char *text = settings_text(settings, OPT_LIMIT, NULL);
	char *end;

	*ret = isatty(STDOUT_FILENO) && !settings->json ? ROWS_DEFAULT : 0;
	if (!text)
		return 0;
	*ret = strtoll(text, &end, 10);
	if (end == text || *end || *ret < 1)
		return error_set(err, ERR_USAGE,
				 "--limit \"%.60s\": a whole number, 1 or more, expected", text);
	return 0;
}

/* A misspelt status would only ever find nothing. */
static int check_status(const char *status, struct error *err)
{
	cleanup_buf struct buf names = BUF_INIT(1 << 10);
	int i;

	if (!status || !strcmp(status, "unfinished"))
		return 0;
	for (i = RUN_SUCCESS; i <= RUN_CANCELLED; i++) {
		if (!strcmp(status, run_status_name((enum run_status)i)))
			return 0;
		buf_addf(&names, "%s, ", run_status_name((enum run_status)i));
	}
	return error_set(err, ERR_USAGE, "--status \"%.60s\": %sunfinished", status, names.data);
}

static int list(const struct log *log, const char *match, struct error *err)
{
	const struct settings *s = log->settings;
	struct audit_filter filter = { .status = settings_text(s, OPT_STATUS, NULL),
				       .tag = settings_text(s, OPT_TAG, NULL), .match = match };
	struct listing l = { .err = err };

	if (check_status(filter.status, err) < 0 ||
	    log_since(s, &filter.since_ms, err) < 0 || limit_of(s, &filter.limit, err) < 0)
		return exit_code_of_error(err);
	l.rows = s->json ? json_array() : NULL;
	if (audit_list(log->audit, &filter, each_row, &l, err) < 0 || err->kind != ERR_NONE) {
		json_free(l.rows);
		return exit_code_of_error(err);
	}
	if (l.rows)
		log_print(l.rows, err);
	else if (!l.shown)
		term_note(TERM_DIM, "no such run\n");
	else if (filter.limit && (int64_t)l.shown == filter.limit &&
		 !settings_text(s, OPT_LIMIT, NULL))
		term_note(TERM_DIM, "the newest %zu; --limit N shows more, log show RUN one\n",
			  l.shown);
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
	size_t i;

	for (i = 0; i < log->count; i++)
		buf_addf(&words, "%s%s", i ? " " : "", log->args[i]);
	if (!words.len) {
		error_set(err, ERR_USAGE, "log search needs WORDS");
		return EXIT_USAGE;
	}
	return list(log, words.data, err);
}
