#include "audit/audit.h"

#include "audit/db.h"
#include "audit/search.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FIND_MIN_LEN 4
#define CANDIDATES_MAX 5

void audit_row_release(struct audit_row *row)
{
	free(row->kind);
	free(row->status);
	free(row->level);
	free(row->reason);
	free(row->provider);
	free(row->model);
	free(row->item);
	free(row->replay_of);
	free(row->session);
	free(row->prompt);
	free(row->answer);
	json_free(row->config);
	*row = (struct audit_row){ 0 };
}

static struct json *parse_config(sqlite3_stmt *stmt, int column)
{
	struct error ignored = ERROR_INIT;
	cleanup_free char *text = NULL;
	size_t len;

	text = db_bytes(stmt, column, &len);
	return text ? json_parse(text, len, 0, &ignored) : NULL;
}

static int64_t int_or(sqlite3_stmt *stmt, int column, int64_t otherwise)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL ?
		       otherwise : sqlite3_column_int64(stmt, column);
}

static void fill_row(sqlite3_stmt *stmt, struct audit_row *ret)
{
	*ret = (struct audit_row){
		.started_ms = sqlite3_column_int64(stmt, 1),
		.ended_ms = int_or(stmt, 2, 0),
		.kind = db_text(stmt, 3), .status = db_text(stmt, 4), .level = db_text(stmt, 5),
		.reason = db_text(stmt, 6), .provider = db_text(stmt, 7),
		.model = db_text(stmt, 8), .item = db_text(stmt, 9),
		.replay_of = db_text(stmt, 10), .session = db_text(stmt, 11),
		.exit_code = (int)sqlite3_column_int64(stmt, 12),
		.attempts = (int)sqlite3_column_int64(stmt, 13),
		.input_tokens = sqlite3_column_int64(stmt, 14),
		.output_tokens = sqlite3_column_int64(stmt, 15),
		.cost_micro_usd = int_or(stmt, 16, -1),
		.config = parse_config(stmt, 19),
	};
	strncat(ret->id, db_column(stmt, 0), ULID_LEN);
	ret->prompt = db_bytes(stmt, 17, &ret->prompt_len);
	ret->answer = db_bytes(stmt, 18, &ret->answer_len);
}

/* 1 and *ret filled, 0 when there is no such run, -1. */
static int load_row(struct audit *audit, const char *run, struct audit_row *ret,
		    struct error *err)
{
	sqlite3_stmt *stmt = db_query(audit, err,
		"SELECT r.id, r.started_at_ms, r.ended_at_ms, r.kind, r.status, r.level, r.reason,"
		" r.provider, r.model, r.item, r.replay_of, r.session, r.exit_code, r.attempts,"
		" r.input_tokens, r.output_tokens, r.cost_micro_usd, p.body, a.body, c.body"
		" FROM runs r LEFT JOIN blobs p ON p.sha256 = r.prompt_sha256"
		" LEFT JOIN blobs a ON a.sha256 = r.answer_sha256"
		" LEFT JOIN blobs c ON c.sha256 = r.config_sha256 WHERE r.id = ?1", "t", run);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc <= 0)
		return rc;
	fill_row(stmt, ret);
	sqlite3_reset(stmt);
	return 1;
}

/* --- find --- */

/* "last" and "last~N": N, or -1 when which is neither. */
static int64_t parse_last(const char *which)
{
	char *end;
	long long n;

	if (strncmp(which, "last", 4))
		return -1;
	if (!which[4])
		return 0;
	if (which[4] != '~' || !isdigit((unsigned char)which[5]))
		return -1;
	n = strtoll(which + 5, &end, 10);
	return *end ? -1 : n;
}

static int find_last(struct audit *audit, int64_t n, char ret[ULID_LEN + 1], struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(audit, err,
		"SELECT id FROM runs ORDER BY id DESC LIMIT 1 OFFSET ?1", "i", n);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc < 0)
		return -1;
	if (!rc)
		return error_set(err, ERR_USAGE, n ? "the log has not so many runs" :
				 "the log has no run yet");
	strncat(strcpy(ret, ""), db_column(stmt, 0), ULID_LEN);
	return 0;
}

/* Crockford's base32 is read without regard to case; false when which is no part of an id. */
static bool id_part(const char *which, char ret[ULID_LEN + 1])
{
	size_t len = strlen(which);

	if (len < FIND_MIN_LEN || len > ULID_LEN)
		return false;
	for (size_t i = 0; i <= len; i++) {
		if (which[i] && !isalnum((unsigned char)which[i]))
			return false;
		ret[i] = (char)toupper((unsigned char)which[i]);
	}
	return true;
}

