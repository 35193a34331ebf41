/*
 * Task files that are tables: CSV by RFC 4180, and the same with tabs. A header names the columns;
 * a record becomes a JSON object, columns that hold structure as JSON. It may open no file: its
 * text is given.
 */
#include "agent/cli/batch/task_reader.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX      4096 /* bytes of a header's names, told */
#define NAMES_SHOWN    200  /* and where no more are begun */
#define NAME_BYTES_MAX 40   /* of what is a column's name, and no prompt */
#define LINES_LOOKED   20   /* for whether they are as long as the header */

struct table {
	struct task_reader *rd;
	char separator;
	const char *at, *end;
	size_t line;   /* where at is */
	char **header; /* keys, by --map; owned */
	size_t columns;
	struct buf field; /* read last */
};

/* One field; false when its quote never closes. */
static bool read_field(struct table *t)
{
	const char *p = t->at;

	buf_clear(&t->field);
	if (p < t->end && *p == '"') {
		for (p++; p < t->end; p++) {
			t->line += *p == '\n';
			if (*p == '"' && (p + 1 >= t->end || p[1] != '"'))
				break;
			p += *p == '"';
			buf_addch(&t->field, *p);
		}
		if (p >= t->end)
			return false;
		p++;
	}
	while (p < t->end && *p != t->separator && *p != '\n') {
		if (*p != '\r')
			buf_addch(&t->field, *p);
		p++;
	}
	t->at = p;
	return true;
}

static bool at_record_end(const struct table *t)
{
	return t->at >= t->end || *t->at == '\n';
}

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

/* Columns that hold structure are JSON; "files" and "tags" may be one bare word, and
 * what is expected the output itself, which looks like JSON when it is a number. */
static void set_value(struct json *object, const char *name, const struct buf *field)
{
	static const char *const objects[] = { "expect", "expected", "limits" };
	static const char *const lists[] = { "tags", "files", "checks" };
	bool is_object = is_one_of(name, objects, ARRAY_SIZE(objects));
	bool is_list = is_one_of(name, lists, ARRAY_SIZE(lists));

	if (!field->len)
		return;
	struct error ignored = ERROR_INIT;
	struct json *value = NULL;
	if (is_object || is_list)
		value = json_parse(field->data, field->len, 0, &ignored);
	if (json_type(value) != (is_object ? JSON_OBJECT : JSON_ARRAY)) {
		json_free(value);
		value = NULL;
	}
	if (!value && (!strcmp(name, "files") || !strcmp(name, "tags"))) {
		value = json_array();
		json_append(value, json_new_bytes(field->data, field->len));
	}
	json_set(object, name, value ? value : json_new_bytes(field->data, field->len));
}

/* --- the header --- */

static int add_column(struct table *t, struct error *err)
{
	cleanup_free char *name = mem_strndup(t->field.data, t->field.len);
	const char *key = task_map_key(&t->rd->map, name);

	if (!task_reader_is_text(t->field.data, t->field.len))
		return error_set(err, ERR_USAGE, "%s:1: the header is not valid UTF-8 text",
				 t->rd->path);
	/* Of a column that means nothing the last counts: there may be many. */
	for (size_t i = 0; i < t->columns && task_key_known(key); i++)
		if (!strcmp(t->header[i], key))
			return error_set(err, ERR_USAGE, "%s:1: two columns are \"%s\"%s",
					 t->rd->path, key,
					 strcmp(key, name) ? ", one of them by --map" : "");
	t->header = mem_one_more(t->header, t->columns, sizeof(*t->header));
	t->header[t->columns++] = mem_strdup(key);
	if (*key)
		task_reader_note_key(t->rd, key, 1);
	return 0;
}

/* Without prompts there is no task in it: told once, and not a line each. A column that --map
 * names and that is not there is task_map_check's to tell. */
static int check_header(const struct table *t, struct error *err)
{
	cleanup_buf struct buf names = BUF_INIT(NAMES_MAX);

	if (strcmp(task_map_column(&t->rd->map, "prompt"), "prompt"))
		return 0;
	for (size_t i = 0; i < t->columns; i++)
		if (!strcmp(t->header[i], "prompt"))
			return 0;
	for (size_t i = 0; i < t->columns && names.len < NAMES_SHOWN; i++)
		buf_addf(&names, "%s\"%.40s\"", i ? ", " : "", t->header[i]);
	return error_set(err, ERR_USAGE,
			 "%s:1: no column is \"prompt\" (there are %s): name the one that holds "
			 "the question with --map prompt=COLUMN",
			 t->rd->path, names.data);
}

