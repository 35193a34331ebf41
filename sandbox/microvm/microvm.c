/*
 * The keeper as the only program of a virtual machine of QEMU's "microvm" kind, or of
 * Firecracker's, which has the same kernel, image and initramfs (keeper/firecracker.c). The machine
 * is started when the sandbox is opened and serves all its runs, each of which is inside the
 * keeper's own walls there. Its kernel is another one than this host's; its files are an image that
 * a script makes once of what is installed here (image.sh). No job decides anything about the
 * machine.
 *
 * A shell runs that script and then becomes the program that starts QEMU (keeper/machine.c).
 */
#include "sandbox/microvm/microvm.h"

#include "base/mem.h"
#include "sandbox/native/far.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define QEMU	   "/usr/bin/qemu-system-x86_64"
#define KVM	   "/dev/kvm"
#define SCRIPT	   "assay-image"
#define MEMORY_MIB 1536	  /* taken from this host as it is used */
#define OWN_MIB	   192	  /* of it, for its kernel and the keeper */
#define START_MS   300000 /* the first time an image is made, on a busy host */

/* sh -c START sh SCRIPT CACHE KEEPER KERNEL MODULES MIB ACCELERATOR */
#define START                              \
	"image=$(\"$1\" \"$2\") || exit\n" \
	"exec \"$3\" --machine \"$4\" \"$image\" \"$5\" \"$6\" \"$7\"\n"

/* sh -c START_FIRECRACKER sh SCRIPT CACHE KEEPER KERNEL MODULES MIB FIRECRACKER; a snapshot is of
 * all that it was made of. */
#define START_FIRECRACKER                                                          \
	"image=$(\"$1\" \"$2\") || exit\n"                                         \
	"key=$({ sha256sum \"$3\"; ls -lL \"$4\" \"$7\"; echo \"$image $6\"; } | " \
	"sha256sum | cut -c1-32) || exit\n"                                        \
	"exec \"$3\" --firecracker \"$7\" \"$4\" \"$image\" \"$5\" \"$6\" "        \
	"\"$2/firecracker-$key\"\n"

/* A device without a processor that can (a virtual one, mostly) starts a machine that hangs. */
static bool has_virtualization(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[8192];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, "flags", 5) &&
			(strstr(line, " vmx") || strstr(line, " svm"));
	if (f)
		fclose(f);
	return found;
}

/* The user that QEMU becomes may open it: ours, or, of root's, one of its group alone. */
static bool can_use_kvm(void)
{
	struct stat st;

	if (stat(KVM, &st) < 0 || !has_virtualization())
		return false;
	if (geteuid() != 0)
		return access(KVM, R_OK | W_OK) == 0;
	return (st.st_mode & 0006) == 0006 || ((st.st_mode & 0060) == 0060 && st.st_gid != 0);
}

static char *find_script(const char *keeper)
{
	const char *slash = strrchr(keeper, '/');

	return mem_printf("%.*s" SCRIPT, !slash ? 0 : (int)(slash - keeper) + 1, keeper);
}

static char *find_cache(const struct sandbox_options *options)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && cache[0] == '/')
		return mem_printf("%s/assay", cache);
	if (home && home[0] == '/')
		return mem_printf("%s/.cache/assay", home);
	return mem_strdup(options->cache_dir ? options->cache_dir : "/var/tmp/assay");
}

static void describe_outer(struct native_far *far, const char *kernel, const char *machine)
{
	struct sandbox_isolation *outer = &far->outer;
	cleanup_free char *memory = mem_printf("%d MiB", MEMORY_MIB);

	sandbox_fact_add(outer, "machine", machine, "outer");
	sandbox_fact_add(outer, "kernel", kernel, "outer");
	sandbox_fact_add(outer, "memory", memory, "outer");
	sandbox_fact_add(outer, "devices", "a disk of this host's programs, read-only; a port",
			 "outer");
	sandbox_fact_add(outer, "network", "none", "outer");
}

