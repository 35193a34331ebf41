/*
 * Cuts values out of JSON texts and puts them back. It judges nothing: what it cannot follow stays
 * as it is, and what would not come back to the byte is not cut.
 */
#include "audit/form.h"

#include "audit/blob.h"
#include "audit/member.h"
#include "audit/vocabulary.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX   4
#define ELEMENT_MAX 4	/* of an array that is looked into */
#define TEXT_MIN    128 /* of a string that may be a blob's */

static const char whole[] = { FORM_MARK, FORM_VALUE, '\0' };

struct cutting {
	struct audit *audit;
	int64_t run;
	struct buf *form, *values;
	struct error *err; /* of looking for blobs; clean before */
	int depth;
};

static void keep(struct cutting *c, const char *from, const char *to)
{
	buf_add(c->form, from, (size_t)(to - from));
}

static void cut(struct cutting *c, enum form_kind kind, const char *value, size_t len)
{
	buf_addch(c->form, FORM_MARK);
	buf_addch(c->form, (char)kind);
	if (c->values->len)
		buf_addch(c->values, ',');
	buf_add(c->values, value, len);
}

static void cut_number(struct cutting *c, enum form_kind kind, int64_t no)
{
	char text[24];

	cut(c, kind, text, (size_t)snprintf(text, sizeof(text), "%lld", (long long)no));
}

/* --- what is a blob's --- */

/* A blob that the run needs, which stays as long as the run does: its no, or 0. Its size when it
 * is asked for, and only one that a view can show as it is when it is a text. */
static int64_t find_blob(struct cutting *c, const char *sha256, int64_t *ret_size, bool text)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(c->audit, c->err,
			 "SELECT b.no, b.size, b.deflated = 0 AND b.body IS NOT NULL FROM blobs b"
			 " JOIN refs f ON f.run = ?2 AND f.blob = b.no WHERE " BLOB_IS("b", "?1"),
			 "ti", sha256, c->run);
	int rc = stmt ? db_step(c->audit, stmt, c->err) : -1;

	if (rc <= 0 || (text && !sqlite3_column_int(stmt, 2)))
		return 0;
	if (ret_size)
		*ret_size = sqlite3_column_int64(stmt, 1);
	return sqlite3_column_int64(stmt, 0);
}

static bool cut_reference(struct cutting *c, const char *p, const char *end)
{
	char sha256[HASH_HEX_LEN + 1];
	int64_t size;

	if (!member_reference(p, end, sha256, &size))
		return false;
	int64_t bytes = 0;
	int64_t no = find_blob(c, sha256, &bytes, false);
	if (!no || size != bytes)
		return false;
	cut_number(c, FORM_BLOB, no);
	return true;
}

static bool cut_hash(struct cutting *c, const char *p, size_t len)
{
	if (!member_is_hash(p, len))
		return false;
	char sha256[HASH_HEX_LEN + 1];
	memcpy(sha256, p, HASH_HEX_LEN);
	sha256[HASH_HEX_LEN] = '\0';
	int64_t no = find_blob(c, sha256, NULL, false);
	if (no)
		cut_number(c, FORM_HASH, no);
	return no;
}

/* p is with its quotes. */
static bool cut_text(struct cutting *c, const char *p, size_t len)
{
	if (len < TEXT_MIN)
		return false;
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *value = json_parse(p, len, 0, &ignored);
	const char *bytes = json_string(value);
	if (!bytes)
		return false;
	char sha256[HASH_HEX_LEN + 1];
	hash_sha256(bytes, strlen(bytes), sha256);
	int64_t no = find_blob(c, sha256, NULL, true);
	if (no)
		cut_number(c, FORM_TEXT, no);
	return no;
}

/* --- what many say --- */

/* Whether a member's value is such: where something ran, and in what walls; which texts of the
 * program's own it was asked and judged by. Of the event itself only: what is deeper may be a
 * user's, as a task's own members are, and an object stays as long as any run needs it. */
static bool is_shared(const struct cutting *c, const struct member *m)
{
	static const struct {
		const char *key;
		char first;
	} members[] = {
		{ "isolation", '{' }, { "environment", '{' }, { "environments", '[' },
		{ "prompt", '"' },    { "reader", '"' },      { "ruleset", '"' },
	};

	for (size_t i = 0; c->depth == 1 && i < ARRAY_SIZE(members); i++)
		if (strlen(members[i].key) == m->key_len &&
		    !memcmp(members[i].key, m->key, m->key_len) && *m->value == members[i].first)
			return *m->value != '"' ||
			       member_is_hash(m->value + 1, (size_t)(m->end - m->value) - 2);
	return false;
}

