/*
 * Batch files: each format is a way to make one JSON object of a record. The format is told by the
 * file's name or, of a name that says nothing, by how the text begins. It may open no file but that
 * one: what a task names is task_files.c's.
 */
#include "agent/cli/batch/task_reader.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void task_reader_add(struct task_reader *rd, size_t line, struct json *object, const char *problem)
{
	const char *id = json_get_string(object, "id");

	rd->out->lines = mem_one_more(rd->out->lines, rd->out->count, sizeof(*rd->out->lines));
	struct task_line *t = &rd->out->lines[rd->out->count++];
	*t = (struct task_line){ .line = line, .object = object };
	t->id = id && *id ? mem_strdup(id) : mem_printf("line-%zu", line);
	if (problem)
		t->problem = mem_printf("%s:%zu: %s", rd->path, line, problem);
}

/* A number as id is taken as its text; anything else but a text is refused. */
static const char *settle_id(struct json *object)
{
	const struct json *id = json_get(object, "id");

	if (json_type(id) == JSON_NUMBER) {
		cleanup_free char *text = json_print(id);
		json_set_string(object, "id", text);
	} else if (json_type(id) != JSON_STRING && json_type(id) != JSON_NULL) {
		return "\"id\" must be a text or a number";
	}
	return NULL;
}

/* Why an object is no task, once --map has named its keys; the caller frees. */
static char *settle(struct task_reader *rd, size_t line, struct json **object)
{
	char *twice;

	*object = task_map_apply(&rd->map, *object, &twice);
	if (twice)
		return twice;
	for (const struct json *m = json_first(*object); m; m = json_next(m))
		task_reader_note_key(rd, json_key(m), line);
	const char *problem = settle_id(*object);
	if (problem)
		return mem_strdup(problem);
	if (json_get_string(*object, "prompt"))
		return NULL;
	return mem_printf("\"%s\" is missing or not a text", task_map_column(&rd->map, "prompt"));
}

static void read_json_line(struct task_reader *rd, size_t line, const char *text, size_t len)
{
	struct error err = ERROR_INIT;
	struct json *object = json_parse(text, len, JSON_BIG_AS_STRING, &err);
	cleanup_free char *problem = NULL;

	if (!object)
		problem = mem_strdup(err.message);
	else if (json_type(object) != JSON_OBJECT)
		problem = mem_strdup("a JSON object expected, as {\"prompt\": \"...\"}");
	else
		problem = settle(rd, line, &object);
	if (object && json_type(object) != JSON_OBJECT) {
		json_free(object);
		object = NULL;
	}
	task_reader_add(rd, line, object, problem);
}

bool task_reader_is_text(const char *text, size_t len)
{
	return !len || (utf8_valid(text, len) && !memchr(text, '\0', len));
}

static void read_plain_line(struct task_reader *rd, size_t line, const char *text, size_t len)
{
	struct json *object = json_object();

	if (!task_reader_is_text(text, len)) {
		task_reader_add(rd, line, object, "not valid UTF-8 text");
		return;
	}
	json_set_bytes(object, "prompt", text, len);
	task_reader_add(rd, line, object, NULL);
}

static void for_each_line(struct task_reader *rd, const char *text, size_t len,
			  void (*each)(struct task_reader *, size_t, const char *, size_t))
{
	const char *at = text, *end = text + len, *stop;
	size_t line = 0;

	for (; at < end; at = stop + 1) {
		line++;
		stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		size_t n = (size_t)(stop - at);
		n -= n && at[n - 1] == '\r';
		if (strspn(at, " \t") < n)
			each(rd, line, at, n);
	}
}

/* --- ids --- */

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
	if (!strncmp(line->id, id, strlen(id))) {
		/* That is the one that is taken. Twice as many each time: a file of ids that
		 * are all taken, one after the other, is not gone through one by one. */
		size_t signs = strlen(line->id) - strlen(id);
		free(id);
		id = mem_alloc(strlen(line->id) + signs + 2);
		memset(stpcpy(id, line->id), '+', signs + 1);
	}
	free(line->id);
	line->id = id;
}

