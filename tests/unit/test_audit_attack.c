/* Each column of each table is changed, and each row taken away, as one who can write the file does
 * it with sqlite3: verification finds every change, and raises no alarm at what is honest. */
#include "test_audit_attack.h"

#include "base/hash.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define MEANWHILE_MAX 2000

static void assert_some(const char *path, const char *how)
{
	cleanup_audit_head struct audit_head head = { 0 };
	struct found found;

	look_at(path, NULL, &head, &found);
	if (!found.count)
		fail_msg("not found: %s", how);
	buf_release(&found.text);
}

static const char *const tables[] = { "meta", "blobs",	"objects", "forms",  "runs",
				      "refs", "events", "tags",	   "counts", "ledger" };

/* Each row of a table in turn: that before which there are so many. Caller frees. */
static char *row_where(const char *table, int row)
{
	static const struct {
		const char *table, *own, *other;
	} keys[] = {
		{ "refs", "run * 1000 + blob", "o.run * 1000 + o.blob" },
		{ "tags", "tag || '/' || run", "o.tag || '/' || o.run" },
		{ "meta", "key", "o.key" },
		/* A counter of none says what no counter says. */
		{ "counts", "value != 0 AND name", "o.name" },
		{ "", "rowid", "o.rowid" },
	};
	size_t i = 0;

	while (*keys[i].table && strcmp(keys[i].table, table))
		i++;
	return mem_printf(" WHERE %s = (SELECT %s FROM %s o ORDER BY 1 LIMIT 1 OFFSET %d)",
			  keys[i].own, keys[i].other, table, row);
}

static int count_of(const char *path, const char *table)
{
	cleanup_free char *sql = mem_printf("SELECT count(*) FROM %s", table);
	sqlite3 *db = attacker(path);
	sqlite3_stmt *stmt;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	int count = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return count;
}

struct columns {
	char names[40][32];
	bool numbers[40], blobs[40];
	int count;
};

static void columns_of(const char *path, const char *table, struct columns *ret)
{
	cleanup_free char *sql = mem_printf("PRAGMA table_info(%s)", table);
	sqlite3 *db = attacker(path);
	sqlite3_stmt *stmt;

	ret->count = 0;
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *type = (const char *)sqlite3_column_text(stmt, 2);

		snprintf(ret->names[ret->count], sizeof(ret->names[0]), "%s",
			 (const char *)sqlite3_column_text(stmt, 1));
		ret->numbers[ret->count] = !strcmp(type, "INTEGER");
		ret->blobs[ret->count++] = !strcmp(type, "BLOB");
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

static int change_each(const struct fixture *f, const char *copy, const char *table,
		       const struct columns *c, int column, int rows)
{
	int done = 0;

	for (int row = 0; row < rows; row++) {
		cleanup_free char *value =
			c->numbers[column] ?
				mem_printf("coalesce(%s, 0) + 77", c->names[column]) :
				mem_printf(c->blobs[column] ?
						   "CAST(coalesce(%s, '') || 'x' AS BLOB)" :
						   "coalesce(%s, '') || 'x'",
					   c->names[column]);
		cleanup_free char *where = row_where(table, row);
		cleanup_free char *sql = mem_printf("UPDATE %s SET %s = %s%s", table,
						    c->names[column], value, where);

		copy_file(f->path, copy);
		if (!attack(copy, sql))
			continue;
		done++;
		assert_some(copy, sql);
	}
	return done;
}

static void test_each_column(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *copy = mem_printf("%s/copy.db", f->folder);
	int done = 0;

	make_log(f);
	assert_found(f->path, NULL, NULL, "as it was written");
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		struct columns columns;
		int rows = count_of(f->path, tables[t]);

		assert_true(rows > 0);
		columns_of(f->path, tables[t], &columns);
		for (int i = 0; i < columns.count; i++) {
			int changed = change_each(f, copy, tables[t], &columns, i, rows);

			if (!changed)
				fail_msg("no row of %s.%s could be changed", tables[t],
					 columns.names[i]);
			done += changed;
		}
	}
	print_message("%d changes, each found\n", done);
	assert_true(done > 300);
}

