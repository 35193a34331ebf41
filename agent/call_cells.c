/*
 * Calls of a context's cells (call_cells.h): written as lines, and answered out of them, one at a
 * time, since a program chooses how much more memory its values take. It makes no call, and
 * records none: the runs of those cells have them.
 */
#include "agent/call_cells.h"

#include "agent/run.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX ((size_t)1 << 30) /* calls are bounded where they are made */

/* --- as lines --- */

/* Texts of JSON go in as they are. */
static void add_line(struct buf *out, const struct json *entry)
{
	const char *arguments = json_get_string(entry, "arguments");
	const char *result = json_get_string(entry, "result");
	cleanup_json struct json *head = json_object();
	const struct json *error = json_get(entry, "error");

	json_set_string(head, "tool", json_get_string(entry, "tool"));
	json_set_string(head, "decision", json_get_string(entry, "decision"));
	if (error)
		json_set(head, "error", json_copy(error));
	cleanup_free char *text = json_print(head);
	buf_add(out, text, strlen(text) - 1);
	buf_addstr(out, ",\"arguments\":");
	buf_addstr(out, arguments ? arguments : "null");
	if (!error) {
		buf_addstr(out, ",\"result\":");
		buf_addstr(out, result ? result : "null");
	}
	buf_addstr(out, "}\n");
}

char *call_cells_lines(const struct json *calls)
{
	struct buf out = BUF_INIT(LINES_MAX);
	const struct json *entry = json_first(calls);

	if (!entry)
		return NULL;
	for (; entry; entry = json_next(entry))
		add_line(&out, entry);
	return buf_take(&out, NULL);
}

static void put_text(struct json *entry, const struct json *value, const char *name)
{
	cleanup_free char *text = json_get(value, name) ? json_print(json_get(value, name)) : NULL;

	if (text)
		json_set_string(entry, name, text);
}

/* The next one, and *line after it; NULL: there is none, or it cannot be read. */
static struct json *take_line(const char **line)
{
	size_t len = *line ? strcspn(*line, "\n") : 0;
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *value = len ? json_parse(*line, len, 0, &ignored) : NULL;
	const struct json *error = json_get(value, "error");

	if (len)
		*line += len + ((*line)[len] == '\n');
	if (json_type(value) != JSON_OBJECT)
		return NULL;
	struct json *entry = json_object();
	json_set_string(entry, "tool", json_get_string(value, "tool"));
	json_set_string(entry, "decision", json_get_string(value, "decision"));
	put_text(entry, value, "arguments");
	if (error)
		json_set(entry, "error", json_copy(error));
	else
		put_text(entry, value, "result");
	return entry;
}

void call_cells_read(const char *lines, struct json *calls)
{
	struct json *entry;

	while ((entry = take_line(&lines)))
		json_append(calls, entry);
}

bool call_cells_any(const struct context *context)
{
	for (size_t i = context ? context->from : 0; context && i < context->count; i++)
		if (context->cells[i].calls)
			return true;
	return false;
}

/* --- served back --- */

void call_cells_begin(struct calls *c)
{
	c->cell = 0;
	c->line = c->cell_count ? c->cells[0]->calls : NULL;
	c->had_turn = false;
}

void call_cells_init(struct calls *c, const struct context *context, const char *lang)
{
	size_t count = context ? context->count : 0;

	c->cells = mem_array(NULL, count + 1, sizeof(*c->cells));
	for (size_t i = context ? context->from : 0; i < count; i++)
		if (!strcmp(context->cells[i].lang, lang))
			c->cells[c->cell_count++] = &context->cells[i];
	call_cells_begin(c);
}

void call_cells_release(struct calls *c)
{
	free(TAKE_PTR(c->cells));
}

/* Each has one turn, in their order: a program cannot ask for turns without end. */
bool call_cells_turn(struct calls *c, int64_t number)
{
	size_t at = number == 0 ? c->cell_count : (size_t)number - 1;

	if (number < 0 || at > c->cell_count || at < c->cell + c->had_turn)
		return false;
	c->had_turn = true;
	c->cell = at;
	c->line = at < c->cell_count ? c->cells[at]->calls : NULL;
	return true;
}

bool call_cells_serve(struct calls *c, struct call *call)
{
	if (c->cell == c->cell_count)
		return false;
	cleanup_json struct json *was = take_line(&c->line);
	if (was && calls_answer(c, was, call))
		return true;
	cleanup_free char *message =
		mem_printf("cell %zu did not call this when it ran: its state is made again, and "
			   "nothing is called for that",
			   c->cell + 1);
	call_fail(call, "diverged", "diverged", message);
	c->closed = true;
	return true;
}
