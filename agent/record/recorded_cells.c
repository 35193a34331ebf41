/*
 * The cells of a context read back from a run's record (recorded_cells.h). What the record lacks is
 * an error: no state may be made of less than there was, for it would be another.
 */
#include "agent/record/recorded_cells.h"

#include "agent/call_cells.h"
#include "agent/record/cells.h"
#include "agent/record/player.h"
#include "agent/state_limits.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ten thousand of them can still be summed. */
#define TOOK_MAX_MS ((int64_t)1 << 48)

/* --- reading --- */

bool context_recorded(const struct json *data)
{
	return json_get(data, "cells") && json_get_string(data, "context");
}

/* One without bytes: its name and size. */
static void add_large(struct context_cell *cell, const struct json *object)
{
	const char *path = json_get_string(object, "path");

	if (!path)
		return;
	cell->files = mem_one_more(cell->files, cell->file_count, sizeof(*cell->files));
	cell->files[cell->file_count++] =
		(struct task_file){ .path = mem_strdup(path),
				    .len = (size_t)json_get_int(object, "size", 0) };
}

/* A log may come from a stranger (log import). */
static int wrong(const struct recording *r, const char *what, struct error *err)
{
	return error_set(err, ERR_FAILED, "run %s: the record of its context has %s", r->row.id,
			 what);
}

static int load_files(const struct recording *r, const struct json *data, const struct json *list,
		      size_t number, struct context_cell *cell, struct error *err)
{
	const struct json *path = json_first(json_get(list, "files"));

	for (; path; path = json_next(path)) {
		if (!json_string(path))
			return wrong(r, "a file without a name", err);
		cell->files = mem_one_more(cell->files, cell->file_count, sizeof(*cell->files));
		struct task_file *file = &cell->files[cell->file_count];
		*file = (struct task_file){ .path = mem_strdup(json_string(path)) };
		char name[CELLS_NAME_SIZE];
		snprintf(name, sizeof(name), "cell_%zu_file_%zu", number, cell->file_count++);
		if (recording_blob(r, data, name, &file->bytes, &file->len, err) < 0)
			return -1;
	}
	for (const struct json *l = json_first(json_get(list, "large")); l; l = json_next(l))
		add_large(cell, l);
	return 0;
}

static void load_inputs(const struct json *object, struct context_cell *cell)
{
	const struct json *input = json_first(json_get(object, "inputs"));

	for (; input; input = json_next(input)) {
		const char *path = json_get_string(input, "path");
		const char *digest = json_get_string(input, "sha256");

		if (!path || !digest)
			continue;
		struct context_input *to;
		cell->inputs = mem_one_more(cell->inputs, cell->input_count, sizeof(*to));
		to = &cell->inputs[cell->input_count++];
		to->path = mem_strdup(path);
		snprintf(to->sha256, sizeof(to->sha256), "%s", digest);
	}
}

static char *copy_text(const char *text, size_t *ret_len)
{
	*ret_len = strlen(text);
	return mem_strndup(text, *ret_len);
}

/* Program and input, which a group has in it, or which are blobs. */
static int load_words(const struct recording *r, const struct json *data, const struct json *object,
		      size_t number, struct context_cell *cell, struct error *err)
{
	const char *code = json_get_string(object, CELLS_CODE);
	const char *in = json_get_string(object, CELLS_STDIN);
	char name[CELLS_NAME_SIZE];

	snprintf(name, sizeof(name), "cell_%zu", number);
	if (code)
		cell->code = copy_text(code, &cell->len);
	else if (recording_blob(r, data, name, &cell->code, &cell->len, err) < 0)
		return -1;
	snprintf(name, sizeof(name), "cell_%zu_in", number);
	if (in)
		cell->stdin_bytes = copy_text(in, &cell->stdin_len);
	else if (json_get_bool(object, "stdin", false))
		return recording_blob(r, data, name, &cell->stdin_bytes, &cell->stdin_len, err);
	return 0;
}

static int load_calls(const struct recording *r, const struct json *data, const struct json *object,
		      size_t number, struct context_cell *cell, struct error *err)
{
	char name[CELLS_NAME_SIZE];

	snprintf(name, sizeof(name), CELLS_CALLS_NAME, number);
	return json_get_bool(object, CELLS_CALLS, false) ?
		       recording_blob(r, data, name, &cell->calls, NULL, err) :
		       0;
}

