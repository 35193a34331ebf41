/*
 * The bundle of a container (OCI runtime specification 1.0.2): config.json and the folder that
 * becomes its root. What it says comes from this host and from constants, never from a job: the
 * container is there before one is.
 *
 * The keeper is the container's only process and builds its own walls inside, so that a guest never
 * sees what the container is made of; /proc is whole for that reason. It has no capability but,
 * where root starts it, those to become a user who owns nothing, and no network.
 */
#include "sandbox/oci/oci.h"

#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEEPER_INSIDE "/assay-keeper"

/* --- config.json --- */

static struct json *strings(const char *const *list)
{
	struct json *array = json_array();

	for (; *list; list++)
		json_append(array, json_new_string(*list));
	return array;
}

static void add_mount(struct json *mounts, const char *to, const char *type, const char *from,
		      const char *const *options)
{
	struct json *mount = json_object();

	json_set_string(mount, "destination", to);
	json_set_string(mount, "type", type);
	json_set_string(mount, "source", from);
	json_set(mount, "options", strings(options));
	json_append(mounts, mount);
}

static struct json *make_mounts(const struct bundle_options *o)
{
	static const char *const none[] = { "nosuid", "noexec", "nodev", NULL };
	static const char *const dev[] = { "nosuid", "mode=755", "size=65536k", NULL };
	static const char *const tmp[] = { "nosuid", "nodev", "mode=1777", "size=64m", NULL };
	static const char *const host[] = { "rbind", "ro", "nosuid", "nodev", NULL };
	static const char *const file[] = { "bind", "ro", "nosuid", "nodev", NULL };
	static const char *const groups[] = { "nosuid", "noexec", "nodev", "rw", NULL };
	struct json *mounts = json_array();

	add_mount(mounts, "/proc", "proc", "proc", none);
	add_mount(mounts, "/dev", "tmpfs", "tmpfs", dev);
	add_mount(mounts, "/tmp", "tmpfs", "tmpfs", tmp);
	add_mount(mounts, "/usr", "bind", "/usr", host);
	add_mount(mounts, "/etc", "bind", "/etc", host);
	add_mount(mounts, KEEPER_INSIDE, "bind", o->keeper, file);
	if (!o->rootless && !o->single)
		add_mount(mounts, "/sys/fs/cgroup", "cgroup", "cgroup", groups);
	return mounts;
}

static struct json *make_capabilities(const struct bundle_options *o)
{
	static const char *const sets[] = { "bounding", "effective", "permitted" };
	static const char *const to_drop[] = { "CAP_SETUID", "CAP_SETGID", NULL };
	/* Who is root of a user namespace may be mapped into another by none but with this. */
	static const char *const to_map[] = { "CAP_SETFCAP", NULL };
	/* Over a kernel that is a program of the runtime's: to build the walls in it. */
	static const char *const to_build[] = { "CAP_SYS_ADMIN",    "CAP_SYS_CHROOT", "CAP_SETUID",
						"CAP_SETGID",	    "CAP_SETPCAP",    "CAP_CHOWN",
						"CAP_DAC_OVERRIDE", "CAP_KILL",	      NULL };
	const char *const *names = o->single ? to_build : o->rootless ? to_map : to_drop;
	struct json *capabilities = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		json_set(capabilities, sets[i], strings(names));
	return capabilities;
}

static struct json *make_process(const struct bundle_options *o)
{
	static const char *const args[] = { KEEPER_INSIDE, "--stream", NULL };
	static const char *const single[] = { KEEPER_INSIDE, "--stream-single", NULL };
	struct json *process = json_object(), *user = json_object();

	json_set_int(user, "uid", 0);
	json_set_int(user, "gid", 0);
	json_set_bool(process, "terminal", false);
	json_set(process, "user", user);
	json_set(process, "args", strings(o->single ? single : args));
	json_set(process, "env", json_array());
	json_set_string(process, "cwd", "/");
	json_set(process, "capabilities", make_capabilities(o));
	json_set_bool(process, "noNewPrivileges", true);
	return process;
}

