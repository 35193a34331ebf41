/*
 * What a container is told to be: the document of the OCI runtime specification, member by member.
 * No container is started: that a runtime takes it is shown by tests/integration/full.
 */
#include "sandbox/oci/oci.h"

#include "base/json.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct json *config_of(bool rootless)
{
	const struct bundle_options options = {
		.keeper = "/a \"b\"/keeper", .rootless = rootless, .uid = 1234, .gid = 5678
	};
	cleanup_free char *text = bundle_config(&options);
	struct error err = ERROR_INIT;
	struct json *config = json_parse(text, strlen(text), 0, &err);

	if (!config)
		fail_msg("%s", err.message);
	return config;
}

static void assert_printed(const struct json *value, const char *wanted)
{
	cleanup_free char *text = json_print(value);

	assert_string_equal(text, wanted);
}

/* The types of the namespaces, each followed by a blank. */
static char *namespaces_of(const struct json *config)
{
	char *all = mem_strdup("");

	for (struct json *n = json_first(json_get(json_get(config, "linux"), "namespaces")); n;
	     n = json_next(n)) {
		char *more = mem_printf("%s%s ", all, json_get_string(n, "type"));

		/* A path would be somebody else's namespace. */
		assert_null(json_get(n, "path"));
		free(all);
		all = more;
	}
	return all;
}

static void test_the_process_has_nothing(void **state)
{
	static const char *const wanted[] = { "[\"CAP_SETUID\",\"CAP_SETGID\"]",
					      "[\"CAP_SETFCAP\"]" };

	(void)state;
	for (int rootless = 0; rootless < 2; rootless++) {
		cleanup_json struct json *config = config_of(rootless);
		const struct json *process = json_get(config, "process"),
				  *capabilities = json_get(process, "capabilities");

		assert_printed(json_get(process, "args"), "[\"/assay-keeper\",\"--stream\"]");
		assert_printed(json_get(process, "env"), "[]");
		assert_true(json_get_bool(process, "noNewPrivileges", false));
		assert_false(json_get_bool(process, "terminal", true));
		assert_int_equal(json_count(capabilities), 3);
		for (struct json *c = json_first(capabilities); c; c = json_next(c))
			assert_printed(c, wanted[rootless]);
	}
}

/* Over a kernel that is a program the keeper is root, serves one run, and gets no groups of ours.
 */
static void test_a_kernel_of_its_own(void **state)
{
	const struct bundle_options options = { .keeper = "/keeper", .single = true };
	cleanup_free char *text = bundle_config(&options);
	struct error err = ERROR_INIT;
	cleanup_json struct json *config = json_parse(text, strlen(text), 0, &err);

	(void)state;
	assert_printed(json_get(json_get(config, "process"), "args"),
		       "[\"/assay-keeper\",\"--stream-single\"]");
	assert_non_null(strstr(text, "CAP_SYS_CHROOT"));
	assert_null(strstr(text, "CAP_SYS_PTRACE"));
	assert_null(strstr(text, "/sys/fs/cgroup"));
	assert_true(json_get_bool(json_get(config, "process"), "noNewPrivileges", false));
}

static void test_namespaces_and_groups(void **state)
{
	cleanup_json struct json *root = config_of(false), *rootless = config_of(true);
	cleanup_free char *of_root = namespaces_of(root), *of_user = namespaces_of(rootless);

	(void)state;
	assert_string_equal(of_root, "pid network ipc uts mount cgroup ");
	assert_string_equal(of_user, "pid network ipc uts mount user ");
	assert_printed(json_get(json_get(root, "linux"), "resources"),
		       "{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}]}");
	assert_null(json_get(json_get(rootless, "linux"), "resources"));
	assert_printed(json_get(json_get(rootless, "linux"), "uidMappings"),
		       "[{\"containerID\":0,\"hostID\":1234,\"size\":1}]");
	assert_printed(json_get(json_get(rootless, "linux"), "gidMappings"),
		       "[{\"containerID\":0,\"hostID\":5678,\"size\":1}]");
}

static bool has(const struct json *options, const char *word)
{
	for (struct json *o = json_first(options); o; o = json_next(o))
		if (!strcmp(json_string(o), word))
			return true;
	return false;
}

/* Of this host /usr, /etc and the keeper, and nothing of it can be written. */
static void test_what_is_of_this_host(void **state)
{
	cleanup_json struct json *config = config_of(true);
	size_t binds = 0;

	(void)state;
	assert_printed(json_get(config, "root"), "{\"path\":\"rootfs\",\"readonly\":true}");
	for (struct json *m = json_first(json_get(config, "mounts")); m; m = json_next(m)) {
		const struct json *options = json_get(m, "options");
		const char *source = json_get_string(m, "source");

		assert_true(has(options, "nosuid"));
		if (strcmp(json_get_string(m, "type"), "bind"))
			continue;
		binds++;
		assert_true(has(options, "ro") && has(options, "nodev"));
		assert_true(!strcmp(source, "/usr") || !strcmp(source, "/etc") ||
			    !strcmp(source, "/a \"b\"/keeper"));
	}
	assert_int_equal(binds, 3);
}

/* Nobody else may look into it, and a place where none can be made is told of. */
static void test_the_folder(void **state)
{
	const struct bundle_options options = { .keeper = "/k", .rootless = true };
	cleanup_free char *path = NULL;
	struct error err = ERROR_INIT;

	(void)state;
	unsetenv("XDG_RUNTIME_DIR");
	if (bundle_make(&options, &path, &err) < 0)
		fail_msg("%s", err.message);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	cleanup_free char *config = mem_printf("%s/config.json", path);
	assert_int_equal(access(config, R_OK), 0);
	cleanup_free char *command =
		mem_printf("test -d '%s/rootfs/usr' && rm -r '%s'", path, path);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest sandbox_bundle_tests[] = {
		cmocka_unit_test(test_the_process_has_nothing),
		cmocka_unit_test(test_a_kernel_of_its_own),
		cmocka_unit_test(test_namespaces_and_groups),
		cmocka_unit_test(test_what_is_of_this_host),
		cmocka_unit_test(test_the_folder),
	};

	return cmocka_run_group_tests_name("sandbox_bundle", sandbox_bundle_tests, NULL, NULL);
}
