/* No planted secret reaches the file, whatever it is dressed as and wherever it is put. */
#include "test_audit_fixture.h"

#include "audit/redact.h"

#include <fcntl.h>

#define SECRET "hunter2/pass+word\"with=odd"
#define SECRET2 "plain-secret-value-0042"

static const struct audit_secret secrets[] = {
	{ "OPENAI_API_KEY", SECRET },
	{ "OTHER_KEY", SECRET2 },
	{ "PIN", "908172635445" },
	{ "SHORT", "abc" },
	{ "EMPTY", "" },
};

static struct redactor *make(void)
{
	return redactor_new(secrets, ARRAY_SIZE(secrets), "0123456789abcdef");
}

static char *redact(const char *text)
{
	struct redactor *r = make();
	cleanup_buf struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
	size_t found = redact_bytes(r, text, strlen(text), &out);

	redactor_free(r);
	return found ? buf_take(&out, NULL) : mem_strdup(text);
}

static void assert_redacted(const char *text, const char *expected_pattern)
{
	cleanup_free char *clean = redact(text);
	const char *tag = strstr(clean, "[REDACTED:");

	if (!tag)
		fail_msg("not redacted: %s", text);
	/* The tag's eight digits are replaced by x for the comparison. */
	for (char *p = clean; (p = strstr(p, "[REDACTED:")); p++) {
		char *close = strchr(p, ']');

		assert_non_null(close);
		memset(close - 8, 'x', 8);
	}
	assert_string_equal(clean, expected_pattern);
}

static void test_shapes(void **state)
{
	(void)state;
	assert_redacted("key=sk-abcdEFGH12345678ijkl end", "key=[REDACTED:SK_KEY:xxxxxxxx] end");
	assert_redacted("sk-ant-api03-AbCd_efGh-12ab34cd56", "[REDACTED:SK_KEY:xxxxxxxx]");
	assert_redacted("\\nsk-abcdEFGH12345678ijkl\"", "\\n[REDACTED:SK_KEY:xxxxxxxx]\"");
	assert_redacted("a%3Dsk-abcdEFGH12345678ijkl", "a%3D[REDACTED:SK_KEY:xxxxxxxx]");
	assert_redacted("AKIAIOSFODNN7EXAMPLE", "[REDACTED:AWS_KEY:xxxxxxxx]");
	assert_redacted("xghp_abcdefghijklmnopqrstuvwxyz0123456789",
			"x[REDACTED:GITHUB_TOKEN:xxxxxxxx]");
	assert_redacted("github_pat_11ABCDEFG0aaaaaaaaaaaa_bbbbbbbb",
			"[REDACTED:GITHUB_TOKEN:xxxxxxxx]");
	assert_redacted("xoxb-1234567890-abcdef", "[REDACTED:SLACK_TOKEN:xxxxxxxx]");
	assert_redacted("AIzaSyA1234567890abcdefghijklmnopqrstuv",
			"[REDACTED:GOOGLE_KEY:xxxxxxxx]");
	assert_redacted("Authorization: Bearer abcdef0123456789abcdef",
			"Authorization: Bearer [REDACTED:BEARER:xxxxxxxx]");
	assert_redacted("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_def!",
			"[REDACTED:JWT:xxxxxxxx]!");
	assert_redacted("hf_abcdefghijklmnopqrstuvwx12", "[REDACTED:HF_TOKEN:xxxxxxxx]");
	assert_redacted("glpat-abcdefghij0123456789", "[REDACTED:GITLAB_TOKEN:xxxxxxxx]");
	assert_redacted("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE/+=\nabc\n"
			"-----END RSA PRIVATE KEY-----\nb",
			"a\n[REDACTED:PRIVATE_KEY:xxxxxxxx]\nb");
	assert_redacted("\"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\"",
			"\"[REDACTED:PRIVATE_KEY:xxxxxxxx]\\n\"");
	assert_redacted("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk",
			"[REDACTED:PRIVATE_KEY:xxxxxxxx]");
}

static void test_ordinary_text_stays(void **state)
{
	static const char *const texts[] = {
		"risk-management-system-for-2024-and-beyond", "use sk-learn-compatible-estimators",
		"the bearer authentication mechanism", "AKIA", "sk-", "sk-short1", "eyJ.eyJ.",
		"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", "hf_hub_download",
		"abc", "[REDACTED:OPENAI_API_KEY:01234567]", "", "gsk_", "-----BEGIN ",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_free char *clean = redact(texts[i]);

		assert_string_equal(clean, texts[i]);
	}
}