static struct native_far *new_far(const struct sandbox_options *options, const char *start,
				  char *keeper, struct guest_kernel *kernel, const char *last)
{
	struct native_far *far = mem_alloc(sizeof(*far));
	char *cache = find_cache(options);

	far->is_machine = true;
	far->same_files = true;
	far->start_ms = START_MS;
	far->making_at = mem_printf("%s/machine-making-", cache);
	far->making = "making the machine's file system of what is installed here: once, half a "
		      "minute or two";
	far->memory_bytes = (int64_t)(MEMORY_MIB - OWN_MIB) << 20;
	native_far_add(&far->command, mem_strdup("/bin/sh"));
	native_far_add(&far->command, mem_strdup("-c"));
	native_far_add(&far->command, mem_strdup(start));
	native_far_add(&far->command, mem_strdup("sh"));
	native_far_add(&far->command, find_script(keeper));
	native_far_add(&far->command, cache);
	native_far_add(&far->command, keeper);
	native_far_add(&far->command, TAKE_PTR(kernel->image));
	native_far_add(&far->command, TAKE_PTR(kernel->modules));
	native_far_add(&far->command, mem_printf("%d", MEMORY_MIB));
	native_far_add(&far->command, mem_strdup(last));
	native_far_inherit(far, "PATH");
	native_far_inherit(far, "TMPDIR");
	return far;
}

static int open_microvm(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	cleanup_free char *keeper = native_keeper_path(options, err);
	bool kvm = can_use_kvm();

	if (!keeper)
		return -1;
	if (access(QEMU, X_OK) < 0)
		return error_set_known(err, ERR_SANDBOX, errno,
				       QEMU " is not here: install qemu-system-x86");
	struct guest_kernel kernel;
	if (guest_kernel_find(options->target, &kernel, err) < 0)
		return -1;
	struct native_far *far =
		new_far(options, START, TAKE_PTR(keeper), &kernel, kvm ? "kvm" : "tcg");
	describe_outer(far, kernel.version,
		       kvm ? "QEMU microvm, KVM" : "QEMU microvm, software emulation");
	sandbox_fact_add(&far->outer, "namespaces", "user pid net mount ipc uts cgroup, of QEMU",
			 "outer");
	sandbox_fact_add(&far->outer, "seccomp", "QEMU's own", "outer");
	sandbox_fact_add(&far->outer, "user", "owns nothing", "outer");
	guest_kernel_release(&kernel);
	return native_open_far(ret_self, far, options, err);
}

static char *find_firecracker(void)
{
	static const char *const places[] = { "/usr/local/bin/firecracker",
					      "/usr/bin/firecracker" };
	const char *named = getenv("ASSAY_FIRECRACKER");

	if (named && named[0] == '/')
		return mem_strdup(named);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (access(places[i], X_OK) == 0)
			return mem_strdup(places[i]);
	return NULL;
}

static int open_firecracker(void **ret_self, const struct sandbox_options *options,
			    struct error *err)
{
	cleanup_free char *keeper = native_keeper_path(options, err), *program = NULL;

	if (!keeper)
		return -1;
	program = find_firecracker();
	if (!program)
		return error_set(err, ERR_SANDBOX,
				 "there is no firecracker in /usr/local/bin or /usr/bin "
				 "(ASSAY_FIRECRACKER=PATH names another)");
	if (!getenv("ASSAY_FIRECRACKER") && !can_use_kvm())
		return error_set(err, ERR_SANDBOX,
				 "Firecracker needs KVM, which is not to be had here: " KVM
				 " must be there for this user, and the processor able to (vmx or "
				 "svm in /proc/cpuinfo); --sandbox microvm does without");
	struct guest_kernel kernel;
	if (guest_kernel_find(options->target, &kernel, err) < 0)
		return -1;
	if (guest_kernel_unpacked(&kernel, err) < 0) {
		guest_kernel_release(&kernel);
		return -1;
	}
	struct native_far *far =
		new_far(options, START_FIRECRACKER, TAKE_PTR(keeper), &kernel, program);
	describe_outer(far, kernel.version, "Firecracker");
	sandbox_fact_add(&far->outer, "seccomp", "Firecracker's own", "outer");
	guest_kernel_release(&kernel);
	return native_open_far(ret_self, far, options, err);
}

const struct backend microvm_backend = {
	.name = "microvm",
	.summary = "the native sandbox inside a virtual machine of QEMU with a kernel of its own",
	.place = "in a virtual machine",
	.target = ":FOLDER",
	.open = open_microvm,
	NATIVE_ROWS,
};

const struct backend firecracker_backend = {
	.name = "firecracker",
	.summary = "the native sandbox inside a virtual machine of Firecracker's, which needs KVM",
	.place = "in a virtual machine",
	.target = ":FOLDER",
	.open = open_firecracker,
	NATIVE_ROWS,
};
