/*
 * A tree of control groups out of ordinary files, and the keeper's code over it.
 * What a kernel does when a group is made (its files appear) the tree does here.
 */
#ifndef TEST_SANDBOX_CGROUP_TREE_H
#define TEST_SANDBOX_CGROUP_TREE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fake_mkdirat(int parent, const char *name, mode_t mode);
static ssize_t fake_write(int fd, const void *text, size_t len);
static uid_t fake_geteuid(void);

static ssize_t counted_pread(int fd, void *ret, size_t size, off_t at);

#define mkdirat fake_mkdirat
#define geteuid fake_geteuid
#define pread	counted_pread
#include "sandbox/native/keeper/cgroup_limit.c"
#include "sandbox/native/keeper/cgroup_make.c"
#include "sandbox/native/keeper/cgroup_read.c"
#include "sandbox/native/keeper/cgroup_remove.c"
#undef pread
#define file_write fake_file_write
#define write	   fake_write
static int fake_file_write(int group, const char *path, const char *text);
#include "sandbox/native/keeper/delegation.c"
#undef write
#undef file_write
#undef mkdirat
#undef geteuid
#include "sandbox/native/keeper/hierarchy.c"
#include "sandbox/native/keeper/util.c"

/* Whether the next two are those of a real tree. */
static bool is_real;
static int reads;

static ssize_t counted_pread(int fd, void *ret, size_t size, off_t at)
{
	reads++;
	return pread(fd, ret, size, at);
}

static uid_t us;
static char top[] = "/tmp/assay-cgroup-XXXXXX";
static struct hierarchy_tables tables;

/* --- the tree --- */

static void put_file(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void put_controller(int group, const char *controllers, bool v2)
{
	for (size_t i = 0; i < FILE_ROWS; i++) {
		const struct file_row *row = &file_rows[i];
		const char *name = v2 ? row->v2 : row->v1;

		if (strstr(controllers, row->controller))
			put_file(group, name,
				 strstr(name, "events") || strstr(name, "control") ?
					 "max 0\noom_kill 0\n" :
					 "0\n");
	}
}

/* "deny" in a directory stands for one we may not write to: root may all. */
static int fake_mkdirat(int parent, const char *name, mode_t mode)
{
	char control[256] = "";

	if (is_real)
		return mkdirat(parent, name, mode);
	if (faccessat(parent, "deny", F_OK, 0) == 0) {
		errno = EACCES;
		return -1;
	}
	if (mkdirat(parent, name, mode) < 0)
		return -1;
	int group = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file_read(parent, "v1", control, sizeof(control)) >= 0) {
		put_file(group, "tasks", "");
		put_controller(group, control, false);
	} else {
		file_read(parent, "cgroup.subtree_control", control, sizeof(control));
		put_file(group, "cgroup.procs", "");
		put_controller(group, control, true);
		put_file(group, "cpu.stat", "usage_usec 30\nuser_usec 20\nsystem_usec 10\n");
	}
	close(group);
	return 0;
}

static uid_t fake_geteuid(void)
{
	return us;
}

/* A process in a leaf's list leaves that of the group above. */
static ssize_t fake_write(int fd, const void *text, size_t len)
{
	char link[64], path[600];

	if (is_real)
		return write(fd, text, len);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	assert_true(n > 0);
	path[n] = '\0';
	char *leaf = strstr(path, "/" LEAF "/cgroup.procs");
	assert_non_null(leaf);
	strcpy(leaf, "/cgroup.procs");
	assert_int_equal(truncate(path, 0), 0);
	return write(fd, text, len);
}

/* The rule that only leaves have processes. */
static int fake_file_write(int group, const char *path, const char *text)
{
	char had[256] = "", now[300];

	assert_string_equal(path, "cgroup.subtree_control");
	assert_int_equal(text[0], '+');
	if (file_read(group, "cgroup.procs", had, sizeof(had)) > 0) {
		errno = EBUSY;
		return -1;
	}
	file_read(group, path, had, sizeof(had));
	snprintf(now, sizeof(now), "%s%s ", had, text + 1);
	put_file(group, path, now);
	return 0;
}

static void make_group(const char *path, const char *file, const char *text)
{
	char full[512], parents[600];

	snprintf(full, sizeof(full), "%s/%s", top, path);
	snprintf(parents, sizeof(parents), "mkdir -p '%s'", full);
	assert_int_equal(system(parents), 0);
	int dir = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put_file(dir, file, text);
	close(dir);
}

static void set_tables(const char *own, const char *mounts)
{
	snprintf(tables.own, sizeof(tables.own), "%s", own);
	snprintf(tables.mounts, sizeof(tables.mounts), "%s", mounts);
}

static const char *mount_line(const char *root, const char *point, const char *tail)
{
	static char line[1024];

	snprintf(line, sizeof(line), "30 23 0:26 %s %s/%s rw,nosuid shared:9 - %s\n", root, top,
		 point, tail);
	return line;
}

static struct cgroups open_fake(void)
{
	struct cgroups c = { .memory_limit = -1,
			     .pids_limit = -1,
			     .quota_lifted = true,
			     .kill = -1,
			     .name = "assay-1-1" };

	for (size_t i = 0; i < CG_FILES; i++)
		c.files[i] = -1;
	open_v1(&c, &tables);
	open_v2(&c, &tables);
	return c;
}

/* A v2 group and the controllers it hands down. */
static void make_v2_group(const char *path, const char *hands_down)
{
	make_group(path, "cgroup.subtree_control", hands_down);
}

static void set_v2(const char *own)
{
	char line[300];

	snprintf(line, sizeof(line), "0::%s\n", own);
	set_tables(line, mount_line("/", "u", "cgroup2 cgroup2 rw"));
}

/* What is found by a process of that v2 group. */
static struct cgroups open_v2_from(const char *own)
{
	set_v2(own);
	return open_fake();
}

static bool has_group(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s/assay-1-1", top, path);
	return access(full, F_OK) == 0;
}

static int rmdir_group(const char *path)
{
	char command[600];

	snprintf(command, sizeof(command), "rm -rf '%s/%s'", top, path);
	return system(command);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(top + strlen(top) - 6, "XXXXXX");
	return !mkdtemp(top);
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command);
}

#endif
