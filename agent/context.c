/*
 * The cells of a context (context.h), and what follows from them alone. It runs nothing and
 * writes nothing.
 */
#include "agent/context.h"

#include "agent/input/input.h"
#include "agent/state_limits.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "sandbox/sandbox.h"
#include "verifier/lang/lang.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THERE_BYTES ((size_t)64 << 10)
#define START_MS    2000 /* of a machine that is busy */

void context_cell_free(struct context_cell *cell)
{
	if (!cell)
		return;
	free(cell->id);
	free(cell->code);
	free(cell->stdin_bytes);
	free(cell->calls);
	free(cell->there);
	context_inputs_free(cell->inputs, cell->input_count);
	for (size_t i = 0; i < cell->file_count; i++) {
		free(cell->files[i].path);
		free(cell->files[i].bytes);
	}
	free(cell->files);
	free(cell->left);
	free(cell);
}

/* They are not what they were. */
static void drop_texts(struct context *c)
{
	for (size_t i = 0; c->texts && i < c->texts->count; i++)
		free(c->texts->groups[i]);
	if (c->texts)
		free(c->texts->groups);
	free(TAKE_PTR(c->texts));
}

/* One cell, from the first on, is not what it was. */
static void drop_text_of(struct context *c, size_t cell)
{
	size_t group = c->texts && c->texts->count ? cell / c->texts->cells : 0;

	if (c->texts && group < c->texts->count)
		free(TAKE_PTR(c->texts->groups[group]));
}

struct context_cell *context_take_last(struct context *c)
{
	if (c->count == c->from)
		return NULL;
	drop_texts(c);
	struct context_cell *cell = mem_alloc(sizeof(*cell));
	*cell = c->cells[--c->count];
	return cell;
}

void context_go_back(struct context *c, size_t count, size_t from)
{
	if (c->from != from)
		drop_texts(c);
	c->from = from;
	while (c->count > count && c->count > 0) {
		c->from = c->count - 1 < from ? c->count - 1 : from;
		context_cell_free(context_take_last(c));
	}
	c->from = from;
}

void context_release(struct context *c)
{
	context_go_back(c, 0, 0);
	drop_texts(c);
	free(c->cells);
	free(c->name);
	*c = (struct context){ .name = NULL };
}

void context_add(struct context *c, struct context_cell *cell, bool anew)
{
	if (anew) {
		c->from = c->count;
		drop_texts(c);
	}
	if (!c->texts) {
		c->texts = mem_alloc(sizeof(*c->texts));
		*c->texts = (struct context_texts){ .from = c->from };
	}
	free(cell->left);
	cell->left = mem_array(NULL, cell->file_count + 1, sizeof(*cell->left));
	for (size_t i = 0; i < cell->file_count; i++)
		cell->left[i] = cell->files[i].path;
	cell->left[cell->file_count] = NULL;
	c->cells = mem_one_more(c->cells, c->count, sizeof(*c->cells));
	c->cells[c->count++] = *cell;
	free(cell);
}

void context_forget(struct context *c, size_t n)
{
	if (n > c->from)
		n = c->from; /* so that what is from there on stays the same */
	for (size_t i = 0; i < n; i++) {
		struct context_cell *cell = mem_alloc(sizeof(*cell));

		*cell = c->cells[i];
		context_cell_free(cell);
	}
	if (n)
		memmove(c->cells, c->cells + n, (c->count - n) * sizeof(*c->cells));
	c->count -= n;
	c->from -= n;
	if (c->texts)
		c->texts->from -= n;
}

static const struct context_input *find_input(const struct context_input *list, size_t count,
					      const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].path, path))
			return &list[i];
	return NULL;
}

/* Whether there was something, as below. */
static bool forget_left(struct context_cell *cell, const struct context_cell *last)
{
	bool was = false;

	for (size_t i = 0; i < cell->file_count && !strcmp(cell->lang, last->lang); i++)
		for (size_t n = 0; cell->files[i].bytes && n < last->file_count; n++)
			if (!strcmp(cell->files[i].path, last->files[n].path)) {
				free(TAKE_PTR(cell->files[i].bytes));
				was = true;
			}
	return was;
}

/* What a later cell had, too, is asked of that one. */
static bool forget_inputs(struct context_cell *cell, const struct context_cell *last)
{
	size_t kept = 0;

	for (size_t i = 0; i < cell->input_count; i++) {
		const struct context_input *is =
			find_input(last->inputs, last->input_count, cell->inputs[i].path);

		if (is && !strcmp(is->sha256, cell->inputs[i].sha256))
			free(cell->inputs[i].path);
		else
			cell->inputs[kept++] = cell->inputs[i];
	}
	bool was = kept < cell->input_count;
	cell->input_count = kept;
	return was;
}

void context_thin(struct context *c)
{
	for (size_t i = c->from; i + 1 < c->count; i++) {
		bool left = forget_left(&c->cells[i], &c->cells[c->count - 1]);

		if (forget_inputs(&c->cells[i], &c->cells[c->count - 1]) || left)
			drop_text_of(c, i - c->from);
	}
}

