/* Inputs that are files of the host, by a backend that takes bytes only: it is given copies, what
 * cannot be one is refused, and it has no environment of the user's own. */
#include "tests/unit/test_fake_backend.h"

#include "base/io.h"
#include "sandbox/input.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static struct sandbox *open_fake(void)
{
	const struct sandbox_options options = { .name = "fake" };
	struct error err = ERROR_INIT;
	struct sandbox *s = NULL;

	if (sandbox_open(&s, &options, &err) < 0)
		fail_msg("%s", err.message);
	return s;
}

static int run(const struct sandbox_file *inputs, size_t count, struct sandbox_result *ret,
	       struct error *err)
{
	cleanup_sandbox struct sandbox *s = open_fake();
	struct sandbox_job job = { .language = language_find("python"),
				   .code = "1",
				   .code_len = 1,
				   .inputs = inputs,
				   .input_count = count };

	FAKE_PLAY({ .outcome = SANDBOX_EXIT, .out = "ran" });
	sandbox_limits_default(&job.limits);
	return sandbox_run(s, &job, NULL, ret, err);
}

static int open_text(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_int_equal(io_write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return fd;
}

static void test_a_file_is_copied_and_that_is_said(void **state)
{
	char path[] = "/tmp/assay-copied-XXXXXX";
	const int fd = open_text(path, "a file");
	const struct sandbox_source source = { fd, path, false };
	const struct sandbox_file inputs[] = { { .path = "bytes", .bytes = "b", .len = 1 },
					       { .path = "file", .source = &source } };
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(run(inputs, 2, &r, &err), 0);
	assert_string_equal(sandbox_fact(&r.isolation, "inputs"), "copied");
	io_close(fd);
	unlink(path);
}

static void test_what_is_copied_is_what_is_open(void **state)
{
	char path[] = "/tmp/assay-copied-XXXXXX";
	const int fd = open_text(path, "meant");
	const struct sandbox_source source = { fd, path, false };
	const struct sandbox_file file = { .path = "file", .source = &source };
	struct error err = ERROR_INIT;
	cleanup_free char *bytes = NULL;
	size_t len = 0;

	(void)state;
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(input_copy(&file, "why", &bytes, &len, &err), 0);
	assert_int_equal(len, 5);
	assert_memory_equal(bytes, "meant", 5);
	io_close(fd);
	unlink(path);
}

static void test_what_cannot_be_copied_is_refused(void **state)
{
	char path[] = "/tmp/assay-copied-XXXXXX";
	const int fd = open_text(path, "x"), top = io_open("/tmp", O_RDONLY | O_DIRECTORY, 0);
	const struct sandbox_source sources[] = { { fd, path, false }, { top, "/tmp", true } };
	const struct sandbox_file inputs[] = { { .path = "file", .source = &sources[0] },
					       { .path = "folder", .source = &sources[1] } };
	struct sandbox_result r;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(run(inputs, 2, &r, &err), -1);
	assert_int_equal(err.kind, ERR_SANDBOX);
	assert_non_null(strstr(err.message, "/tmp: a folder cannot be copied"));
	assert_int_equal(ftruncate(fd, (off_t)INPUT_COPY_MAX + 1), 0);
	err = (struct error)ERROR_INIT;
	assert_int_equal(run(inputs, 1, &r, &err), -1);
	assert_non_null(strstr(err.message, "too many to be copied"));
	io_close(fd);
	io_close(top);
	unlink(path);
}

static void test_no_environment_of_ones_own(void **state)
{
	const struct sandbox_options options = { .name = "fake", .python = "/usr/bin/python3" };
	struct error err = ERROR_INIT;
	struct sandbox *s = NULL;

	(void)state;
	assert_int_equal(sandbox_open(&s, &options, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.message, "--python"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_is_copied_and_that_is_said),
		cmocka_unit_test(test_what_is_copied_is_what_is_open),
		cmocka_unit_test(test_what_cannot_be_copied_is_refused),
		cmocka_unit_test(test_no_environment_of_ones_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
