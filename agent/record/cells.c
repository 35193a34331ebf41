/*
 * The cells of a context as a run records them (cells.h). Bytes are blobs, which a log has once,
 * however many runs go on from a cell; nothing is read back here.
 */
#include "agent/record/cells.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t context_blobs(const struct context *c)
{
	size_t n = 0;

	for (size_t i = c ? c->from : 0; c && i < c->count; i++) {
		const struct context_cell *cell = &c->cells[i];

		n += cell->stdin_bytes ? 2 : 1;
		for (size_t f = 0; f < cell->file_count; f++)
			n += cell->files[f].bytes ? 1 : 0;
	}
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
	char *to = w->names + w->count * CELLS_NAME_SIZE;

	snprintf(to, CELLS_NAME_SIZE, "%s", name);
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

/* One that was too large to keep: what is known of it. */
static struct json *large_json(const struct task_file *file)
{
	struct json *object = json_object();

	json_set(object, "path", json_new_bytes(file->path, strlen(file->path)));
	json_set_int(object, "size", (int64_t)file->len);
	return object;
}

static struct json *cell_json(const struct context_cell *cell, size_t number, struct writing *w)
{
	struct json *object = json_object(), *files = json_array(), *large = json_array();
	char name[CELLS_NAME_SIZE];

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

		if (!file->bytes) {
			json_append(large, large_json(file));
			continue;
		}
		snprintf(name, sizeof(name), "cell_%zu_file_%zu", number, json_count(files));
		json_append(files, json_new_bytes(file->path, strlen(file->path)));
		add_blob(w, name, "application/octet-stream", file->bytes, file->len);
	}
	json_set(object, "files", files);
	if (json_first(large))
		json_set(object, "large", large);
	else
		json_free(large);
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
