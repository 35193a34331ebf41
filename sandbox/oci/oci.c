/*
 * The keeper as the only process of a container that an OCI runtime makes: runc, or another that
 * takes the same bundle. A container is made when the sandbox is opened and serves all its runs,
 * each of which is inside the keeper's own walls there. No job decides anything about the
 * container.
 *
 * A shell waits for the runtime and removes the bundle, whatever became of us: the container ends
 * with its standard input. Where the runtime is told to end and does not, the shell has it removed.
 */
#include "sandbox/oci/oci.h"

#include "base/io.h"
#include "base/mem.h"
#include "sandbox/native/far.h"

#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* sh -c WATCH sh BUNDLE RUNTIME [OPTION...]; the container is called as its bundle's folder is. */
#define WATCH                                                                       \
	"b=$1; shift; id=${b##*/}\n"                                                \
	"remove() { trap '' HUP INT TERM; rm -rf -- \"$b\"; }\n"                    \
	"trap '\"$@\" --root \"$b/state\" delete --force \"$id\"; remove; exit 1' " \
	"HUP INT TERM\n"                                                            \
	"exec 3<&0 </dev/null\n"                                                    \
	"\"$@\" --root \"$b/state\" run --bundle \"$b\" \"$id\" <&3 3<&- &\n"       \
	"exec 3<&- >/dev/null\n"                                                    \
	"wait $!; s=$?; remove; exit $s\n"

struct runtime {
	const char *name;
	const char *const *options; /* before its command */
	bool no_hybrid;		    /* ends where both kinds of control groups are */
	bool is_kernel; /* what it runs has its own as a kernel: a container for each run */
	const char *const *lacks; /* of struct backend; one that lacks nothing is taken unnamed */
};

/* That kernel's tmpfs takes no number of files as its limit: they are bounded by its memory. */
static const char *const runsc_lacks[] = { "inodes", NULL };

static const char *const no_options[] = { NULL };
static const char *const crun_options[] = { "--cgroup-manager=cgroupfs", NULL };
static const char *const runsc_options[] = { "--network=none", "--platform=ptrace",
					     "--ignore-cgroups", NULL };

/* In the order in which they are looked for when none is named. */
static const struct runtime runtimes[] = {
	{ "runc", no_options },
	{ "crun", crun_options, .no_hybrid = true },
	{ "runsc", runsc_options, .is_kernel = true, .lacks = runsc_lacks },
};

static char *find_program(const char *name)
{
	static const char *const places[] = { "/usr/sbin", "/usr/bin", "/usr/local/sbin",
					      "/usr/local/bin" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		cleanup_free char *path = mem_printf("%s/%s", places[i], name);

		if (access(path, X_OK) == 0)
			return TAKE_PTR(path);
	}
	return NULL;
}

static const char *const *lacks_of(const char *target)
{
	for (size_t i = 0; target && i < ARRAY_SIZE(runtimes); i++)
		if (!strcmp(target, runtimes[i].name))
			return runtimes[i].lacks;
	return NULL;
}

/* The one of that name, or the first there is that holds all limits. */
static int find_runtime(const char *name, const struct runtime **ret, char **ret_path,
			struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		if (name ? !!strcmp(name, runtimes[i].name) : runtimes[i].lacks != NULL)
			continue;
		*ret = &runtimes[i];
		*ret_path = find_program(runtimes[i].name);
		if (*ret_path)
			return 0;
		if (name)
			return error_set(err, ERR_SANDBOX, "%s is not installed (Debian: %s)", name,
					 name);
	}
	return !name ? error_set(err, ERR_SANDBOX,
				 "no OCI runtime that holds all limits is installed (Debian: runc)"
				 "; runsc is only used when it is named, with --weaker") :
		       error_set(err, ERR_USAGE,
				 "\"%.60s\" is no OCI runtime known here; there is: runc, crun, "
				 "runsc",
				 name);
}

static void describe_outer(struct native_far *far, const struct runtime *runtime, bool rootless)
{
	struct sandbox_isolation *outer = &far->outer;

	sandbox_fact_add(outer, "runtime", runtime->name, "outer");
	sandbox_fact_add(outer, "namespaces",
			 runtime->is_kernel ? "pid net mount ipc uts" :
			 rootless	    ? "user pid net mount ipc uts" :
					      "pid net mount ipc uts cgroup",
			 "outer");
	sandbox_fact_add(outer, "root", "read-only, with this host's /usr and /etc", "outer");
	sandbox_fact_add(outer, "capabilities",
			 runtime->is_kernel ? "the keeper's, over that kernel alone" :
			 rootless	    ? "the keeper's, to be mapped" :
					      "the keeper's, to become nobody",
			 "outer");
	if (runtime->is_kernel)
		sandbox_fact_add(outer, "kernel", "gVisor's, one for each run", "outer");
	else
		sandbox_fact_add(outer, "cgroup", rootless ? "none" : "own, divided by the keeper",
				 "outer");
}

