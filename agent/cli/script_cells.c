/*
 * Where the cells of a script begin and end (script_cells.h). Nothing of a cell is looked at:
 * whether it is a program, its interpreter says.
 */
#include "agent/cli/script_cells.h"

#include "agent/cli/notebook_lines.h"
#include "base/mem.h"
#include "verifier/lang/lang.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE_MAX ((size_t)16 << 20)

void script_cells_release(struct script_cells *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->cells[i].code);
	free(c->cells);
	free(c->lang);
	*c = (struct script_cells){ .lang = NULL };
}

static void add(struct script_cells *c, const char *code, size_t len, size_t line)
{
	size_t i = 0;

	while (i < len && strchr(" \t\r\n", code[i]) && code[i])
		i++;
	if (i == len)
		return;
	c->cells = mem_one_more(c->cells, c->count, sizeof(*c->cells));
	c->cells[c->count++] =
		(struct script_cell){ mem_strndup(code, len), len, line, false, false };
}

/* --- a text --- */

/* "# %%", "#%% title", "// %%": the rest of the line is a title. */
static bool is_mark(const char *line, size_t len)
{
	size_t at = 0;

	while (at < len && (line[at] == '#' || line[at] == '/'))
		at++;
	if (at == 0 || at > 2 || (at == 1 && line[0] == '/') || (at == 2 && line[0] != '/'))
		return false;
	while (at < len && line[at] == ' ')
		at++;
	return len - at >= 2 && !memcmp(line + at, "%%", 2);
}

static bool is_prose(const char *line, size_t len)
{
	return memmem(line, len, "[markdown]", 10) || memmem(line, len, "[md]", 4) ||
	       memmem(line, len, "[raw]", 5);
}

static void read_text(struct script_cells *c, const char *text, size_t len)
{
	const char *at = text, *end = text + len, *from = text;
	size_t number = 1, first = 1;
	bool prose = false;

	while (at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		const char *next = nl ? nl + 1 : end;

		number++;
		if (is_mark(at, (size_t)(next - at))) {
			if (!prose)
				add(c, from, (size_t)(at - from), first);
			prose = is_prose(at, (size_t)(next - at));
			from = next;
			first = number;
		}
		at = next;
	}
	if (!prose)
		add(c, from, (size_t)(end - from), first);
}

/* --- a notebook --- */

static int add_notebook_cell(struct script_cells *c, const struct json *cell, const char *path,
			     struct error *err)
{
	const struct json *source = json_get(cell, "source");
	const char *kind = json_get_string(cell, "cell_type");
	cleanup_buf struct buf code = BUF_INIT(SOURCE_MAX);

	if (!kind || strcmp(kind, "code"))
		return 0;
	if (json_string(source))
		buf_addstr(&code, json_string(source));
	for (const struct json *line = json_first(source); line; line = json_next(line))
		buf_addstr(&code, json_string(line) ? json_string(line) : "");
	if (code.overflow)
		return error_set(err, ERR_USAGE, "%s: a cell has more than %zu bytes", path,
				 SOURCE_MAX);
	if (code.len)
		add(c, code.data, code.len, 0);
	return 0;
}

static int read_notebook(struct script_cells *c, const struct json *notebook, const char *path,
			 struct error *err)
{
	const struct json *about = json_get(notebook, "metadata");
	const char *lang = json_get_string(json_get(about, "kernelspec"), "language");
	const struct json *cell = json_first(json_get(notebook, "cells"));

	if (json_type(json_get(notebook, "cells")) != JSON_ARRAY)
		return error_set(err, ERR_USAGE,
				 "%s: a notebook has a list of cells; this has none", path);
	if (!lang)
		lang = json_get_string(json_get(about, "language_info"), "name");
	c->lang = mem_strdup(lang ? lang : lang_at(0)->name);
	for (; cell; cell = json_next(cell))
		if (add_notebook_cell(c, cell, path, err) < 0)
			return -1;
	return 0;
}

int script_cells_read(struct script_cells *ret, const char *path, const char *text, size_t len,
		      struct error *err)
{
	const char *dot = strrchr(path, '.');

	*ret = (struct script_cells){ .lang = NULL };
	int rc = 0;
	if (!dot || strcmp(dot, ".ipynb")) {
		read_text(ret, text, len);
	} else {
		cleanup_json struct json *notebook =
			json_parse(text, len, JSON_BIG_AS_STRING | JSON_NUL_AS_FFFD, err);
		if (!notebook) {
			err->kind = ERR_USAGE;
			return error_wrap(err, "%s", path);
		}
		rc = read_notebook(ret, notebook, path, err);
	}
	if (rc < 0)
		script_cells_release(ret);
	return rc;
}

int script_cells_plain(struct script_cells *c, const char *path, struct error *err)
{
	for (size_t i = 0; i < c->count; i++) {
		struct script_cell *cell = &c->cells[i];
		char *code;

		if (notebook_lines(cell->code, &code, &cell->timed, err) < 0)
			return error_wrap(err, "%s cell %zu of %zu", path, i + 1, c->count);
		cell->plain = strcmp(cell->code, code);
		free(cell->code);
		cell->code = code;
		cell->len = strlen(code);
	}
	return 0;
}
