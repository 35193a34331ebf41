/*
 * A count that may have to wait. Whoever reads the maps of a process waits for those of its threads
 * that change them; and a guest can see to it that these get no processor for long, while others of
 * its processes grow and its time runs out. So such a count is made by a child of ours. When it
 * takes long, all of the guest is stopped: nothing grows then, and those that are waited for find
 * the processors free. It may not be stopped for more than some two seconds: then the count is
 * given up.
 */
#include "sandbox/native/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_US   20000 /* how long the guest may go on meanwhile */
#define STOP_AGAIN_US 10000 /* those that others woke */
#define GIVE_UP_US    2000000

struct count {
	int proc;
	int64_t (*of)(int proc, const void *what);
	const void *what;
};

/* The directory is opened anew: its position is not to be ours. */
static void be_child(const struct count *count, pid_t parent, int answer) __attribute__((noreturn));
static void be_child(const struct count *count, pid_t parent, int answer)
{
	int proc = openat(count->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (proc < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	int64_t result = count->of(proc, count->what);
	_exit(write(answer, &result, sizeof(result)) != sizeof(result));
}

static bool is_answered(int answer, int64_t wait_us)
{
	struct pollfd fd = { .fd = answer, .events = POLLIN };

	return poll(&fd, 1, (int)(wait_us / 1000)) > 0;
}

/* False when it takes too long. */
static bool wait_for(int answer, int proc)
{
	struct stopped before = { .count = 0 };

	if (is_answered(answer, PATIENCE_US))
		return true;
	int64_t start = now_us();
	supervise_stopped(proc, &before);
	bool answered;
	do {
		supervise_stop(proc);
		answered = is_answered(answer, STOP_AGAIN_US);
	} while (!answered && now_us() - start < GIVE_UP_US);
	supervise_continue(proc, &before);
	return answered;
}

int64_t aside_count(int proc, int64_t (*of)(int proc, const void *what), const void *what)
{
	struct count count = { .proc = proc, .of = of, .what = what };
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return of(proc, what);
	pid_t child = fork();
	if (child == 0)
		be_child(&count, parent, ends[1]);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return of(proc, what);
	}
	int64_t result = -1;
	if (!wait_for(ends[0], proc)) {
		kill(child, SIGKILL);
		result = ASIDE_LATE;
	} else if (read(ends[0], &result, sizeof(result)) != sizeof(result)) {
		result = -1;
	}
	close(ends[0]);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return result;
}