static const char store_object[] = "INSERT INTO objects(body) VALUES(?1) ON CONFLICT DO NOTHING";
static const char object_of_body[] = "SELECT no FROM objects WHERE body = ?1";
static const char body_of_object[] = "SELECT body FROM objects WHERE no = ?1";

void form_ready(struct audit *audit)
{
	static const char *const list[] = { store_object, object_of_body, body_of_object, NULL };

	db_ready(audit, list);
}

/* As an object, stored when it is new. */
static void cut_shared(struct cutting *c, const struct member *m)
{
	cleanup_free char *body = mem_strndup(m->value, (size_t)(m->end - m->value));

	if (db_run(c->audit, c->err, store_object, "t", body) < 0)
		return;
	cleanup_stmt sqlite3_stmt *stmt = db_query(c->audit, c->err, object_of_body, "t", body);
	if (stmt && db_step(c->audit, stmt, c->err) > 0)
		cut_number(c, FORM_OBJECT, sqlite3_column_int64(stmt, 0));
}

/* --- values --- */

static bool describe(struct cutting *c, const char *p, const char *end);

static void describe_string(struct cutting *c, const char *p, const char *end)
{
	const size_t len = (size_t)(end - p);

	if (vocabulary_has(p + 1, len - 2))
		keep(c, p, end);
	else if (!cut_hash(c, p + 1, len - 2) && !cut_text(c, p, len))
		cut(c, FORM_VALUE, p, len);
}

/* "artifact_12" is one of many of a word. */
static bool is_known(const struct member *m)
{
	size_t len = m->key_len;

	while (len && isdigit((unsigned char)m->key[len - 1]))
		len--;
	if (len < m->key_len && m->key_len - len <= 2 && len && m->key[len - 1] == '_')
		return vocabulary_has(m->key, len - 1);
	return vocabulary_has(m->key, m->key_len);
}

static bool describe_object(struct cutting *c, const char *p, const char *end)
{
	const char *at = p, *from = p;
	struct member m;

	while (p[1] != '}' && member_next(&at, &m)) {
		if (!is_known(&m))
			return false;
		keep(c, from, m.value);
		if (is_shared(c, &m))
			cut_shared(c, &m);
		else if (!describe(c, m.value, m.end))
			return false;
		from = m.end;
	}
	keep(c, from, end);
	return end - from == (from == p ? 2 : 1) && end[-1] == '}';
}

static bool describe_array(struct cutting *c, const char *p, const char *end)
{
	const char *at = p + 1;

	for (int count = 0; *at != ']'; count++) {
		const char *after = member_value_end(at);

		if (count == ELEMENT_MAX || !after || after == at)
			return false;
		keep(c, at - 1, at);
		if (!describe(c, at, after))
			return false;
		at = after + (*after == ',');
	}
	keep(c, at == p + 1 ? p : at, end);
	return at + 1 == end;
}

/* What has a word in it that is not the program's own is cut out as a whole. */
static bool describe_inside(struct cutting *c, const char *p, const char *end)
{
	const size_t form = c->form->len, values = c->values->len;

	if (*p == '{' && cut_reference(c, p, end))
		return true;
	bool done = false;
	if (++c->depth <= DEPTH_MAX)
		done = *p == '{' ? describe_object(c, p, end) : describe_array(c, p, end);
	c->depth--;
	if (done)
		return true;
	buf_truncate(c->form, form);
	buf_truncate(c->values, values);
	cut(c, FORM_VALUE, p, (size_t)(end - p));
	return true;
}

/* False when p cannot be a value. */
static bool describe(struct cutting *c, const char *p, const char *end)
{
	if (p == end)
		return false;
	if (*p == '{' || *p == '[')
		return describe_inside(c, p, end);
	if (*p == '"')
		describe_string(c, p, end);
	else if (*p == 't' || *p == 'f' || *p == 'n')
		keep(c, p, end);
	else
		cut(c, FORM_VALUE, p, (size_t)(end - p));
	return true;
}

static bool is_one_line(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ')
			return false;
	return true;
}

