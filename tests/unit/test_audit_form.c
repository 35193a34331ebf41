/* How events lie in the log: what is cut out of a text and put back is the text to the byte, what
 * forms hold is no run's, and the views say what the program says. */
#include "test_audit_fixture.h"

#include "audit/blob.h"
#include "audit/event.h"
#include "audit/form.h"
#include "audit/vocabulary.h"

#include <sqlite3.h>

/* The form of a text, and that it comes back. Caller frees. */
static char *form_of(struct audit *audit, const char *text, char **ret_values)
{
	cleanup_buf struct buf form = BUF_INIT(SIZE_MAX / 2), values = BUF_INIT(SIZE_MAX / 2),
			       again = BUF_INIT(SIZE_MAX / 2);
	struct error err = ERROR_INIT;

	assert_ok(form_cut(audit, 1, text, &form, &values, &err), err);
	assert_ok(form_fill(audit, form.data, values.data, &again, &err), err);
	assert_string_equal(again.data, text);
	for (char *p = form.data; *p; p++)
		if (*p == FORM_MARK)
			*p = '?';
	*ret_values = buf_take(&values, NULL);
	return buf_take(&form, NULL);
}

static void test_cut_and_filled(void **state)
{
	static const struct {
		const char *text, *form, *values;
	} cases[] = {
		{ "{}", "{}", "" },
		{ "[]", "[]", "" },
		{ "{\"outcome\":\"exit\",\"exit_code\":0}",
		  "{\"outcome\":\"exit\",\"exit_code\":?v}", "0" },
		/* What is not the program's own word is a value, and what is in it. */
		{ "{\"outcome\":\"Mr Smith\"}", "{\"outcome\":?v}", "\"Mr Smith\"" },
		{ "{\"smith\":{\"outcome\":\"exit\"}}", "?v",
		  "{\"smith\":{\"outcome\":\"exit\"}}" },
		{ "{\"metrics\":{\"smith\":1},\"error\":{\"line\":7}}",
		  "{\"metrics\":?v,\"error\":{\"line\":?v}}", "{\"smith\":1},7" },
		{ "{\"artifact_0\":1,\"artifact_12\":2}", "{\"artifact_0\":?v,\"artifact_12\":?v}",
		  "1,2" },
		{ "{\"artifact_123\":1}", "?v", "{\"artifact_123\":1}" },
		{ "{\"checks\":[{\"kind\":\"regex\"},{\"kind\":\"a,]}\\\"\"}]}",
		  "{\"checks\":[{\"kind\":\"regex\"},{\"kind\":?v}]}", "\"a,]}\\\"\"" },
		{ "{\"files\":[1,2,3,4,5]}", "{\"files\":?v}", "[1,2,3,4,5]" },
		{ "{\"files\":[true,null,false,-1.5e300]}", "{\"files\":[true,null,false,?v]}",
		  "-1.5e300" },
		{ "{\"isolation\":null,\"environment\":\"here\"}",
		  "{\"isolation\":null,\"environment\":?v}", "\"here\"" },
		{ "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}", "?v",
		  "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}" },
		/* What is no JSON, as a forged log may hold it. */
		{ "{\"outcome\":", "?v", "{\"outcome\":" },
		{ "{\"outcome\":}", "?v", "{\"outcome\":}" },
		{ "{\"outcome\":1,}", "?v", "{\"outcome\":1,}" },
		{ "{\"outcome\":1}x", "?v", "{\"outcome\":1}x" },
		{ "{\"outcome\":\1v}", "?v", "{\"outcome\":?v}" },
		{ "{ \"outcome\": 1 }", "?v", "{ \"outcome\": 1 }" },
		{ "[1,,2]", "?v", "[1,,2]" },
		{ "[1", "?v", "[1" },
		{ "\"", "?v", "\"" },
		{ "", "?v", "" },
		{ ",", "?v", "," },
	};
	struct fixture *f = *state;
	cleanup_audit struct audit *audit = fixture_open(f);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *values = NULL;
		cleanup_free char *form = form_of(audit, cases[i].text, &values);

		for (char *p = values; *p; p++)
			if (*p == FORM_MARK)
				*p = '?';
		if (strcmp(form, cases[i].form) || strcmp(values, cases[i].values))
			fail_msg("%s: \"%s\" \"%s\"", cases[i].text, form, values);
	}
}

