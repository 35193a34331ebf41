/*
 * Files and descriptors, and what each call does when the one below it fails. No disk is filled:
 * faults come by the seam of base/io.h (test_io_faults.h), or from /dev/full.
 */
#include "test_io_faults.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

/* The message ends with the system's words for errnum. */
static void assert_says(const struct error *err, int errnum)
{
	const char *words = strerror(errnum), *at = strstr(err->message, words);

	assert_non_null(at);
	assert_string_equal(at, words);
}

static char folder[64];

static char *in_folder(const char *name)
{
	return mem_printf("%s/%s", folder, name);
}

static int setup(void **state)
{
	(void)state;
	countdown = fired = 0;
	fault_errno = EIO;
	fault_name = NULL;
	short_transfers = zero_writes = false;
	snprintf(folder, sizeof(folder), "/tmp/assay-test-io.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	cleanup_free char *command = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

static void put(const char *path, const char *text)
{
	struct error err = ERROR_INIT;

	assert_int_equal(io_replace_file(path, text, strlen(text), 0600, &err), 0);
}

static void assert_holds(const char *path, const char *want)
{
	cleanup_buf struct buf out = BUF_INIT(1000);
	struct error err = ERROR_INIT;

	if (io_read_file(path, &out, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(out.data, want);
}

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int count = -2; /* . and .. */

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static int open_descriptors(void)
{
	return entries("/proc/self/fd");
}

static void assert_refuses(const char *path, const char *want)
{
	cleanup_buf struct buf out = BUF_INIT(100);
	struct error err = ERROR_INIT;
	int before = open_descriptors();

	buf_addstr(&out, "kept");
	assert_int_equal(io_read_file(path, &out, &err), -1);
	assert_int_equal(err.kind, ERR_FAILED);
	if (!strstr(err.message, want) || strncmp(err.message, path, strlen(path)))
		fail_msg("\"%s\" lacks \"%s\" or the path", err.message, want);
	assert_string_equal(out.data, "kept");
	assert_int_equal(open_descriptors(), before);
}

static void test_read_refuses(void **state)
{
	cleanup_free char *fifo = in_folder("fifo"), *absent = in_folder("absent");
	cleanup_free char *sock = in_folder("sock"), *loop = in_folder("loop");
	cleanup_free char *secret = in_folder("secret");
	cleanup_close int s = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(symlink(loop, loop), 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", sock);
	assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_refuses(folder, "is a directory");
	assert_refuses(fifo, "not a regular file"); /* and does not hang */
	assert_refuses("/dev/zero", "not a regular file");
	assert_refuses("/dev/null", "not a regular file");
	assert_refuses(sock, "No such device");
	assert_refuses(loop, "symbolic links");
	assert_refuses(absent, "No such file");
	assert_refuses("", "No such file");
	put(secret, "x");
	assert_int_equal(chmod(secret, 0), 0);
	if (geteuid())
		assert_refuses(secret, "Permission denied");
}

static void test_read_ceiling(void **state)
{
	cleanup_free char *path = in_folder("file");
	cleanup_buf struct buf exact = BUF_INIT(10);
	cleanup_buf struct buf less = BUF_INIT(9);
	cleanup_buf struct buf none = BUF_INIT(0);
	struct error err = ERROR_INIT;

	(void)state;
	put(path, "0123456789");
	assert_int_equal(io_read_file(path, &exact, &err), 0);
	assert_string_equal(exact.data, "0123456789");
	assert_int_equal(io_read_file(path, &exact, &err), -1); /* it appends */
	assert_int_equal(exact.len, 10);
	assert_int_equal(io_read_file(path, &less, &err), -1);
	assert_non_null(strstr(err.message, "larger than the limit of 9 bytes"));
	assert_int_equal(less.len, 0);
	put(path, "");
	assert_int_equal(io_read_file(path, &none, &err), 0);
}

/* /proc files are regular and claim to be empty. */
static void test_read_more_than_stat_says(void **state)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
	cleanup_buf struct buf tiny = BUF_INIT(3);
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(io_read_file("/proc/self/status", &out, &err), 0);
	assert_true(out.len > 100);
	assert_int_equal(io_read_file("/proc/self/status", &tiny, &err), -1);
	assert_int_equal(tiny.len, 0);
	assert_string_equal(tiny.data, "");
}

static void test_read_pipe(void **state)
{
	cleanup_buf struct buf exact = BUF_INIT(5);
	cleanup_buf struct buf less = BUF_INIT(4);
	struct error err = ERROR_INIT;
	int ends[2];

	(void)state;
	short_transfers = true;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(io_write_all(ends[1],
				      "a\0b\xff"
				      "c",
				      5, &err),
			 0);
	close(ends[1]);
	assert_int_equal(io_read_fd(ends[0], "pipe", &exact, &err), 0);
	assert_memory_equal(exact.data,
			    "a\0b\xff"
			    "c",
			    6);
	close(ends[0]);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(io_write_all(ends[1], "12345", 5, &err), 0);
	assert_int_equal(io_read_fd(ends[0], "pipe", &less, &err), -1);
	assert_string_equal(err.message, "pipe: larger than the limit of 4 bytes");
	close(ends[0]);
	close(ends[1]);
}

static void test_write_all(void **state)
{
	struct error err = ERROR_INIT;
	cleanup_close int full = io_open("/dev/full", O_WRONLY, 0);

	(void)state;
	assert_int_equal(io_write_all(full, "x", 1, &err), -1);
	assert_says(&err, ENOSPC);
	assert_int_equal(io_write_all(-1, "x", 1, &err), -1);
	assert_says(&err, EBADF);
	assert_int_equal(io_write_all(-1, NULL, 0, &err), 0);
	zero_writes = true; /* must not ask for ever */
	assert_int_equal(io_write_all(full, "x", 1, &err), -1);
	assert_says(&err, EIO);
}

static void test_descriptors_do_not_leak_to_programs(void **state)
{
	cleanup_close int fd = io_open("/dev/null", O_RDONLY, 0);

	(void)state;
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void test_replace(void **state)
{
	cleanup_free char *path = in_folder("file");
	struct error err = ERROR_INIT;

	(void)state;
	short_transfers = true;
	assert_int_equal(io_replace_file(path, "one", 3, 0640, &err), 0);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	put(path, "second");
	assert_holds(path, "second");
	assert_int_equal(entries(folder), 1);
	char name[256];
	memset(name, 'n', 255); /* the longest name there is */
	name[255] = '\0';
	{
		cleanup_free char *longest = in_folder(name);

		put(longest, "long");
		assert_holds(longest, "long");
	}
}

static void test_replace_in_the_working_folder(void **state)
{
	cleanup_close int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_int_equal(chdir(folder), 0);
	put("plain", "x");
	assert_holds("plain", "x");
	assert_int_equal(fchdir(before), 0);
}

static void test_replace_refuses(void **state)
{
	cleanup_free char *under = in_folder("absent/file"), *taken = in_folder("taken");
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(io_replace_file(under, "x", 1, 0600, &err), -1);
	assert_non_null(strstr(err.message, "No such file"));
	assert_int_equal(mkdir(taken, 0700), 0);
	assert_int_equal(io_replace_file(taken, "x", 1, 0600, &err), -1);
	assert_non_null(strstr(err.message, taken));
	assert_int_equal(entries(folder), 1);
}

static void test_replace_leaves_a_link_target_alone(void **state)
{
	cleanup_free char *target = in_folder("target"), *link = in_folder("link");

	(void)state;
	put(target, "old");
	assert_int_equal(symlink(target, link), 0);
	put(link, "new");
	assert_holds(target, "old");
	assert_holds(link, "new");
}

/* Fails the Nth call for N = 1, 2, 3 ... until none fires. */
static void test_replace_is_atomic_under_faults(void **state)
{
	static const int errnos[] = { EIO, ENOSPC, EACCES, EMFILE };
	cleanup_free char *path = in_folder("file");
	char seen[16][8] = { "" };
	int n, rc, before = open_descriptors();

	(void)state;
	for (size_t e = 0; e < ARRAY_SIZE(errnos); e++) {
		for (n = 1;; n++) {
			struct error err;

			put(path, "old");
			error_clear(&err);
			short_transfers = true;
			fault_errno = errnos[e];
			fired = 0;
			countdown = n;
			rc = io_replace_file(path, "new", 3, 0600, &err);
			countdown = 0;
			short_transfers = false;
			assert_int_equal(entries(folder), 1);
			assert_int_equal(open_descriptors(), before);
			if (!fired)
				break;
			snprintf(seen[n], sizeof(seen[n]), "%s", fault_name);
			if (n == 8 && errnos[e] == EACCES) { /* an unreadable folder */
				assert_int_equal(rc, 0);
				continue;
			}
			assert_int_equal(rc, -1);
			assert_int_equal(err.kind, ERR_FAILED);
			assert_says(&err, errnos[e]);
			assert_non_null(strstr(err.message, folder));
			assert_holds(path, n <= 7 ? "old" : "new");
		}
		assert_int_equal(rc, 0);
		assert_holds(path, "new");
		assert_int_equal(n, 11); /* so ten faults fired */
	}
	assert_string_equal(seen[1], "open");
	assert_string_equal(seen[2], "write");
	assert_string_equal(seen[4], "write");
	assert_string_equal(seen[5], "fsync");
	assert_string_equal(seen[6], "close");
	assert_string_equal(seen[7], "rename");
	assert_string_equal(seen[8], "open");
	assert_string_equal(seen[9], "fsync");
	assert_string_equal(seen[10], "close");
}

static void test_read_under_faults(void **state)
{
	cleanup_free char *path = in_folder("file");

	(void)state;
	put(path, "abc");
	short_transfers = true;
	int before = open_descriptors();
	int n;
	for (n = 1;; n++) {
		cleanup_buf struct buf out = BUF_INIT(100);
		struct error err = ERROR_INIT;

		buf_addstr(&out, "kept");
		faults_begin(n);
		int rc = io_read_file(path, &out, &err);
		countdown = 0;
		assert_int_equal(open_descriptors(), before);
		if (!fired) {
			assert_int_equal(rc, 0);
			assert_string_equal(out.data, "keptabc");
			break;
		}
		assert_int_equal(rc, -1);
		assert_says(&err, EIO);
		assert_non_null(strstr(err.message, path));
		assert_string_equal(out.data, "kept");
	}
	assert_int_equal(n, 6); /* one open, three bytes, one end */
}

static void test_make_dirs(void **state)
{
	cleanup_free char *deep = in_folder("a/b//c/"), *file = in_folder("file");
	cleanup_free char *through = in_folder("file/x"), *inner = in_folder("a/b/c");
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(io_make_dirs(deep, 0700, &err), 0);
	assert_int_equal(io_make_dirs(deep, 0700, &err), 0);
	struct stat st;
	assert_int_equal(stat(inner, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(io_make_dirs("/", 0700, &err), 0);
	assert_int_equal(io_make_dirs("", 0700, &err), -1);
	put(file, "x");
	assert_int_equal(io_make_dirs(file, 0700, &err), -1);
	assert_non_null(strstr(err.message, "not a folder"));
	assert_int_equal(io_make_dirs(through, 0700, &err), -1);
	assert_non_null(strstr(err.message, "Not a directory"));
}

#define IO_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IO_TEST(test_read_refuses),
		IO_TEST(test_read_ceiling),
		IO_TEST(test_read_more_than_stat_says),
		IO_TEST(test_read_pipe),
		IO_TEST(test_write_all),
		IO_TEST(test_descriptors_do_not_leak_to_programs),
		IO_TEST(test_replace),
		IO_TEST(test_replace_in_the_working_folder),
		IO_TEST(test_replace_refuses),
		IO_TEST(test_replace_leaves_a_link_target_alone),
		IO_TEST(test_replace_is_atomic_under_faults),
		IO_TEST(test_read_under_faults),
		IO_TEST(test_make_dirs),
	};

	return cmocka_run_group_tests_name("base io", tests, NULL, NULL);
}