static bool refuse_duplicates(struct task_lines *t, const char *path)
{
	cleanup_free struct task_line **order = mem_array(NULL, t->count, sizeof(*order));

	for (size_t i = 0; i < t->count; i++)
		order[i] = &t->lines[i];
	qsort(order, t->count, sizeof(*order), by_id);
	size_t first = 0;
	bool any = false;
	for (size_t i = 1; i < t->count; i++) {
		if (!strcmp(order[first]->id, order[i]->id)) {
			rename_duplicate(order[i], order[first], path);
			any = true;
		} else {
			first = i;
		}
	}
	return any;
}

/* --- formats --- */

static bool has_extension(const char *path, const char *extension)
{
	size_t n = strlen(path), m = strlen(extension);

	return n > m && !strcasecmp(path + n - m, extension);
}

enum format { FORMAT_JSON_LINES, FORMAT_JSON_LIST, FORMAT_CSV, FORMAT_TSV, FORMAT_PLAIN };

static size_t blanks(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && strchr(" \t\r\n", text[n]) && text[n])
		n++;
	return n;
}

/* Whether the text is a JSON object. */
static bool is_object(const char *text, size_t len)
{
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *value = json_parse(text, len, JSON_BIG_AS_STRING, &ignored);

	return json_type(value) == JSON_OBJECT;
}

/* A list of objects, as against a prompt that begins with a bracket. */
static bool begins_list(const char *text, size_t len)
{
	if (!len || *text != '[')
		return false;
	size_t at = 1 + blanks(text + 1, len - 1);
	return at < len && (text[at] == '{' || text[at] == ']');
}

/* An object over several lines, whole or not, as against a prompt that begins with a brace. */
static bool begins_object(const char *text, size_t len)
{
	if (!len || *text != '{')
		return false;
	size_t at = 1 + blanks(text + 1, len - 1);
	return at < len && (text[at] == '"' || text[at] == '}');
}

static enum format format_of_content(const struct task_reader *rd, const char *text, size_t len)
{
	size_t skip = blanks(text, len);
	const char *begin = text + skip;

	if (begins_list(begin, len - skip))
		return FORMAT_JSON_LIST;
	if (begins_object(begin, len - skip))
		return FORMAT_JSON_LINES;
	if (task_table_begins(rd, text, len, '\t'))
		return FORMAT_TSV;
	if (task_table_begins(rd, text, len, ',') || task_table_looks(text, len, ','))
		return FORMAT_CSV;
	return task_table_looks(text, len, '\t') ? FORMAT_TSV : FORMAT_PLAIN;
}

static enum format format_of(const struct task_reader *rd, const char *path, const char *text,
			     size_t len)
{
	static const struct {
		const char *extension;
		enum format format;
	} known[] = {
		{ ".jsonl", FORMAT_JSON_LINES }, { ".ndjson", FORMAT_JSON_LINES },
		{ ".csv", FORMAT_CSV },		 { ".tsv", FORMAT_TSV },
		{ ".tab", FORMAT_TSV },		 { ".txt", FORMAT_PLAIN },
	};
	size_t skip = blanks(text, len);

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (has_extension(path, known[i].extension))
			return known[i].format;
	if (has_extension(path, ".json"))
		return skip < len && text[skip] == '[' ? FORMAT_JSON_LIST : FORMAT_JSON_LINES;
	return format_of_content(rd, text, len);
}

/* Where a value ends: at a comma or a bracket that is not its own. */
static const char *value_end(const char *at, const char *end)
{
	size_t depth = 0;
	bool quoted = false;

	for (; at < end; at++) {
		if (quoted) {
			quoted = *at != '"';
			at += *at == '\\' && at + 1 < end;
		} else if (*at == '"') {
			quoted = true;
		} else if (*at == '[' || *at == '{') {
			depth++;
		} else if (depth && (*at == ']' || *at == '}')) {
			depth--;
		} else if (!depth && (*at == ',' || *at == ']')) {
			break;
		}
	}
	return at;
}

