/*
 * The table of shapes: the example of each row is found, as it is and in every encoding that is
 * known, and nothing is left of it in any.
 */
#include "test_audit_redact.h"

#include "audit/redact/encode.h"
#include "audit/redact/prefix.h"
#include "audit/redact/shape.h"

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

		make_example(shape, &example, &secret);
		assert_non_null(shape->source);
		cleanup_free char *text = mem_printf("see: %s\nand on", example.data);
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

		add_encoded(&coded, form, key);
		cleanup_free char *clean = redact(coded.data);
		assert_non_null(strstr(clean, plain));
	}
}

int main(void)
{
	const struct CMUnitTest shape_tests[] = {
		cmocka_unit_test(test_every_example),
		cmocka_unit_test(test_encoded_has_the_same_placeholder),
	};

	return cmocka_run_group_tests(shape_tests, NULL, NULL);
}
