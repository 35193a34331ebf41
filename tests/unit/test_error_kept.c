/*
 * An errno that a system call, the keeper or SQLite had is in the error that reaches the caller,
 * whatever words the message has for it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "audit/audit.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/native/internal.h"
#include "sandbox/native/connection.h"
#include "sandbox/socket/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/assay-test-errors-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return rmdir(folder);
}

static void test_of_the_keeper(void **state)
{
	const struct protocol_failure failure = { .errnum = ENOSPC,
						  .step = "user namespace",
						  .remedy = "allow more" },
				      none = { .step = "the keeper died" };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(connection_failure(&failure, &err), -1);
	assert_int_equal(err.errnum, ENOSPC);
	assert_string_equal(err.message, "user namespace: No space left on device; allow more");
	assert_int_equal(connection_failure(&none, &err), -1);
	assert_int_equal(err.errnum, 0);
}

static void test_of_the_log(void **state)
{
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;

	(void)state;
	assert_int_equal(audit_open(&audit, &(struct audit_options){ .path = folder }, &err), -1);
	assert_int_equal(err.kind, ERR_LOG);
	assert_int_equal(err.errnum, EISDIR);
	assert_non_null(strstr(err.message, folder));
	cleanup_free char *none = mem_printf("%s/none.db", folder);
	assert_int_equal(
		audit_open(&audit, &(struct audit_options){ .path = none, .existing = true }, &err),
		-1);
	assert_int_equal(err.errnum, ENOENT);
}

static void test_of_a_log_below_a_file(void **state)
{
	cleanup_free char *file = mem_printf("%s/file", folder);
	cleanup_free char *path = mem_printf("%s/log.db", file);
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;

	(void)state;
	assert_int_equal(io_replace_file(file, "x", 1, 0600, &err), 0);
	assert_int_equal(audit_open(&audit, &(struct audit_options){ .path = path }, &err), -1);
	assert_int_equal(err.kind, ERR_LOG);
	assert_true(err.errnum == ENOTDIR || err.errnum == EEXIST);
	assert_int_equal(unlink(file), 0);
}

static void test_of_a_socket(void **state)
{
	cleanup_free char *path = mem_printf("%s/none.sock", folder);
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(peer_connect(path, &err), -1);
	assert_int_equal(err.errnum, ENOENT);
}

static void test_wrapped_by_who_reads(void **state)
{
	cleanup_free char *path = mem_printf("%s/none", folder);
	cleanup_buf struct buf text = BUF_INIT(100);
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(io_read_file(path, &text, &err), -1);
	error_wrap(&err, "tasks.jsonl:%d", 3);
	err.kind = ERR_CONFIG;
	error_wrap(&err, "batch");
	assert_int_equal(err.errnum, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_the_keeper),	      cmocka_unit_test(test_of_the_log),
		cmocka_unit_test(test_of_a_log_below_a_file), cmocka_unit_test(test_of_a_socket),
		cmocka_unit_test(test_wrapped_by_who_reads),
	};

	return cmocka_run_group_tests_name("errno is kept", tests, set_up, tear_down);
}
