/* The digest of the wheels in a folder: their names and bytes, in one order, and nothing else of
 * the folder. */
#include "sandbox/guest/wheels.h"

#include "base/io.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/assay-wheels-XXXXXX";

static void put(const char *name, const char *text)
{
	cleanup_free char *path = mem_printf("%s/%s", folder, name);
	struct error err = ERROR_INIT;

	assert_int_equal(io_replace_file(path, text, strlen(text), 0600, &err), 0);
}

static void drop(const char *name)
{
	cleanup_free char *path = mem_printf("%s/%s", folder, name);

	assert_int_equal(remove(path), 0);
}

static const char *digest(const char *of)
{
	static char all[8][HASH_HEX_LEN + 1];
	static size_t next;
	char *ret = all[next++ % ARRAY_SIZE(all)];
	struct hash *h = hash_start();
	struct error err = ERROR_INIT;
	const int status = wheels_add(h, of, &err);

	hash_finish(h, ret);
	assert_int_equal(status, 0);
	return ret;
}

static void test_names_and_bytes_count(void **state)
{
	(void)state;
	const char *none = digest(folder);

	assert_string_equal(digest("/nothing/here"), none);
	put("b-1.whl", "bytes");
	const char *one = digest(folder);
	assert_string_not_equal(one, none);
	put("pyodide-lock.json", "{}");
	put("whl", "no wheel");
	assert_string_equal(digest(folder), one);
	put("a-1.whl", "others");
	const char *two = digest(folder);
	assert_string_not_equal(two, one);
	drop("b-1.whl");
	drop("a-1.whl");
	put("a-1.whl", "others");
	put("b-1.whl", "bytes");
	assert_string_equal(digest(folder), two); /* whichever came first */
	put("b-1.whl", "Bytes");
	assert_string_not_equal(digest(folder), two);
	drop("b-1.whl");
	put("c-1.whl", "bytes");
	assert_string_not_equal(digest(folder), two);
}

static void test_what_cannot_be_read_is_named(void **state)
{
	cleanup_free char *path = mem_printf("%s/d-1.whl", folder);
	struct error err = ERROR_INIT;
	struct hash *h = hash_start();

	(void)state;
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(wheels_add(h, folder, &err), -1);
	char ret[HASH_HEX_LEN + 1];
	hash_finish(h, ret);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(rmdir(path), 0);
}

static int set_up(void **state)
{
	(void)state;
	return !mkdtemp(folder);
}

static int tear_down(void **state)
{
	(void)state;
	cleanup_free char *command = mem_printf("rm -r '%s'", folder);

	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_bytes_count),
		cmocka_unit_test(test_what_cannot_be_read_is_named),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