static void test_each_row(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *copy = mem_printf("%s/copy.db", f->folder);

	make_log(f);
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (int row = 0, rows = count_of(f->path, tables[t]); row < rows; row++) {
			cleanup_free char *where = row_where(tables[t], row);
			cleanup_free char *sql = mem_printf("DELETE FROM %s%s", tables[t], where);

			copy_file(f->path, copy);
			if (attack(copy, sql))
				assert_some(copy, sql);
			else
				assert_string_equal(tables[t], "counts");
		}
}

/* The ids of runs without an end, newest first. */
static int note_open(void *self, const struct audit_row *row)
{
	char(*ids)[ULID_LEN + 1] = self;

	memmove(ids[1], ids[0], sizeof(ids[0]));
	memcpy(ids[0], row->id, sizeof(ids[0]));
	return 0;
}

/* An open run may end, be gone on with by another program, or be removed; and a log of before there
 * was a sum gets one with the next run. */
static void test_open_runs(void **state)
{
	struct fixture *f = *state;
	char ids[3][ULID_LEN + 1] = { "" };
	struct audit_filter open = { .status = "started" };
	struct error err = ERROR_INIT;

	make_log(f);
	assert_true(attack(f->path, "DELETE FROM counts WHERE name LIKE 'contents%'"));
	assert_found(f->path, NULL, NULL, "a log without a sum");
	struct audit *audit = fixture_open(f);
	assert_ok(audit_list(audit, &open, note_open, ids, &err), err);
	fixture_event(audit, ids[0], "verify", "note", NULL, "more");
	fixture_commit(audit);
	audit_close(audit);
	assert_found(f->path, NULL, NULL, "gone on with");
	assert_true(attack(f->path, "UPDATE tags SET tag = 'other' WHERE run = 6 AND tag = 'one'"));
	assert_found(f->path, NULL, "which run has which tag", "a tag of an open run");
	assert_true(attack(f->path, "UPDATE tags SET tag = 'one' WHERE run = 6 AND tag = 'other'"));
	audit = fixture_open(f);
	fixture_end(audit, ids[0], "in the end");
	assert_ok(fixture_remove(audit, ids[1], &err), err);
	audit_close(audit);
	assert_found(f->path, NULL, NULL, "ended and removed");
}

/* Who takes the sum away as well is left with what is kept elsewhere. */
#define FORGET "; DELETE FROM counts WHERE substr(name, 1, 8) = 'contents'"

static int change_open(const struct fixture *f, const char *copy, const char *table,
		       const struct audit_head *head)
{
	struct columns c;
	int done = 0;

	columns_of(f->path, table, &c);
	for (int column = 0; column < c.count; column++)
		for (int row = 0, rows = count_of(f->path, table); row < rows; row++) {
			cleanup_free char *where = row_where(table, row);
			cleanup_free char *sql = mem_printf(
				c.numbers[column] ?
					"UPDATE %s SET %s = coalesce(%s, 0) + 77%s" FORGET :
				c.blobs[column] ?
					"UPDATE %s SET %s = CAST(coalesce(%s, '') || "
					"'x' AS BLOB)%s" FORGET :
					"UPDATE %s SET %s = coalesce(%s, '') || 'x'%s" FORGET,
				table, c.names[column], c.names[column], where);

			copy_file(f->path, copy);
			if (!attack(copy, sql))
				continue;
			assert_found(copy, head, "", sql);
			done++;
		}
	return done;
}

