/*
 * What is written can be read, found, searched, counted, verified and removed. What goes wrong with
 * the file is test_audit_failure.c's, what is redacted test_audit_redact*.c's.
 */
#include "test_audit_fixture.h"

#include "base/hash.h"

#include "audit/search.h"

#include <sqlite3.h>
#include <sys/stat.h>

/* Changes the file behind the log's back. */
static void tamper(const struct fixture *f, const char *sql)
{
	sqlite3 *db;
	char *message = NULL;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
	assert_int_not_equal(sqlite3_changes(db), 0);
	sqlite3_close(db);
}

static char *query_text(const struct fixture *f, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *stmt;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	char *text = sqlite3_step(stmt) == SQLITE_ROW ?
			     mem_strdup((const char *)sqlite3_column_text(stmt, 0)) :
			     NULL;
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return text;
}

static void assert_query(const struct fixture *f, const char *sql, const char *expected)
{
	cleanup_free char *text = query_text(f, sql);

	assert_non_null(text);
	assert_string_equal(text, expected);
}

static int count_row(void *self, const struct audit_row *row)
{
	int *count = self;

	(void)row;
	++*count;
	return 0;
}

static int count_list(struct audit *audit, const struct audit_filter *filter)
{
	struct error err = ERROR_INIT;
	int count = 0;

	assert_ok(audit_list(audit, filter, count_row, &count, &err), err);
	return count;
}

static void assert_bad(const struct fixture *f, const char *run, const char *expected)
{
	cleanup_audit struct audit *audit = fixture_open(f);
	cleanup_free char *bad = NULL;
	struct error err = ERROR_INIT;

	assert_ok(audit_verify(audit, run, &bad, &err), err);
	if (!expected) {
		if (bad)
			fail_msg("not intact: %s", bad);
		return;
	}
	assert_non_null(bad);
	if (!strstr(bad, expected))
		fail_msg("\"%s\" is not in \"%s\"", expected, bad);
}

static void test_round_trip(void **state)
{
	cleanup_audit struct audit *audit = fixture_open(*state);
	struct error err = ERROR_INIT;
	struct audit_row row = { 0 };
	char id[ULID_LEN + 1];

	fixture_run(audit, "what is the sum?", "45\n", id);
	assert_ok(audit_find(audit, "last", &row, &err), err);
	assert_string_equal(row.id, id);
	assert_string_equal(row.status, "success");
	assert_string_equal(row.level, "checked");
	assert_string_equal(row.prompt, "what is the sum?");
	assert_string_equal(row.answer, "the answer");
	assert_int_equal(row.answer_len, 10);
	assert_int_equal(row.cost_micro_usd, -1);
	assert_int_equal(row.output_tokens, 20);
	assert_null(row.session);
	assert_true(row.ended_ms >= row.started_ms && row.started_ms > 0);
	assert_int_equal(json_type(row.config), JSON_OBJECT);
	audit_row_release(&row);
}

struct seen {
	struct audit *audit;
	int count;
	char stages[256];
	char output[64];
};

static int see_event(void *self, struct audit_record *record)
{
	struct seen *seen = self;
	size_t at = strlen(seen->stages);

	seen->count++;
	assert_int_equal(record->seq, seen->count);
	snprintf(seen->stages + at, sizeof(seen->stages) - at, "%s.%s ", record->stage,
		 record->phase);
	if (json_get(record->data, "stdout")) {
		struct error err = ERROR_INIT;
		cleanup_buf struct buf bytes = BUF_INIT(1000);

		assert_ok(audit_blob_of(seen->audit, record->data, "stdout", &bytes, &err), err);
		snprintf(seen->output, sizeof(seen->output), "%s", bytes.data);
		assert_int_equal(json_get_int(json_get(record->data, "stdout"), "size", 0),
				 bytes.len);
	}
	return 0;
}

static void test_events_and_blobs(void **state)
{
	cleanup_audit struct audit *audit = fixture_open(*state);
	struct seen seen = { .audit = audit };
	cleanup_buf struct buf bytes = BUF_INIT(1000);
	struct error err = ERROR_INIT;
	char id[ULID_LEN + 1];

	fixture_run(audit, "q", "45\n", id);
	assert_ok(audit_events(audit, id, see_event, &seen, &err), err);
	assert_string_equal(seen.stages, "execute.started execute.done verify.done ");
	assert_string_equal(seen.output, "45\n");
	assert_int_equal(audit_blob(audit, "00", &bytes, &err), -1);
	assert_int_equal(err.kind, ERR_LOG);
	assert_non_null(strstr(err.message, "missing"));
}

