/*
 * What is taken for a secret in a text, what is not, and what is put in its place. Texts alone:
 * that nothing of them reaches the file is test_audit_redact_file.c's.
 */
#include "test_audit_redact.h"

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
	assert_redacted("hf_abcdefghIJKLMNOPqrstuvwxyzABCDEFGH", "[REDACTED:HF_TOKEN:xxxxxxxx]");
	assert_redacted("ACCAIOSFODNN7EXAMPLE", "[REDACTED:AWS_KEY:xxxxxxxx]");
	assert_redacted("ghp_abcdefghijklmnopqrst_uvwxyz0123456789",
			"[REDACTED:GITHUB_TOKEN:xxxxxxxx]");
	assert_redacted("ghs_123456_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0In0.q7Zk2LwX9bT4-mVn3 x",
			"[REDACTED:GITHUB_TOKEN:xxxxxxxx] x");
	assert_redacted("shpua_4f9a0b7c3e1d86524f9a0b7c3e1d8652",
			"[REDACTED:SHOPIFY_TOKEN:xxxxxxxx]");
	assert_redacted("bot123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
			"bot[REDACTED:TELEGRAM_TOKEN:xxxxxxxx]");
	assert_redacted("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE/+=\nabc\n"
			"-----END RSA PRIVATE KEY-----\nb",
			"a\n[REDACTED:PRIVATE_KEY:xxxxxxxx]\nb");
	assert_redacted("\"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\"",
			"\"[REDACTED:PRIVATE_KEY:xxxxxxxx]\\n\"");
	assert_redacted("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk",
			"[REDACTED:PRIVATE_KEY:xxxxxxxx]");
}

/* Forms that public rules show and that the table had shorter, longer or of other letters. */
static void test_published_forms(void **state)
{
	static const char *const tokens[] = {
		"access-"
		"development-9f8a2c1b-4d5e-6f70-8a9b-0c1d2e3f4a5b",
		"access-"
		"production-9f8a2c1b-4d5e-6f70-8a9b-0c1d2e3f4a5b",
		"access-"
		"sandbox-9f8a2c1b-4d5e-6f70-8a9b-0c1d2e3f4a5b",
		"FLWSECK_"
		"TEST-3a9bc7d21e5f",
		"ops_"
		"eyJzaWduSW4+Zm9v/bWFpbCI6ImEx+YmMzZDRl/ZjVnNmg3aThqOWswbDFtMm4z",
		"A3-"
		"ASWWYB-798JRYLJVD4-23DC2-86TVM-H43EB",
		"A3-"
		"ASWWYB-798JRY-LJVD4-23DC2-86TVM-H43EB",
		"bkua_"
		"x7m2kq9z4wv8tn3r6pj1yh5sg0lc2fd7bx8am4q9",
		"sbp_"
		"x7m2kq9z4wv8tn3r6pj1yh5sg0lc2fd7bx8am4q9",
		"r8_"
		"Qx7m-2kq9Z4wv_8tn3r6Pj1yh5sG0lc2fd7bx",
		"nfp_"
		"Qx7m2kq9Z4wv_8tn3r6Pj1yh5sG0lc2fd7b",
		"sl."
		"u.AFx7m2kq9Z4wv8tn3r6Pj1yh5sG0lc2fd7bx8am4q9Qx7m2kq9Z4wv8tn3r6Pj1yh",
		"A3T"
		"X7M2KQ9Z4WV8TN3R6",
		"cmVmd"
		"Qx7m2kq9Z4wv8tn3r6Pj1yh5sG0lc2fd7bx8am4q9Qx7m2kq9Z4wv8tn3r6",
		"sgp_"
		"0123456789abcdef_9f8a2c1b4d5e6f708a9b0c1d2e3f4a5b9f8a2c1b",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tokens); i++) {
		cleanup_free char *text = mem_printf("it is %s, he said", tokens[i]);
		cleanup_free char *clean = redact(text);

		if (strncmp(clean, "it is [REDACTED:", 16) ||
		    strcmp(strchr(clean, ']'), "], he said"))
			fail_msg("%s: %s", tokens[i], clean);
	}
}

