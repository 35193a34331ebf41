/*
 * Files of a sandbox of E2B's wire: what a program says that it left, and paths that would grow. No
 * program runs: what one would say is written here.
 */
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

static size_t take_cut(struct home *t, const struct home_given *given, const char *listing,
		       size_t len, struct buf *lost)
{
	size_t asked = 0;
	const struct home_left left = {
		.listing = listing, .len = len, .content = content, .self = &asked, .given = given
	};

	home_take(t, &left, lost);
	return asked;
}

/* A listing as it is when it was written to its end. */
static size_t take_given(struct home *t, const struct home_given *given, const char *listing,
			 size_t len, struct buf *lost)
{
	struct buf whole = BUF_INIT(1 << 20);

	buf_add(&whole, listing, len);
	buf_add(&whole, ".", 2);
	size_t asked = take_cut(t, given, whole.data, whole.len, lost);
	buf_release(&whole);
	return asked;
}

/* What was given all that is there. */
static size_t take(struct home *t, const char *listing, size_t len)
{
	cleanup_home_given struct home_given given = { .nodes = NULL };
	cleanup_buf struct buf lost = BUF_INIT(8192);

	home_give(t, &given);
	return take_given(t, &given, listing, len, &lost);
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

/* --- beside others --- */

static const char *text_of(const struct home *t, const char *path)
{
	const struct home_node *node = home_find(t, path);

	return !node ? "none" : node->folder ? "folder" : node->content.bytes;
}

static void test_others_write_meanwhile(void **state)
{
	static const char left[] = "f 644 both\0f 600 mine\0f 644 made\0f 644 twice";
	cleanup_home_given struct home_given given = { .nodes = NULL };
	cleanup_buf struct buf lost = BUF_INIT(8192);
	struct home t = { .nodes = NULL };

	(void)state;
	put(&t, "both", "old");
	put(&t, "mine", "old");
	put(&t, "removed", "old");
	put(&t, "removed too", "old");
	home_give(&t, &given);
	put(&t, "both", "new");
	put(&t, "removed too", "new");
	put(&t, "new", "new");
	put(&t, "made", "new");
	put(&t, "twice", "twice"); /* which is what the program wrote there */
	take_given(&t, &given, left, sizeof(left), &lost);
	assert_string_equal(text_of(&t, "both"), "new");
	assert_string_equal(text_of(&t, "mine"), "mine");
	assert_string_equal(text_of(&t, "removed"), "none");
	assert_string_equal(text_of(&t, "removed too"), "new");
	assert_string_equal(text_of(&t, "new"), "new");
	assert_string_equal(text_of(&t, "made"), "new");
	assert_string_equal(
		lost.data,
		"assay: what was written to both is not kept: others wrote to it while this ran\n"
		"assay: what was written to made is not kept: others wrote to it while this ran\n");
	home_release(&t);
}

static void test_two_at_once(void **state)
{
	cleanup_home_given struct home_given one = { .nodes = NULL }, two = { .nodes = NULL };
	cleanup_buf struct buf lost = BUF_INIT(8192);
	struct home t = { .nodes = NULL };

	(void)state;
	put(&t, "x", "old");
	home_give(&t, &one);
	home_give(&t, &two);
	take_given(&t, &one, "f 644 x\0d 755 1\0f 644 1/y", 26, &lost);
	take_given(&t, &two, "d 755 2\0f 644 2/y", 18, &lost);
	assert_string_equal(text_of(&t, "1/y"), "1/y");
	assert_string_equal(text_of(&t, "2/y"), "2/y");
	assert_string_equal(text_of(&t, "x"), "x"); /* one wrote it, two removed what was before */
	assert_int_equal(lost.len, 0);
	home_release(&t);
}

static void test_folders_meanwhile(void **state)
{
	static const char left[] = "d 755 gone\0f 644 file\0d 755 empty";
	cleanup_home_given struct home_given given = { .nodes = NULL };
	cleanup_buf struct buf lost = BUF_INIT(8192);
	struct home t = { .nodes = NULL };

	(void)state;
	put(&t, "f/old", "old");
	put(&t, "file/old", "old");
	put(&t, "gone/old", "old");
	put(&t, "empty", "old");
	home_give(&t, &given);
	put(&t, "f/new", "new");
	put(&t, "file/new", "new");
	home_remove(&t, "gone");
	take_given(&t, &given, left, sizeof(left), &lost);
	assert_string_equal(text_of(&t, "f/old"), "none");
	assert_string_equal(text_of(&t, "f/new"), "new");
	assert_string_equal(text_of(&t, "file/new"), "new");
	assert_string_equal(text_of(&t, "gone"), "none");
	assert_string_equal(text_of(&t, "empty"), "folder");
	assert_non_null(strstr(lost.data, "what was written to file is not kept"));
	home_release(&t);
}

/* What is not in a list that was cut off may be there all the same. */
static void test_cut_off(void **state)
{
	cleanup_home_given struct home_given given = { .nodes = NULL };
	cleanup_buf struct buf lost = BUF_INIT(8192);
	struct home t = { .nodes = NULL };
	static const char left[] = "f 644 a\0f 644 ";

	(void)state;
	put(&t, "a", "old");
	put(&t, "b", "old");
	home_give(&t, &given);
	take_cut(&t, &given, left, sizeof(left), &lost);
	assert_string_equal(text_of(&t, "a"), "a");
	assert_string_equal(text_of(&t, "b"), "old");
	assert_non_null(strstr(lost.data, "no file counts as removed"));
	take_given(&t, &given, left, sizeof(left), &lost);
	assert_string_equal(text_of(&t, "b"), "none");
	home_release(&t);
}

/* A name for a large file that it was never given. */
static void test_links_to_others(void **state)
{
	cleanup_home_given struct home_given given = { .nodes = NULL }, again = given;
	cleanup_buf struct buf lost = BUF_INIT(8192);
	struct home t = { .nodes = NULL };
	struct error err = ERROR_INIT;

	(void)state;
	home_give(&t, &given);
	assert_int_equal(home_put(&t, "large", mem_alloc(HOME_COPY_MAX + 1), HOME_COPY_MAX + 1,
				  0644, &err),
			 0);
	char left[64];
	snprintf(left, sizeof(left), "l " HOME_SHOWN "%llu mine",
		 (unsigned long long)home_find(&t, "large")->version);
	take_given(&t, &given, left, strlen(left) + 1, &lost);
	assert_int_equal(home_find(&t, "large")->content.len, HOME_COPY_MAX + 1);
	assert_null(home_find(&t, "mine"));
	home_give(&t, &again);
	take_given(&t, &again, left, strlen(left) + 1, &lost);
	assert_null(home_find(&t, "large"));
	assert_int_equal(home_find(&t, "mine")->content.len, HOME_COPY_MAX + 1);
	home_release(&t);
}

static void test_moved_on_and_on(void **state)
{
	struct home t = { .nodes = NULL };
	struct error err = ERROR_INIT;
	size_t moved = 0;

	(void)state;
	put(&t, "0/f", "file");
	for (; moved < 20; moved++) {
		char from[8], to[300];

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

	(void)state;
	memcpy(piece, "begin", 5);
	assert_int_equal(content_add(&c, piece, STORE_SMALL, &err), 0);
	same_use(s, STORE_SMALL, 0, 0);
	assert_int_equal(content_add(&c, "end", 3, &err), 0);
	same_use(s, 0, STORE_SMALL + 3, 1);
	assert_true(c.on_disk);
	char got[3];
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
		cmocka_unit_test(test_others_write_meanwhile),
		cmocka_unit_test(test_two_at_once),
		cmocka_unit_test(test_folders_meanwhile),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_links_to_others),
		cmocka_unit_test(test_moved_on_and_on),
		cmocka_unit_test(test_small_then_on_disk),
		cmocka_unit_test(test_half_for_one_owner),
		cmocka_unit_test(test_no_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