static void test_exact_forms(void **state)
{
	static const char *const dressed[] = {
		SECRET, "hunter2\\/pass+word\\\"with=odd",
		"hunter2/pass+word\\\"with=odd", "hunter2/pass+word\\\\\\\"with=odd",
		"hunter2%2Fpass%2Bword%22with%3Dodd", "hunter2%2fpass%2bword%22with%3dodd",
		"68756e746572322f706173732b776f726422776974683d6f6464",
		"68756E746572322F706173732B776F726422776974683D6F6464",
		/* base64 of SECRET, "a" SECRET "b", "ab" SECRET "c", ":" in front as in Basic */
		"aHVudGVyMi9wYXNzK3dvcmQid2l0aD1vZGQ=",
		"YWh1bnRlcjIvcGFzcyt3b3JkIndpdGg9b2RkYg==",
		"YWJodW50ZXIyL3Bhc3Mrd29yZCJ3aXRoPW9kZGM=",
		"dXNlcjpodW50ZXIyL3Bhc3Mrd29yZCJ3aXRoPW9kZA==",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(dressed); i++) {
		cleanup_free char *text = mem_printf("<<%s>>", dressed[i]);
		cleanup_free char *clean = redact(text);

		if (!strstr(clean, "[REDACTED:OPENAI_API_KEY:"))
			fail_msg("survives: %s", text);
		/* At most a few digits of the neighbours are left, nothing of the secret. */
		assert_null(strstr(clean, "hunter"));
		assert_true(strlen(clean) <= 2 + 40 + 2 + 6);
	}
}

static void test_overlaps_leave_no_end(void **state)
{
	static const struct audit_secret two[] = {
		{ "A", "abcdefghij" }, { "B", "fghijklmnop" }, { "C", "abcdefghijklmn" },
	};
	struct redactor *r = redactor_new(two, 3, "salt");
	cleanup_buf struct buf out = BUF_INIT(1000);

	(void)state;
	assert_int_equal(redact_bytes(r, "--abcdefghijklmnop--", 20, &out), 1);
	assert_int_equal(out.len, 2 + strlen("[REDACTED:A:01234567]") + 2);
	assert_null(strstr(out.data, "nop"));
	redactor_free(r);
}

static void test_cut_secret(void **state)
{
	static const char text[] = "limit reached: plain-secret-val";
	cleanup_free char *clean = redact(text);

	(void)state;
	assert_null(strstr(clean, "plain"));
	assert_non_null(strstr(clean, "limit reached: [REDACTED:OTHER_KEY:"));
}

static void test_same_secret_same_placeholder(void **state)
{
	cleanup_free char *plain = redact(SECRET2);
	cleanup_free char *base64 = redact("cGxhaW4tc2VjcmV0LXZhbHVlLTAwNDI=");
	cleanup_free char *other = redact(SECRET);

	(void)state;
	assert_string_equal(plain, base64);
	assert_string_not_equal(plain, other);
}

static void test_json_stays_json(void **state)
{
	static const char json[] = "{\"k\":\"a \\\"hunter2/pass+word\\\\\\\"with=odd\","
				   "\"n\":908172635445,"
				   "\"hunter2/pass+word\\\"with=odd\":[1,true,null],"
				   "\"u\":\"\\u0068unter2\\/pass+word\\u0022with=odd "
				   "\\ud83d\\ude00\"}";
	struct redactor *r = make();
	cleanup_buf struct buf out = BUF_INIT(10000);
	struct error err = ERROR_INIT;
	cleanup_json struct json *value = NULL;

	(void)state;
	assert_int_equal(redact_json(r, json, strlen(json), &out), 4);
	value = json_parse(out.data, out.len, 0, &err);
	if (!value)
		fail_msg("%s: %s", err.message, out.data);
	assert_null(strstr(out.data, "hunter2"));
	assert_null(strstr(out.data, "with=odd"));
	assert_null(strstr(out.data, "908172635445"));
	assert_int_equal(json_type(json_get(value, "n")), JSON_STRING);
	assert_non_null(strstr(json_get_string(value, "u"), "\xf0\x9f\x98\x80"));
	redactor_free(r);
}