/* A private key goes whole, whatever stands before its lines, with or without its last or first
 * lines, and nothing else goes with it. */
static void test_private_keys_with_prefixes(void **state)
{
	static const char *const prefixes[] = {
		"",    "> ", "# ", "    ",	  "x.pem:3:",
		"// ", "| ", "+",  "[12:00:01] ", "2026-01-02T03:04:05Z INFO  "
	};
	static const char body[] = "MC4CAQAwBQYDK2VwBCIEIAAAMC4CAQAwBQYDK2VwBCIEIAAA";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes) * 3; i++) {
		const char *p = prefixes[i / 3];
		cleanup_free char *first = mem_printf("%s-----BEGIN EC PRIVATE KEY-----\n", p);
		cleanup_free char *last = mem_printf("%s-----END EC PRIVATE KEY-----\n", p);
		cleanup_free char *text =
			mem_printf("Before it.\n%s%s%s\n%s%s\n%sMC4=\n%sAnd after it.\n",
				   i % 3 == 2 ? "" : first, p, body, p, body, p,
				   i % 3 == 1 ? "" : last);
		cleanup_free char *clean = redact(text);

		if (strstr(clean, "MC4") || !strstr(clean, "[REDACTED:PRIVATE_KEY:") ||
		    !strstr(clean, "Before it.\n") || !strstr(clean, "And after it.\n"))
			fail_msg("%s -> %s", text, clean);
	}
}

/* What is given to a name, in the notations of files, shells, programs and headers. */
static void test_values_by_name(void **state)
{
	static const char *const texts[] = {
		"password=hunter2x",
		"password = hunter2x",
		"Password: hunter2x\n",
		"DB_PASSWORD=hunter2x\nNEXT=1",
		"export DB_PASS='hunter2x'",
		"passwd: \"hunter2x\"",
		"{\"password\": \"hunter2x\"}",
		"{\\\"password\\\": \\\"hunter2x\\\"}",
		"config['db']['password'] = 'hunter2x'",
		"<password>hunter2x</password>",
		"--password hunter2x --verbose",
		"--password=hunter2x",
		"?user=carol&password=hunter2x&x=1",
		"Server=db;Uid=carol;Pwd=hunter2x;",
		"machine example.org login carol password hunter2x",
		"machine example.org\n  login carol\n  password hunter2x\n",
		"spring.datasource.password=hunter2x",
		"'password' => 'hunter2x',",
		"https://carol:hunter2x@example.org/x",
		"mongodb+srv://carol:hunter2x@a.example.org,b.example.org/x",
		"sftp://carol:hunt/er2x:hunter2x@example.org",
		"curl -u carol:hunter2x https://example.org",
		"db.example.org:5432:*:carol:hunter2x\n",
		"X-API-Key: 0hunter2x0q7Zk",
		"api_key: 0hunter2x0q7Zk\n",
		"\"apiKey\" : \"0hunter2x0q7Zk\"",
		"aws_secret_access_key = 0hunter2x/q7Zk+LwX9bT4",
		"AccountName=x;AccountKey=0hunter2x/q7Zk+LwX9bT4==;EndpointSuffix=y",
		"Authorization: Token 0hunter2x0q7Zk",
		"client_secret=0hunter2x0q7Zk&grant_type=x",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_free char *clean = redact(texts[i]);

		if (!strstr(clean, "[REDACTED:") || strstr(clean, "hunter2x"))
			fail_msg("%s -> %s", texts[i], clean);
	}
}

/* Words in quotation marks are a password where the name says so, and not what a program says of
 * passwords. */