static int ambiguous(const char *which, const struct buf *names, struct error *err)
{
	return error_set(err, ERR_USAGE, "\"%s\" fits several runs:%s", which, names->data);
}

static int find_part(struct audit *audit, const char *which, char ret[ULID_LEN + 1],
		     struct error *err)
{
	cleanup_buf struct buf names = BUF_INIT(4096);
	char part[ULID_LEN + 1];
	sqlite3_stmt *stmt;
	int count = 0, rc;

	if (!id_part(which, part))
		return error_set(err, ERR_USAGE, "\"%s\" is no run (an id, at least %d characters "
				 "of its beginning or end, last, or last~N)", which, FIND_MIN_LEN);
	stmt = db_query(audit, err, "SELECT id FROM runs WHERE id BETWEEN ?1 AND ?1 || '~'"
			" UNION SELECT id FROM runs WHERE substr(id, -length(?1)) = ?1"
			" ORDER BY id DESC LIMIT ?2", "ti", part, (int64_t)CANDIDATES_MAX);
	if (!stmt)
		return -1;
	while ((rc = db_step(audit, stmt, err)) > 0) {
		const char *id = db_column(stmt, 0);

		buf_addf(&names, " %s", id);
		strncat(strcpy(ret, ""), id, ULID_LEN);
		count++;
	}
	if (rc < 0)
		return -1;
	if (!count)
		return error_set(err, ERR_USAGE, "the log has no run \"%s\"", which);
	return count > 1 ? ambiguous(which, &names, err) : 0;
}

int audit_find(struct audit *audit, const char *which, struct audit_row *ret, struct error *err)
{
	int64_t last = parse_last(which);
	char id[ULID_LEN + 1];
	int rc;

	rc = last >= 0 ? find_last(audit, last, id, err) : find_part(audit, which, id, err);
	if (rc < 0)
		return -1;
	rc = load_row(audit, id, ret, err);
	if (!rc)
		return error_set(err, ERR_USAGE, "run %s was removed meanwhile", id);
	return rc < 0 ? -1 : 0;
}

/* --- list --- */

struct id_list {
	char (*ids)[ULID_LEN + 1];	/* owned */
	size_t count;
};

/* The ids first, then row by row: no lock is held and no statement open while
 * the caller looks at a row, so that it may remove it or take its time. */
static int list_ids(struct audit *audit, sqlite3_stmt *stmt, struct id_list *list,
		    struct error *err)
{
	size_t cap = 0;
	int rc;

	while ((rc = db_step(audit, stmt, err)) > 0) {
		if (list->count == cap) {
			cap = cap * 2 + 32;
			list->ids = mem_array(list->ids, cap, sizeof(*list->ids));
		}
		list->ids[list->count][0] = '\0';
		strncat(list->ids[list->count++], db_column(stmt, 0),
			ULID_LEN);
	}
	return rc;
}

#define LIST_WHERE                                                            \
	" WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR kind = ?2)"    \
	" AND (?3 IS NULL OR id IN (SELECT run_id FROM tags WHERE tag = ?3))" \
	" AND (?4 IS NULL OR session = ?4) AND (?5 IS NULL OR item = ?5)"     \
	" AND (?6 IS NULL OR replay_of = ?6) AND started_at_ms >= ?7"
#define LIST_ORDER " ORDER BY id DESC LIMIT ?8"

static sqlite3_stmt *list_query(struct audit *audit, const struct audit_filter *f,
				const char *match, struct error *err)
{
	const int64_t limit = f->limit ? f->limit : -1;

	if (!match)
		return db_query(audit, err, "SELECT id FROM runs" LIST_WHERE LIST_ORDER, "ttttttii",
				f->status, f->kind, f->tag, f->session, f->item, f->replay_of,
				f->since_ms, limit);
	return db_query(audit, err, "SELECT id FROM runs" LIST_WHERE " AND id IN (SELECT run_id"
			" FROM search_rows WHERE rowid IN (SELECT rowid FROM search WHERE search"
			" MATCH ?9))" LIST_ORDER, "ttttttiit", f->status, f->kind, f->tag,
			f->session, f->item, f->replay_of, f->since_ms, limit, match);
}