/* Every call of the API is given the secret in every field; none may reach the disk. */
static void plant(struct audit *audit, char ret[ULID_LEN + 1])
{
	static const char text[] = "x " SECRET " y " SECRET2 " ghp_abcdefghijklmnopqrstuvwx0123 z";
	static const char binary[] = "\0\1\2" SECRET2 "\0\xff" SECRET;
	static const char *const tags[] = { SECRET2, NULL };
	cleanup_json struct json *data = json_object();
	struct error err = ERROR_INIT;
	struct audit_run run = { .kind = SECRET2, .session = SECRET2, .item = text, .tier = text,
				 .replay_of = text, .prompt = text, .prompt_len = strlen(text),
				 .provider = text, .model = text, .tags = tags };
	const struct audit_blob blobs[] = { { "b", "x/y", binary, sizeof(binary) - 1 } };
	const struct audit_end end = { .status = "failed", .reason = text, .answer = text,
				       .answer_len = strlen(text), .code = text,
				       .code_len = strlen(text), .output = text,
				       .output_len = strlen(text) };

	json_set_string(data, "a", text);
	json_set_string(data, SECRET, "key");
	json_set_int(data, "pin", 908172635445);
	run.config = data;
	ulid_new(clock_wall_ms(), run.id);
	assert_ok(audit_run_begin(audit, &run, &err), err);
	assert_ok(audit_append(audit, run.id, &(struct audit_event){
		.stage = SECRET2, .phase = "done", .data = data, .blobs = blobs,
		.blob_count = 1 }, &err), err);
	fixture_commit(audit);
	assert_ok(audit_run_end(audit, run.id, &end, &err), err);
	memcpy(ret, run.id, sizeof(run.id));
}

static void assert_no_secret(const struct fixture *f)
{
	static const char *const marks[] = {
		"hunter2", "plain-secret", "with=odd", "908172635445", "ghp_abcdef", "value-0042",
		"hunter", "word\"with",
	};
	cleanup_free char *journal = mem_printf("%s-journal", f->path);

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (fixture_scan(f->path, marks[i]) || fixture_scan(journal, marks[i]))
			fail_msg("%s is in the file", marks[i]);
	}
}

static void test_nothing_reaches_the_file(void **state)
{
	struct fixture *f = *state;
	struct error err = ERROR_INIT;
	struct audit *audit;
	char id[ULID_LEN + 1];
	cleanup_free char *bad = NULL;

	assert_ok(audit_open(&audit, &(struct audit_options){
		.path = f->path, .secrets = secrets, .secret_count = ARRAY_SIZE(secrets),
		.app_version = SECRET2 }, &err), err);
	assert_non_null(strstr(audit_note(audit), "SHORT"));
	assert_null(strstr(audit_note(audit), "PIN"));
	for (int i = 0; i < 3; i++) {
		plant(audit, id);
		/* The journal holds pages of before while the transaction is open. */
		assert_no_secret(f);
		fixture_commit(audit);
		assert_no_secret(f);
	}
	assert_true(fixture_scan(f->path, "[REDACTED:OTHER_KEY:") > 0);
	assert_true(fixture_scan(f->path, "[REDACTED:GITHUB_TOKEN:") > 0);
	assert_ok(audit_verify(audit, id, &bad, &err), err);
	assert_null(bad);
	audit_close(audit);
	assert_no_secret(f);
}

static void time_redaction(struct redactor *r, const char *name, const char *bytes, size_t len)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
	int64_t best = INT64_MAX;

	for (int i = 0; i < 7; i++) {
		int64_t start = clock_cpu_us(), took;

		buf_clear(&out);
		redact_bytes(r, bytes, len, &out);
		took = clock_cpu_us() - start;
		best = took < best ? took : best;
	}
	print_message("redact 1 MiB of %s: %lld us\n", name, (long long)best);
	/* The target is 2 ms; sanitizers and a busy machine get room. */
	assert_true(best < 200000);
}

static void fill(char *bytes, size_t len, const char *what)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = what[i % strlen(what)];
}

/* No text makes it slow: the worst are prefixes without end. */
static void test_linear(void **state)
{
	static const char *const worst[] = {
		"for i in range(10): print('hello', i)\n", "sk-", "xsk-", "eyJ", "eyJaaaaaaaaaa.",
		"-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\x01",
		"AKIAAKIA", "Bearer ", "Bearer a", "hunter2/", "aaaaaaaa", "ghp_", "sk-a1",
	};
	const size_t len = (size_t)1 << 20;
	cleanup_free char *bytes = mem_alloc(len);
	struct redactor *r = make();
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0 && io_read(fd, bytes, len) > 0);
	close(fd);
	time_redaction(r, "random bytes", bytes, len);
	for (size_t i = 0; i < ARRAY_SIZE(worst); i++) {
		fill(bytes, len, worst[i]);
		time_redaction(r, worst[i], bytes, len);
	}
	redactor_free(r);
}

int main(void)
{
	const struct CMUnitTest redact_tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_ordinary_text_stays),
		cmocka_unit_test(test_exact_forms),
		cmocka_unit_test(test_overlaps_leave_no_end),
		cmocka_unit_test(test_cut_secret),
		cmocka_unit_test(test_same_secret_same_placeholder),
		cmocka_unit_test(test_json_stays_json),
		cmocka_unit_test(test_linear),
		cmocka_unit_test_setup_teardown(test_nothing_reaches_the_file, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(redact_tests, NULL, NULL);
}
