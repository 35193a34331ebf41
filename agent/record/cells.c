/*
 * The cells of a context as a run records them (cells.h). Bytes are blobs, which a log has once,
 * however many runs go on from a cell; of a long context, groups of cells are, so that what a run
 * adds to the log does not grow with all that was before it. Nothing is read back here.
 */
#include "agent/record/cells.h"

#include "agent/state_limits.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The oldest; the last ones, at least as many as a group has, stand alone. */
static size_t context_groups(const struct context *c)
{
	size_t groups = (c->count - c->from) / CELLS_GROUP;

	return groups ? groups - 1 : 0;
}

/* Whether a text is the same when it was in JSON. */
static bool is_text(const char *bytes, size_t len)
{
	return (!len || !memchr(bytes, '\0', len)) && utf8_valid(bytes, len);
}

static bool is_whole(const struct context_cell *cell)
{
	return is_text(cell->code, cell->len) &&
	       (!cell->stdin_bytes || is_text(cell->stdin_bytes, cell->stdin_len));
}

/* The text of a group as it was before; NULL: there is none. */
static const char *known_text(const struct context *c, size_t group)
{
	const struct context_texts *t = c->texts;

	return t && t->from == c->from && group < t->count ? t->groups[group] : NULL;
}

/* The next record says it again. */
static void keep_text(const struct context *c, size_t group, char *text)
{
	struct context_texts *t = c->texts;

	t->cells = CELLS_GROUP;
	while (t->count <= group) {
		t->groups = mem_one_more(t->groups, t->count, sizeof(*t->groups));
		t->groups[t->count++] = NULL;
	}
	t->groups[group] = text;
}

size_t context_blobs(const struct context *c)
{
	size_t groups = c ? context_groups(c) : 0, n = groups, first = c ? c->from : 0;

	for (size_t g = 0; g < groups && known_text(c, g); g++)
		first += CELLS_GROUP; /* it has no other blob */
	for (size_t i = first; c && i < c->count; i++) {
		const struct context_cell *cell = &c->cells[i];

		if (i - c->from >= groups * CELLS_GROUP || !is_whole(cell))
			n += cell->stdin_bytes ? 2 : 1;
		n += cell->calls ? 1 : 0;
		for (size_t f = 0; f < cell->file_count; f++)
			n += cell->files[f].bytes ? 1 : 0;
	}
	return n;
}

/* --- writing --- */

struct writing {
	struct audit_blob *blobs;
	struct cells_text *text;
	size_t count;
};

void cells_text_release(struct cells_text *t)
{
	for (size_t i = 0; i < t->group_count; i++)
		free(t->groups[i]);
	free(t->groups);
	free(t->names);
	*t = (struct cells_text){ .names = NULL };
}

static void add_blob(struct writing *w, const char *name, const char *type, const char *bytes,
		     size_t len)
{
	char *to = w->text->names + w->count * CELLS_NAME_SIZE;

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

/* Its own words, as blobs, or within a group where they are texts. */
static void add_words(struct json *object, const struct context_cell *cell, size_t number,
		      bool grouped, struct writing *w)
{
	if (grouped && is_whole(cell)) {
		json_set_bytes(object, CELLS_CODE, cell->code, cell->len);
		if (cell->stdin_bytes)
			json_set_bytes(object, CELLS_STDIN, cell->stdin_bytes, cell->stdin_len);
		return;
	}
	char name[CELLS_NAME_SIZE];
	snprintf(name, sizeof(name), "cell_%zu", number);
	add_blob(w, name, "text/plain", cell->code, cell->len);
	if (!cell->stdin_bytes)
		return;
	snprintf(name, sizeof(name), "cell_%zu_in", number);
	add_blob(w, name, "application/octet-stream", cell->stdin_bytes, cell->stdin_len);
}

static struct json *cell_json(const struct context_cell *cell, size_t number, bool grouped,
			      struct writing *w)
{
	struct json *object = json_object(), *files = json_array(), *large = json_array();

	json_set_string(object, "id", cell->id);
	json_set_string(object, "language", cell->lang);
	json_set_string(object, "printed", *cell->printed ? cell->printed : NULL);
	json_set_int(object, "took_ms", cell->took_ms);
	struct json *limits = state_limits_json(&cell->limits);
	if (limits)
		json_set(object, "limits", limits);
	if (!grouped) /* a later one says what there is */
		json_set_string(object, "there", cell->there);
	json_set(object, "inputs", inputs_json(cell));
	json_set_bool(object, "stdin", cell->stdin_bytes);
	add_words(object, cell, number, grouped, w);
	char name[CELLS_NAME_SIZE];
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
	if (cell->calls) {
		json_set_bool(object, CELLS_CALLS, true);
		snprintf(name, sizeof(name), CELLS_CALLS_NAME, number);
		add_blob(w, name, "application/jsonl", cell->calls, strlen(cell->calls));
	}
	json_set(object, "files", files);
	if (json_first(large))
		json_set(object, "large", large);
	else
		json_free(large);
	return object;
}

static void add_group(const struct context *c, size_t group, struct writing *w)
{
	size_t first = c->from + group * CELLS_GROUP, before = w->count;
	const char *text = known_text(c, group);

	if (!text) {
		cleanup_json struct json *cells = json_array();

		for (size_t i = first; i < first + CELLS_GROUP; i++)
			json_append(cells, cell_json(&c->cells[i], i - c->from, true, w));
		char *made = json_print(cells);
		if (c->texts && c->texts->from == c->from && w->count == before)
			keep_text(c, group, made);
		else
			w->text->groups[w->text->group_count++] = made;
		text = made;
	}
	char name[CELLS_NAME_SIZE];
	snprintf(name, sizeof(name), CELLS_GROUP_NAME, group);
	add_blob(w, name, "application/json", text, strlen(text));
}

void context_record(struct json *data, const struct context *c, struct audit_blob *blobs,
		    struct cells_text *text)
{
	struct writing w = { blobs, text, 0 };

	if (!c)
		return;
	size_t groups = context_groups(c);
	text->names = mem_alloc((context_blobs(c) + 1) * CELLS_NAME_SIZE);
	text->groups = mem_array(NULL, groups + 1, sizeof(*text->groups));
	for (size_t g = 0; g < groups; g++)
		add_group(c, g, &w);
	struct json *cells = json_array();
	for (size_t i = c->from + groups * CELLS_GROUP; i < c->count; i++)
		json_append(cells, cell_json(&c->cells[i], i - c->from, false, &w));
	json_set_string(data, "context", c->name);
	if (groups)
		json_set_int(data, CELLS_GROUPS, (int64_t)groups);
	json_set(data, "cells", cells);
}
