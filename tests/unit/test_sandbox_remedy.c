/*
 * What is told where a wall is refused: the keeper's own code, over a tree of
 * files that stands for the host and calls that fail as they do there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/types.h>

static int fake_unshare(int flags);
static int fake_mount(const char *from, const char *to, const char *type, unsigned long flags,
		      const void *data);
static int fake_sethostname(const char *name, size_t len);
static uid_t fake_geteuid(void);
static int fake_file_write(int dir, const char *path, const char *text);

#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>
#include "sandbox/native/keeper/util.c"
#include "sandbox/native/keeper/remedy.c"
#define unshare	    fake_unshare
#define mount	    fake_mount
#define sethostname fake_sethostname
#define geteuid	    fake_geteuid
#define file_write  fake_file_write
#include "sandbox/native/keeper/root.c"
#undef mount

#include <stdio.h>
#include <stdlib.h>

/* --- a host that refuses one step --- */

static const char *refuse; /* a file that is written */
static int refuse_flag;

static int deny(void)
{
	errno = EPERM;
	return -1;
}

static int fake_unshare(int flags)
{
	return flags == refuse_flag ? deny() : 0;
}

static int fake_mount(const char *from, const char *to, const char *type, unsigned long flags,
		      const void *data)
{
	(void)from;
	(void)to;
	(void)type;
	(void)flags;
	(void)data;
	return deny();
}

static int fake_sethostname(const char *name, size_t len)
{
	(void)name;
	(void)len;
	return 0;
}

static uid_t fake_geteuid(void)
{
	return 1000;
}

static int fake_file_write(int dir, const char *path, const char *text)
{
	(void)dir;
	(void)text;
	return refuse && !strcmp(path, refuse) ? deny() : 0;
}

struct step_case {
	const char *file;
	int flag;
	const char *step;
};

static const struct step_case step_cases[] = {
	{ NULL, CLONE_NEWUSER, "user namespace" },
	{ "/proc/self/setgroups", 0, "user namespace: setgroups" },
	{ "/proc/self/uid_map", 0, "user namespace: uid_map" },
	{ "/proc/self/gid_map", 0, "user namespace: gid_map" },
	{ NULL, CLONE_NEWNS, "mount namespace" },
	{ NULL, CLONE_NEWUTS, "uts namespace" },
	{ NULL, 0, "root: tmpfs" },
};

static void test_every_step_has_a_remedy(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(step_cases) / sizeof(step_cases[0]); i++) {
		struct protocol_failure failure = { .errnum = 0 };
		uint32_t namespaces;

		refuse = step_cases[i].file;
		refuse_flag = step_cases[i].flag;
		assert_true(root_unshare(&namespaces, &failure) < 0 || root_enter(&failure) < 0);
		assert_string_equal(failure.step, step_cases[i].step);
		assert_int_equal(failure.errnum, EPERM);
		assert_true(strlen(failure.remedy) > 20);
	}
	refuse_flag = CLONE_NEWNET;
	struct protocol_failure failure = { .errnum = 0 };
	assert_int_equal(root_isolate_net(&failure), -1);
	assert_string_equal(failure.step, "net namespace");
	assert_non_null(strstr(failure.remedy, "user.max_net_namespaces"));
}

/* --- what the remedy is --- */

struct host_case {
	const char *files[4]; /* "path=text" */
	const char *told;     /* the remedy has it */
};

#define PROC "proc/self/x="

static const struct host_case host_cases[] = {
	{ { "proc/sys/user/max_user_namespaces=5\n" }, "`mount -t proc proc /proc`" },
	{ { PROC, "proc/sys/user/max_user_namespaces=0\n" },
	  "`sysctl -w user.max_user_namespaces=15000`" },
	{ { PROC, "proc/sys/user/max_user_namespaces=9\n",
	    "proc/sys/kernel/unprivileged_userns_clone=0\n" },
	  "`sysctl -w kernel.unprivileged_userns_clone=1`" },
	{ { PROC, "proc/sys/kernel/unprivileged_userns_clone=1\n",
	    "proc/sys/kernel/apparmor_restrict_unprivileged_userns=1\n" },
	  "`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, or a profile" },
	{ { PROC, ".dockerenv=" }, "--security-opt systempaths=unconfined" },
	{ { PROC, ".dockerenv=", "proc/self/status=Umask:\t0022\nSeccomp:\t2\n" },
	  "--security-opt systempaths=unconfined" },
	{ { PROC, "proc/self/status=Umask:\t0022\nSeccomp:\t2\nSeccomp_filters:\t1\n" },
	  "`seccompProfile: {type: Unconfined}`" },
	{ { PROC, "proc/self/status=Umask:\t0022\nSeccomp:\t0\n" }, "journalctl -k" },
	{ { PROC, "run/.containerenv=" }, "--security-opt unmask=ALL" },
	{ { PROC, "proc/sys/kernel/apparmor_restrict_unprivileged_userns=0\n",
	    "proc/sys/user/max_user_namespaces=9\n" },
	  "journalctl -k" },
	{ { PROC, "proc/self/mountinfo=31 1 0:5 / /proc rw - proc proc rw\n"
		  "32 1 0:6 / /dev rw - devtmpfs devtmpfs rw\n" },
	  "`systemd-nspawn -D DIR`" },
	{ { PROC, "proc/self/mountinfo=31 1 0:5 / /proc rw - proc proc rw\n"
		  "29 1 8:1 / / rw - ext4 /dev/vda rw\n" },
	  "journalctl -k" },
};

static void put(const char *top, const char *file)
{
	const char *text = strchr(file, '=');
	int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC), len = (int)(text - file), fd;
	char path[128];

	snprintf(path, sizeof(path), "%.*s", len, file);
	char command[512];
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s/%s')\"", top, path);
	assert_int_equal(system(command), 0);
	fd = openat(dir, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text + 1, strlen(text + 1)), (ssize_t)strlen(text + 1));
	close_all((int[]){ fd, dir }, 2);
}

static void test_the_remedy_is_the_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(host_cases) / sizeof(host_cases[0]); i++) {
		char top[] = "/tmp/assay-remedy-XXXXXX", command[64];

		assert_non_null(mkdtemp(top));
		for (size_t n = 0; n < 4 && host_cases[i].files[n]; n++)
			put(top, host_cases[i].files[n]);
		int root = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (!strstr(remedy_userns(root), host_cases[i].told))
			fail_msg("case %zu: %s", i, remedy_userns(root));
		/* It must fit whole into what carries it. */
		assert_true(strlen(remedy_userns(root)) <
			    sizeof(((struct protocol_failure *)0)->remedy));
		close(root);
		snprintf(command, sizeof(command), "rm -rf '%s'", top);
		assert_int_equal(system(command), 0);
	}
}

int main(void)
{
	const struct CMUnitTest sandbox_remedy_tests[] = {
		cmocka_unit_test(test_every_step_has_a_remedy),
		cmocka_unit_test(test_the_remedy_is_the_one),
	};

	return cmocka_run_group_tests_name("sandbox_remedy", sandbox_remedy_tests, NULL, NULL);
}
