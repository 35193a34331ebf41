/*
 * What a person can do when this host refuses a wall: found by looking at what
 * refuses, so that it is one thing to do and not a list to try. Looked at only
 * after a failure.
 */
#include "sandbox/native/keeper/remedy.h"

#include "sandbox/native/keeper/supervise.h"
#include "sandbox/native/keeper/util.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCKER                                                                                \
	"this is a container, whose profile refuses it: start it with `--security-opt "       \
	"seccomp=unconfined --security-opt apparmor=unconfined --security-opt "               \
	"systempaths=unconfined` (Podman: `--security-opt seccomp=unconfined --security-opt " \
	"unmask=ALL`)"

/* Kubernetes leaves no mark of its own in a container, but a filter on it. */
#define SECCOMP                                                                                   \
	"a seccomp filter that we were started under refuses it: in Kubernetes set "              \
	"`seccompProfile: {type: Unconfined}` and `procMount: Unmasked`, in a systemd unit drop " \
	"`RestrictNamespaces=` and `SystemCallFilter=`, in a container of another kind its "      \
	"seccomp profile"

/* The kernel makes none for a process whose root is not its mount namespace's. */
#define CHROOT                                                                                    \
	"this is a chroot, in which the kernel makes no user namespace: enter it as a container " \
	"(`systemd-nspawn -D DIR`, `bwrap --dev-bind DIR / COMMAND`), or run assay outside"

struct setting {
	const char *file;
	long refusing; /* the value that is the cause */
	const char *remedy;
};

static const struct setting settings[] = {
	{ "proc/sys/user/max_user_namespaces", 0,
	  "user namespaces are switched off here: `sysctl -w user.max_user_namespaces=15000`" },
	{ "proc/sys/kernel/unprivileged_userns_clone", 0,
	  "user namespaces are kept from ordinary users here: `sysctl -w "
	  "kernel.unprivileged_userns_clone=1`" },
	{ "proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
	  "AppArmor keeps user namespaces from programs without a profile here: `sysctl -w "
	  "kernel.apparmor_restrict_unprivileged_userns=0`, or a profile for assay-keeper with the "
	  "line `userns,`" },
};

static bool is_there(int root, const char *path)
{
	return faccessat(root, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_filtered(int root)
{
	char status[4096];

	return file_read(root, "proc/self/status", status, sizeof(status)) > 0 &&
	       strstr(status, "\nSeccomp:\t2\n");
}

/* Of the mounts that a process in a chroot sees none is at "/", unless its root is one. */
static bool is_chroot(int root)
{
	static char mounts[1 << 16];
	ssize_t len = file_read(root, "proc/self/mountinfo", mounts, sizeof(mounts));

	if (len <= 0 || len == sizeof(mounts) - 1)
		return false;
	for (char *line = mounts, *next; *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		char point[3];
		if (sscanf(line, "%*s %*s %*s %*s %2s", point) == 1 && !strcmp(point, "/"))
			return false;
	}
	return true;
}

static const char *cause(int root)
{
	if (!is_there(root, "proc/self"))
		return REMEDY_NO_PROC;
	char text[32];
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (file_read(root, settings[i].file, text, sizeof(text)) > 0 &&
		    strtol(text, NULL, 10) == settings[i].refusing)
			return settings[i].remedy;
	if (is_there(root, ".dockerenv") || is_there(root, "run/.containerenv"))
		return DOCKER;
	if (is_chroot(root))
		return CHROOT;
	return is_filtered(root) ?
		       SECCOMP :
		       "no setting known here refuses it: look for a security module's denial in "
		       "`dmesg` or `journalctl -k`";
}

const char *remedy_userns(int root)
{
	int opened = root < 0 ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	const char *found = cause(root < 0 ? opened : root);

	if (opened >= 0)
		close(opened);
	return found;
}
