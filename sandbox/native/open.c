/*
 * A connection to a keeper, opened and closed with all that every one has. What only that of a
 * sandbox has (contexts, servers, foresight) is the table's (native.c), since those have
 * connections themselves.
 */
#include "sandbox/native/open.h"

#include "base/io.h"
#include "base/mem.h"
#include "sandbox/native/connection.h"
#include "sandbox/native/describe.h"
#include "sandbox/native/environment.h"
#include "sandbox/native/far.h"
#include "sandbox/native/standby.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEEPER	"assay-keeper"
#define OBJECT	"assay-warm.so"
#define IDLE_MS 60000
#define KEEP_MS (30 * 60 * 1000)

/* Beside the running program, then in ../libexec/assay, as installed; above
 * it, where the programs of the test suite find the build's. */
static char *find_keeper(void)
{
	static const char *const places[] = { "/" KEEPER, "/../libexec/assay/" KEEPER,
					      "/../" KEEPER, "/../../" KEEPER };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	char *slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		cleanup_free char *path = mem_printf("%s%s", self, places[i]);

		if (access(path, X_OK) == 0)
			return TAKE_PTR(path);
	}
	return NULL;
}

/* It lies beside the keeper. Without it all interpreters start as they did before there were
 * templates, and the doctor says so. */
static int open_object(const char *keeper)
{
	const char *slash = strrchr(keeper, '/');
	cleanup_free char *path =
		mem_printf("%.*s" OBJECT, !slash ? 0 : (int)(slash - keeper) + 1, keeper);

	return io_open(path, O_RDONLY | O_CLOEXEC, 0);
}

char *native_keeper_path(const struct sandbox_options *options, struct error *err)
{
	char *path = options->program ? mem_strdup(options->program) : find_keeper();

	if (!path)
		error_set(err, ERR_SANDBOX, "%s",
			  access("/proc/self/exe", F_OK) < 0 ?
				  "/proc is not mounted here: `mount -t proc proc /proc`" :
				  KEEPER " was not found beside the program or in libexec: build "
					 "it (make) or reinstall");
	return path;
}

/* A container or a machine stays between two jobs only if it is among so many that may. */
static bool claim_place(struct native *s)
{
	s->has_place = atomic_fetch_add(&s->warm_count->places, 1) < s->places;
	if (!s->has_place)
		atomic_fetch_sub(&s->warm_count->places, 1);
	return s->has_place;
}

int native_open(struct native **ret, const struct sandbox_options *options,
		const struct native_far *far, struct error *err)
{
	struct native *s = mem_alloc(sizeof(*s));

	s->socket = s->started = s->object = s->ahead = -1;
	s->idle_ms = IDLE_MS;
	s->far = far;
	s->keeper_path = native_keeper_path(options, err);
	s->cache_dir = mem_strdup(options->cache_dir);
	s->warm = !far ? options->warm : 0;
	s->places = options->warm;
	s->bounds_places = options->bounds_places;
	s->warm_count = options->warm_count ? options->warm_count : &s->own_count;
	s->once = options->once;
	s->tell = options->tell;
	s->tell_self = options->tell_self;
	s->waits = !far || s->once || !s->bounds_places || claim_place(s);
	s->states = !far ? options->states : 0;
	s->keep_ms = options->keep_ms > 0 && options->keep_ms < KEEP_MS ?
			     (uint32_t)options->keep_ms :
			     KEEP_MS;
	if (s->keeper_path && s->warm > 0)
		s->object = open_object(s->keeper_path);
	if (!s->keeper_path || environment_open(&s->own, options, err) < 0 ||
	    (s->waits && connection_start(s, err) < 0)) {
		native_close(s);
		return -1;
	}
	*ret = s;
	return 0;
}

void native_finish(struct native *s)
{
	if (s->socket >= 0)
		shutdown(s->socket, SHUT_RDWR);
	if (s->second)
		native_finish(s->second);
}

void native_close(struct native *s)
{
	if (!s)
		return;
	native_close(s->second);
	connection_close(s);
	describe_release(s);
	environment_release(&s->own);
	waiting_release_template(s);
	if (s->has_place)
		atomic_fetch_sub(&s->warm_count->places, 1);
	if (s->object >= 0)
		io_close(s->object);
	if (s->ahead >= 0)
		io_close(s->ahead);
	free(s->modules);
	native_far_free(s->own_far);
	free(s->keeper_path);
	free(s->cache_dir);
	free(s);
}

int native_second(struct native *s, struct error *err)
{
	const struct sandbox_options options = { .program = s->keeper_path,
						 .warm = s->places,
						 .warm_count = s->warm_count,
						 .bounds_places = s->bounds_places,
						 .tell = s->tell,
						 .tell_self = s->tell_self,
						 .python = s->own.python_from,
						 .node_modules = s->own.node_from };

	return s->second ? 0 : native_open(&s->second, &options, s->far, err);
}