static int load_cell(const struct recording *r, const struct json *data, const struct json *object,
		     size_t number, struct context_cell *cell, struct error *err)
{
	const char *lang = json_get_string(object, "language");
	const struct language *language = lang ? language_find(lang) : NULL;
	const char *printed = json_get_string(object, "printed");
	const char *id = json_get_string(object, "id");
	int64_t took_ms = json_get_int(object, "took_ms", 0);

	if (!id || took_ms < 0 || took_ms > TOOK_MAX_MS)
		return wrong(r, id ? "a cell of impossible length" : "a cell without an id", err);
	if (!language)
		return error_set(err, ERR_USAGE, "run %s: its context has a cell in \"%.40s\"",
				 r->row.id, lang ? lang : "");
	*cell = (struct context_cell){
		.id = mem_strdup(id),
		.lang = language->name,
		.took_ms = took_ms,
		.there = mem_strdup(json_get_string(object, "there")),
	};
	if (!state_limits_read(json_get(object, "limits"), &cell->limits))
		return wrong(r, "a cell with an impossible limit", err);
	snprintf(cell->printed, sizeof(cell->printed), "%s", printed ? printed : "");
	load_inputs(object, cell);
	if (load_words(r, data, object, number, cell, err) < 0 ||
	    load_calls(r, data, object, number, cell, err) < 0)
		return -1;
	return load_files(r, data, object, number, cell, err);
}

static int add_cells(const struct recording *r, const struct json *data, const struct json *list,
		     struct context *to, struct error *err)
{
	const struct json *object = json_first(list);

	for (; object; object = json_next(object)) {
		struct context_cell *cell = mem_alloc(sizeof(*cell));
		int rc = load_cell(r, data, object, to->count, cell, err);

		context_add(to, cell, false);
		if (rc)
			return rc;
	}
	return 0;
}

static int add_group(const struct recording *r, const struct json *data, size_t group,
		     struct context *to, struct error *err)
{
	cleanup_free char *bytes = NULL;
	char name[CELLS_NAME_SIZE];

	snprintf(name, sizeof(name), CELLS_GROUP_NAME, group);
	size_t len;
	if (recording_blob(r, data, name, &bytes, &len, err) < 0)
		return -1;
	cleanup_json struct json *list = json_parse(bytes, len, JSON_NUL_AS_FFFD, err);
	if (list && json_count(list) != CELLS_GROUP)
		return error_set(err, ERR_FAILED, "run %s: %s has %zu cells, not %zu", r->row.id,
				 name, json_count(list), CELLS_GROUP);
	return list ? add_cells(r, data, list, to, err) : -1;
}

int context_load(const struct recording *r, const struct json *data, struct context *ret,
		 struct error *err)
{
	int64_t groups = json_get_int(data, CELLS_GROUPS, 0);

	*ret = (struct context){ .name = mem_strdup(json_get_string(data, "context")) };
	for (int64_t g = 0; g < groups; g++)
		if (add_group(r, data, (size_t)g, ret, err) < 0)
			return -1;
	return add_cells(r, data, json_get(data, "cells"), ret, err);
}

/* --- after a run --- */

/* What its harness said; NULL: nothing. No program starts from it: its secrets are nobody's loss.
 */
static struct json *load_report(const struct recording *recording, const struct json *done)
{
	struct recording uncounted = *recording, *r = &uncounted;
	struct error ignored = ERROR_INIT;

	r->redactions = NULL;
	cleanup_free char *bytes = NULL;
	size_t len;

	if (!json_get(done, JOURNAL_STATE) ||
	    recording_blob(r, done, JOURNAL_STATE, &bytes, &len, &ignored) < 0)
		return NULL;
	return json_parse(bytes, len, 0, &ignored);
}

static int load_left(const struct recording *r, const struct json *done, struct context_cell *cell,
		     struct error *err)
{
	const struct json *a = json_first(json_get(done, "artifacts"));

	for (size_t n = 0; a; a = json_next(a), n++) {
		const char *path = json_get_string(a, "path");

		if (!json_get_bool(a, "kept", false))
			add_large(cell, a);
		if (!path || !json_get_bool(a, "kept", false))
			continue;
		struct task_file *file;
		cell->files = mem_one_more(cell->files, cell->file_count, sizeof(*file));
		file = &cell->files[cell->file_count++];
		*file = (struct task_file){ .path = mem_strdup(path) };
		char name[CELLS_NAME_SIZE];
		snprintf(name, sizeof(name), "artifact_%zu", n);
		if (recording_blob(r, done, name, &file->bytes, &file->len, err) < 0)
			return -1;
	}
	return 0;
}

/* Not one of its tests: a cell left a state, and what is none was started as it is. */
static bool is_own(const struct recorded_event *started, const struct recorded_event *done)
{
	return json_get(started->data, "context") ? json_get(done->data, JOURNAL_STATE) != NULL :
						    !json_get_string(started->data, "entry");
}

