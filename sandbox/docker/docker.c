/*
 * The keeper as the only process of a container that an engine with Docker's API makes of an image,
 * which must be there: nothing is pulled. The engine's socket is spoken to by keeper/engine.c; no
 * socket, file or folder of this host is in the container, and no job decides anything about it.
 */
#include "sandbox/docker/docker.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/native/far.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IMAGE_MAX 255
#define BOOT_ID	  "/proc/sys/kernel/random/boot_id"
/* Of a container's memory, beside its program's: the keeper, and the default limit of disk. */
#define OWN_BYTES ((int64_t)128 << 20)

/* Where DOCKER_HOST says, or else the first that there is: Docker's, Podman's of this user, root's.
 */
static char *find_socket(struct error *err)
{
	static const char unix_url[] = "unix://";
	const char *host = getenv("DOCKER_HOST"), *runtime = getenv("XDG_RUNTIME_DIR");
	cleanup_free char *own = mem_printf("%s/podman/podman.sock", !runtime ? "" : runtime);

	if (host && *host != '\0') {
		if (!strncmp(host, unix_url, strlen(unix_url)))
			return mem_strdup(host + strlen(unix_url));
		error_set(err, ERR_CONFIG,
			  "DOCKER_HOST is \"%.100s\": only unix://PATH can be used here", host);
		return NULL;
	}
	const char *const places[] = { "/run/docker.sock", "/var/run/docker.sock", own,
				       "/run/podman/podman.sock" };
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (access(places[i], F_OK) == 0)
			return mem_strdup(places[i]);
	error_set_known(
		err, ERR_SANDBOX, errno,
		"no container engine is running: neither Docker's socket nor Podman's is there "
		"(DOCKER_HOST=unix://PATH names another)");
	return NULL;
}

static bool is_image(const char *name)
{
	size_t len = !name ? 0 : strlen(name);

	return len > 0 && len <= IMAGE_MAX && name[0] != '-' &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "._-/:@")] == '\0';
}

/* Of a container, by the engine's control group: a wall around the keeper's own count. A job may
 * be any that this machine could hold, so that it is most of that, and not all. */
static int64_t memory_bytes(void)
{
	return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 4 * 3;
}

/* A number of 128 bits or more that a file begins with; or NULL. Caller frees. */
static char *read_word(const char *path)
{
	struct error ignored = ERROR_INIT;
	struct buf text = BUF_INIT(64);

	if (io_read_file(path, &text, &ignored) == 0) {
		size_t len = strspn(text.data, "0123456789abcdef-");

		if (len >= 32 && (text.data[len] == '\n' || text.data[len] == '\0')) {
			buf_truncate(&text, len);
			return buf_take(&text, NULL);
		}
	}
	buf_release(&text);
	return NULL;
}

/*
 * Whose containers these are: this user's of this host, as the engine may be that of others, and of
 * other hosts. Of the number of an installation, which stays when the host boots, and which nobody
 * is to be told (machine-id(5)); where there is none, as in a container, since it booted.
 */
static char *owner(void)
{
	cleanup_free char *machine = read_word("/etc/machine-id");
	cleanup_free char *host = machine ? TAKE_PTR(machine) : read_word(BOOT_ID);

	if (!host)
		return mem_strdup("");
	char digest[HASH_HEX_LEN + 1];
	cleanup_free char *text = mem_printf("assay.owner %s", host);
	hash_sha256(text, strlen(text), digest);
	return mem_printf("%u.%.32s", getuid(), digest);
}

static int open_docker(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	if (!is_image(options->target))
		return error_set(err, ERR_USAGE, "\"%.100s\" is no name of an image",
				 options->target);
	cleanup_free char *keeper = native_keeper_path(options, err);
	cleanup_free char *socket = !keeper ? NULL : find_socket(err);
	if (!socket)
		return -1;
	struct native_far *far = mem_alloc(sizeof(*far));
	far->has_namespaces = true;
	native_far_add(&far->command, TAKE_PTR(keeper));
	native_far_add(&far->command, mem_strdup("--engine"));
	native_far_add(&far->command, TAKE_PTR(socket));
	native_far_add(&far->command, mem_strdup(options->target));
	native_far_add(&far->command, mem_printf("%lld", (long long)memory_bytes()));
	native_far_add(&far->command, owner());
	far->memory_bytes = memory_bytes() - OWN_BYTES;
	sandbox_fact_add(&far->outer, "image", options->target, "outer");
	sandbox_fact_add(&far->outer, "namespaces", "pid net mount ipc uts", "outer");
	sandbox_fact_add(&far->outer, "network", "none", "outer");
	sandbox_fact_add(&far->outer, "root", "the image, read-only", "outer");
	sandbox_fact_add(&far->outer, "capabilities", "none", "outer");
	sandbox_fact_add(&far->outer, "user", "65534", "outer");
	cleanup_free char *mib = mem_printf("%lld MiB", (long long)(memory_bytes() >> 20));
	sandbox_fact_add(&far->outer, "memory", mib, "outer");
	sandbox_fact_add(&far->outer, "seccomp", "none but the keeper's", "outer");
	return native_open_far(ret_self, far, options, err);
}

const struct backend docker_backend = {
	.name = "docker",
	.summary = "the native sandbox inside a container of Docker or Podman",
	.place = "in a container",
	.target = ":IMAGE",
	.needs_target = true,
	.open = open_docker,
	NATIVE_ROWS,
};
