/* What comes with every run, prompts and rules, is looked through for secrets and hashed once; what
 * has a secret, or differs in a byte, each time. */
#include "test_audit_fixture.h"

#include "audit/db.h"
#include "audit/redact/redact.h"

#define LONG ((size_t)20 << 10)

static int looked; /* at long bytes */

size_t __real_redact_bytes(const struct redactor *r, const char *bytes, size_t len,
			   struct buf *out);
size_t __wrap_redact_bytes(const struct redactor *r, const char *bytes, size_t len,
			   struct buf *out);
size_t __wrap_redact_bytes(const struct redactor *r, const char *bytes, size_t len, struct buf *out)
{
	looked += len >= LONG;
	return __real_redact_bytes(r, bytes, len, out);
}

static struct audit *open_with_secret(const struct fixture *f)
{
	const struct audit_secret secret = { "KEY", "a-key-of-mine-1" };
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;

	assert_ok(audit_open(&audit,
			     &(struct audit_options){
				     .path = f->path, .secrets = &secret, .secret_count = 1 },
			     &err),
		  err);
	return audit;
}

static void run_with(struct audit *audit, const char *text)
{
	char id[ULID_LEN + 1];

	fixture_begin(audit, "q", id);
	fixture_event(audit, id, "task", "done", "{}", text);
	fixture_end(audit, id, "1");
}

static int64_t count(const struct fixture *f, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *stmt;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	int64_t n = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return n;
}

static char *long_text(char c)
{
	char *text = mem_alloc(LONG + 1);

	memset(text, c, LONG);
	text[LONG] = '\0';
	return text;
}

static void test_once(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = long_text('a'), *other = long_text('a');
	struct audit *audit = open_with_secret(f);

	looked = 0;
	for (int i = 0; i < 5; i++)
		run_with(audit, text);
	assert_int_equal(looked, 1);
	other[LONG - 1] = 'b';
	run_with(audit, other);
	assert_int_equal(looked, 2);
	audit_close(audit);
	assert_int_equal(count(f, "SELECT count(*) FROM blobs WHERE size = 20480"), 2);
	audit = open_with_secret(f);
	run_with(audit, text);
	assert_int_equal(looked, 3); /* another log, other secrets */
	audit_close(audit);
}

static void test_secrets_each_time(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = long_text('a'), *clean = long_text('a');
	struct audit *audit = open_with_secret(f);

	memcpy(text + 100, " a-key-of-mine-1 ", 17);
	looked = 0;
	run_with(audit, clean);
	for (int i = 0; i < 3; i++)
		run_with(audit, text);
	assert_int_equal(looked, 4);
	audit_close(audit);
	assert_int_equal(count(f, "SELECT count(*) FROM blobs WHERE instr(body, 'key-of-mine')"),
			 0);
	assert_int_equal(count(f, "SELECT count(*) FROM blobs WHERE redactions > 0"), 1);
}

/* More than are kept: the oldest make room, and all is stored as it is. */
static void test_many(void **state)
{
	struct fixture *f = *state;
	struct audit *audit = open_with_secret(f);

	for (int round = 0; round < 2; round++)
		for (char c = 'a'; c < 'a' + 3 * DB_KNOWN_MAX; c++) {
			cleanup_free char *text = long_text(c);

			run_with(audit, text);
		}
	audit_close(audit);
	assert_int_equal(count(f, "SELECT count(*) FROM blobs WHERE size = 20480"),
			 3 * DB_KNOWN_MAX);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest audit_known[] = {
		TEST(test_once),
		TEST(test_secrets_each_time),
		TEST(test_many),
	};

	return cmocka_run_group_tests(audit_known, NULL, NULL);
}