size_t context_bytes(const struct context *c)
{
	size_t bytes = 0;

	for (size_t i = c->from; i < c->count; i++) {
		const struct context_cell *cell = &c->cells[i];

		bytes += cell->len + cell->stdin_len + (cell->calls ? strlen(cell->calls) : 0);
		for (size_t f = 0; f < cell->file_count; f++)
			bytes += cell->files[f].bytes ? cell->files[f].len : 0;
	}
	return bytes;
}

bool context_is_full(const struct context *c)
{
	return c->count - c->from >= CONTEXT_CELLS_MAX || context_bytes(c) > CONTEXT_BYTES;
}

char *context_full_why(const struct context *c)
{
	if (!context_is_full(c))
		return NULL;
	if (c->count - c->from >= CONTEXT_CELLS_MAX)
		return mem_printf("it has %d programs, as many as are kept", CONTEXT_CELLS_MAX);
	return mem_printf("its programs, with their input and the files that they left, have more "
			  "than the %zu MiB that are kept",
			  CONTEXT_BYTES >> 20);
}

struct cell *context_cells(const struct context *c, const char *lang, size_t *ret_count)
{
	struct cell *list = mem_array(NULL, c->count + 1, sizeof(*list));
	size_t n = 0;

	for (size_t i = c->from; i < c->count; i++) {
		const struct context_cell *cell = &c->cells[i];

		if (!strcmp(cell->lang, lang))
			list[n++] = (struct cell){ cell->code,
						   cell->len,
						   cell->stdin_bytes,
						   cell->stdin_len,
						   *cell->printed ? cell->printed : NULL,
						   cell->left };
	}
	*ret_count = n;
	return list;
}

const struct context_cell *context_last(const struct context *c, const char *lang)
{
	for (size_t i = c->count; i > c->from; i--)
		if (!strcmp(c->cells[i - 1].lang, lang))
			return &c->cells[i - 1];
	return NULL;
}

bool context_left(const struct context *c, const void *bytes)
{
	for (size_t i = c->from; i < c->count; i++)
		for (size_t f = 0; f < c->cells[i].file_count; f++)
			if (c->cells[i].files[f].bytes == bytes && bytes)
				return true;
	return false;
}

int64_t context_took_ms(const struct context *c, const char *lang)
{
	int64_t ms = 0;

	for (size_t i = c->from; i < c->count; i++)
		if (!strcmp(c->cells[i].lang, lang))
			ms += c->cells[i].took_ms;
	return ms;
}

int64_t context_allowance_ms(const struct context *c, const char *lang)
{
	int64_t ms = context_took_ms(c, lang);

	return context_last(c, lang) ? 3 * ms + START_MS : 0;
}

void context_raise_limits(const struct context *c, const char *lang, struct sandbox_limits *limits)
{
	for (size_t i = c->from; i < c->count; i++)
		if (!strcmp(c->cells[i].lang, lang))
			state_limits_raise(limits, &c->cells[i].limits);
}

char *context_raised(const struct context *c, const struct sandbox_limits *limits)
{
	struct sandbox_limits raised = *limits;

	for (size_t i = c->from; i < c->count; i++)
		state_limits_raise(&raised, &c->cells[i].limits);
	return state_limits_told(limits, &raised);
}

/* Of what stays where it is: what identified it when it was given, in the run that is recorded
 * where it is of a record. */
static void identify(const struct task_file *file, char ret[HASH_HEX_LEN + 1])
{
	const char *stamp = json_get_string(file->was, "stamp");

	stamp = stamp || !file->input ? stamp : file->input->stamp;
	if (stamp)
		snprintf(ret, HASH_HEX_LEN + 1, "%s", stamp);
	else
		hash_sha256(file->bytes ? file->bytes : "", file->bytes ? file->len : 0, ret);
}

struct context_input *context_inputs(const struct task *task)
{
	struct context_input *list = mem_array(NULL, task->file_count + 1, sizeof(*list));

	for (size_t i = 0; i < task->file_count; i++) {
		const struct task_file *file = &task->files[i];

		list[i].path = mem_strdup(file->path);
		identify(file, list[i].sha256);
	}
	return list;
}

void context_inputs_free(struct context_input *inputs, size_t count)
{
	for (size_t i = 0; inputs && i < count; i++)
		free(inputs[i].path);
	free(inputs);
}

char *context_lost(const struct context *c, const struct context_input *now, size_t count)
{
	for (size_t i = c->from; i < c->count; i++) {
		for (size_t n = 0; n < c->cells[i].input_count; n++) {
			const struct context_input *had = &c->cells[i].inputs[n];
			const struct context_input *is = find_input(now, count, had->path);

			if (!is || strcmp(is->sha256, had->sha256))
				return mem_printf("/in/%s, which it was made from, %s", had->path,
						  is ? "has changed" : "is not given any more");
		}
	}
	return NULL;
}

char *context_there(const struct context *c)
{
	struct buf out = BUF_INIT((size_t)16 * THERE_BYTES);

	for (size_t i = 0; lang_at(i); i++) {
		const struct context_cell *last = context_last(c, lang_at(i)->name);

		if (last)
			buf_addf(&out, "In %s:\n%s", lang_at(i)->title,
				 last->there && *last->there ? last->there : "(no names)\n");
	}
	return buf_take(&out, NULL);
}