/* The head says what open runs were: each of their columns, their tags and what they need. */
static void test_open_with_head(void **state)
{
	static const char *const of_runs[] = { "runs",	"events",  "refs", "tags",
					       "blobs", "objects", "forms" };
	static const char *const gone[] = {
		"DELETE FROM tags WHERE run = 6 AND tag = 'one'" FORGET,
		"INSERT INTO tags VALUES('three', 6)" FORGET,
		"DELETE FROM refs WHERE run = 6 AND blob = (SELECT max(blob) FROM refs"
		" WHERE run = 6)" FORGET,
		"INSERT INTO refs SELECT 6, min(b.no) FROM blobs b WHERE b.no NOT IN"
		" (SELECT blob FROM refs WHERE run = 6)" FORGET,
		"DELETE FROM events WHERE place = (SELECT max(place) FROM events)" FORGET,
	};
	struct fixture *f = *state;
	cleanup_free char *copy = mem_printf("%s/copy.db", f->folder);
	cleanup_audit_head struct audit_head head = { 0 };
	struct found found;
	int done = 0;

	make_log(f);
	look_at(f->path, NULL, &head, &found);
	buf_release(&found.text);
	assert_int_equal(head.open_count, 2);
	assert_int_equal(head.open[1].events, 2);
	assert_found(f->path, &head, NULL, "as it was written");
	for (size_t i = 0; i < ARRAY_SIZE(of_runs); i++)
		done += change_open(f, copy, of_runs[i], &head);
	for (size_t i = 0; i < ARRAY_SIZE(gone); i++) {
		copy_file(f->path, copy);
		assert_true(attack(copy, gone[i]));
		assert_found(copy, &head, "", gone[i]);
	}
	print_message("%d changes, each found\n", done);
	assert_true(done > 250);
}

static void write_open(const struct fixture *f, const char *id, const char *output)
{
	struct audit *audit = fixture_open(f);
	struct audit_run run = { .kind = "ask", .prompt = "open", .prompt_len = 4 };
	struct error err = ERROR_INIT;

	memcpy(run.id, id, sizeof(run.id));
	assert_ok(audit_run_begin(audit, &run, &err), err);
	fixture_event(audit, run.id, "execute", "done", "{\"outcome\":\"exit\"}", output);
	fixture_commit(audit);
	audit_close(audit);
}

/* One who makes the file anew makes every hash fit; an honest run goes on, ends and is removed. */
static void test_open_made_anew(void **state)
{
	struct fixture *f = *state, other;
	cleanup_audit_head struct audit_head head = { 0 };
	struct error err = ERROR_INIT;
	char first[ULID_LEN + 1];
	struct audit *audit = fixture_open(f);

	fixture_run(audit, "first", "1", first);
	audit_close(audit);
	other = *f;
	snprintf(other.path, sizeof(other.path), "%s/other.db", f->folder);
	copy_file(f->path, other.path);
	char open[ULID_LEN + 1];
	ulid_new(clock_wall_ms(), open);
	write_open(f, open, "what it said");
	struct found found;
	look_at(f->path, NULL, &head, &found);
	buf_release(&found.text);
	assert_found(other.path, &head, "is gone without having been removed", "without it");
	write_open(&other, open, "something else");
	assert_found(other.path, NULL, NULL, "another run, by itself");
	assert_found(other.path, &head, "what it said then is not what it says", "another run");

	audit = fixture_open(f);
	fixture_event(audit, open, "verify", "note", NULL, "more");
	fixture_commit(audit);
	assert_found(f->path, &head, NULL, "gone on with");
	fixture_end(audit, open, "in the end");
	assert_found(f->path, &head, NULL, "ended");
	assert_ok(fixture_remove(audit, open, &err), err);
	audit_close(audit);
	assert_found(f->path, &head, NULL, "removed");
}

