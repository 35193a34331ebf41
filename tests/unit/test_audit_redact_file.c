/*
 * No planted secret reaches the file, whatever it is dressed as and wherever it is put. What is
 * found to be a secret, by form and name, is test_audit_redact.c's.
 */
#include "test_audit_redact.h"

/* Every call of the API is given the secret in every field; none may reach the disk. */
static void plant(struct audit *audit, char ret[ULID_LEN + 1])
{
	static const char text[] = "x " SECRET " y " SECRET2 " ghp_abcdefghijklmnopqrstuvwx0123 z";
	static const char binary[] = "\0\1\2" SECRET2 "\0\xff" SECRET;
	static const char *const tags[] = { SECRET2, NULL };
	cleanup_json struct json *data = json_object();
	struct error err = ERROR_INIT;
	struct audit_run run = { .kind = SECRET2,
				 .session = SECRET2,
				 .item = text,
				 .tier = text,
				 .replay_of = text,
				 .prompt = text,
				 .prompt_len = strlen(text),
				 .provider = text,
				 .model = text,
				 .tags = tags };
	const struct audit_blob blobs[] = { { "b", "x/y", binary, sizeof(binary) - 1 } };
	const struct audit_end end = { .status = "failed",
				       .reason = text,
				       .answer = text,
				       .answer_len = strlen(text),
				       .code = text,
				       .code_len = strlen(text),
				       .output = text,
				       .output_len = strlen(text) };

	json_set_string(data, "a", text);
	json_set_string(data, SECRET, "key");
	json_set_int(data, "pin", 908172635445);
	run.config = data;
	ulid_new(clock_wall_ms(), run.id);
	assert_ok(audit_run_begin(audit, &run, &err), err);
	assert_ok(audit_append(audit, run.id,
			       &(struct audit_event){ .stage = SECRET2,
						      .phase = "done",
						      .data = data,
						      .blobs = blobs,
						      .blob_count = 1 },
			       &err),
		  err);
	fixture_commit(audit);
	assert_ok(audit_run_end(audit, run.id, &end, &err), err);
	memcpy(ret, run.id, sizeof(run.id));
}

/* How often it stands in the log, and in what SQLite keeps beside it. */
static size_t scan_files(const struct fixture *f, const char *text)
{
	static const char *const beside[] = { "", "-journal", "-wal" };
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
		cleanup_free char *path = mem_printf("%s%s", f->path, beside[i]);

		count += fixture_scan(path, text);
	}
	return count;
}

static void assert_no_secret(const struct fixture *f)
{
	static const char *const marks[] = {
		"hunter2",    "plain-secret", "with=odd", "908172635445",
		"ghp_abcdef", "value-0042",   "hunter",	  "word\"with",
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (scan_files(f, marks[i]))
			fail_msg("%s is in the file", marks[i]);
	}
}

static void test_nothing_reaches_the_file(void **state)
{
	struct fixture *f = *state;
	struct error err = ERROR_INIT;
	struct audit *audit;
	cleanup_free char *bad = NULL;

	assert_ok(audit_open(&audit,
			     &(struct audit_options){ .path = f->path,
						      .secrets = secrets,
						      .secret_count = ARRAY_SIZE(secrets),
						      .app_version = SECRET2 },
			     &err),
		  err);
	assert_non_null(strstr(audit_note(audit), "SHORT"));
	assert_null(strstr(audit_note(audit), "PIN"));
	char id[ULID_LEN + 1];
	for (int i = 0; i < 3; i++) {
		plant(audit, id);
		/* A journal holds pages of before while the transaction is open, a WAL those to
		 * come. */
		assert_no_secret(f);
		fixture_commit(audit);
		assert_no_secret(f);
	}
	assert_true(scan_files(f, "[REDACTED:OTHER_KEY:") > 0);
	assert_true(scan_files(f, "[REDACTED:GITHUB_TOKEN:") > 0);
	assert_ok(audit_verify(audit, id, &bad, &err), err);
	assert_null(bad);
	audit_close(audit);
	assert_no_secret(f);
}

struct looking {
	struct audit *audit;
	struct buf *text;
};

static int take_blob(void *self, struct audit_record *record)
{
	const struct looking *l = self;
	struct error err = ERROR_INIT;

	if (json_get(record->data, "b"))
		assert_ok(audit_blob_of(l->audit, record->data, "b", l->text, &err), err);
	return 0;
}

static void assert_as_alone(struct audit *audit, const char *program)
{
	cleanup_json struct json *cells = json_array(), *cell = json_object(), *back = NULL;
	cleanup_buf struct buf text = BUF_INIT(10000), alone = BUF_INIT(10000);
	struct looking looking = { audit, &text };
	struct error err = ERROR_INIT;

	json_set_string(cell, "code", program);
	json_append(cells, TAKE_PTR(cell));
	cleanup_free char *printed = json_print(cells);
	assert_int_equal(redact_bytes(audit_redactor(audit), program, strlen(program), &alone), 1);
	char id[ULID_LEN + 1];
	fixture_begin(audit, "q", id);
	assert_ok(audit_append(audit, id,
			       &(struct audit_event){
				       .stage = "code",
				       .phase = "done",
				       .blobs = &(struct audit_blob){ "b", "application/json",
								      printed, strlen(printed) },
				       .blob_count = 1 },
			       &err),
		  err);
	fixture_end(audit, id, "a");
	assert_ok(audit_events(audit, id, take_blob, &looking, &err), err);
	back = json_parse(text.data, text.len, 0, &err);
	assert_string_equal(json_get_string(json_first(back), "code"), alone.data);
}

/* A blob of JSON is as clean as what stands in it would be by itself: a line's secret ends with the
 * line, one in quotation marks with the mark, and it has the placeholder it has elsewhere. */
static void test_json_is_looked_into(void **state)
{
	struct fixture *f = *state;
	struct error err = ERROR_INIT;
	struct audit *audit;

	assert_ok(audit_open(&audit, &(struct audit_options){ .path = f->path }, &err), err);
	assert_as_alone(audit, "x\nDB_PASSWORD=hunter2;xyz9,abc\n");
	assert_as_alone(audit, "password = 'left\"right12345'\nb = 1\n");
	audit_close(audit);
}

int main(void)
{
	const struct CMUnitTest file_tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_reaches_the_file, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_json_is_looked_into, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(file_tests, NULL, NULL);
}
