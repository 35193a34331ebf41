/* Batch files: each format is a way to make one JSON object of a record. */
#include "agent/task.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BATCH_BYTES_MAX ((size_t)1 << 30)

struct reader {
	struct task_lines *out;
	const char *path;
	char **header;		/* CSV: column names */
	size_t columns;
};

static void add(struct reader *rd, size_t line, struct json *object, const char *problem)
{
	const char *id = json_get_string(object, "id");
	struct task_line *t;

	rd->out->lines = mem_array(rd->out->lines, rd->out->count + 1, sizeof(*rd->out->lines));
	t = &rd->out->lines[rd->out->count++];
	*t = (struct task_line){ .line = line, .object = object };
	t->id = id && *id ? mem_strdup(id) : mem_printf("line-%zu", line);
	if (problem)
		t->problem = mem_printf("%s:%zu: %s", rd->path, line, problem);
}

/* A number as id is taken as its text; anything else but a text is refused. */
static const char *settle_id(struct json *object)
{
	const struct json *id = json_get(object, "id");
	cleanup_free char *text = NULL;

	if (json_type(id) == JSON_NUMBER) {
		text = json_print(id);
		json_set_string(object, "id", text);
	} else if (json_type(id) != JSON_STRING && json_type(id) != JSON_NULL) {
		return "\"id\" must be a text or a number";
	}
	return NULL;
}

static void read_json_line(struct reader *rd, size_t line, const char *text, size_t len)
{
	struct error err = ERROR_INIT;
	struct json *object = json_parse(text, len, JSON_BIG_AS_STRING, &err);
	const char *problem = NULL;

	if (!object)
		problem = err.message;
	else if (json_type(object) != JSON_OBJECT)
		problem = "a JSON object expected, as {\"prompt\": \"...\"}";
	else
		problem = settle_id(object);
	if (!problem && !json_get_string(object, "prompt"))
		problem = "\"prompt\" is missing or not a text";
	if (object && json_type(object) != JSON_OBJECT) {
		json_free(object);
		object = NULL;
	}
	add(rd, line, object, problem);
}

static bool is_text(const char *text, size_t len)
{
	return !len || (utf8_valid(text, len) && !memchr(text, '\0', len));
}

static void read_plain_line(struct reader *rd, size_t line, const char *text, size_t len)
{
	struct json *object = json_object();

	if (!is_text(text, len)) {
		add(rd, line, object, "not valid UTF-8 text");
		return;
	}
	json_set_bytes(object, "prompt", text, len);
	add(rd, line, object, NULL);
}

static void for_each_line(struct reader *rd, const char *text, size_t len,
			  void (*each)(struct reader *, size_t, const char *, size_t))
{
	const char *at = text, *end = text + len, *stop;
	size_t line = 0, n;

	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		at += 3;
	for (; at < end; at = stop + 1) {
		line++;
		stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		n = (size_t)(stop - at);
		n -= n && at[n - 1] == '\r';
		if (strspn(at, " \t") < n)
			each(rd, line, at, n);
	}
}

/* --- CSV (RFC 4180) --- */

/* One field at *at; false when its quote never closes. */
static bool csv_field(const char **at, const char *end, struct buf *out, size_t *lines)
{
	const char *p = *at;

	buf_clear(out);
	if (p < end && *p == '"') {
		for (p++; p < end; p++) {
			*lines += *p == '\n';
			if (*p == '"' && (p + 1 >= end || p[1] != '"'))
				break;
			p += *p == '"';
			buf_addch(out, *p);
		}
		if (p >= end)
			return false;
		p++;
	}
	while (p < end && *p != ',' && *p != '\n') {
		if (*p != '\r')
			buf_addch(out, *p);
		p++;
	}
	*at = p;
	return true;
}

static void csv_value(struct json *object, const char *name, const struct buf *field)
{
	bool is_object = !strcmp(name, "expect") || !strcmp(name, "limits");
	bool is_list = !strcmp(name, "tags") || !strcmp(name, "files") || !strcmp(name, "checks");
	struct error ignored = ERROR_INIT;
	struct json *value = NULL;

	if (!field->len)
		return;
	/* Columns that hold structure are JSON; "files" may be one bare path, and
	 * "expect" the output itself, which looks like JSON when it is a number. */
	if (is_object || is_list)
		value = json_parse(field->data, field->len, 0, &ignored);
	if (json_type(value) != (is_object ? JSON_OBJECT : JSON_ARRAY)) {
		json_free(value);
		value = NULL;
	}
	if (!value && (!strcmp(name, "files") || !strcmp(name, "tags"))) {
		value = json_array();
		json_append(value, json_new_bytes(field->data, field->len));
	} else if (!value && !strcmp(name, "expect")) {
		value = json_object();
		json_set_bytes(value, "equals", field->data, field->len);
	}
	json_set(object, name, value ? value : json_new_bytes(field->data, field->len));
}