/* Values that do not belong to a form are not passed over in silence. */
static void test_forged_values(void **state)
{
	static const char form[] = "{\"a\":\1v,\"b\":\1b}";
	static const char *const values[] = { "",     "1",    "1,",	 "1,1,", "1,1,2",
					      "1,1x", "1,01", "1,+1",	 "1,-1", "1,99",
					      ",1,1", "1,1 ", "1,\"1\"", "1 ,1", "1,1.0" };
	struct fixture *f = *state;
	cleanup_audit struct audit *audit = fixture_open(f);
	struct error err = ERROR_INIT;
	cleanup_buf struct buf right = BUF_INIT(1000);
	char id[ULID_LEN + 1];

	fixture_begin(audit, "q", id);
	assert_ok(form_fill(audit, form, "1,1", &right, &err), err);
	assert_non_null(strstr(right.data, "\"size\":1}"));
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		cleanup_buf struct buf text = BUF_INIT(1000);

		assert_ok(form_fill(audit, form, values[i], &text, &err), err);
		if (!strcmp(text.data, right.data))
			fail_msg("\"%s\" reads as \"1,1\"", values[i]);
	}
}

static void assert_query(const struct fixture *f, const char *sql, const char *expected)
{
	sqlite3 *db;
	sqlite3_stmt *stmt;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(stmt, sqlite3_column_count(stmt) - 1),
			    expected);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

/* Blobs are named by their numbers, and a program that is run is there once. */
static void test_blobs(void **state)
{
	struct fixture *f = *state;
	struct audit *audit = fixture_open(f);
	cleanup_buf struct buf code = BUF_INIT(1000);
	cleanup_json struct json *blocks = json_object();
	struct json *block = json_object(), *list = json_array();
	struct error err = ERROR_INIT;
	cleanup_free char *bad = NULL;

	for (int i = 0; i < 20; i++)
		buf_addf(&code, "print(\"\\t%d é\")\n", i);
	json_set_string(block, "code", code.data);
	json_append(list, block);
	json_set(blocks, "blocks", list);
	char id[ULID_LEN + 1];
	fixture_begin(audit, "q", id);
	assert_ok(audit_append(audit, id,
			       &(struct audit_event){
				       .stage = "extract", .phase = "done", .data = blocks },
			       &err),
		  err);
	fixture_event(audit, id, "execute", "started", NULL, code.data);
	fixture_event(audit, id, "execute", "done", "{\"outcome\":\"exit\"}", code.data);
	fixture_end(audit, id, "a");
	assert_ok(audit_verify(audit, id, &bad, &err), err);
	assert_null(bad);
	audit_close(audit);
	assert_query(f, "SELECT max(length(data)) < 40 FROM events", "1");
	assert_query(f,
		     "SELECT count(*) FROM v_events, json_tree(data_json) t JOIN blobs b"
		     " ON CAST(b.body AS TEXT) = t.value WHERE t.key = 'code'",
		     "1");
	assert_query(f,
		     "SELECT count(*) FROM v_events JOIN blobs b"
		     " ON b.sha256 = json_extract(data_json, '$.stdout.sha256')"
		     " AND b.size = json_extract(data_json, '$.stdout.size')",
		     "2");
}

/* A stage that is no word of the program's is in the event, and goes with it. */
static void test_own_stage(void **state)
{
	struct fixture *f = *state;
	struct audit *audit = fixture_open(f);
	struct error err = ERROR_INIT;
	char id[ULID_LEN + 1];

	fixture_begin(audit, "q", id);
	fixture_event(audit, id, "smithstage", "note", "{\"smithkey\":\"smithword\"}", NULL);
	fixture_end(audit, id, "a");
	assert_query(f, "SELECT stage || data_json FROM v_events",
		     "smithstage{\"smithkey\":\"smithword\"}");
	assert_ok(fixture_remove(audit, id, &err), err);
	audit_close(audit);
	assert_int_equal(fixture_scan(f->path, "smith"), 0);
}

/* However many blobs there are, one is found by the index, also for the views. */
static void test_found_by_index(void **state)
{
	struct fixture *f = *state;

	audit_close(fixture_open(f));
	assert_query(f, "EXPLAIN QUERY PLAN SELECT no FROM blobs b WHERE " BLOB_IS("b", "?1"),
		     "SEARCH b USING INDEX blobs_hash (<expr>=?)");
}

static void test_vocabulary(void **state)
{
	static const char *const known[] = { "artifact", "application/json",
					     "outcome",	 "v1",
					     "yes",	 "```",
					     "~~~",	 ".assay-report/" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		assert_true(vocabulary_has(known[i], strlen(known[i])));
	assert_false(vocabulary_has("", 0));
	assert_false(vocabulary_has("out", 3));
	assert_false(vocabulary_has("outcomes", 8));
	assert_true(vocabulary_has("outcomes", 7));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_cut_and_filled), TEST(test_forged_values), TEST(test_blobs),
		TEST(test_own_stage),	   TEST(test_vocabulary),    TEST(test_found_by_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
