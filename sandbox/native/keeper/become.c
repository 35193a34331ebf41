/*
 * A child of the launcher becomes a template: an interpreter with the object that makes it one, and
 * the orders it serves. It has no descriptor of a run, and nothing of a job is read here but how
 * the interpreter is started.
 */
#include "sandbox/native/keeper/become.h"

#include "sandbox/native/keeper/confine.h"
#include "sandbox/native/keeper/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

static int take_numbers(const int *fds)
{
	const bool has_ahead = fds[TEMPLATE_AHEAD] >= 0;
	int orders = fcntl(fds[TEMPLATE_ORDERS], F_DUPFD, WARM_AHEAD_FD + 1);
	int object = fcntl(fds[TEMPLATE_OBJECT], F_DUPFD, WARM_AHEAD_FD + 1);
	int ahead = has_ahead ? fcntl(fds[TEMPLATE_AHEAD], F_DUPFD, WARM_AHEAD_FD + 1) : -1;

	if (orders < 0 || object < 0 || dup2(orders, WARM_ORDERS_FD) < 0 ||
	    dup2(object, WARM_OBJECT_FD) < 0 || (has_ahead && dup2(ahead, WARM_AHEAD_FD) < 0))
		return -1;
	return (int)syscall(SYS_close_range, WARM_OBJECT_FD + 1u + has_ahead, ~0u, 0u);
}

static int add(struct program *p, const char *text)
{
	size_t n = 0;

	while (p->env[n])
		n++;
	if (n + 1 >= sizeof(p->env) / sizeof(p->env[0]))
		return -1;
	p->env[n] = text;
	return 0;
}

/* Packages leave files there when they are imported; what a run has there is not here. */
static int make_folders(void)
{
	static const char *const folders[] = { "/tmp", "/work" };

	if (unshare(CLONE_NEWNS) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (mount("left", folders[i], "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
			  "size=1m,mode=0700") < 0)
			return -1;
	return 0;
}

int become_template(const int *fds)
{
	static struct program program;
	static char named[4096];
	struct payload payload;
	struct payload_warm warm;

	if (payload_read(fds[TEMPLATE_PAYLOAD], &payload, &program, &warm) < 0 ||
	    confine_fixed_rlimits(PROTOCOL_FILTER_STANDARD) < 0)
		return -1;
	if (warm.modules && (size_t)snprintf(named, sizeof(named), WARM_MODULES "=%s",
					     warm.modules) >= sizeof(named))
		return -1;
	if (warm.modules && *warm.modules != '-' && make_folders() < 0)
		return -1;
	/* What is bound is bound for all its forks. */
	if (add(&program, "LD_PRELOAD=/proc/self/fd/4") < 0 || add(&program, "LD_BIND_NOW=1") < 0 ||
	    (warm.modules && add(&program, named) < 0) || take_numbers(fds) < 0)
		return -1;
	char *const *argv;
	memcpy(&argv, &(const char *const *){ program.argv }, sizeof(argv));
	char *const *env;
	memcpy(&env, &(const char *const *){ program.env }, sizeof(env));
	return execve(program.path, argv, env);
}
