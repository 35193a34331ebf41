/*
 * The cells of a context as a run records them, and read back (cells.h). Bytes are blobs, which a
 * log has once, however many runs go on from a cell.
 */
#include "agent/record/cells.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t context_blobs(const struct context *c)
{
	size_t n = 0;

	for (size_t i = c ? c->from : 0; c && i < c->count; i++)
		n += c->cells[i].file_count + (c->cells[i].stdin_bytes ? 2u : 1u);
	return n;
}

/* --- writing --- */

struct writing {
	struct audit_blob *blobs;
	char *names;
	size_t count;
};

static void add_blob(struct writing *w, const char *name, const char *type, const char *bytes,
		     size_t len)
{
	char *to = w->names + w->count * JOURNAL_NAME_SIZE;

	snprintf(to, JOURNAL_NAME_SIZE, "%s", name);
	w->blobs[w->count++] = (struct audit_blob){ to, type, bytes, len };
}

static struct json *inputs_json(const struct context_cell *cell)
{
	struct json *array = json_array();

	for (size_t i = 0; i < cell->input_count; i++) {
		struct json *object = json_object();

		json_set_string(object, "path", cell->inputs[i].path);
		json_set_string(object, "sha256", cell->inputs[i].sha256);
		json_append(array, object);
	}
	return array;
}

static struct json *cell_json(const struct context_cell *cell, size_t number, struct writing *w)
{
	struct json *object = json_object(), *files = json_array();
	char name[JOURNAL_NAME_SIZE];

	json_set_string(object, "id", cell->id);
	json_set_string(object, "language", cell->lang);
	json_set_string(object, "printed", *cell->printed ? cell->printed : NULL);
	json_set_int(object, "took_ms", cell->took_ms);
	json_set_string(object, "there", cell->there);
	json_set(object, "inputs", inputs_json(cell));
	json_set_bool(object, "stdin", cell->stdin_bytes);
	snprintf(name, sizeof(name), "cell_%zu", number);
	add_blob(w, name, "text/plain", cell->code, cell->len);
	if (cell->stdin_bytes) {
		snprintf(name, sizeof(name), "cell_%zu_in", number);
		add_blob(w, name, "application/octet-stream", cell->stdin_bytes, cell->stdin_len);
	}
	for (size_t i = 0; i < cell->file_count; i++) {
		const struct task_file *file = &cell->files[i];

		json_append(files, json_new_bytes(file->path, strlen(file->path)));
		snprintf(name, sizeof(name), "cell_%zu_file_%zu", number, i);
		add_blob(w, name, "application/octet-stream", file->bytes, file->len);
	}
	json_set(object, "files", files);
	return object;
}

void context_record(struct json *data, const struct context *c, struct audit_blob *blobs,
		    char *names)
{
	struct writing w = { blobs, names, 0 };
	struct json *cells;

	if (!c)
		return;
	cells = json_array();
	for (size_t i = c->from; i < c->count; i++)
		json_append(cells, cell_json(&c->cells[i], i - c->from, &w));
	json_set_string(data, "context", c->name);
	json_set(data, "cells", cells);
}

/* --- reading --- */

bool context_recorded(const struct json *data)
{
	return json_get(data, "cells") && json_get_string(data, "context");
}

static int load_files(const struct recording *r, const struct json *data, const struct json *list,
		      size_t number, struct context_cell *cell, struct error *err)
{
	const struct json *path = json_first(json_get(list, "files"));
	char name[JOURNAL_NAME_SIZE];

	for (; path; path = json_next(path)) {
		struct task_file *file;

		cell->files = mem_one_more(cell->files, cell->file_count, sizeof(*cell->files));
		file = &cell->files[cell->file_count];
		*file = (struct task_file){ .path = mem_strdup(json_string(path)) };
		snprintf(name, sizeof(name), "cell_%zu_file_%zu", number, cell->file_count++);
		if (recording_blob(r, data, name, &file->bytes, &file->len, err) < 0)
			return -1;
	}
	return 0;
}

static void load_inputs(const struct json *object, struct context_cell *cell)
{
	const struct json *input = json_first(json_get(object, "inputs"));

	for (; input; input = json_next(input)) {
		const char *path = json_get_string(input, "path");
		const char *digest = json_get_string(input, "sha256");
		struct context_input *to;

		if (!path || !digest)
			continue;
		cell->inputs = mem_one_more(cell->inputs, cell->input_count, sizeof(*to));
		to = &cell->inputs[cell->input_count++];
		to->path = mem_strdup(path);
		snprintf(to->sha256, sizeof(to->sha256), "%s", digest);
	}
}

static int load_cell(const struct recording *r, const struct json *data, const struct json *object,
		     size_t number, struct context_cell *cell, struct error *err)
{
	const char *lang = json_get_string(object, "language");
	const struct language *language = lang ? language_find(lang) : NULL;
	const char *printed = json_get_string(object, "printed");
	char name[JOURNAL_NAME_SIZE];

	if (!language)
		return error_set(err, ERR_USAGE, "run %s: its context has a cell in \"%.40s\"",
				 r->row.id, lang ? lang : "");
	*cell = (struct context_cell){
		.id = mem_strdup(json_get_string(object, "id")),
		.lang = language->name,
		.took_ms = json_get_int(object, "took_ms", 0),
		.there = mem_strdup(json_get_string(object, "there")),
	};
	snprintf(cell->printed, sizeof(cell->printed), "%s", printed ? printed : "");
	load_inputs(object, cell);
	snprintf(name, sizeof(name), "cell_%zu", number);
	if (recording_blob(r, data, name, &cell->code, &cell->len, err) < 0)
		return -1;
	snprintf(name, sizeof(name), "cell_%zu_in", number);
	if (json_get_bool(object, "stdin", false) &&
	    recording_blob(r, data, name, &cell->stdin_bytes, &cell->stdin_len, err) < 0)
		return -1;
	return load_files(r, data, object, number, cell, err);
}

int context_load(const struct recording *r, const struct json *data, struct context *ret,
		 struct error *err)
{
	const struct json *object = json_first(json_get(data, "cells"));
	size_t number = 0;

	*ret = (struct context){ .name = mem_strdup(json_get_string(data, "context")) };
	for (; object; object = json_next(object), number++) {
		struct context_cell *cell = mem_alloc(sizeof(*cell));
		int rc = load_cell(r, data, object, number, cell, err);

		context_add(ret, cell, false);
		if (rc)
			return rc;
	}
	return 0;
}