static void test_quoted_words(void **state)
{
	static const char *const secret[] = {
		"password = \"two words here\"",
		"db_password: 'two words here'",
		"{\"password\": \"two words here\", \"port\": 1}",
		"{\\\"password\\\": \\\"two words here\\\"}",
		"export PASSPHRASE=\"two words here\"",
		"connect(password='two words here')",
	};
	static const char *const said[] = {
		"password = \"Enter your password: \"",
		"\"password\": \"must have at least eight characters\"",
		"{\"password\": \"The password of the user\"}",
		"passphrase = 'passphrase for %s'",
		"password_hint = \"two words here\"",
		"pass = \"two words here\"",
		"password = two words here",
	};
	struct redactor *r = make();
	cleanup_buf struct buf out = BUF_INIT(1000);
	static const char member[] = "{\"pass\\u0077ord\":\"two words here\"}";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(secret); i++) {
		cleanup_free char *clean = redact(secret[i]);

		if (!strstr(clean, "[REDACTED:PASSWORD:") || strstr(clean, "two") ||
		    strstr(clean, "here"))
			fail_msg("%s -> %s", secret[i], clean);
	}
	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		cleanup_free char *clean = redact(said[i]);

		assert_string_equal(clean, said[i]);
	}
	assert_int_equal(redact_json(r, member, strlen(member), &out), 1);
	assert_null(strstr(out.data, "two"));
	redactor_free(r);
}

/* Code and prose that only speak of secrets, and what machines write that is none. */
/* One pixel. */
#define PNG                                                                                  \
	"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk" \
	"+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

static void test_what_is_no_secret_by_name(void **state)
{
	static const char *const texts[] = {
		"password = getpass.getpass('Password: ')",
		"password = input(\"Password: \")\nprint(password)",
		"def login(user, password: str = None) -> bool:",
		"login(user=user, password=password)",
		"if password == 'hunter2x': pass",
		"token = tokens[i]",
		"next_token = lexer.next()",
		"self.token = token",
		"secret = random.randint(1, 10)",
		"api_key = os.environ['API_KEY']",
		"\"password_length\": 12345678",
		"max_tokens=200000",
		"PASSWORD=$DB_PASSWORD",
		"password: ${PASSWORD}",
		"https://{user}:{password}@{host}/",
		"http://NAME:PASSWORD@PROXY",
		"https://example.org:8080/a@b",
		"git@github.com:a/b.git",
		"pass: lines (planner): The number of output lines is 10.",
		"First pass: determine the length",
		"tokenizer = Tokenizer('bpe2024')",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  x",
		"commit da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
		/* What was taken out of a text that is written again, as a replay's is. */
		"print(\"[REDACTED:OPENAI_API_KEY:963f6d40]\")",
		"https://u:[REDACTED:PASSWORD:3d7fa887]@host/",
		"{\"t\":\"[REDACTED:MY_TOKEN:963f6d40][REDACTED:PASSWORD:3d7fa887]\"}",
		PNG,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_free char *clean = redact(texts[i]);

		assert_string_equal(clean, texts[i]);
	}
	assert_redacted("[REDACTED:PASSWORD:3d7fa8871]",
			"[REDACTED:PASSWORD:[REDACTED:PASSWORD:xxxxxxxx]]");
	assert_redacted("RED:PASSWORD:3d7fa887]", "RED:PASSWORD:[REDACTED:PASSWORD:xxxxxxxx]]");
}

/* A pattern of the user's own: its match, or its first group; none that matches nothing. */
static void test_patterns_of_ones_own(void **state)
{
	static const char text[] = "badge B-1234 of case #77",
			  document[] = "{\"a\":\"B-\\u0031234\"}";
	struct error err = ERROR_INIT;
	struct redactor *r = make();
	cleanup_buf struct buf out = BUF_INIT(1000), json = BUF_INIT(1000);

	(void)state;
	assert_int_equal(redactor_add_pattern(r, "B-[0-9]{4}", &err), 0);
	assert_int_equal(redactor_add_pattern(r, "case #([0-9]+)", &err), 0);
	assert_int_equal(redactor_add_pattern(r, "(", &err), -1);
	error_clear(&err);
	assert_int_equal(redactor_add_pattern(r, "x*", &err), -1);
	assert_non_null(strstr(err.message, "empty"));
	assert_int_equal(redact_bytes(r, text, strlen(text), &out), 2);
	assert_null(strstr(out.data, "B-1234"));
	assert_non_null(strstr(out.data, "of case #[REDACTED:PATTERN:"));
	assert_int_equal(redact_json(r, document, strlen(document), &json), 1);
	assert_non_null(strstr(json.data, "{\"a\":\"[REDACTED:PATTERN:"));
	redactor_free(r);
}

