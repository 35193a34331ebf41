/*
 * Which kernel a machine boots: one of Debian's packages, found by the names of its files. It is
 * chosen before any job is there and never changed by one; none is fetched or installed.
 */
#include "sandbox/microvm/microvm.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IMAGE "vmlinuz-"

static bool is_better(const char *version, const char *than)
{
	bool cloud = strstr(version, "cloud") != NULL;

	if (!than || cloud != (strstr(than, "cloud") != NULL))
		return !than || cloud;
	return strverscmp(version, than) > 0;
}

static char *modules_of(const char *folder, const char *version)
{
	static const char *const places[] = { "lib/modules", "usr/lib/modules" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		cleanup_free char *path = mem_printf("%s/%s/%s", folder, places[i], version);

		if (access(path, R_OK | X_OK) == 0)
			return TAKE_PTR(path);
	}
	return NULL;
}

static bool look(const char *folder, struct guest_kernel *ret)
{
	cleanup_free char *boot = mem_printf("%s/boot", folder);
	DIR *dir = opendir(boot);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *version = entry->d_name + strlen(IMAGE);
		cleanup_free char *image = mem_printf("%s/%s", boot, entry->d_name);

		if (strncmp(entry->d_name, IMAGE, strlen(IMAGE)) ||
		    !is_better(version, ret->version) || access(image, R_OK) < 0)
			continue;
		cleanup_free char *modules = modules_of(folder, version);
		if (!modules)
			continue;
		guest_kernel_release(ret);
		*ret = (struct guest_kernel){ .image = TAKE_PTR(image),
					      .modules = TAKE_PTR(modules),
					      .version = mem_strdup(version) };
	}
	if (dir)
		closedir(dir);
	return ret->version != NULL;
}

int guest_kernel_find(const char *folder, struct guest_kernel *ret, struct error *err)
{
	const char *home = getenv("HOME");
	cleanup_free char *own =
		mem_printf("%s/.local/share/assay/kernel", !home ? "/nonexistent" : home);

	*ret = (struct guest_kernel){ .image = NULL };
	if (folder)
		return look(folder, ret) ?
			       0 :
			       error_set(err, ERR_USAGE,
					 "%.200s has no kernel: neither boot/vmlinuz-VERSION with "
					 "lib/modules/VERSION, as in Debian's linux-image packages",
					 folder);
	const char *const places[] = { own, "/usr/local/lib/assay/kernel", "/usr/lib/assay/kernel",
				       "" };
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (look(places[i], ret))
			return 0;
	return error_set(err, ERR_SANDBOX,
			 "there is no kernel for a machine: apt-get download the package "
			 "linux-image-VERSION-cloud-amd64 and extract it with dpkg-deb -x PACKAGE "
			 "%s (or install it)",
			 own);
}

int guest_kernel_unpacked(struct guest_kernel *kernel, struct error *err)
{
	size_t folder = strlen(kernel->image) - strlen(kernel->version) - strlen(IMAGE);
	char *path = mem_printf("%.*svmlinux-%s", (int)folder, kernel->image, kernel->version);

	if (access(path, R_OK) < 0) {
		error_set_known(
			err, ERR_SANDBOX, errno,
			"%s is not there, and Firecracker boots no packed kernel: make it with "
			"extract-vmlinux (of Debian's linux-headers, in scripts) from %s",
			path, kernel->image);
		free(path);
		return -1;
	}
	free(kernel->image);
	kernel->image = path;
	return 0;
}

void guest_kernel_release(struct guest_kernel *kernel)
{
	free(kernel->image);
	free(kernel->modules);
	free(kernel->version);
	*kernel = (struct guest_kernel){ .image = NULL };
}