const struct recorded_event *context_execution(const struct recording *r,
					       const struct recorded_event **ret_started)
{
	*ret_started = NULL;
	const struct recorded_event *started = NULL, *done = NULL;
	int attempt = -1;
	for (size_t i = 0; i < r->count; i++) {
		const struct recorded_event *e = &r->events[i];

		if (strcmp(e->stage, stage_name(STAGE_EXECUTE)))
			continue;
		if (!strcmp(e->phase, "started")) {
			/* A second program comes after the attempt's own. */
			started = json_get(e->data, "context") || e->attempt != attempt ? e : NULL;
			attempt = e->attempt;
		} else if (!strcmp(e->phase, "done") && started && is_own(started, e)) {
			*ret_started = started;
			done = e;
		}
	}
	return done;
}

static int load_own(const struct recording *r, const struct recorded_event *started,
		    const struct json *done, const struct json *report,
		    const struct recorded_task *task, struct context_cell *cell, struct error *err)
{
	cleanup_json struct json *calls = recorded_calls(r, started->attempt, false);
	const char *lang = json_get_string(started->data, "language");
	const struct language *language = lang ? language_find(lang) : NULL;
	const char *printed = json_get_string(json_get(done, "stdout"), "sha256");
	const char *state = json_get_string(json_get(done, "isolation"), "state");
	bool anew = json_get_bool(started->data, "anew", false);

	if (!language)
		return error_set(err, ERR_USAGE, "run %s: it names no language that is here",
				 r->row.id);
	int64_t all = (int64_t)json_get_number(json_get(done, "metrics"), "wall_ms", 0) + 1;
	if (state && !strcmp(state, "rebuilt") && !anew)
		all -= context_took_ms(&task->context, language->name);
	*cell = (struct context_cell){
		.id = mem_printf("%s/%d", r->row.id, started->attempt),
		.lang = language->name,
		.took_ms = all > 0 ? all : 1,
		.calls = call_cells_lines(calls),
		.there = cells_describe(report, CONTEXT_THERE_BYTES),
		.stdin_len = task->task.stdin_len,
	};
	if (!state_limits_read(json_get(r->row.config, "limits"), &cell->limits))
		return wrong(r, "an impossible limit", err);
	if (task->task.stdin_bytes)
		cell->stdin_bytes = mem_strndup(task->task.stdin_bytes, task->task.stdin_len);
	/* What was no cell may print more as one: the value of its last line. */
	if (printed && task->task.context)
		snprintf(cell->printed, sizeof(cell->printed), "%s", printed);
	cell->inputs = context_inputs(&task->task);
	cell->input_count = task->task.file_count;
	if (recording_blob(r, started->data, "code", &cell->code, &cell->len, err) < 0)
		return -1;
	return load_left(r, done, cell, err);
}

/* A program whose checks failed ended by itself, and never was all the same. */
static bool ended_well(const struct recording *r)
{
	const char *status = r->row.status ? r->row.status : "";

	return !strcmp(status, run_status_name(RUN_SUCCESS)) ||
	       !strcmp(status, run_status_name(RUN_UNVERIFIED));
}

int context_after(const struct recording *r, struct context *ret, struct error *err)
{
	const struct recorded_event *started;
	const struct recorded_event *done = ended_well(r) ? context_execution(r, &started) : NULL;
	cleanup_recorded_task struct recorded_task task = { .argv = NULL };

	*ret = (struct context){ .name = NULL };
	if (recording_task(r, &task, err) < 0)
		return -1;
	if (!done && !task.task.context)
		return error_set(err, ERR_USAGE,
				 "run %s left nothing: its program did not end well", r->row.id);
	cleanup_json struct json *report = done ? load_report(r, done->data) : NULL;
	if (done && (!task.task.context || cells_kept(report))) {
		struct context_cell *cell = mem_alloc(sizeof(*cell));
		int rc = load_own(r, started, done->data, report, &task, cell, err);
		context_add(&task.context, cell, json_get_bool(started->data, "anew", false));
		if (rc)
			return rc;
	}
	*ret = task.context;
	task.context = (struct context){ .name = NULL };
	return 0;
}

/* --- which of them a program needs --- */

bool recorded_needs(void *self, const char *stage, int attempt, const struct language *language,
		    const struct cell *list, size_t count, bool *ret_used)
{
	const struct recorded_event *e = recording_find(self, stage, attempt, "note");
	const struct json *number = e ? json_first(json_get(e->data, JOURNAL_NEEDED)) : NULL;

	(void)language;
	(void)list;
	if (!e || !json_get(e->data, JOURNAL_NEEDED))
		return false;
	memset(ret_used, 0, (count - 1) * sizeof(*ret_used));
	for (; number; number = json_next(number)) {
		int64_t n = json_int(number, -1);

		if (n >= 0 && (size_t)n < count)
			ret_used[n] = true;
	}
	return true;
}
