/* Opening and closing, names and defaults. */
#include "sandbox/internal.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEEPER "assay-keeper"

static const char *const outcome_names[] = {
	[SANDBOX_EXIT] = "exit",
	[SANDBOX_SIGNAL] = "signal",
	[SANDBOX_TIMEOUT_WALL] = "timeout_wall",
	[SANDBOX_TIMEOUT_CPU] = "timeout_cpu",
	[SANDBOX_MEMORY] = "memory",
	[SANDBOX_OUTPUT_LIMIT] = "output_limit",
	[SANDBOX_DISK_LIMIT] = "disk_limit",
	[SANDBOX_PROCESS_LIMIT] = "process_limit",
	[SANDBOX_FORBIDDEN_SYSCALL] = "forbidden_syscall",
	[SANDBOX_SETUP_FAILED] = "setup_failed",
	[SANDBOX_CANCELLED] = "cancelled",
};

const char *sandbox_outcome_name(enum sandbox_outcome outcome)
{
	return outcome_names[outcome];
}

int sandbox_outcome_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(outcome_names); i++)
		if (strcmp(outcome_names[i], name) == 0)
			return (int)i;
	return -1;
}

void sandbox_limits_default(struct sandbox_limits *ret)
{
	const int64_t mib = 1 << 20;

	*ret = (struct sandbox_limits){
		.wall_ms = 10000, .cpu_ms = 10000, .memory_bytes = 512 * mib, .processes = 64,
		.open_files = 256, .disk_bytes = 64 * mib, .inodes = 16384,
		.stdout_bytes = mib, .stderr_bytes = mib, .artifact_bytes = 5 * mib,
		.artifacts = 32,
	};
}

void sandbox_result_release(struct sandbox_result *result)
{
	for (size_t i = 0; i < result->artifact_count; i++) {
		free(result->artifacts[i].path);
		free(result->artifacts[i].bytes);
		free(result->artifacts[i].why_not);
	}
	free(result->artifacts);
	free(result->forbidden);
	free(result->out.bytes);
	free(result->err.bytes);
	*result = (struct sandbox_result){ .exit_code = -1 };
}

/* Beside the running program, then in ../libexec/assay, as installed; above
 * it, where the programs of the test suite find the build's. */
static char *find_keeper(void)
{
	static const char *const places[] = { "/" KEEPER, "/../libexec/assay/" KEEPER,
					      "/../" KEEPER, "/../../" KEEPER };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash == NULL)
		return NULL;
	*slash = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		cleanup_free char *path = mem_printf("%s%s", self, places[i]);

		if (access(path, X_OK) == 0)
			return TAKE_PTR(path);
	}
	return NULL;
}

int sandbox_open(struct sandbox **ret, const struct sandbox_options *options, struct error *err)
{
	struct sandbox *s = mem_alloc(sizeof(*s));

	s->socket = s->started = -1;
	s->keeper_path = options != NULL && options->keeper != NULL ?
		mem_strdup(options->keeper) : find_keeper();
	s->cache_dir = mem_strdup(options == NULL ? NULL : options->cache_dir);
	if (s->keeper_path == NULL) {
		error_set(err, ERR_SANDBOX, "%s", access("/proc/self/exe", F_OK) < 0 ?
			  "/proc is not mounted here: `mount -t proc proc /proc`" :
			  KEEPER " was not found beside the program or in libexec: build it "
			  "(make) or reinstall");
		sandbox_close(s);
		return -1;
	}
	if (connection_start(s, err) < 0) {
		sandbox_close(s);
		return -1;
	}
	*ret = s;
	return 0;
}

void sandbox_finish(struct sandbox *s)
{
	if (s->socket >= 0)
		shutdown(s->socket, SHUT_RDWR);
}

void sandbox_close(struct sandbox *s)
{
	if (s == NULL)
		return;
	connection_close(s);
	describe_release(s);
	free(s->keeper_path);
	free(s->cache_dir);
	free(s);
}

void sandbox_cleanup(struct sandbox **sandbox)
{
	sandbox_close(*sandbox);
	*sandbox = NULL;
}
