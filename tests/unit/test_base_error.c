/*
 * The error object, and memory that is there or ends the program. What a caller makes of an error,
 * its exit code and its words, is not shown here.
 */
#include "base/error.h"

#include "base/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_set_and_clear(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(error_set(&err, ERR_BUDGET, "%d of %s", 3, "tokens"), -1);
	assert_int_equal(err.kind, ERR_BUDGET);
	assert_string_equal(err.message, "3 of tokens");
	error_clear(&err);
	assert_int_equal(err.kind, ERR_NONE);
	assert_string_equal(err.message, "");
}

static void test_errno(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(error_set_errno(&err, ERR_FAILED, ENOENT, "open %s", "x"), -1);
	assert_string_equal(err.message, "open x: No such file or directory");
	assert_int_equal(err.errnum, ENOENT);
	error_set(&err, ERR_FAILED, "something else");
	assert_int_equal(err.errnum, 0); /* not of what failed before */
	error_set_errno(&err, ERR_FAILED, EACCES, "open");
	error_clear(&err);
	assert_int_equal(err.errnum, 0);
	assert_int_equal(error_set_known(&err, ERR_SANDBOX, ENOENT, "%s is not here", "x"), -1);
	assert_string_equal(err.message, "x is not here");
	assert_int_equal(err.kind, ERR_SANDBOX);
	assert_int_equal(err.errnum, ENOENT);
	err.begun = true;
	error_clear(&err);
	assert_false(err.begun);
}

static void test_wrap_keeps_kind_and_errno(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	error_set_errno(&err, ERR_LOG, EIO, "write");
	assert_int_equal(error_wrap(&err, "tasks.jsonl:%d", 3), -1);
	assert_int_equal(error_wrap(&err, "batch"), -1);
	assert_string_equal(err.message, "batch: tasks.jsonl:3: write: Input/output error");
	assert_int_equal(err.kind, ERR_LOG);
	assert_int_equal(err.errnum, EIO);
}

static void test_arguments_may_be_its_own_message(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	error_set(&err, ERR_FAILED, "inner");
	error_set(&err, ERR_CONFIG, "outer %s", err.message);
	assert_string_equal(err.message, "outer inner");
	error_set_errno(&err, ERR_CONFIG, EIO, "x %s", err.message);
	assert_string_equal(err.message, "x outer inner: Input/output error");
	error_set(&err, ERR_FAILED, "m");
	error_wrap(&err, "(%s)", err.message);
	assert_string_equal(err.message, "(m): m");
}

static void test_too_long_is_cut(void **state)
{
	cleanup_free char *text = mem_alloc(5000);
	struct error err = ERROR_INIT;

	(void)state;
	memset(text, 'a', 4999);
	error_set(&err, ERR_FAILED, "%s", text);
	assert_int_equal(strlen(err.message), ERROR_MESSAGE_MAX - 1);
	error_set_errno(&err, ERR_FAILED, EIO, "%s", text);
	assert_int_equal(strlen(err.message), ERROR_MESSAGE_MAX - 1);
	for (int i = 1000; i < 1030; i++) {
		error_set(&err, ERR_FAILED, "%.*s", i, text);
		error_wrap(&err, "%.*s", 2030 - i, text);
		assert_int_equal(strlen(err.message), ERROR_MESSAGE_MAX - 1);
	}
	error_set(&err, ERR_FAILED, "%%n %%s"); /* data, not a format, when wrapped */
	error_wrap(&err, "c");
	assert_string_equal(err.message, "c: %n %s");
}

/* The status of a child that asks for more memory than there is. */
static int exhausted_status(void (*ask)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		close(STDERR_FILENO);
		ask();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void ask_wrapping_array(void)
{
	free(mem_array(NULL, SIZE_MAX / 2, 4));
}

static void test_mem(void **state)
{
	char *p = mem_strdup("abc");
	int fd = 7;

	(void)state;
	{
		cleanup_free char *owned = TAKE_PTR(p);

		assert_string_equal(owned, "abc");
	}
	assert_null(p);
	assert_int_equal(TAKE_FD(fd), 7);
	assert_int_equal(fd, -1);
	assert_null(mem_strdup(NULL));
	p = mem_strndup("a\0b", 3);
	assert_memory_equal(p, "a\0b", 4);
	free(p);
	assert_int_not_equal(exhausted_status(ask_wrapping_array), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_and_clear),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_wrap_keeps_kind_and_errno),
		cmocka_unit_test(test_arguments_may_be_its_own_message),
		cmocka_unit_test(test_too_long_is_cut),
		cmocka_unit_test(test_mem),
	};

	return cmocka_run_group_tests_name("base error and mem", tests, NULL, NULL);
}
