/* No planted secret reaches the file, whatever it is dressed as and wherever it is put. */
#include "test_audit_fixture.h"

#include "audit/redact/encode.h"
#include "audit/redact/prefix.h"
#include "audit/redact/redact.h"
#include "audit/redact/shape.h"

#include <fcntl.h>

#define SECRET	"hunter2/pass+word\"with=odd"
#define SECRET2 "plain-secret-value-0042"

static const struct audit_secret secrets[] = {
	{ "OPENAI_API_KEY", SECRET }, { "OTHER_KEY", SECRET2 }, { "PIN", "908172635445" },
	{ "SHORT", "abc" },	      { "EMPTY", "" },
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

/* --- the table --- */

/* A body that no person would choose: of each class what it may hold, in turn. */
static void add_run(struct buf *out, char class, size_t count)
{
	const char *letters = class == 'd' ? "2718281828" :
			      class == 'h' ? "4f9a0b7c3e1d8652" :
			      class == 'u' ? "K7QW2ZP4XM9TB3VN" :
					     "q7Zk2LwX9bT4mVn3";

	for (size_t i = 0; i < count; i++)
		buf_addch(out, letters[i % strlen(letters)]);
}

static void add_pattern(struct buf *out, const char *pattern)
{
	while (*pattern) {
		if (*pattern == '%') {
			add_run(out, pattern[1], strtoul(pattern + 3, NULL, 10));
			pattern = strchr(pattern, '}') + 1;
		} else if (*pattern++ != '?') {
			buf_addch(out, pattern[-1]);
		}
	}
}

/* What a row describes, and of it the part that must not be left. */
static void make_example(const struct shape *shape, struct buf *out, struct buf *secret)
{
	if (shape->kind == SHAPE_LOGIN)
		buf_addch(out, '"');
	if (shape->kind == SHAPE_PGPASS)
		buf_addstr(out, "db.example.org");
	if (shape->kind == SHAPE_URL)
		buf_addstr(out, "gopher");
	if (shape->kind == SHAPE_USER)
		buf_addstr(out, "curl ");
	if (shape->kind == SHAPE_PEM_TAIL)
		buf_addstr(out, "MC4CAQAwBQYDK2VwBCIEIAAA\nMC4CAQAwBQYDK2VwBCIEIAAA\n");
	if (shape->before)
		add_pattern(out, shape->before);
	prefix_first(shape->prefix, out);
	if (shape->kind == SHAPE_PEM_TAIL)
		buf_addstr(out, "PRIVATE KEY-----");
	if (shape->example) {
		buf_addstr(out, shape->example);
	} else if (shape->pattern) {
		add_pattern(out, shape->pattern);
		add_pattern(secret, shape->pattern);
	}
	if (shape->kind == SHAPE_LOGIN)
		buf_addch(out, '"');
	if (!secret->len)
		buf_addstr(secret, strstr(out->data, "hunter2")	     ? "hunter2" :
				   strstr(out->data, "9f8Zk2Lq7Xw3") ? "9f8Zk2Lq7Xw3" :
				   strstr(out->data, "MC4CAQ")	     ? "MC4CAQ" :
								       "dXNlcjpodW50ZXIy");
}

static void assert_gone(const struct shape *shape, const char *how, const char *text,
			const char *left)
{
	struct redactor *r = make();
	cleanup_buf struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
	size_t found = redact_bytes(r, text, strlen(text), &out);

	redactor_free(r);
	if (!found || memmem(out.data, out.len, left, strlen(left)))
		fail_msg("%s (%s), %s: %s -> %s", shape->name, shape->prefix, how, text,
			 found ? out.data : "as it is");
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
		PNG,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_free char *clean = redact(texts[i]);

		assert_string_equal(clean, texts[i]);
	}
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
	cleanup_json struct json *value = NULL;

	(void)state;
	assert_int_equal(redact_json(r, json, strlen(json), &out), 2);
	value = json_parse(out.data, out.len, 0, &err);
	assert_non_null(value);
	assert_null(strstr(out.data, "hunter2x"));
	assert_non_null(strstr(out.data, "[\"password\",\"ordinary\"]"));
	assert_string_equal(json_get_string(value, "user"), "carol");
	redactor_free(r);
}

/* Base64 as it is met: of the example and what stands before and behind it, here as many bytes
 * as put it at form's place in its group of three, and whole groups at the end. */
static void add_encoded(struct buf *out, unsigned form, const char *example)
{
	cleanup_buf struct buf all = BUF_INIT(8192);
	const unsigned first = ENCODE_FORMS - 6, place = (form - first) % 3;

	if (!encode_is_base64(form)) {
		encode_form(form, example, strlen(example), out);
		return;
	}
	buf_add(&all, "\n\n", place);
	buf_addstr(&all, example);
	do
		buf_addch(&all, '\n');
	while (all.len % 3);
	encode_form(form - place, all.data, all.len, out);
}

/* Each row's example is found as it is and in every encoding that is known, among other text. */
static void test_every_example(void **state)
{
	(void)state;
	for (size_t i = 0; i < shape_count; i++) {
		const struct shape *shape = &shape_table[i];
		cleanup_buf struct buf example = BUF_INIT(4096), secret = BUF_INIT(4096);
		cleanup_free char *text = NULL;

		make_example(shape, &example, &secret);
		assert_non_null(shape->source);
		text = mem_printf("see: %s\nand on", example.data);
		assert_gone(shape, "plain", text, secret.data);
		for (unsigned form = 0; form < ENCODE_FORMS; form++) {
			cleanup_free char *how = mem_printf("form %u", form);
			cleanup_buf struct buf coded = BUF_INIT(8192);

			buf_addstr(&coded, "x ");
			add_encoded(&coded, form, example.data);
			buf_addstr(&coded, " y");
			for (unsigned other = 0; other < ENCODE_FORMS; other++) {
				cleanup_buf struct buf left = BUF_INIT(4096);

				encode_form(other, secret.data, secret.len, &left);
				assert_gone(shape, how, coded.data, left.data);
			}
		}
	}
}

/* The same key has the same placeholder, plain or encoded. */
static void test_encoded_has_the_same_placeholder(void **state)
{
	static const char key[] = "glpat-q7Zk2LwX9bT4mVn3q7Zk";
	cleanup_free char *plain = redact(key);

	(void)state;
	for (unsigned form = 0; form < ENCODE_FORMS; form++) {
		cleanup_buf struct buf coded = BUF_INIT(8192);
		cleanup_free char *clean = NULL;

		add_encoded(&coded, form, key);
		clean = redact(coded.data);
		assert_non_null(strstr(clean, plain));
	}
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
	char id[ULID_LEN + 1];
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
		"for i in range(10): print('hello', i)\n",
		"sk-",
		"xsk-",
		"eyJ",
		"eyJaaaaaaaaaa.",
		"-----BEGIN ",
		"-----BEGIN PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\x01",
		"AKIAAKIA",
		"Bearer ",
		"Bearer a",
		"hunter2/",
		"aaaaaaaa",
		"ghp_",
		"sk-a1",
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
		cmocka_unit_test(test_every_example),
		cmocka_unit_test(test_private_keys_with_prefixes),
		cmocka_unit_test(test_values_by_name),
		cmocka_unit_test(test_quoted_words),
		cmocka_unit_test(test_what_is_no_secret_by_name),
		cmocka_unit_test(test_patterns_of_ones_own),
		cmocka_unit_test(test_members_by_key),
		cmocka_unit_test(test_encoded_has_the_same_placeholder),
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