static int list_each(struct audit *audit, const struct id_list *list,
		     int (*each)(void *self, const struct audit_row *row), void *self,
		     struct error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		struct audit_row row;
		int rc = load_row(audit, list->ids[i], &row, err);
		int stop;

		if (rc < 0)
			return -1;
		if (!rc)
			continue;
		stop = each(self, &row);
		audit_row_release(&row);
		if (stop)
			break;
	}
	return 0;
}

int audit_list(struct audit *audit, const struct audit_filter *filter,
	       int (*each)(void *self, const struct audit_row *row), void *self,
	       struct error *err)
{
	cleanup_free char *match = filter->match ? search_query(filter->match) : NULL;
	struct id_list list = { 0 };
	sqlite3_stmt *stmt;
	int rc;

	if (filter->match && !match)
		return 0;
	stmt = list_query(audit, filter, match, err);
	rc = stmt ? list_ids(audit, stmt, &list, err) : -1;
	if (!rc)
		rc = list_each(audit, &list, each, self, err);
	free(list.ids);
	return rc;
}

/* --- events and blobs --- */

struct event_text {
	char *stage, *phase;
};

static void event_text_release(struct event_text *text)
{
	free(text->stage);
	free(text->phase);
}

/* The event after seq: 1 and *record filled, 0 at the end, -1. */
static int next_event(struct audit *audit, const char *run, int64_t seq,
		      struct audit_record *record, struct event_text *text, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(audit, err,
		"SELECT seq, at_ms, stage, attempt, phase, data_json FROM events"
		" WHERE run_id = ?1 AND seq > ?2 ORDER BY seq LIMIT 1", "ti", run, seq);
	int rc = stmt ? db_step(audit, stmt, err) : -1;
	struct json *data;

	if (rc <= 0)
		return rc;
	data = json_parse(db_column(stmt, 5),
			  (size_t)sqlite3_column_bytes(stmt, 5), JSON_BIG_AS_STRING, err);
	if (!data) {
		err->kind = ERR_LOG;
		return error_wrap(err, "audit log %s: run %s event %lld", audit->path, run,
				  (long long)sqlite3_column_int64(stmt, 0));
	}
	*text = (struct event_text){ db_text(stmt, 2), db_text(stmt, 4) };
	*record = (struct audit_record){
		.seq = sqlite3_column_int64(stmt, 0), .at_ms = sqlite3_column_int64(stmt, 1),
		.stage = text->stage, .phase = text->phase,
		.attempt = (int)sqlite3_column_int64(stmt, 3), .data = data,
	};
	return 1;
}

int audit_events(struct audit *audit, const char *run,
		 int (*each)(void *self, struct audit_record *record), void *self,
		 struct error *err)
{
	struct audit_record record = { 0 };
	int64_t seq = -1;
	int rc, stop;

	do {
		__attribute__((cleanup(event_text_release))) struct event_text text = { 0 };

		rc = next_event(audit, run, seq, &record, &text, err);
		if (rc <= 0)
			return rc;
		seq = record.seq;
		stop = each(self, &record);
		json_free(record.data);
	} while (!stop);
	return 0;
}

int audit_blob(struct audit *audit, const char *sha256, struct buf *out, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(audit, err,
		"SELECT body FROM blobs WHERE sha256 = ?1", "t", sha256);
	int rc = stmt ? db_step(audit, stmt, err) : -1;
	char found[HASH_HEX_LEN + 1];
	const void *bytes;
	size_t len;

	if (rc < 0)
		return -1;
	if (!rc || sqlite3_column_type(stmt, 0) == SQLITE_NULL)
		return error_set(err, ERR_LOG, "audit log %s: blob %s %s", audit->path, sha256,
				 rc ? "was purged" : "is missing");
	bytes = sqlite3_column_blob(stmt, 0);
	len = (size_t)sqlite3_column_bytes(stmt, 0);
	hash_sha256(len ? bytes : "", len, found);
	if (strcmp(found, sha256))
		return error_set(err, ERR_LOG, "audit log %s: blob %s is not what was written",
				 audit->path, sha256);
	if (buf_add(out, len ? bytes : "", len) < 0)
		return error_set(err, ERR_LOG, "audit log %s: blob %s has %zu bytes, more than is "
				 "allowed here", audit->path, sha256, len);
	return 0;
}

int audit_blob_of(struct audit *audit, const struct json *data, const char *name, struct buf *out,
		  struct error *err)
{
	const char *sha256 = json_get_string(json_get(data, name), "sha256");

	if (!sha256)
		return error_set(err, ERR_LOG, "audit log %s: the event refers to no blob \"%s\"",
				 audit->path, name);
	return audit_blob(audit, sha256, out, err);
}