/* In a document a member is a secret by its key, though no text holds the two together. */
static void test_members_by_key(void **state)
{
	static const char json[] =
		"{\"user\":\"carol\",\"pass\\u0077ord\":\"hunter2x\",\"n\":{\"api_key\":"
		"\"0hunter2x0q7Zk\",\"max_tokens\":12},\"l\":[\"password\",\"ordinary\"]}";
	struct redactor *r = make();
	cleanup_buf struct buf out = BUF_INIT(10000);
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(redact_json(r, json, strlen(json), &out), 2);
	cleanup_json struct json *value = json_parse(out.data, out.len, 0, &err);
	assert_non_null(value);
	assert_null(strstr(out.data, "hunter2x"));
	assert_non_null(strstr(out.data, "[\"password\",\"ordinary\"]"));
	assert_string_equal(json_get_string(value, "user"), "carol");
	redactor_free(r);
}

static void test_ordinary_text_stays(void **state)
{
	static const char *const texts[] = {
		"risk-management-system-for-2024-and-beyond",
		"use sk-learn-compatible-estimators",
		"the bearer authentication mechanism",
		"AKIA",
		"sk-",
		"sk-short1",
		"eyJ.eyJ.",
		"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
		"hf_hub_download",
		"abc",
		"[REDACTED:OPENAI_API_KEY:01234567]",
		"",
		"gsk_",
		"the A3-AREA-CODE-TABLE and A3T",
		"-----BEGIN ",
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
		SECRET,
		"hunter2\\/pass+word\\\"with=odd",
		"hunter2/pass+word\\\"with=odd",
		"hunter2/pass+word\\\\\\\"with=odd",
		"hunter2%2Fpass%2Bword%22with%3Dodd",
		"hunter2%2fpass%2bword%22with%3dodd",
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
		{ "A", "abcdefghij" },
		{ "B", "fghijklmnop" },
		{ "C", "abcdefghijklmn" },
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

	(void)state;
	assert_int_equal(redact_json(r, json, strlen(json), &out), 4);
	cleanup_json struct json *value = json_parse(out.data, out.len, 0, &err);
	if (!value)
		fail_msg("%s: %s", err.message, out.data);
	assert_null(strstr(out.data, "hunter2"));
	assert_null(strstr(out.data, "with=odd"));
	assert_null(strstr(out.data, "908172635445"));
	assert_int_equal(json_type(json_get(value, "n")), JSON_STRING);
	assert_non_null(strstr(json_get_string(value, "u"), "\xf0\x9f\x98\x80"));
	redactor_free(r);
}

int main(void)
{
	const struct CMUnitTest redact_tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_private_keys_with_prefixes),
		cmocka_unit_test(test_values_by_name),
		cmocka_unit_test(test_quoted_words),
		cmocka_unit_test(test_what_is_no_secret_by_name),
		cmocka_unit_test(test_patterns_of_ones_own),
		cmocka_unit_test(test_members_by_key),
		cmocka_unit_test(test_published_forms),
		cmocka_unit_test(test_ordinary_text_stays),
		cmocka_unit_test(test_exact_forms),
		cmocka_unit_test(test_overlaps_leave_no_end),
		cmocka_unit_test(test_cut_secret),
		cmocka_unit_test(test_same_secret_same_placeholder),
		cmocka_unit_test(test_json_stays_json),
	};

	return cmocka_run_group_tests(redact_tests, NULL, NULL);
}
