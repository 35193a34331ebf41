/*
 * Reading: runs by name, their events, and blobs by hash. It changes nothing,
 * and trusts nothing that it reads.
 */
#include "audit/query.h"

#include "audit/blob.h"
#include "audit/db.h"
#include "audit/event.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FIND_MIN_LEN   4
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

/* As blob_body; an owned string, NULL when there is none. */
static char *text_of(sqlite3_stmt *stmt, int column, size_t *ret_len)
{
	cleanup_buf struct buf text = BUF_INIT(SIZE_MAX / 2);

	return blob_body(stmt, column, &text) > 0 ? buf_take(&text, ret_len) : NULL;
}

static struct json *parse_config(sqlite3_stmt *stmt, int column)
{
	struct error ignored = ERROR_INIT;
	size_t len;
	cleanup_free char *text = text_of(stmt, column, &len);

	return text ? json_parse(text, len, 0, &ignored) : NULL;
}

static int64_t int_or(sqlite3_stmt *stmt, int column, int64_t otherwise)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL ?
		       otherwise :
		       sqlite3_column_int64(stmt, column);
}

static void fill_row(sqlite3_stmt *stmt, struct audit_row *ret)
{
	*ret = (struct audit_row){
		.started_ms = sqlite3_column_int64(stmt, 1),
		.ended_ms = int_or(stmt, 2, 0),
		.kind = db_text(stmt, 3),
		.status = db_text(stmt, 4),
		.level = db_text(stmt, 5),
		.reason = db_text(stmt, 6),
		.provider = db_text(stmt, 7),
		.model = db_text(stmt, 8),
		.item = db_text(stmt, 9),
		.replay_of = db_text(stmt, 10),
		.session = db_text(stmt, 11),
		.exit_code = sqlite3_column_type(stmt, 12) == SQLITE_NULL ?
				     -1 :
				     (int)sqlite3_column_int64(stmt, 12),
		.attempts = (int)sqlite3_column_int64(stmt, 13),
		.input_tokens = sqlite3_column_int64(stmt, 14),
		.output_tokens = sqlite3_column_int64(stmt, 15),
		.cost_micro_usd = int_or(stmt, 16, -1),
		.config = parse_config(stmt, 23),
	};
	strncat(ret->id, db_column(stmt, 0), ULID_LEN);
	ret->prompt = text_of(stmt, 17, &ret->prompt_len);
	ret->answer = text_of(stmt, 20, &ret->answer_len);
}

/* 1 and *ret filled, 0 when there is no such run, -1. */
int query_row(struct audit *audit, const char *run, struct audit_row *ret, struct error *err)
{
	sqlite3_stmt *stmt = db_query(
		audit, err,
		"SELECT r.id, r.started_at_ms, r.ended_at_ms, r.kind, r.status, r.level, r.reason,"
		" r.provider, r.model, r.item, r.replay_of, r.session, r.exit_code, r.attempts,"
		" r.input_tokens, r.output_tokens, r.cost_micro_usd, p.body, p.deflated, p.size,"
		" a.body, a.deflated, a.size, c.body, c.deflated, c.size"
		" FROM runs r LEFT JOIN blobs p ON p.no = r.prompt"
		" LEFT JOIN blobs a ON a.no = r.answer"
		" LEFT JOIN blobs c ON c.no = r.config WHERE r.id = ?1",
		"t", run);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc <= 0)
		return rc;
	fill_row(stmt, ret);
	sqlite3_reset(stmt);
	return 1;
}

int query_no(struct audit *audit, const char *run, int64_t *ret, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err, "SELECT no FROM runs WHERE id = ?1", "t", run);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc > 0)
		*ret = sqlite3_column_int64(stmt, 0);
	return rc;
}

/* --- find --- */

/* "last" and "last~N": N, or -1 when which is neither. */
static int64_t parse_last(const char *which)
{
	if (strncmp(which, "last", 4))
		return -1;
	if (!which[4])
		return 0;
	if (which[4] != '~' || !isdigit((unsigned char)which[5]))
		return -1;
	char *end;
	long long n = strtoll(which + 5, &end, 10);
	return *end ? -1 : n;
}

/* Replays are found by their ids: the last run is one that somebody asked for. */
static int find_last(struct audit *audit, int64_t n, char ret[ULID_LEN + 1], struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(
		audit, err,
		"SELECT id FROM runs WHERE replay_of IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?1",
		"i", n);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc < 0)
		return -1;
	if (!rc)
		return error_set(err, ERR_USAGE,
				 n ? "the log has not so many runs" : "the log has no run yet");
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

	if (!id_part(which, part))
		return error_set(err, ERR_USAGE,
				 "\"%s\" is no run (an id, at least %d characters "
				 "of its beginning or end, last, or last~N)",
				 which, FIND_MIN_LEN);
	sqlite3_stmt *stmt =
		db_query(audit, err,
			 "SELECT id FROM runs WHERE id BETWEEN ?1 AND ?1 || '~'"
			 " UNION SELECT id FROM runs WHERE length(?1) < 26 AND"
			 " substr(id, -4) = substr(?1, -4) AND substr(id, -length(?1)) = ?1"
			 " ORDER BY id DESC LIMIT ?2",
			 "ti", part, (int64_t)CANDIDATES_MAX);
	if (!stmt)
		return -1;
	int count = 0, rc;
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

	int rc = last >= 0 ? find_last(audit, last, id, err) : find_part(audit, which, id, err);
	if (rc < 0)
		return -1;
	rc = query_row(audit, id, ret, err);
	if (!rc)
		return error_set(err, ERR_USAGE, "run %s was removed meanwhile", id);
	return rc < 0 ? -1 : 0;
}

