/* One who can write the file of a log, and all that looks at it after. */
#ifndef TEST_AUDIT_ATTACK_H
#define TEST_AUDIT_ATTACK_H

#include "test_audit_fixture.h"

#include <sqlite3.h>

#define FOUND_MAX 65536

struct found {
	struct buf text;
	int count;
};

static inline int note(void *self, const char *problem)
{
	struct found *found = self;

	buf_addf(&found->text, "%s\n", problem);
	found->count++;
	return 0;
}

struct look {
	struct audit *audit;
	struct found *found;
};

static inline int verify_row(void *self, const struct audit_row *row)
{
	struct look *look = self;
	struct error err = ERROR_INIT;
	cleanup_free char *bad = NULL;

	if (audit_verify(look->audit, row->id, &bad, &err) < 0)
		note(look->found, err.message);
	else if (bad)
		note(look->found, bad);
	return 0;
}

/* All that a person's `log verify` looks at. */
static inline void look_at(const char *path, const struct audit_head *kept, struct audit_head *head,
			   struct found *found)
{
	cleanup_audit struct audit *audit = NULL;
	struct error err = ERROR_INIT;
	struct look look = { .found = found };

	buf_init(&found->text, FOUND_MAX);
	found->count = 0;
	if (audit_open(&audit, &(struct audit_options){ .path = path, .read_only = true }, &err) <
	    0) {
		note(found, err.message);
		return;
	}
	look.audit = audit;
	assert_ok(audit_verify_log(audit, kept, head, note, found, &err), err);
	if (audit_list(audit, &(struct audit_filter){ 0 }, verify_row, &look, &err) < 0)
		note(found, err.message);
}

static inline void assert_found(const char *path, const struct audit_head *kept, const char *what,
				const char *how)
{
	cleanup_audit_head struct audit_head head = { 0 };
	struct found found;

	look_at(path, kept, &head, &found);
	if (what ? !found.count || !strstr(found.text.data, what) : found.count)
		fail_msg("%s: \"%s\" expected in: %s", how, what ? what : "", found.text.data);
	buf_release(&found.text);
}

static inline void copy_file(const char *from, const char *to)
{
	cleanup_buf struct buf bytes = BUF_INIT(BUF_MAX_DEFAULT);
	struct error err = ERROR_INIT;

	assert_ok(io_read_file(from, &bytes, &err), err);
	assert_ok(io_replace_file(to, bytes.data, bytes.len, 0600, &err), err);
}

/* One who keeps to no rule of the tables. */
static inline sqlite3 *attacker(const char *path)
{
	static const char settings[] =
		"PRAGMA foreign_keys = 0; PRAGMA ignore_check_constraints = 1";
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, settings, NULL, NULL, NULL), SQLITE_OK);
	return db;
}

/* False when the file did not take it, or it changed nothing. */
static inline bool attack(const char *path, const char *sql)
{
	sqlite3 *db = attacker(path);
	int changes = sqlite3_total_changes(db);
	bool done = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK &&
		    sqlite3_total_changes(db) > changes;

	sqlite3_close(db);
	return done;
}

/* Two that have no end, with a blob of their own and one that is both's. */
static inline void make_open(struct audit *audit, const char *const *tags)
{
	struct error err = ERROR_INIT;

	for (int i = 0; i < 2; i++) {
		struct audit_run run = { .kind = "ask", .prompt = "open", .prompt_len = 4 };

		run.tags = tags;
		ulid_new(clock_wall_ms(), run.id);
		assert_ok(audit_run_begin(audit, &run, &err), err);
		fixture_event(audit, run.id, "execute", "started", NULL, "what both have");
		fixture_event(audit, run.id, "execute", "done", "{\"outcome\":\"exit\"}",
			      i ? "of one" : "of the other");
		fixture_commit(audit);
	}
}

/* Runs of every sort: open, ended, removed, a replay of nothing, with tags, blobs and shared
 * objects. */
static inline void make_log(const struct fixture *f)
{
	static const char *const tags[] = { "one", "two", NULL };
	static const char data[] = "{\"outcome\":\"exit\",\"isolation\":{\"a\":1}}";
	struct audit *audit = fixture_open(f);
	struct audit_run run = { .kind = "batch",
				 .session = "s",
				 .item = "i",
				 .replay_of = "r",
				 .tier = "exec",
				 .prompt = "p",
				 .prompt_len = 1,
				 .provider = "x",
				 .model = "m",
				 .tags = tags };
	struct error err = ERROR_INIT;
	char id[ULID_LEN + 1];

	fixture_run(audit, "first", "1", id);
	fixture_run(audit, "gone", "2", id);
	assert_ok(fixture_remove(audit, id, &err), err);
	ulid_new(clock_wall_ms(), run.id);
	assert_ok(audit_run_begin(audit, &run, &err), err);
	fixture_event(audit, run.id, "execute", "done", data, "output");
	fixture_end(audit, run.id, "an answer");
	fixture_run(audit, "last", "3", id);
	make_open(audit, tags);
	audit_close(audit);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
