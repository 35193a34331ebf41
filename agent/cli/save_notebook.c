/*
 * The notebook that /save and log save write. What a cell printed is what the log has of the run
 * that it is from, and its images are those that it left; what was purged is left out. Nothing is
 * run for it.
 */
#include "agent/cli/save_notebook.h"

#include "agent/record/recording.h"
#include "agent/stage.h"
#include "base/base64.h"
#include "base/mem.h"
#include "llm/vision.h"
#include "verifier/lang/lang.h"

#include <stdlib.h>
#include <string.h>

/* The run that was read last: cells of one script are all of one. */
struct outputs {
	const struct notebook *book;
	struct recording recording;
	char run[ULID_LEN + 1]; /* "": none is loaded */
};

static void outputs_release(struct outputs *o)
{
	if (*o->run)
		recording_release(&o->recording);
	*o->run = '\0';
}

static bool load_run(struct outputs *o, const char *run)
{
	struct error ignored = ERROR_INIT; /* it was removed */

	if (!strcmp(o->run, run))
		return true;
	outputs_release(o);
	if (recording_load(&o->recording, o->book->audit, run, &ignored) < 0)
		return false;
	memcpy(o->run, run, sizeof(o->run));
	return true;
}

/* What the cell of that id, "RUN/ATTEMPT", printed; NULL when the log does not have it. */
static char *recorded_stdout(struct outputs *o, const char *id, size_t *ret_len)
{
	char run[ULID_LEN + 1] = "";
	const char *slash = id ? strchr(id, '/') : NULL;

	if (!slash || slash - id != ULID_LEN)
		return NULL;
	memcpy(run, id, ULID_LEN);
	if (!load_run(o, run))
		return NULL;
	const struct recorded_event *e =
		recording_find(&o->recording, stage_name(STAGE_EXECUTE), atoi(slash + 1), "done");
	struct error ignored = ERROR_INIT;
	char *bytes = NULL;
	return e && recording_blob(&o->recording, e->data, "stdout", &bytes, ret_len, &ignored) ==
				       0 ?
		       bytes :
		       NULL;
}

static struct json *add_output(struct json *outputs, const char *type)
{
	struct json *output = json_object();

	json_set_string(output, "output_type", type);
	json_append(outputs, output);
	return output;
}

static void add_stdout(struct json *outputs, const char *bytes, size_t len)
{
	if (!len)
		return;
	struct json *output = add_output(outputs, "stream");
	json_set_string(output, "name", "stdout");
	json_set_bytes(output, "text", bytes, len);
}

static void add_image(struct json *outputs, const struct task_file *f)
{
	const char *type = f->bytes ? llm_image_type(f->bytes, f->len) : NULL;
	cleanup_free char *text = type ? base64_text(f->bytes, f->len) : NULL;

	if (!text)
		return;
	struct json *output = add_output(outputs, "display_data"), *data = json_object();
	json_set_string(data, type, text);
	json_set(output, "data", data);
	json_set(output, "metadata", json_object());
}

static struct json *outputs_of(struct outputs *o, const struct context_cell *cell)
{
	const struct context *c = o->book->context;
	struct json *outputs = json_array();
	size_t len = 0;

	if (cell == &c->cells[c->count - 1]) {
		add_stdout(outputs, o->book->output, o->book->output_len);
	} else {
		cleanup_free char *printed = recorded_stdout(o, cell->id, &len);
		add_stdout(outputs, printed, len);
	}
	for (size_t i = 0; i < cell->file_count; i++)
		add_image(outputs, &cell->files[i]);
	return outputs;
}

static struct json *add_cell(struct json *cells, const char *kind, const char *text)
{
	struct json *cell = json_object();

	json_set_string(cell, "cell_type", kind);
	json_set(cell, "metadata", json_object());
	json_set_bytes(cell, "source", text, strlen(text));
	json_append(cells, cell);
	return cell;
}

static void add_code_cells(const struct notebook *book, struct json *cells,
			   const struct slice *slice, const struct cell *list)
{
	const struct context *c = book->context;
	const char *lang = c->cells[c->count - 1].lang;
	struct outputs o = { .book = book };
	size_t at = 0, number = 0;

	for (size_t i = c->from; i < c->count; i++) {
		if (strcmp(c->cells[i].lang, lang))
			continue;
		size_t n = at++;
		if (!slice->used[n])
			continue;
		cleanup_free char *after = cells_after(language_find(lang), list, slice->count, n);
		cleanup_free char *code = mem_printf("%.*s%s%s", (int)list[n].len, list[n].code,
						     *after ? "\n" : "", after);
		struct json *cell = add_cell(cells, "code", code);
		json_set_int(cell, "execution_count", (int64_t)++number);
		json_set(cell, "outputs", outputs_of(&o, &c->cells[i]));
	}
	outputs_release(&o);
}

char *save_notebook(const struct notebook *book, const struct slice *slice, const struct cell *list)
{
	const char *lang = book->context->cells[book->context->count - 1].lang;
	cleanup_json struct json *notebook = json_object();
	struct json *cells = json_array(), *about = json_object(), *kernel = json_object();

	if (book->question)
		add_cell(cells, "markdown", book->question);
	add_code_cells(book, cells, slice, list);
	if (book->answer)
		add_cell(cells, "markdown", book->answer);
	json_set_string(kernel, "language", lang);
	json_set_string(kernel, "name", lang);
	json_set_string(kernel, "display_name", lang);
	json_set(about, "kernelspec", kernel);
	json_set(notebook, "cells", cells);
	json_set(notebook, "metadata", about);
	json_set_int(notebook, "nbformat", 4);
	json_set_int(notebook, "nbformat_minor", 4);
	return json_print(notebook);
}