static void test_whole_runs(void **state)
{
	static const char gone[] =
		"DELETE FROM events WHERE place >> 20 = 3; DELETE FROM refs WHERE run = 3;"
		"DELETE FROM tags WHERE run = 3; DELETE FROM runs WHERE no = 3;";
	static const struct {
		const char *sql, *what;
	} cases[] = {
		{ gone, "is gone without having been removed" },
		{ "UPDATE runs SET ended_at_ms = NULL, status = 'started', level = 'none',"
		  " attempts = 0, input_tokens = 0, output_tokens = 0, answer = NULL, code = NULL,"
		  " output = NULL, event_count = NULL, seal = NULL, exit_code = NULL WHERE no = 3",
		  "has ended, and its row says otherwise" },
		{ "INSERT INTO runs(no, id, kind, started_at_ms, app_version) VALUES(99, 'x', "
		  "'ask',"
		  " 1, '1')",
		  "gone without having been removed" },
		{ "DELETE FROM search_docsize WHERE id = 3", "full-text index lacks 1" },
		{ "DROP INDEX runs_model; CREATE INDEX runs_model ON runs(model, id) WHERE no > 3;"
		  "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql ="
		  " 'CREATE INDEX runs_model ON runs(model, id) WHERE model IS NOT NULL'"
		  " WHERE name = 'runs_model'",
		  "missing from index runs_model" },
		{ "DROP INDEX runs_item; UPDATE runs SET kind = kind", "no index runs_item" },
		{ "CREATE VIEW more AS SELECT 1", "view more" },
		{ "INSERT INTO blobs(sha256, size) VALUES('x', 1)", "belongs to no run" },
		{ "INSERT INTO meta VALUES('more', 'x')", "meta" },
	};
	struct fixture *f = *state;
	cleanup_free char *copy = mem_printf("%s/copy.db", f->folder);

	make_log(f);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		copy_file(f->path, copy);
		attack(copy, cases[i].sql);
		assert_found(copy, NULL, cases[i].what, cases[i].sql);
	}
}

/* Who can write every hash cannot write what is kept elsewhere. */
static void test_head(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *copy = mem_printf("%s/copy.db", f->folder);
	cleanup_audit_head struct audit_head head = { 0 }, later = { 0 };

	make_log(f);
	copy_file(f->path, copy);
	struct audit *audit = fixture_open(f);
	char id[ULID_LEN + 1];
	fixture_run(audit, "more", "4", id);
	audit_close(audit);
	struct found found;
	look_at(f->path, NULL, &head, &found);
	assert_int_equal(found.count, 0);
	buf_release(&found.text);
	assert_found(f->path, &head, NULL, "the same log");
	assert_found(copy, NULL, NULL, "a log of before, by itself");
	assert_found(copy, &head, "the log was cut off", "a log of before");
	audit = fixture_open(f);
	fixture_run(audit, "yet more", "5", id);
	assert_ok(fixture_remove(audit, id, &(struct error)ERROR_INIT), (struct error)ERROR_INIT);
	audit_close(audit);
	look_at(f->path, &head, &later, &found);
	assert_int_equal(found.count, 0);
	buf_release(&found.text);
	assert_true(later.place == head.place + 2);
	unlink(f->path);
	make_log(f);
	audit = fixture_open(f);
	for (int i = 0; i < 4; i++)
		fixture_run(audit, "another", "6", id);
	audit_close(audit);
	assert_found(f->path, NULL, NULL, "another log, by itself");
	assert_found(f->path, &head, "was replaced", "another log");
}

static void writer(const struct fixture *f)
{
	char id[ULID_LEN + 1];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	struct audit *audit = fixture_open(f);
	for (unsigned i = 0; i < MEANWHILE_MAX; i++)
		fixture_run(audit, "meanwhile", i % 2 ? "a" : "b", id);
	_exit(0);
}

static void test_no_false_alarm(void **state)
{
	struct fixture *f = *state;

	make_log(f);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		writer(f);
	for (int i = 0; i < 8; i++)
		assert_found(f->path, NULL, NULL, "while runs are written");
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_found(f->path, NULL, NULL, "after the writer was killed");
}

int main(void)
{
	const struct CMUnitTest audit_attack[] = {
		TEST(test_each_column),	   TEST(test_each_row),	      TEST(test_open_runs),
		TEST(test_open_with_head), TEST(test_open_made_anew), TEST(test_whole_runs),
		TEST(test_head),	   TEST(test_no_false_alarm),
	};

	return cmocka_run_group_tests(audit_attack, NULL, NULL);
}