static size_t count_lines(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

/* A list of tasks, each read by itself, so that a bad one does not spoil the rest. */
static void read_json_list(struct task_reader *rd, const char *text, size_t len)
{
	const char *end = text + len, *at = text + blanks(text, len) + 1, *stop;
	size_t line = 1 + count_lines(text, (size_t)(at - text));

	for (;; at = stop + 1) {
		size_t skip = blanks(at, (size_t)(end - at));
		line += count_lines(at, skip);
		at += skip;
		stop = value_end(at, end);
		if (at < stop || (stop < end && (*stop == ',' || rd->out->count)))
			read_json_line(rd, line, at, (size_t)(stop - at));
		line += count_lines(at, (size_t)(stop - at));
		if (stop >= end) {
			task_reader_add(rd, line, NULL, "the list of tasks is never closed");
			return;
		}
		if (*stop == ']')
			break;
	}
	at = stop + 1;
	if (at + blanks(at, (size_t)(end - at)) < end)
		task_reader_add(rd, line, NULL, "there is text after the list of tasks");
}

static int read_text(struct task_reader *rd, const char *path, const char *text, size_t len,
		     struct error *err)
{
	const char *encoding = utf8_other(text, len);

	if (encoding)
		return error_set(err, ERR_USAGE,
				 "%s: is %s, and UTF-8 is expected: iconv -f %s -t UTF-8 %s",
				 rd->path, encoding, encoding, strcmp(path, "-") ? path : "FILE");
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		len -= 3;
	}
	enum format format = format_of(rd, path, text, len);
	if (format == FORMAT_JSON_LIST)
		read_json_list(rd, text, len);
	else if (format == FORMAT_JSON_LINES && is_object(text, len))
		read_json_line(rd, 1 + count_lines(text, blanks(text, len)), text, len);
	else if (format == FORMAT_JSON_LINES)
		for_each_line(rd, text, len, read_json_line);
	else if (format == FORMAT_PLAIN)
		for_each_line(rd, text, len, read_plain_line);
	else
		return task_table_read(rd, text, len, format == FORMAT_TSV ? '\t' : ',', err);
	return 0;
}

static void release_reader(struct task_reader *rd)
{
	task_map_release(&rd->map);
	for (size_t i = 0; i < rd->unknown_count; i++)
		free(rd->unknown[i].name);
	free(rd->unknown);
}

static int read_lines(struct task_reader *rd, const char *path, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(BATCH_BYTES_MAX);

	if (io_read_file(path, &text, err) < 0 ||
	    read_text(rd, path, text.data, text.len, err) < 0 || task_map_check(rd, err) < 0)
		return -1;
	if (!rd->out->count)
		return error_set(err, ERR_USAGE, "%s: holds no task", rd->path);
	while (refuse_duplicates(rd->out, rd->path))
		; /* a new id may be one that a line has, too */
	rd->out->unknown = task_reader_unknown(rd);
	return 0;
}

int task_lines_read(struct task_lines *ret, const char *path, const struct option_values *map,
		    struct error *err)
{
	struct task_reader rd = {
		.out = ret,
		.path = strcmp(path, "-") ? path : "standard input",
	};

	*ret = (struct task_lines){ .lines = NULL };
	if (task_map_read(&rd.map, map, err) < 0)
		return -1;
	int rc = read_lines(&rd, path, err);
	release_reader(&rd);
	if (rc)
		task_lines_release(ret);
	return rc;
}

void task_lines_release(struct task_lines *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->lines[i].id);
		free(t->lines[i].problem);
		json_free(t->lines[i].object);
	}
	free(t->lines);
	free(t->unknown);
	*t = (struct task_lines){ .lines = NULL };
}
