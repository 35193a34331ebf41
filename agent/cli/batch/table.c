/*
 * The results of a batch as a table: on a terminal, and as CSV (RFC 4180). It counts nothing and
 * writes no results of its own: its rows are the lines that were written.
 */
#include "agent/cli/batch/table.h"

#include "agent/cli/batch/outcome.h"
#include "agent/cli/batch/results.h"
#include "agent/cli/terminal/term.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define CSV_BYTES_MAX  ((size_t)1 << 30)
#define ID_COLUMNS_MAX 32
#define ID_COLUMNS_MIN 8
/* What stands between an id and what is said of it, and how much of that is worth a column. */
#define FIXED_COLUMNS	 (2 + 14 + 2 + 8 + 2 + 8 + 2)
#define SAID_COLUMNS_MIN 24
#define CELL_BYTES_MAX	 4096

/* --- on the terminal --- */

/* The first line of text, made visible, cut to columns. */
static char *cell(const char *text, size_t columns)
{
	cleanup_buf struct buf out = BUF_INIT(CELL_BYTES_MAX * 8);
	size_t len = text ? strcspn(text, "\n") : 0;

	utf8_visible(&out, text ? text : "", len < CELL_BYTES_MAX ? len : CELL_BYTES_MAX);
	buf_truncate(&out, utf8_fit(out.data, out.len, columns));
	return mem_strndup(out.data, out.len);
}

static char *name_of(const struct batch_outcome *o)
{
	return o->repeat ? mem_printf("%s [%u]", o->id, o->repeat + 1) : mem_strdup(o->id);
}

/* As wide as the ids are, but on a narrow terminal so that something is left to say. */
static size_t id_columns(const struct batch_results *r)
{
	size_t most = strlen("id"), columns = term_columns();
	size_t spare = columns > FIXED_COLUMNS + SAID_COLUMNS_MIN ?
			       columns - FIXED_COLUMNS - SAID_COLUMNS_MIN :
			       0;
	size_t limit = spare > ID_COLUMNS_MAX ? ID_COLUMNS_MAX :
		       spare < ID_COLUMNS_MIN ? ID_COLUMNS_MIN :
						spare;

	for (size_t i = 0; i < r->count; i++) {
		cleanup_free char *name = name_of(&r->outcomes[i]);
		cleanup_free char *shown = cell(name, limit);
		size_t width = utf8_width(shown, strlen(shown));

		most = width > most ? width : most;
	}
	return most;
}

/* A line of the table, cut where the terminal ends: what is wrapped is no table. */
static int show_row(struct terminal *term, const struct batch_outcome *o, size_t id_width,
		    struct error *err)
{
	size_t used = id_width + FIXED_COLUMNS, columns = term_columns();
	bool good = !strcmp(o->status, run_status_name(RUN_SUCCESS));
	cleanup_free char *name = name_of(o);
	cleanup_free char *id = cell(name, id_width);
	cleanup_free char *said = cell(good || !o->error ? o->answer : o->error,
				       columns > used + 1 ? columns - used - 1 : 0);
	cleanup_free char *rest =
		mem_printf("  %-8s  %6.1f s  %s", o->level, (double)o->duration_ms / 1000, said);
	size_t width = utf8_width(id, strlen(id)), before = id_width + 2 + 14;
	cleanup_free char *shown = cell(rest, columns > before + 1 ? columns - before - 1 : 0);

	if (term_outf(term, err, "%s%*s  ", id, (int)(id_width - width), "") < 0 ||
	    term_out_style(term, good ? TERM_GREEN : TERM_RED, err, "%-14s", o->status) < 0)
		return -1;
	return term_outf(term, err, "%s\n", shown);
}

int batch_table_show(struct terminal *term, const struct batch_results *r, struct error *err)
{
	size_t id_width = id_columns(r), columns = term_columns();
	cleanup_free char *head = mem_printf("%-*s  %-14s  %-8s  %8s  %s", (int)id_width, "id",
					     "status", "level", "time", "answer, or what failed");
	cleanup_free char *shown = cell(head, columns > 1 ? columns - 1 : 0);

	if (!r->count)
		return 0;
	if (term_outf(term, err, "%s\n", shown) < 0)
		return -1;
	for (size_t i = 0; i < r->count; i++)
		if (show_row(term, &r->outcomes[i], id_width, err) < 0)
			return -1;
	return 0;
}

/* --- CSV --- */

static void add_field(struct buf *out, const char *text)
{
	text = text ? text : "";
	if (!strpbrk(text, ",\"\r\n")) {
		buf_addf(out, "%s,", text);
		return;
	}
	buf_addch(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_addch(out, '"');
		buf_addch(out, *text);
	}
	buf_addstr(out, "\",");
}

static void add_row(struct buf *out, const struct batch_outcome *o)
{
	add_field(out, o->id);
	buf_addf(out, "%u,", o->repeat + 1);
	add_field(out, o->status);
	add_field(out, o->level);
	add_field(out, o->answer);
	add_field(out, o->error);
	buf_addf(out, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", o->attempts,
		 o->duration_ms, o->input_tokens, o->output_tokens);
	if (isfinite(o->cost_usd))
		buf_addf(out, "%.9g", o->cost_usd);
	buf_addf(out, ",%s\r\n", o->run ? o->run : "");
}

int batch_table_csv(const struct batch_results *r, const char *path, struct error *err)
{
	cleanup_buf struct buf out = BUF_INIT(CSV_BYTES_MAX);

	buf_addstr(&out, "id,repeat,status,level,answer,error,attempts,duration_ms,input_tokens,"
			 "output_tokens,cost_usd,run\r\n");
	for (size_t i = 0; i < r->earlier.count; i++)
		if (!r->earlier.lines[i].dropped)
			add_row(&out, &r->earlier.lines[i]);
	for (size_t i = 0; i < r->count; i++)
		add_row(&out, &r->outcomes[i]);
	return io_replace_file(path, out.data, out.len, 0644, err);
}