/* --- events and blobs --- */

/* One that the caller looks at, with what its strings are in. */
struct shown {
	struct buf text;
	char *stage, *phase;
};

static void shown_release(struct shown *shown)
{
	buf_release(&shown->text);
	free(shown->stage);
	free(shown->phase);
}

static int parse_event(struct audit *audit, const struct chain_event *e, struct shown *shown,
		       struct audit_record *record, struct error *err)
{
	struct json *data = json_parse(e->data, strlen(e->data), JSON_BIG_AS_STRING, err);

	if (!data) {
		err->kind = ERR_LOG;
		return error_wrap(err, "audit log %s: run %s event %lld", audit->path, e->run,
				  (long long)e->seq);
	}
	shown->stage = mem_strdup(e->stage);
	shown->phase = mem_strdup(e->phase);
	*record = (struct audit_record){
		.seq = e->seq,
		.at_ms = e->at_ms,
		.stage = shown->stage,
		.phase = shown->phase,
		.attempt = (int)e->attempt,
		.data = data,
	};
	return 1;
}

/* The event after place, which goes on: 1 and *record filled, 0 at the end, -1. */
static int next_event(struct audit *audit, const char *run, int64_t *place, int64_t end,
		      struct audit_record *record, struct shown *shown, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 EVENT_COLUMNS
			 " WHERE e.place > ?1 AND e.place < ?2 ORDER BY e.place LIMIT 1",
			 "ii", *place, end);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc <= 0)
		return rc;
	*place = sqlite3_column_int64(stmt, 0);
	struct chain_event event;
	if (event_of_row(audit, stmt, run, &shown->text, &event, err) < 0)
		return -1;
	return parse_event(audit, &event, shown, record, err);
}

int audit_events(struct audit *audit, const char *run,
		 int (*each)(void *self, struct audit_record *record), void *self,
		 struct error *err)
{
	struct audit_record record = { 0 };
	int64_t no;
	int rc = query_no(audit, run, &no, err);

	if (rc <= 0)
		return rc;
	int64_t place = EVENT_PLACE(no, 0);
	int64_t end = EVENT_PLACE(no + 1, 0);
	int stop;
	do {
		__attribute__((cleanup(
			shown_release))) struct shown shown = { .text = BUF_INIT(SIZE_MAX / 2) };

		rc = next_event(audit, run, &place, end, &record, &shown, err);
		if (rc <= 0)
			return rc;
		stop = each(self, &record);
		json_free(record.data);
	} while (!stop);
	return 0;
}

static int missing(const struct audit *audit, const char *sha256, const char *how,
		   struct error *err)
{
	return error_set(err, ERR_LOG, "audit log %s: blob %s %s", audit->path, sha256, how);
}

int audit_blob(struct audit *audit, const char *sha256, struct buf *out, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 "SELECT body, deflated, size FROM blobs b WHERE " BLOB_IS("b", "?1"), "t",
			 sha256);
	int rc = stmt ? db_step(audit, stmt, err) : -1;
	cleanup_buf struct buf bytes = BUF_INIT(out->max - out->len);

	if (rc < 0)
		return -1;
	if (!rc || sqlite3_column_type(stmt, 0) == SQLITE_NULL)
		return missing(audit, sha256, rc ? "was purged" : "is missing", err);
	if ((size_t)sqlite3_column_int64(stmt, 2) > bytes.max ||
	    (size_t)sqlite3_column_bytes(stmt, 0) > bytes.max)
		return error_set(err, ERR_LOG,
				 "audit log %s: blob %s has %lld bytes, more than is "
				 "allowed here",
				 audit->path, sha256, (long long)sqlite3_column_int64(stmt, 2));
	rc = blob_body(stmt, 0, &bytes);
	char found[HASH_HEX_LEN + 1];
	hash_sha256(bytes.data, bytes.len, found);
	if (rc < 0 || strcmp(found, sha256))
		return error_set(err, ERR_LOG, "audit log %s: blob %s is not what was written",
				 audit->path, sha256);
	buf_add(out, bytes.data, bytes.len);
	return 0;
}

/* NULL: the event has none of that name. */
static const char *blob_named(struct audit *audit, const struct json *data, const char *name,
			      struct error *err)
{
	const char *sha256 = json_get_string(json_get(data, name), "sha256");

	if (!sha256)
		error_set(err, ERR_LOG, "audit log %s: the event refers to no blob \"%s\"",
			  audit->path, name);
	return sha256;
}

int audit_blob_of(struct audit *audit, const struct json *data, const char *name, struct buf *out,
		  struct error *err)
{
	const char *sha256 = blob_named(audit, data, name, err);

	return sha256 ? audit_blob(audit, sha256, out, err) : -1;
}

int audit_blob_redactions(struct audit *audit, const struct json *data, const char *name,
			  int64_t *ret, struct error *err)
{
	const char *sha256 = blob_named(audit, data, name, err);
	cleanup_stmt sqlite3_stmt *stmt =
		sha256 ? db_query(audit, err,
				  "SELECT redactions FROM blobs b WHERE " BLOB_IS("b", "?1"), "t",
				  sha256) :
			 NULL;
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc > 0)
		*ret = sqlite3_column_int64(stmt, 0);
	return rc > 0 ? 0 : rc < 0 ? -1 : missing(audit, sha256, "is missing", err);
}
