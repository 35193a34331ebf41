/*
 * assay log show --stage: all that one stage has in the record, uncut: what its model was
 * asked and said, what ran and what it printed. It interprets nothing.
 */
#include "agent/cli/log/log.h"

#include "agent/cli/terminal/term.h"
#include "agent/record/render.h"
#include "agent/stage.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX   ((size_t)1 << 30)
#define STAGES_MAX 4096 /* bytes of the names of those there are */

struct wanted {
	const struct log *log;
	char *stage; /* owned */
	int attempt; /* -1: any */
	size_t found;
	struct buf had; /* the names of all stages, each once */
	struct error *err;
};

static int parse(const char *text, struct wanted *ret, struct error *err)
{
	const char *colon = strchr(text, ':');

	ret->stage = mem_strndup(text, colon ? (size_t)(colon - text) : strlen(text));
	ret->attempt = -1;
	if (!colon)
		return 0;
	errno = 0;
	char *end;
	long n = strtol(colon + 1, &end, 10);
	if (errno || end == colon + 1 || *end || n < 0 || n > INT_MAX)
		return error_set(err, ERR_USAGE, "--stage \"%.60s\": NAME or NAME:ATTEMPT", text);
	ret->attempt = (int)n;
	return 0;
}

static bool matches(const struct wanted *w, const char *stage, int attempt)
{
	return !strcmp(w->stage, stage) && (w->attempt < 0 || w->attempt == attempt);
}

/* --- in words --- */

static int put_text(struct terminal *term, const char *text, size_t len, struct error *err)
{
	cleanup_buf struct buf out = BUF_INIT(TEXT_MAX);
	const char *end = text + len, *nl;

	for (; text < end; text = nl + 1) {
		nl = memchr(text, '\n', (size_t)(end - text));
		nl = nl ? nl : end;
		buf_addstr(&out, "  ");
		utf8_visible(&out, text, (size_t)(nl - text));
		buf_addch(&out, '\n');
	}
	return term_out(term, out.data, out.len, err);
}

static int put_blob(struct wanted *w, const struct json *data, const char *name)
{
	cleanup_buf struct buf bytes = BUF_INIT(TEXT_MAX), messages = BUF_INIT(TEXT_MAX);
	const struct buf *shown = &bytes;

	if (term_out_style(w->log->term, TERM_DIM, w->err, "%s:\n", name) < 0)
		return -1;
	struct error problem = ERROR_INIT;
	if (audit_blob_of(w->log->audit, data, name, &bytes, &problem) < 0)
		return put_text(w->log->term, problem.message, strlen(problem.message), w->err);
	if (!strcmp(name, "messages") && render_messages(bytes.data, bytes.len, &messages))
		shown = &messages;
	return put_text(w->log->term, shown->data, shown->len, w->err);
}

static bool is_blob(const struct json *member)
{
	return json_get_string(member, "sha256") && json_get(member, "size") &&
	       json_count(member) == 2;
}

/* Contents as they are, the rest as a line of JSON. */
static int show_event(struct wanted *w, const struct audit_record *record)
{
	cleanup_json struct json *rest = json_object();

	if (term_out_style(w->log->term, TERM_BOLD, w->err, "%s%s attempt %d %s\n",
			   w->found > 1 ? "\n" : "", record->stage, record->attempt,
			   record->phase) < 0)
		return -1;
	for (const struct json *m = json_first(record->data); m; m = json_next(m))
		if (!is_blob(m))
			json_set(rest, json_key(m), json_copy(m));
		else if (put_blob(w, record->data, json_key(m)) < 0)
			return -1;
	cleanup_free char *text = json_print(rest);
	return put_text(w->log->term, text, strlen(text), w->err);
}

static void add_name(struct wanted *w, const char *stage)
{
	cleanup_free char *name = mem_printf(" %s", stage);
	const char *at = w->had.len ? strstr(w->had.data, name) : NULL;

	if (!at || (at[strlen(name)] != '\0' && at[strlen(name)] != ' '))
		buf_addstr(&w->had, name);
}

static int each_event(void *self, struct audit_record *record)
{
	struct wanted *w = self;

	add_name(w, record->stage);
	if (!matches(w, record->stage, record->attempt))
		return 0;
	w->found++;
	return w->log->settings->json ? 0 : show_event(w, record);
}

/* --- as JSON --- */

static int print_json(const struct wanted *w, const struct audit_row *row)
{
	struct json *run = log_run_json(w->log->audit, row, w->err);

	if (!run)
		return -1;
	struct json *events = json_array();
	for (const struct json *e = json_first(json_get(run, "events")); e; e = json_next(e))
		if (matches(w, json_get_string(e, "stage"), (int)json_get_int(e, "attempt", 0)))
			json_append(events, json_copy(e));
	json_set(run, "events", events);
	return log_print(w->log->term, run, w->err);
}

int log_show_stage(const struct log *log, const struct audit_row *row, const char *stage,
		   struct error *err)
{
	struct wanted w = { .log = log, .had = BUF_INIT(STAGES_MAX), .err = err };
	int rc = parse(stage, &w, err);

	if (!rc)
		rc = audit_events(log->audit, row->id, each_event, &w, err);
	if (!rc && err->kind == ERR_NONE && !w.found)
		rc = error_set(err, ERR_USAGE, "--stage %.60s: run %s has no such stage; it has:%s",
			       stage, row->id, w.had.len ? w.had.data : " none");
	if (!rc && err->kind == ERR_NONE && log->settings->json)
		rc = print_json(&w, row);
	free(w.stage);
	buf_release(&w.had);
	return rc;
}
