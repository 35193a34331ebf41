/* Inputs that stay where they are: what identifies one, its digest, and whom the cache of digests
 * believes. */
#include "agent/input/input.h"

#include "base/io.h"
#include "base/mem.h"

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

static char folder[] = "/tmp/assay-input-XXXXXX";
static const struct timespec long_ago[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

static char *path_of(const char *name)
{
	return mem_printf("%s/%s", folder, name);
}

static void put(const char *name, const char *text)
{
	cleanup_free char *path = path_of(name);
	struct error err = ERROR_INIT;

	assert_int_equal(io_replace_file(path, text, strlen(text), 0644, &err), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
}

static struct input *open_input(const char *name)
{
	cleanup_free char *path = path_of(name);
	struct error err = ERROR_INIT;
	struct input *input = NULL;
	int fd = input_open_path(path, &err);

	if (fd < 0 || input_open_fd(&input, fd, path, &err) < 0)
		fail_msg("%s", err.message);
	io_close(fd);
	return input;
}

static char *refused(const char *path)
{
	struct error err = ERROR_INIT;
	struct input *input = NULL;
	int fd = input_open_path(path, &err);

	assert_true(fd < 0 || input_open_fd(&input, fd, path, &err) < 0);
	if (fd >= 0)
		io_close(fd);
	return mem_strdup(err.message);
}

static void digest(struct input *input, const char *cache)
{
	struct input *const inputs[] = { input };
	cleanup_buf struct buf told = BUF_INIT(4096);

	input_digests_finish(input_digests_start(inputs, 1, cache), -1, -1, &told);
}

/* --- what it is --- */

static void test_a_file_is_known_by_its_bytes(void **state)
{
	(void)state;
	put("file", "some bytes");
	struct input *input = open_input("file");
	assert_int_equal(input->bytes, 10);
	assert_false(input->source.folder);
	digest(input, NULL);
	char hash[HASH_HEX_LEN + 1];
	hash_sha256("some bytes", 10, hash);
	assert_string_equal(input->digest, hash);
	input_look_again(input);
	assert_false(input->changed);
	put("file", "other bytes");
	input_look_again(input);
	assert_true(input->changed); /* another file has its name, and it has none */
	input_close(input);
}

static void test_what_is_written_to_has_changed(void **state)
{
	cleanup_free char *path = path_of("grows");

	(void)state;
	put("grows", "one");
	struct input *input = open_input("grows");
	int fd = io_open(path, O_WRONLY | O_APPEND, 0);
	assert_int_equal(io_write(fd, "two", 3), 3);
	io_close(fd);
	digest(input, NULL);
	assert_true(input->changed);
	assert_string_equal(input->digest, "");
	input_close(input);
}

static void test_a_folder_is_known_by_all_in_it(void **state)
{
	static const char *const changes[] = { "contents", "name", "mode", "link", "nothing" };
	cleanup_free char *top = path_of("tree"), *sub = path_of("tree/sub");
	cleanup_free char *a = path_of("tree/sub/a"), *b = path_of("tree/sub/b");
	cleanup_free char *link = path_of("tree/link");

	(void)state;
	assert_int_equal(mkdir(top, 0755) | mkdir(sub, 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		put("tree/sub/a", "text");
		chmod(a, 0644);
		unlink(b);
		unlink(link);
		assert_int_equal(symlink("sub", link), 0);
		struct input *before = open_input("tree");
		assert_int_equal(before->entries, 3);
		assert_int_equal(before->bytes, 4);
		digest(before, NULL);
		char first[HASH_HEX_LEN + 1];
		memcpy(first, before->digest, sizeof(first));
		char stamp[HASH_HEX_LEN + 1];
		memcpy(stamp, before->stamp, sizeof(stamp));
		if (i == 0)
			put("tree/sub/a", "tex!");
		if (i == 1)
			assert_int_equal(rename(a, b), 0);
		if (i == 2)
			chmod(a, 0755);
		if (i == 3)
			assert_int_equal(unlink(link) | symlink("bus", link), 0);
		struct input *after = open_input("tree");
		digest(after, NULL);
		if (i < 4 && !strcmp(after->digest, first))
			fail_msg("%s: the digest is the same", changes[i]);
		if (i < 4 && !strcmp(after->stamp, stamp))
			fail_msg("%s: the stamp is the same", changes[i]);
		if (i == 4)
			assert_string_equal(after->digest, first);
		input_look_again(before);
		assert_int_equal(before->changed, i < 4);
		input_close(before);
		input_close(after);
	}
}

/* "a" holding "b\0..." and two files are not one list of names. */
static void test_names_do_not_run_together(void **state)
{
	cleanup_free char *top = path_of("odd"), *one = path_of("odd/a\nb");
	cleanup_free char *two = path_of("odd/a"), *three = path_of("odd/b");

	(void)state;
	assert_int_equal(mkdir(top, 0755), 0);
	put("odd/a\nb", "");
	struct input *input = open_input("odd");
	digest(input, NULL);
	char first[HASH_HEX_LEN + 1];
	memcpy(first, input->digest, sizeof(first));
	input_close(input);
	unlink(one);
	put("odd/a", "");
	put("odd/b", "");
	input = open_input("odd");
	digest(input, NULL);
	assert_string_not_equal(input->digest, first);
	input_close(input);
	unlink(two);
	unlink(three);
}

static void test_what_leads_nowhere_is_named(void **state)
{
	cleanup_free char *top = path_of("dead"), *pipe = path_of("dead/pipe");

	(void)state;
	assert_int_equal(mkdir(top, 0755) | mkfifo(pipe, 0600), 0);
	struct input *input = open_input("dead");
	assert_string_equal(input->dead, "pipe");
	digest(input, NULL);
	assert_string_not_equal(input->digest, "");
	input_close(input);
}

static void test_refused_by_name(void **state)
{
	cleanup_free char *pipe = path_of("pipe"), *socket_path = path_of("socket");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(mkfifo(pipe, 0600), 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	assert_int_equal(bind(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)),
			 0);
	io_close(fd);
	cleanup_free char *by_pipe = refused(pipe), *by_socket = refused(socket_path);
	cleanup_free char *by_device = refused("/dev/null"), *by_proc = refused("/proc/self/stat");
	assert_non_null(strstr(by_pipe, "pipe: is a named pipe"));
	assert_non_null(strstr(by_socket, "socket: is a socket"));
	assert_non_null(strstr(by_device, "/dev/null: is a device"));
	assert_non_null(strstr(by_proc, "the kernel's word"));
}

static void test_a_folder_holds_what_is_below_it(void **state)
{
	cleanup_free char *inside = path_of("holds/x"), *beside = path_of("holds-not");
	cleanup_free char *top = path_of("holds"), *link = path_of("holds-link");

	(void)state;
	assert_int_equal(mkdir(top, 0755), 0);
	put("holds/x", "x");
	put("holds-not", "y");
	assert_int_equal(symlink(inside, link), 0);
	struct input *input = open_input("holds");
	assert_true(input_holds(input, inside));
	assert_true(input_holds(input, link));
	assert_true(input_holds(input, top));
	assert_false(input_holds(input, beside));
	assert_false(input_holds(input, "/nowhere"));
	input_close(input);
}

/* --- the cache --- */

static char *entry_of(const struct input *input)
{
	return mem_printf("%s/cache/digests/%s", folder, input->stamp);
}

/* Puts a lie where the digest is kept. */
static void lie(const char *path, mode_t mode)
{
	char hash[HASH_HEX_LEN + 1];
	struct error err = ERROR_INIT;

	memset(hash, 'a', HASH_HEX_LEN);
	assert_int_equal(io_replace_file(path, hash, HASH_HEX_LEN, mode, &err), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void test_the_cache_is_believed_as_far_as_it_is_ours(void **state)
{
	cleanup_free char *cache = path_of("cache"), *entry = NULL,
			  *elsewhere = path_of("elsewhere");

	(void)state;
	put("kept", "kept");
	struct input *input = open_input("kept");
	entry = entry_of(input);
	digest(input, cache);
	struct stat st;
	assert_int_equal(stat(entry, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);

	lie(entry, 0600); /* what we wrote ourselves is what it is */
	*input->digest = '\0';
	digest(input, cache);
	assert_memory_equal(input->digest, "aaaa", 4);

	lie(entry, 0622); /* others may have written this */
	*input->digest = '\0';
	digest(input, cache);
	assert_memory_not_equal(input->digest, "aaaa", 4);

	lie(elsewhere, 0600);
	assert_int_equal(unlink(entry) | symlink(elsewhere, entry), 0);
	*input->digest = '\0';
	digest(input, cache);
	assert_memory_not_equal(input->digest, "aaaa", 4);
	input_close(input);
}

/* A time so young may stand for two states of a file. */
static void test_what_is_young_is_not_kept(void **state)
{
	cleanup_free char *cache = path_of("cache"), *path = path_of("young"), *entry = NULL;

	(void)state;
	put("young", "young");
	assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
	struct input *input = open_input("young");
	entry = entry_of(input);
	digest(input, cache);
	assert_string_not_equal(input->digest, "");
	assert_int_equal(access(entry, F_OK), -1);
	input_close(input);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	cleanup_free char *command = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_is_known_by_its_bytes),
		cmocka_unit_test(test_what_is_written_to_has_changed),
		cmocka_unit_test(test_a_folder_is_known_by_all_in_it),
		cmocka_unit_test(test_names_do_not_run_together),
		cmocka_unit_test(test_what_leads_nowhere_is_named),
		cmocka_unit_test(test_refused_by_name),
		cmocka_unit_test(test_a_folder_holds_what_is_below_it),
		cmocka_unit_test(test_the_cache_is_believed_as_far_as_it_is_ours),
		cmocka_unit_test(test_what_is_young_is_not_kept),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