static void add_mapping(struct json *linux_part, const char *name, int64_t id)
{
	struct json *array = json_array(), *mapping = json_object();

	json_set_int(mapping, "containerID", 0);
	json_set_int(mapping, "hostID", id);
	json_set_int(mapping, "size", 1);
	json_append(array, mapping);
	json_set(linux_part, name, array);
}

static struct json *make_linux(const struct bundle_options *o)
{
	static const char *const spaces[] = { "pid", "network", "ipc", "uts", "mount", "cgroup" };
	struct json *part = json_object(), *namespaces = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		struct json *one = json_object();
		/* Without groups of its own there is nothing for the last to hide. */
		json_set_string(one, "type",
				o->rootless && !strcmp(spaces[i], "cgroup") ? "user" : spaces[i]);
		json_append(namespaces, one);
	}
	json_set(part, "namespaces", namespaces);
	json_set(part, "maskedPaths", json_array());
	json_set(part, "readonlyPaths", json_array());
	if (o->rootless) {
		add_mapping(part, "uidMappings", o->uid);
		add_mapping(part, "gidMappings", o->gid);
		return part;
	}
	cleanup_json struct json *resources =
		json_parse("{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}]}", 44, 0, NULL);
	json_set(part, "resources", TAKE_PTR(resources));
	return part;
}

char *bundle_config(const struct bundle_options *o)
{
	cleanup_json struct json *config = json_object();
	struct json *root = json_object();

	json_set_string(root, "path", "rootfs");
	json_set_bool(root, "readonly", true);
	json_set_string(config, "ociVersion", "1.0.2");
	json_set(config, "process", make_process(o));
	json_set(config, "root", root);
	json_set_string(config, "hostname", "assay");
	json_set(config, "mounts", make_mounts(o));
	json_set(config, "linux", make_linux(o));
	return json_print(config);
}

/* --- the folder --- */

/* /bin, /lib and their kind, as they are on this host: links into /usr. A host that has them as
 * folders has their files there, which the keeper does without only if it finds them below /usr. */
static void link_system(int rootfs)
{
	static const char *const names[] = { "bin", "sbin", "lib", "lib32", "lib64", "libx32" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *path = mem_printf("/%s", names[i]);
		char target[PATH_MAX];
		ssize_t n = readlink(path, target, sizeof(target) - 1);

		if (n <= 0)
			continue;
		target[n] = '\0';
		(void)!symlinkat(target, rootfs, names[i]);
	}
}

static int make_root(const char *bundle)
{
	static const char *const folders[] = { "usr", "etc", "proc",   "dev",
					       "tmp", "sys", "sys/fs", "sys/fs/cgroup" };
	cleanup_free char *path = mem_printf("%s/rootfs", bundle);

	if (mkdir(path, 0755) < 0)
		return -1;
	cleanup_close int rootfs = io_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	for (size_t i = 0; rootfs >= 0 && i < ARRAY_SIZE(folders); i++)
		if (mkdirat(rootfs, folders[i], 0755) < 0)
			return -1;
	if (rootfs < 0)
		return -1;
	link_system(rootfs);
	cleanup_close int keeper =
		openat(rootfs, &KEEPER_INSIDE[1], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return keeper < 0 ? -1 : 0;
}

static char *make_folder(void)
{
	const char *const places[] = { getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (!places[i] || places[i][0] != '/')
			continue;
		cleanup_free char *path = mem_printf("%s/assay-oci-XXXXXX", places[i]);
		if (mkdtemp(path))
			return TAKE_PTR(path);
	}
	return NULL;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static int fill_bundle(const struct bundle_options *o, const char *bundle, struct error *err)
{
	cleanup_free char *config = bundle_config(o), *path = mem_printf("%s/config.json", bundle);

	if (make_root(bundle) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "make a container's root in %s",
				       bundle);
	return io_replace_file(path, config, strlen(config), 0600, err);
}

int bundle_make(const struct bundle_options *o, char **ret_path, struct error *err)
{
	cleanup_free char *bundle = make_folder();

	if (!bundle)
		return error_set_errno(err, ERR_SANDBOX, errno, "make a folder for a container");
	if (fill_bundle(o, bundle, err) < 0) {
		nftw(bundle, remove_one, 8, FTW_DEPTH | FTW_PHYS);
		return -1;
	}
	*ret_path = TAKE_PTR(bundle);
	return 0;
}
