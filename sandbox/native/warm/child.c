/*
 * A new interpreter till its program may run: no capability, behind every wall of a guest, and
 * deaf but for one message. What fails ends it; the one who waits for it reads why.
 */
#include "sandbox/native/warm/warm.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void stop(int socket, const struct protocol_failure *failure) __attribute__((noreturn));
static void stop(int socket, const struct protocol_failure *failure)
{
	struct event event = { .kind = EVENT_FAILED, .failure = *failure };

	message_send(socket, &event, sizeof(event), NULL, 0);
	for (;;) /* exit_group may be the keeper's to allow, who does not listen yet */
		syscall(SYS_exit, 1);
}

static void enter_walls(struct guest *g)
{
	if (python_after_fork_child(&g->failure) < 0)
		stop(g->keeper, &g->failure);
	errno = 0;
	if (confine_drop_capabilities() < 0 || !confine_is_fixed()) {
		failure_set(&g->failure, "drop capabilities", "");
		stop(g->keeper, &g->failure);
	}
	if (walls_raise(g) < 0)
		stop(g->keeper, &g->failure);
}

/* As much of it as a program commonly has; the rest is looked at by nobody. */
static void suit(struct guest *g, const char *script)
{
	static char program[256 << 10];
	const bool ours = is_ours(script);
	int fd = ours ? -1 : open(script, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t len = fd < 0 ? 0 : read(fd, program, sizeof(program));

	if (fd >= 0)
		close(fd);
	if (python_suit(ours ? NULL : program, len < 0 ? 0 : (size_t)len, &g->failure) < 0)
		stop(g->keeper, &g->failure);
}

void child_main(const struct warm_start *start, const struct launch *launch, int socket)
{
	static struct launch job;
	struct guest g = { .launch = launch, .keeper = socket };
	struct event started = { .kind = EVENT_STARTED };
	unsigned keep = STDERR_FILENO; /* the last that is the guest's */

	enter_walls(&g);
	rehearsed_make_ready();
	if (message_receive(g.keeper, &job, sizeof(job), g.fds, PROTOCOL_RUN_FDS) != sizeof(job))
		for (;;)
			syscall(SYS_exit, 1);
	g.launch = &job;
	g.started_fd = g.fds[PROTOCOL_FD_PAYLOAD];
	if (g.fds[PROTOCOL_FD_LINK_OUT] >= 0)
		keep += 2;
	if (walls_take_job(&g) < 0)
		stop(g.keeper, &g.failure);
	suit(&g, start->script);
	(void)!write(g.started_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
	started.at_us = now_us();
	if (message_send(g.keeper, &started, sizeof(started), NULL, 0) < 0 ||
	    syscall(SYS_close_range, keep + 1u, ~0u, 0u) < 0)
		for (;;)
			syscall(SYS_exit, 1);
}
