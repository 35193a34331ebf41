/* A page of a log is damaged, and the index of its words is or is changed: each is told, work goes
 * on, and the index can be made anew. */
#include "test_audit_attack.h"

/* A page that is damaged is told, and runs that do not lie in it are still looked at. */
static void test_damaged_page(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *copy = mem_printf("%s/copy.db", f->folder);
	struct audit *audit = fixture_open(f);
	cleanup_buf struct buf bytes = BUF_INIT(BUF_MAX_DEFAULT);
	struct error err = ERROR_INIT;
	int damaged = 0;

	for (int i = 0; i < 60; i++) {
		char text[3000];

		memset(text, 'a' + i % 26, sizeof(text) - 1);
		snprintf(text, 20, "%d", i);
		text[2999] = '\0';
		char id[ULID_LEN + 1];
		fixture_run(audit, "q", text, id);
	}
	audit_close(audit);
	assert_ok(io_read_file(f->path, &bytes, &err), err);
	for (size_t page = 12; page < bytes.len / 4096; page += 7) {
		cleanup_free char *damage = mem_strndup(bytes.data, bytes.len);
		cleanup_audit_head struct audit_head head = { 0 };
		struct found found;

		memset(damage + page * 4096, 0xA5, 4096);
		assert_ok(io_replace_file(copy, damage, bytes.len, 0600, &err), err);
		look_at(copy, NULL, &head, &found);
		if (found.count)
			damaged++;
		buf_release(&found.text);
	}
	assert_true(damaged > 3);
}

/* The index of words alone is no reason to refuse work, and can be made anew. */
static void test_damaged_words(void **state)
{
	struct fixture *f = *state;
	struct error err = ERROR_INIT;

	make_log(f);
	assert_true(attack(f->path, "UPDATE search_data SET block = x'0102030405' WHERE id > 9"));
	struct audit *audit = fixture_open(f);
	char id[ULID_LEN + 1];
	for (int i = 0; i < 40; i++)
		fixture_run(audit, "work goes on", "7", id);
	audit_close(audit);
	audit = fixture_open(f);
	assert_ok(audit_reindex(audit, &err), err);
	audit_close(audit);
	assert_found(f->path, NULL, NULL, "after the index was made anew");
}

/* What a search finds is what the texts have: who changes the index is found, and it can be made
 * anew. */
static void test_changed_words(void **state)
{
	static const char others[] = "has not the words of the runs";
	static const char *const cases[][2] = {
		{ "UPDATE search_data SET block = CAST(replace(block, 'irst', 'irsz') AS BLOB)"
		  " WHERE instr(block, x'69727374')",
		  others },
		{ "DELETE FROM search_data WHERE id > 10", "full-text index is damaged" },
		{ "UPDATE search_data SET block = x'00000000000000' WHERE id = 10", others },
		{ "UPDATE search_data SET block = x'01' || block WHERE id = 1", others },
		{ "UPDATE search_docsize SET sz = x'09010101' WHERE id = 1", others },
		{ "INSERT INTO search_config VALUES('rank', 'bm25(10)')", others },
		{ "INSERT INTO search(rowid, code) VALUES(-3, 'no program of it')", others },
		{ "UPDATE search_config SET v = 3", "full-text index is damaged" },
		{ "DROP TABLE search; UPDATE runs SET kind = kind", "no table search" },
		{ "DROP TABLE search_data; UPDATE runs SET kind = kind", "search_data" },
		{ "DROP TABLE search_config; UPDATE runs SET kind = kind", "search_config" },
		{ "DROP TABLE search_docsize; UPDATE runs SET kind = kind", "search_docsize" },
		{ "PRAGMA writable_schema = 1; DELETE FROM sqlite_schema WHERE name = 'search'",
		  "no table search" },
	};
	struct fixture *f = *state;
	cleanup_free char *copy = mem_printf("%s/copy.db", f->folder);

	make_log(f);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fixture other = *f;
		struct error err = ERROR_INIT;

		copy_file(f->path, copy);
		assert_true(attack(copy, cases[i][0]));
		assert_found(copy, NULL, cases[i][1], cases[i][0]);
		snprintf(other.path, sizeof(other.path), "%s", copy);
		struct audit *audit = fixture_open(&other);
		char id[ULID_LEN + 1];
		fixture_run(audit, "work goes on", "7", id);
		assert_ok(audit_reindex(audit, &err), err);
		audit_close(audit);
		assert_found(copy, NULL, NULL, cases[i][0]);
	}
}

int main(void)
{
	const struct CMUnitTest audit_damage[] = {
		TEST(test_damaged_page),
		TEST(test_damaged_words),
		TEST(test_changed_words),
	};

	return cmocka_run_group_tests(audit_damage, NULL, NULL);
}