static void csv_header(struct reader *rd, size_t column, const struct buf *field)
{
	rd->header = mem_array(rd->header, column + 1, sizeof(*rd->header));
	rd->header[column] = mem_strndup(field->data, field->len);
	rd->columns = column + 1;
}

static void read_csv(struct reader *rd, const char *text, size_t len)
{
	cleanup_buf struct buf field = BUF_INIT(BATCH_BYTES_MAX);
	const char *at = text, *end = text + len;
	size_t line = 1, start, column;

	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		at += 3;
	while (at < end) {
		struct json *object = json_object();
		const char *problem = NULL;
		bool header = !rd->header;

		start = line;
		for (column = 0;; column++) {
			if (!csv_field(&at, end, &field, &line)) {
				problem = "a quote is never closed";
				at = end;
			} else if (header) {
				csv_header(rd, column, &field);
			} else if (!is_text(field.data, field.len)) {
				problem = "not valid UTF-8 text";
			} else if (column < rd->columns) {
				csv_value(object, rd->header[column], &field);
			} else {
				problem = "more fields than the header has";
			}
			if (at >= end || *at == '\n')
				break;
			at++;
		}
		at++;
		line++;
		if (!problem && !header && !json_get_string(object, "prompt"))
			problem = "no \"prompt\" (the header needs a column of that name)";
		if (header || (column == 0 && !problem && !json_count(object)))
			json_free(object);
		else
			add(rd, start, object, problem);
	}
}

/* --- all --- */

/* Whether the id is the one that the line itself gives. */
static bool own_id(const struct task_line *line)
{
	const char *given = json_get_string(line->object, "id");

	return given && !strcmp(given, line->id);
}

/* By id; of equal ones, those that are the line's own come first. */
static int by_id(const void *a, const void *b)
{
	const struct task_line *const *x = a, *const *y = b;
	int order = strcmp((*x)->id, (*y)->id);

	if (!order)
		order = own_id(*y) - own_id(*x);
	return order ? order : (*x < *y ? -1 : 1);
}

/* The second of two lines with one id gets another: results are told apart, and
 * skipped by a resume, by their ids. */
static void rename_duplicate(struct task_line *line, const struct task_line *first,
			     const char *path)
{
	char *id = mem_printf("line-%zu", line->line);

	if (!line->problem && own_id(line))
		line->problem = mem_printf("%s:%zu: id \"%s\" was used before, on line %zu", path,
					   line->line, line->id, first->line);
	if (!strncmp(line->id, id, strlen(id))) {	/* that is the one that is taken */
		free(id);
		id = mem_printf("%s+", line->id);
	}
	free(line->id);
	line->id = id;
}

static bool refuse_duplicates(struct task_lines *t, const char *path)
{
	cleanup_free struct task_line **order = mem_array(NULL, t->count, sizeof(*order));
	size_t first = 0, i;
	bool any = false;

	for (i = 0; i < t->count; i++)
		order[i] = &t->lines[i];
	qsort(order, t->count, sizeof(*order), by_id);
	for (i = 1; i < t->count; i++) {
		if (!strcmp(order[first]->id, order[i]->id)) {
			rename_duplicate(order[i], order[first], path);
			any = true;
		} else {
			first = i;
		}
	}
	return any;
}

static bool has_extension(const char *path, const char *extension)
{
	size_t n = strlen(path), m = strlen(extension);

	return n > m && !strcasecmp(path + n - m, extension);
}

int task_lines_read(struct task_lines *ret, const char *path, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(BATCH_BYTES_MAX);
	struct task_lines out = { .lines = NULL };
	struct reader rd = { .out = &out, .path = path };
	size_t i;

	if (io_read_file(path, &text, err) < 0)
		return -1;
	if (has_extension(path, ".jsonl") || has_extension(path, ".ndjson"))
		for_each_line(&rd, text.data, text.len, read_json_line);
	else if (has_extension(path, ".csv"))
		read_csv(&rd, text.data, text.len);
	else
		for_each_line(&rd, text.data, text.len, read_plain_line);
	for (i = 0; i < rd.columns; i++)
		free(rd.header[i]);
	free(rd.header);
	if (!out.count)
		return error_set(err, ERR_USAGE, "%s: holds no task", path);
	while (refuse_duplicates(&out, path))
		;	/* a new id may be one that a line has, too */
	*ret = out;
	return 0;
}

void task_lines_release(struct task_lines *t)
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		free(t->lines[i].id);
		free(t->lines[i].problem);
		json_free(t->lines[i].object);
	}
	free(t->lines);
	*t = (struct task_lines){ .lines = NULL };
}