static void test_find(void **state)
{
	cleanup_audit struct audit *audit = fixture_open(*state);
	struct error err = ERROR_INIT;
	struct audit_row row = { 0 };
	char first[ULID_LEN + 1];

	assert_int_equal(audit_find(audit, "last", &row, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	fixture_run(audit, "one", "1", first);
	char second[ULID_LEN + 1];
	fixture_run(audit, "two", "2", second);
	assert_ok(audit_find(audit, "last~1", &row, &err), err);
	assert_string_equal(row.id, first);
	audit_row_release(&row);
	assert_ok(audit_find(audit, second + 18, &row, &err), err);
	assert_string_equal(row.id, second);
	audit_row_release(&row);
	char part[ULID_LEN + 1];
	for (size_t i = 0; i <= ULID_LEN; i++)
		part[i] = first[i] >= 'A' ? (char)(first[i] + 32) : first[i];
	assert_ok(audit_find(audit, part, &row, &err), err);
	audit_row_release(&row);
	snprintf(part, sizeof(part), "%.6s", first);
	assert_int_equal(audit_find(audit, part, &row, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.message, first));
	assert_non_null(strstr(err.message, second));
	assert_int_equal(audit_find(audit, "last~2", &row, &err), -1);
	assert_int_equal(audit_find(audit, "%%%%", &row, &err), -1);
	assert_int_equal(audit_find(audit, "' OR 1 --", &row, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
}

static void test_list_filters(void **state)
{
	cleanup_audit struct audit *audit = fixture_open(*state);
	static const char *const tags[] = { "keep", NULL };
	struct audit_run tagged = { .kind = "ask", .prompt = "two", .prompt_len = 3, .tags = tags };
	struct error err = ERROR_INIT;
	char id[ULID_LEN + 1];

	fixture_run(audit, "one", "1", id);
	ulid_new(clock_wall_ms(), tagged.id);
	assert_ok(audit_run_begin(audit, &tagged, &err), err);
	fixture_commit(audit);
	assert_int_equal(count_list(audit, &(struct audit_filter){ 0 }), 2);
	assert_int_equal(count_list(audit, &(struct audit_filter){ .limit = 1 }), 1);
	assert_int_equal(count_list(audit, &(struct audit_filter){ .status = "started" }), 1);
	assert_int_equal(count_list(audit, &(struct audit_filter){ .tag = "keep" }), 1);
	assert_int_equal(count_list(audit, &(struct audit_filter){ .tag = "' OR ''='" }), 0);
	assert_int_equal(
		count_list(audit, &(struct audit_filter){ .since_ms = clock_wall_ms() + 1000 }), 0);
}

static void test_search(void **state)
{
	cleanup_audit struct audit *audit = fixture_open(*state);
	static const char *const hostile[] = {
		"\"", "'",    "a AND", "NEAR(", "col:x", "*",	 "^a",	 "a - b", "(",
		"-",  "a\"b", "{a}",   "NOT",	"OR OR", "\"\"", "a*b*", "+",	  "\xff\xfe",
	};
	char id[ULID_LEN + 1];

	fixture_begin(audit, "naive and without an end", id);
	fixture_commit(audit);
	fixture_run(audit, "Naïve über sorting", "45\n", id);
	assert_int_equal(count_list(audit, &(struct audit_filter){ .match = "naive" }), 1);
	assert_int_equal(count_list(audit, &(struct audit_filter){ .match = "sort*" }), 1);
	assert_int_equal(count_list(audit, &(struct audit_filter){ .match = "sort" }), 0);
	assert_int_equal(count_list(audit, &(struct audit_filter){ .match = "uber fortyfive" }), 1);
	assert_int_equal(count_list(audit, &(struct audit_filter){ .match = "\"uber sorting\"" }),
			 1);
	assert_int_equal(count_list(audit, &(struct audit_filter){ .match = "\"sorting uber\"" }),
			 0);
	assert_int_equal(count_list(audit, &(struct audit_filter){ .match = "sum(range(10))" }), 1);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		assert_true(count_list(audit, &(struct audit_filter){ .match = hostile[i] }) <= 1);
}

static void test_verify_finds_changes(void **state)
{
	static const struct {
		const char *sql, *expected;
	} cases[] = {
		{ "UPDATE events SET data = 'x' WHERE place & 15 = 2", "event 2" },
		{ "UPDATE events SET at_ms = at_ms + 1 WHERE place & 15 = 1", "event 1" },
		{ "UPDATE events SET stage = 'x' WHERE place & 15 = 3", "event 3" },
		{ "DELETE FROM events WHERE place & 15 = 2", "event 2 is missing" },
		{ "DELETE FROM events WHERE place & 15 = 3", "after 3 events, 2 are there" },
		{ "DELETE FROM events", "after 3 events, 0 are there" },
		{ "UPDATE events SET place = place + 28 WHERE place & 15 = 2;"
		  "UPDATE events SET place = place - 1 WHERE place & 15 = 3;"
		  "UPDATE events SET place = place - 27 WHERE place & 31 = 30",
		  "event 2" },
		{ "UPDATE blobs SET body = CAST('46' || char(10) AS BLOB)"
		  " WHERE CAST(body AS TEXT) LIKE '45_'",
		  "is not what was written" },
		{ "PRAGMA foreign_keys=OFF;DELETE FROM refs;DELETE FROM blobs WHERE"
		  " CAST(body AS TEXT) LIKE '45_'",
		  "event 2" },
		{ "PRAGMA foreign_keys=OFF;DELETE FROM blobs WHERE CAST(body AS TEXT) LIKE '45_'",
		  "is missing" },
		{ "UPDATE blobs SET body = NULL", "was purged" },
		{ "UPDATE runs SET level = 'expected'", "result is not what was written" },
		{ "UPDATE runs SET model = 'other'", "opening fields" },
		{ "UPDATE runs SET prompt = answer", "opening fields" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct audit *audit = fixture_open(f);
		char id[ULID_LEN + 1];

		fixture_run(audit, "q", "45\n", id);
		audit_close(audit);
		assert_bad(f, id, NULL);
		tamper(f, cases[i].sql);
		assert_bad(f, id, cases[i].expected);
		unlink(f->path);
	}
}

static void test_views(void **state)
{
	struct fixture *f = *state;
	cleanup_audit struct audit *audit = fixture_open(f);
	char id[ULID_LEN + 1];

	fixture_begin(audit, "q", id);
	fixture_event(audit, id, "code", "done",
		      "{\"stop_reason\":\"stop\",\"model\":\"m1\","
		      "\"usage\":{\"input_tokens\":7,\"source\":\"reported\"},\"tries\":[{},{}]}",
		      NULL);
	fixture_event(audit, id, "screen", "done",
		      "{\"verdict\":\"deny\",\"findings\":["
		      "{\"rule\":\"py.a\",\"action\":\"warn\"},{\"rule\":\"py.b\","
		      "\"action\":\"deny\"}]}",
		      NULL);
	fixture_event(audit, id, "execute", "done",
		      "{\"outcome\":\"timeout_wall\","
		      "\"metrics\":{\"wall_ms\":9.5},\"environment\":{\"language\":\"python\"},"
		      "\"artifacts\":[{\"path\":\"p.png\",\"kept\":true}]}",
		      "out");
	fixture_event(audit, id, "verify", "done",
		      "{\"checks\":[{\"kind\":\"regex\","
		      "\"verdict\":\"fail\"}],\"level\":\"ran\"}",
		      NULL);
	fixture_end(audit, id, "a");
	assert_query(f, "SELECT stage||model||input_tokens||tries FROM v_calls", "codem172");
	assert_query(f, "SELECT group_concat(rule||action) FROM v_findings", "py.awarn,py.bdeny");
	assert_query(f, "SELECT outcome||wall_ms||language||stdout FROM v_executions",
		     "timeout_wall9.5pythonout");
	assert_query(f, "SELECT kind||verdict||level FROM v_checks", "regexfailran");
	assert_query(f, "SELECT path||kept FROM v_artifacts", "p.png1");
	assert_query(f, "SELECT status||prompt||answer FROM v_runs", "successqa");
	assert_query(f, "PRAGMA integrity_check", "ok");
}

static size_t scan_all(const struct fixture *f, const char *what)
{
	cleanup_free char *journal = mem_printf("%s-journal", f->path);
	cleanup_free char *wal = mem_printf("%s-wal", f->path);

	return fixture_scan(f->path, what) + fixture_scan(journal, what) + fixture_scan(wal, what);
}

static void test_remove_leaves_nothing(void **state)
{
	static const char *const marks[] = { "zebrafishprompt", "walrusoutput", "quaggaanswer" };
	struct fixture *f = *state;
	cleanup_audit struct audit *audit = fixture_open(f);
	struct error err = ERROR_INIT;
	char keep[ULID_LEN + 1], gone[ULID_LEN + 1];

	fixture_run(audit, "keepme", "shared output", keep);
	fixture_begin(audit, "about zebrafishprompt", gone);
	fixture_event(audit, gone, "execute", "done", "{\"x\":\"walrusoutput in data\"}",
		      "walrusoutput in a blob");
	fixture_event(audit, gone, "execute", "done", "{}", "shared output");
	fixture_end(audit, gone, "quaggaanswer");
	char more[ULID_LEN + 1];
	fixture_run(audit, "more", "more", more);
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		assert_true(scan_all(f, marks[i]) > 0);
	assert_ok(fixture_remove(audit, gone, &err), err);
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		assert_int_equal(scan_all(f, marks[i]), 0);
	/* But that there was such a run: when it ended, and when it was removed. */
	assert_query(f, "SELECT group_concat(act) FROM ledger WHERE run = 2", "ended,removed");
	assert_int_equal(count_list(audit, &(struct audit_filter){ 0 }), 2);
	assert_int_equal(count_list(audit, &(struct audit_filter){ .match = marks[0] }), 0);
	assert_int_equal(fixture_remove(audit, gone, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_bad(f, keep, NULL);
	assert_bad(f, more, NULL);
	assert_query(f, "PRAGMA integrity_check", "ok");
	assert_query(f, "SELECT count(*) FROM pragma_foreign_key_check", "0");
}

/* Long JSON is deflated, and what is shared lies there once. */
static void test_small(void **state)
{
	static const char data[] = "{\"isolation\":{\"a\":1},\"environment\":{\"version\":\"3\"}}";
	struct fixture *f = *state;
	struct audit *audit = fixture_open(f);
	cleanup_buf struct buf long_json = BUF_INIT(10000), found = BUF_INIT(10000);
	struct error err = ERROR_INIT;
	char id[ULID_LEN + 1];

	for (int i = 0; i < 400; i++)
		buf_addf(&long_json, "%s%d", i ? "," : "[", i);
	buf_addstr(&long_json, "]");
	fixture_begin(audit, "q", id);
	for (int i = 0; i < 3; i++)
		fixture_event(audit, id, "execute", "done", data, NULL);
	assert_ok(
		audit_append(audit, id,
			     &(struct audit_event){
				     .stage = "code",
				     .phase = "done",
				     .blobs = &(struct audit_blob){ "messages", "application/json",
								    long_json.data, long_json.len },
				     .blob_count = 1 },
			     &err),
		err);
	fixture_end(audit, id, "a");
	char sha256[HASH_HEX_LEN + 1];
	hash_sha256(long_json.data, long_json.len, sha256);
	assert_ok(audit_blob(audit, sha256, &found, &err), err);
	assert_string_equal(found.data, long_json.data);
	audit_close(audit);
	assert_query(f, "SELECT count(*) FROM objects", "2");
	assert_query(f, "SELECT max(size > 1400 AND length(body) < 900) FROM blobs WHERE deflated",
		     "1");
	assert_query(
		f,
		"SELECT group_concat(isolation || environment) FROM"
		" (SELECT isolation, coalesce(environment, '') AS environment FROM v_executions"
		" UNION ALL SELECT data_json, '' FROM v_events WHERE seq = 2)",
		data);
	assert_bad(f, id, NULL);
}

struct pruner {
	struct audit *audit;
	int removed;
};

static int prune(void *self, const struct audit_row *row)
{
	struct pruner *p = self;
	struct error err = ERROR_INIT;

	assert_ok(fixture_remove(p->audit, row->id, &err), err);
	p->removed++;
	return 0;
}

static void test_prune_while_listing_shrinks(void **state)
{
	struct fixture *f = *state;
	cleanup_audit struct audit *audit = fixture_open(f);
	struct pruner pruner = { audit, 0 };
	struct error err = ERROR_INIT;
	cleanup_free char *big = mem_alloc(200001);
	struct stat before;

	for (char c = 'a'; c < 'f'; c++) {
		char id[ULID_LEN + 1];

		memset(big, c, 200000);
		fixture_run(audit, "q", big, id);
	}
	audit_close(audit);
	assert_int_equal(stat(f->path, &before), 0);
	pruner.audit = audit = fixture_open(f);
	assert_ok(audit_list(audit, &(struct audit_filter){ .limit = 4 }, prune, &pruner, &err),
		  err);
	assert_int_equal(pruner.removed, 4);
	struct stat after;
	assert_int_equal(stat(f->path, &after), 0);
	assert_true(after.st_size < before.st_size / 2);
	assert_query(f, "PRAGMA integrity_check", "ok");
}

static void test_chain_survives_reopening(void **state)
{
	struct fixture *f = *state;
	struct audit *audit = fixture_open(f);
	char id[ULID_LEN + 1];

	fixture_begin(audit, "q", id);
	fixture_event(audit, id, "plan", "started", NULL, NULL);
	fixture_commit(audit);
	fixture_event(audit, id, "plan", "done", NULL, NULL);
	audit_close(audit);
	assert_bad(f, id, NULL);
	audit = fixture_open(f);
	fixture_event(audit, id, "plan", "done", "{\"again\":true}", NULL);
	fixture_end(audit, id, "a");
	audit_close(audit);
	assert_bad(f, id, NULL);
	assert_query(f, "SELECT count(*) FROM events", "2");
}

static void test_ended_run_is_closed(void **state)
{
	cleanup_audit struct audit *audit = fixture_open(*state);
	const struct audit_event event = { .stage = "plan", .phase = "note" };
	struct error err = ERROR_INIT;
	char id[ULID_LEN + 1];

	fixture_run(audit, "q", "1", id);
	assert_int_equal(audit_append(audit, id, &event, &err), -1);
	assert_int_equal(err.kind, ERR_LOG);
	assert_non_null(strstr(err.message, "has ended"));
	/* Sticky: nothing goes on until a run begins anew. */
	assert_int_equal(audit_commit(audit, &err), -1);
	fixture_run(audit, "again", "1", id);
	assert_int_equal(audit_append(audit, "01NOSUCHRUN", &event, &err), -1);
	assert_non_null(strstr(err.message, "is not there"));
}

static void test_backup(void **state)
{
	struct fixture *f = *state;
	struct fixture copy = *f;
	struct audit *audit = fixture_open(f);
	struct error err = ERROR_INIT;
	char id[ULID_LEN + 1];

	snprintf(copy.path, sizeof(copy.path), "%s/copy.db", f->folder);
	fixture_run(audit, "q", "1", id);
	assert_ok(audit_backup(audit, copy.path, &err), err);
	assert_int_equal(audit_backup(audit, copy.path, &err), -1);
	assert_int_equal(err.kind, ERR_LOG);
	audit_close(audit);
	struct stat st;
	assert_int_equal(stat(copy.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_bad(&copy, id, NULL);
}

static void test_stats(void **state)
{
	cleanup_audit struct audit *audit = fixture_open(*state);
	cleanup_json struct json *stats = NULL;
	struct error err = ERROR_INIT;
	char id[ULID_LEN + 1];

	fixture_run(audit, "a", "1", id);
	fixture_run(audit, "b", "2", id);
	assert_ok(audit_stats(audit, &stats, &err), err);
	assert_int_equal(json_get_int(stats, "runs", 0), 2);
	assert_int_equal(json_get_int(json_get(stats, "by_status"), "success", 0), 2);
	assert_int_equal(json_get_int(stats, "events", 0), 6);
	assert_int_equal(json_get_int(stats, "input_tokens", 0), 20);
	assert_int_equal(json_type(json_get(stats, "cost_micro_usd")), JSON_NULL);
	assert_int_equal(json_get_int(stats, "runs_cost_unknown", 0), 2);
}

static void test_modes(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	snprintf(f->path, sizeof(f->path), "%s/sub/log.db", f->folder);
	audit_close(fixture_open(f));
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(chmod(f->path, 0644), 0);
	audit_close(fixture_open(f));
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	*strrchr(f->path, '/') = '\0';
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest audit[] = {
		TEST(test_round_trip),
		TEST(test_events_and_blobs),
		TEST(test_find),
		TEST(test_list_filters),
		TEST(test_search),
		TEST(test_verify_finds_changes),
		TEST(test_views),
		TEST(test_small),
		TEST(test_remove_leaves_nothing),
		TEST(test_prune_while_listing_shrinks),
		TEST(test_chain_survives_reopening),
		TEST(test_ended_run_is_closed),
		TEST(test_backup),
		TEST(test_stats),
		TEST(test_modes),
	};

	return cmocka_run_group_tests(audit, NULL, NULL);
}
