/* Files of a sandbox of E2B's wire: what a program says that it left, and paths that would grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/doors/e2b/home.h"
#include "base/buf.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct home *t, const char *path, const char *text)
{
	struct error err = ERROR_INIT;

	assert_int_equal(home_put(t, path, mem_strdup(text), strlen(text), 0644, &err), 0);
}

/* How often it was asked for. */
static const char *content(void *self, const char *path, size_t *ret_len)
{
	++*(size_t *)self;
	*ret_len = strlen(path);
	return path;
}

static size_t take(struct home *t, const char *listing, size_t len)
{
	size_t asked = 0;
	const struct home_left left = {
		.listing = listing, .len = len, .content = content, .self = &asked
	};

	home_take(t, &left);
	return asked;
}

static void test_named_often(void **state)
{
	static const char *const spellings[] = {
		"a", "./a", "a/", ".//a", "b/../a", "/home/user/a"
	};
	struct home t = { .nodes = NULL };
	struct buf listing = BUF_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < 5000; i++) {
		buf_addf(&listing, "f 644 %s", spellings[i % ARRAY_SIZE(spellings)]);
		buf_addch(&listing, '\0');
	}
	assert_int_equal(take(&t, listing.data, listing.len), 1);
	assert_int_equal(t.count, 1);
	buf_release(&listing);
	home_release(&t);
}

static void test_file_becomes_folder(void **state)
{
	static const char there[] = "d 755 x\0f 644 x/y\0f 644 z";
	struct home t = { .nodes = NULL };

	(void)state;
	put(&t, "x", "file");
	put(&t, "z/deep", "file");
	take(&t, there, sizeof(there));
	assert_int_equal(t.count, 3);
	assert_true(home_find(&t, "x")->folder);
	assert_string_equal(home_find(&t, "x/y")->path, "x/y");
	assert_false(home_find(&t, "z")->folder);
	home_release(&t);
}

static void test_moved_on_and_on(void **state)
{
	struct home t = { .nodes = NULL };
	struct error err = ERROR_INIT;
	char from[8], to[300];
	size_t moved = 0;

	(void)state;
	put(&t, "0/f", "file");
	for (; moved < 20; moved++) {
		snprintf(from, sizeof(from), "%zu", moved);
		snprintf(to, sizeof(to), "%zu/%0200d", moved + 1, 0);
		if (home_move(&t, from, to, &err) < 0)
			break;
	}
	assert_true(moved > 1 && moved < 10);
	assert_int_equal(err.kind, ERR_USAGE);
	for (size_t i = 0; i < t.count; i++) {
		cleanup_free char *path = home_path(t.nodes[i].path, &err);

		assert_non_null(path);
	}
	home_release(&t);
}

/* --- what they hold --- */

static const char *const here[] = { "/tmp", NULL }, *const nowhere[] = { "/nowhere", NULL };

static void same_use(struct store *s, size_t memory, size_t disk, size_t files)
{
	struct store_used used;

	store_look(s, &used);
	assert_int_equal(used.memory, memory);
	assert_int_equal(used.disk, disk);
	assert_int_equal(used.files, files);
}

static void test_small_then_on_disk(void **state)
{
	static const struct store_bounds bounds = { 2 * STORE_SMALL, 4 * STORE_SMALL, 2 };
	struct store *s = store_new(&bounds, here);
	struct content c = { .store = s }, other = { .store = s };
	cleanup_free char *piece = mem_alloc(STORE_SMALL);
	struct error err = ERROR_INIT;
	char got[3];

	(void)state;
	memcpy(piece, "begin", 5);
	assert_int_equal(content_add(&c, piece, STORE_SMALL, &err), 0);
	same_use(s, STORE_SMALL, 0, 0);
	assert_int_equal(content_add(&c, "end", 3, &err), 0);
	same_use(s, 0, STORE_SMALL + 3, 1);
	assert_true(c.on_disk);
	assert_int_equal(content_read(&c, 1, got, 3, &err), 0);
	assert_memory_equal(got, "egi", 3);
	assert_int_equal(content_read(&c, STORE_SMALL, got, 3, &err), 0);
	assert_memory_equal(got, "end", 3);
	assert_int_equal(content_copy(&other, &c, &err), 0);
	same_use(s, 0, 2 * (STORE_SMALL + 3), 2);
	content_release(&c);
	assert_int_equal(content_read(&other, STORE_SMALL, got, 3, &err), 0);
	assert_memory_equal(got, "end", 3);
	content_release(&other);
	same_use(s, 0, 0, 0);
	store_free(s);
}

static void test_half_for_one_owner(void **state)
{
	static const struct store_bounds bounds = { 100, 1000, 2 };
	struct store *s = store_new(&bounds, here);
	struct content one = { .store = s, .owner = "one" }, two = { .store = s, .owner = "two" },
		       user = { .store = s };
	struct error err = ERROR_INIT;
	char bytes[101] = { 0 };

	(void)state;
	assert_int_equal(content_add(&one, bytes, 51, &err), -1);
	assert_int_equal(err.kind, ERR_BUDGET);
	assert_int_equal(content_add(&one, bytes, 50, &err), 0);
	assert_int_equal(content_add(&two, bytes, 50, &err), 0);
	assert_int_equal(content_add(&user, bytes, 1, &err), -1);
	content_release(&one);
	content_release(&two);
	assert_int_equal(content_add(&user, bytes, 100, &err), 0);
	content_release(&user);
	same_use(s, 0, 0, 0);
	store_free(s);
}

static void test_no_disk(void **state)
{
	static const struct store_bounds bounds = { STORE_MEMORY_MAX, STORE_DISK_MAX, 1 };
	struct store *s = store_new(&bounds, nowhere);
	struct content c = { .store = s };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(content_set(&c, mem_alloc(STORE_SMALL + 1), STORE_SMALL + 1, &err), -1);
	assert_int_equal(err.kind, ERR_FAILED);
	content_release(&c);
	same_use(s, 0, 0, 0);
	store_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_named_often),
		cmocka_unit_test(test_file_becomes_folder),
		cmocka_unit_test(test_moved_on_and_on),
		cmocka_unit_test(test_small_then_on_disk),
		cmocka_unit_test(test_half_for_one_owner),
		cmocka_unit_test(test_no_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