int form_cut(struct audit *audit, int64_t run, const char *text, struct buf *form,
	     struct buf *values, struct error *err)
{
	cleanup_buf struct buf again = BUF_INIT(SIZE_MAX / 2);
	struct error failed = ERROR_INIT;
	struct cutting c = {
		.audit = audit, .run = run, .form = form, .values = values, .err = &failed
	};
	const char *end = member_value_end(text);
	bool done = end && !*end && is_one_line(text) && describe(&c, text, end);

	if (done && failed.kind == ERR_NONE)
		form_fill(audit, form->data, values->data, &again, &failed);
	if (failed.kind != ERR_NONE) {
		*err = failed;
		return -1;
	}
	if (done && !strcmp(again.data, text))
		return 0;
	buf_clear(form);
	buf_clear(values);
	buf_addstr(form, whole);
	buf_addstr(values, text);
	return 0;
}

/* --- and back --- */

static void add_text(sqlite3_stmt *stmt, struct buf *text)
{
	if (sqlite3_column_type(stmt, 2) == SQLITE_NULL) {
		buf_addstr(text, "null");
		return;
	}
	cleanup_json struct json *value =
		json_new_bytes(db_column(stmt, 2), (size_t)sqlite3_column_bytes(stmt, 2));
	cleanup_free char *printed = json_print(value);
	buf_addstr(text, printed);
}

static int add_object(struct audit *audit, int64_t no, struct buf *text, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(audit, err, body_of_object, "i", no);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	buf_addstr(text, rc > 0 ? db_column(stmt, 0) : "null");
	return rc < 0 ? -1 : 0;
}

static int add_blob(struct audit *audit, char kind, int64_t no, struct buf *text, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 "SELECT sha256, size, iif(?2 AND deflated = 0, body, NULL) FROM blobs"
			 " WHERE no = ?1",
			 "ii", no, (int64_t)(kind == FORM_TEXT));
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc <= 0)
		buf_addstr(text, "null");
	else if (kind == FORM_BLOB)
		buf_addf(text, "{\"sha256\":\"%s\",\"size\":%lld}", db_column(stmt, 0),
			 (long long)sqlite3_column_int64(stmt, 1));
	else if (kind == FORM_HASH)
		buf_addf(text, "\"%s\"", db_column(stmt, 0));
	else
		add_text(stmt, text);
	return rc < 0 ? -1 : 0;
}

/* A number as it is written here, and in no other way; -1: it is none. */
static int64_t number_of(const char *p, const char *end)
{
	const int64_t no = strtoll(p, NULL, 10);
	char text[24];
	const int len = snprintf(text, sizeof(text), "%lld", (long long)no);

	return no >= 0 && len == end - p && !memcmp(p, text, (size_t)len) ? no : -1;
}

/* What stands for the value from p to end. */
static int add_value(struct audit *audit, char kind, const char *p, const char *end,
		     struct buf *text, struct error *err)
{
	if (kind == FORM_VALUE)
		return buf_add(text, p, (size_t)(end - p));
	if (kind == FORM_OBJECT)
		return add_object(audit, number_of(p, end), text, err);
	return add_blob(audit, kind, number_of(p, end), text, err);
}

/* The end of the value that `values` begins with, behind the comma after the one before. */
static const char *next_value(const char **values, bool first)
{
	*values += !first && **values == ',';
	const char *end = member_value_end(*values);
	return end ? end : *values + strlen(*values);
}

int form_fill(struct audit *audit, const char *form, const char *values, struct buf *text,
	      struct error *err)
{
	if (!strcmp(form, whole)) {
		buf_addstr(text, values);
		return 0;
	}
	const char *mark;
	bool first = true;
	for (; (mark = strchr(form, FORM_MARK)) && mark[1]; form = mark + 2) {
		const char *end = next_value(&values, first);

		buf_add(text, form, (size_t)(mark - form));
		if (add_value(audit, mark[1], values, end, text, err) < 0)
			return -1;
		values = end;
		first = false;
	}
	buf_addstr(text, form);
	buf_addstr(text, values); /* none; what is too much was not written */
	return 0;
}

size_t form_objects(const char *form, const char *values, int64_t ret[FORM_OBJECTS_MAX])
{
	if (!strcmp(form, whole))
		return 0;
	const char *mark;
	size_t count = 0;
	bool first = true;
	for (; count < FORM_OBJECTS_MAX && (mark = strchr(form, FORM_MARK)) && mark[1];
	     form = mark + 2) {
		const char *end = next_value(&values, first);

		if (mark[1] == FORM_OBJECT)
			ret[count++] = number_of(values, end);
		values = end;
		first = false;
	}
	return count;
}