/* The second kind has no controllers then, and nothing of ours is in it. */
#define UNIFIED "/sys/fs/cgroup/unified"

static bool is_hybrid(void)
{
	struct statfs fs;

	return statfs(UNIFIED, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* What it cannot take it does not see: in a mount namespace of its own an empty folder is there. Of
 * a user that is root of a user namespace, as which it then makes the container's. */
static void hide_unified(struct native_far *far)
{
	native_far_add(&far->command, mem_strdup("/usr/bin/unshare"));
	native_far_add(&far->command, mem_strdup("--mount"));
	if (geteuid() != 0)
		native_far_add(&far->command, mem_strdup("--map-root-user"));
	native_far_add(&far->command, mem_strdup("/bin/sh"));
	native_far_add(&far->command, mem_strdup("-c"));
	native_far_add(&far->command, mem_strdup("mount -t tmpfs none " UNIFIED " && exec \"$@\""));
	native_far_add(&far->command, mem_strdup("sh"));
}

/* runsc makes a user namespace by itself where it is told --rootless. */
static int make_bundle(const struct native_far *far, char **ret_word, struct error *err)
{
	const struct bundle_options made = { .keeper = far->program,
					     .single = far->is_kernel,
					     .rootless = geteuid() != 0 && !far->is_kernel,
					     .uid = far->maps_root ? 0 : geteuid(),
					     .gid = far->maps_root ? 0 : getegid() };

	return bundle_make(&made, ret_word, err);
}

/* What an ordinary user's container begins with. Other reasons are the runtime's to tell. */
static int check_user_namespaces(struct error *err)
{
	cleanup_buf struct buf most = BUF_INIT(64);
	struct error ignored = ERROR_INIT;

	if (geteuid() == 0 ||
	    io_read_file("/proc/sys/user/max_user_namespaces", &most, &ignored) < 0 ||
	    strcmp(most.data, "0\n"))
		return 0;
	return error_set(err, ERR_SANDBOX,
			 "a container of an ordinary user needs a user namespace, and those are "
			 "switched off here: `sysctl -w user.max_user_namespaces=15000`");
}

static int open_oci(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	static const char *const inherited[] = { "PATH", "HOME", "XDG_RUNTIME_DIR", "TMPDIR" };
	cleanup_free char *keeper = native_keeper_path(options, err), *program = NULL;
	const struct runtime *runtime = NULL;

	if (!keeper || find_runtime(options->target, &runtime, &program, err) < 0 ||
	    check_user_namespaces(err) < 0)
		return -1;
	struct native_far *far = mem_alloc(sizeof(*far));
	far->has_namespaces = !runtime->is_kernel;
	far->is_kernel = runtime->is_kernel;
	far->same_files = true;
	native_far_add(&far->command, mem_strdup("/bin/sh"));
	native_far_add(&far->command, mem_strdup("-c"));
	native_far_add(&far->command, mem_strdup(WATCH));
	native_far_add(&far->command, mem_strdup("sh"));
	far->fresh = make_bundle;
	far->fresh_at = 4;
	far->program = TAKE_PTR(keeper);
	native_far_add(&far->command, mem_strdup("BUNDLE"));
	if (runtime->no_hybrid && is_hybrid()) {
		far->maps_root = geteuid() != 0;
		hide_unified(far);
	}
	native_far_add(&far->command, TAKE_PTR(program));
	for (const char *const *o = runtime->options; *o; o++)
		native_far_add(&far->command, mem_strdup(*o));
	if (runtime->is_kernel && geteuid() != 0)
		native_far_add(&far->command, mem_strdup("--rootless"));
	for (size_t i = 0; i < ARRAY_SIZE(inherited); i++)
		native_far_inherit(far, inherited[i]);
	describe_outer(far, runtime, geteuid() != 0);
	return native_open_far(ret_self, far, options, err);
}

const struct backend oci_backend = {
	.name = "oci",
	.summary = "the native sandbox inside a container of runc",
	.place = "in a container",
	.target = ":RUNTIME",
	.target_lacks = lacks_of,
	.open = open_oci,
	NATIVE_ROWS,
};