static int read_header(struct table *t, struct error *err)
{
	for (;; t->at++) {
		if (!read_field(t))
			return error_set(err, ERR_USAGE,
					 "%s:1: a quote of the header is never closed",
					 t->rd->path);
		if (add_column(t, err) < 0)
			return -1;
		if (at_record_end(t))
			break;
	}
	t->at++;
	t->line++;
	return check_header(t, err);
}

/* --- records --- */

static const char *read_record(struct table *t, struct json *object, size_t *ret_columns)
{
	const char *problem = NULL;
	size_t column;

	for (column = 0;; column++, t->at++) {
		if (!read_field(t)) {
			problem = "a quote is never closed";
			t->at = t->end;
		} else if (!task_reader_is_text(t->field.data, t->field.len)) {
			problem = "not valid UTF-8 text";
		} else if (column >= t->columns) {
			problem = "more fields than the header has";
		} else if (*t->header[column]) {
			set_value(object, t->header[column], &t->field);
		}
		if (at_record_end(t))
			break;
	}
	t->at++;
	*ret_columns = column;
	return problem;
}

static void read_records(struct table *t)
{
	while (t->at < t->end) {
		struct json *object = json_object();
		size_t start = t->line, columns;
		const char *problem = read_record(t, object, &columns);

		t->line++;
		if (!problem && !json_get_string(object, "prompt"))
			problem = "no \"prompt\"";
		if (!columns && !json_count(object) && !t->field.len)
			json_free(object); /* a blank line */
		else
			task_reader_add(t->rd, start, object, problem);
	}
}

static void release(struct table *t)
{
	for (size_t i = 0; i < t->columns; i++)
		free(t->header[i]);
	free(t->header);
	buf_release(&t->field);
}

int task_table_read(struct task_reader *rd, const char *text, size_t len, char separator,
		    struct error *err)
{
	struct table t = {
		.rd = rd,
		.separator = separator,
		.at = text,
		.end = text + len,
		.line = 1,
		.field = BUF_INIT(BATCH_BYTES_MAX),
	};
	int rc = read_header(&t, err);

	if (!rc)
		read_records(&t);
	release(&t);
	return rc;
}

/* A word or some, as columns are called, and no sentence. */
static bool is_name(const struct buf *field)
{
	size_t n = 0;

	while (n < field->len && (isalnum((unsigned char)field->data[n]) ||
				  (n && strchr("_-. ", field->data[n]) && field->data[n])))
		n++;
	return n && n == field->len && n <= NAME_BYTES_MAX &&
	       !isdigit((unsigned char)*field->data) && field->data[n - 1] != ' ' &&
	       field->data[n - 1] != '.';
}

/* The fields of the record at hand; 0 when it ends in a quote. *names: each is a name. */
static size_t count_fields(struct table *t, bool *names)
{
	size_t n = 0;

	for (;; t->at++) {
		if (!read_field(t))
			return 0;
		n++;
		*names &= is_name(&t->field);
		if (at_record_end(t))
			break;
	}
	t->at++;
	return n;
}

bool task_table_looks(const char *text, size_t len, char separator)
{
	struct table t = {
		.separator = separator,
		.at = text,
		.end = text + len,
		.field = BUF_INIT(BATCH_BYTES_MAX),
	};
	bool names = true, ignored = true;
	size_t columns = count_fields(&t, &names), lines = 1;
	bool looks = columns > 1 && names;

	for (; looks && t.at < t.end && lines < LINES_LOOKED; lines++) {
		size_t fields = count_fields(&t, &ignored);

		looks = fields == columns || (fields == 1 && !t.field.len);
	}
	release(&t);
	return looks && lines > 1;
}

bool task_table_begins(const struct task_reader *rd, const char *text, size_t len, char separator)
{
	const char *wanted = task_map_column(&rd->map, "prompt");
	const char *stop = memchr(text, '\n', len);
	struct table t = {
		.separator = separator,
		.at = text,
		.end = stop ? stop : text + len,
		.field = BUF_INIT(BATCH_BYTES_MAX),
	};
	bool found = false;

	for (; !found && read_field(&t); t.at++) {
		found = t.field.len && !strcmp(t.field.data, wanted);
		if (at_record_end(&t))
			break;
	}
	release(&t);
	return found;
}
