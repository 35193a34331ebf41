/*
 * Cells of a context (cells.h): the files that rebuild a state, and the report read. The report
 * is a guest's, bounded here again.
 */
#include "verifier/cells.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/lang/lang.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER	       "assay_cells"
#define NAME_MAX_BYTES ((size_t)2000) /* of what a report says of one name */
#define LINES_MAX      200
#define JOINED_MAX     ((size_t)64 << 20)

/* --- the files --- */

static void add_file(struct cells *c, size_t number, const char *ending, const void *bytes,
		     size_t len)
{
	c->files[c->file_count++] = (struct sandbox_file){
		mem_printf(FOLDER "/%zu%s", number, ending),
		bytes ? bytes : "",
		len,
	};
}

void cells_add(struct cells *c, struct sandbox_job *job)
{
	c->files = mem_array(NULL, job->extra_count + 2 * c->count, sizeof(*c->files));
	for (size_t i = 0; i < job->extra_count; i++)
		c->files[c->file_count++] = job->extras[i];
	c->named = c->file_count;
	for (size_t i = 0; i < c->count; i++) {
		const struct cell *cell = &c->list[i];

		add_file(c, i + 1, "", cell->code, cell->len);
		if (cell->stdin_bytes)
			add_file(c, i + 1, ".in", cell->stdin_bytes, cell->stdin_len);
	}
	job->extras = c->files;
	job->extra_count = c->file_count;
}

void cells_release(struct cells *c)
{
	for (size_t i = c->named; i < c->file_count; i++) {
		char *path;

		memcpy(&path, &c->files[i].path, sizeof(path));
		free(path);
	}
	free(c->files);
	*c = (struct cells){ .list = NULL };
}

void cells_name(size_t before, char ret[CELL_NAME_SIZE])
{
	snprintf(ret, CELL_NAME_SIZE, "cell %zu", before + 1);
}

/* --- the report --- */

bool cells_kept(const struct json *report)
{
	return json_get_bool(report, "kept", false);
}

size_t cells_broken(const struct json *report)
{
	int64_t n = json_get_int(report, "broken", 0);

	return n > 0 ? (size_t)n : 0;
}

size_t cells_differ(const struct json *report, const struct cell *list, size_t count)
{
	const struct json *digest = json_first(json_get(report, "printed"));

	for (size_t i = 0; i < count && digest; i++, digest = json_next(digest)) {
		const char *text = json_string(digest);

		if (list[i].printed && (!text || strcmp(text, list[i].printed)))
			return i + 1;
	}
	return 0;
}

bool cells_wrote(const struct json *report, const char *path)
{
	const struct json *name = json_first(json_get(report, "out"));

	for (; name; name = json_next(name))
		if (json_string(name) && !strcmp(json_string(name), path))
			return true;
	return false;
}

static void add_text(struct buf *out, const char *text, size_t max)
{
	size_t len = strlen(text), shown = len > max ? utf8_valid_prefix(text, max) : len;

	utf8_repair(out, text, shown);
	if (shown < len)
		buf_addstr(out, "...");
}

static void describe_names(struct buf *out, const struct json *report, size_t max)
{
	const struct json *name = json_first(json_get(report, "names"));
	int64_t more = json_get_int(report, "more", 0);

	for (size_t n = 0; name && n < LINES_MAX && out->len < max; n++, name = json_next(name)) {
		const struct json *what = json_first(name);
		const char *called = json_string(what), *is = json_string(json_next(what));

		if (!called)
			continue;
		add_text(out, called, 80);
		buf_addstr(out, ": ");
		add_text(out, is ? is : "", NAME_MAX_BYTES);
		buf_addch(out, '\n');
	}
	if (name || more > 0)
		buf_addstr(out, "(and more)\n");
}

static void describe_files(struct buf *out, const struct json *report, size_t max)
{
	const struct json *file = json_first(json_get(report, "files"));

	for (size_t n = 0; file && n < LINES_MAX && out->len < max; n++, file = json_next(file)) {
		const struct json *what = json_first(file);
		const char *path = json_string(what);

		if (!path)
			continue;
		buf_addstr(out, "file ");
		add_text(out, path, 300);
		buf_addf(out, " (%" PRId64 " bytes)\n", json_int(json_next(what), 0));
	}
}

char *cells_describe(const struct json *report, size_t max)
{
	struct buf out = BUF_INIT(max + 2 * NAME_MAX_BYTES);

	describe_names(&out, report, max);
	describe_files(&out, report, max);
	return buf_take(&out, NULL);
}

char *cells_left(const struct json *report)
{
	const struct json *left = json_first(json_get(report, "left"));
	struct buf out = BUF_INIT(4096);

	for (size_t n = 0; left && n < 20; n++, left = json_next(left)) {
		if (!json_string(left))
			continue;
		buf_addstr(&out, out.len ? ", " : "");
		add_text(&out, json_string(left), 60);
	}
	if (out.len)
		return buf_take(&out, NULL);
	buf_release(&out);
	return NULL;
}

/* --- as one program --- */

/* One that needs no quotes in any language; in folders below are none that a program names. */
static bool is_plain_name(const char *name)
{
	size_t len =
		strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");

	return len > 0 && !name[len] && *name != '-';
}

static bool is_named_after(const struct cell *list, size_t count, size_t i, const char *name)
{
	for (i++; i < count; i++)
		if (memmem(list[i].code, list[i].len, name, strlen(name)))
			return true;
	return false;
}

char *cells_after(const struct language *language, const struct cell *list, size_t count, size_t i)
{
	const struct lang *lang = lang_find(language->name);
	const char *copy = lang ? lang->harness.copy : NULL;
	struct buf out = BUF_INIT(JOINED_MAX);

	for (size_t f = 0; copy && list[i].left && list[i].left[f]; f++) {
		if (!is_plain_name(list[i].left[f]) ||
		    !is_named_after(list, count, i, list[i].left[f]))
			continue;
		for (const char *at = copy; *at; at++)
			if (*at == '@')
				buf_addstr(&out, list[i].left[f]);
			else
				buf_addch(&out, *at);
	}
	return buf_take(&out, NULL);
}

static void add_cell(struct buf *out, const char *code, size_t len)
{
	buf_add(out, code, len);
	if (out->len && out->data[out->len - 1] != '\n')
		buf_addch(out, '\n');
}

char *cells_join(const struct language *language, const struct cell *list, size_t count,
		 const char *code, size_t len, size_t *ret_len)
{
	cleanup_free struct cell *all = mem_array(NULL, count + 1, sizeof(*all));
	struct buf out = BUF_INIT(JOINED_MAX);

	if (count)
		memcpy(all, list, count * sizeof(*all));
	all[count] = (struct cell){ .code = code, .len = len };
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *after = cells_after(language, all, count + 1, i);

		add_cell(&out, list[i].code, list[i].len);
		buf_addstr(&out, after);
	}
	buf_add(&out, code, len);
	return buf_take(&out, ret_len);
}
