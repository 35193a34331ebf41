/*
 * assay-keeper: holds the walls. Started by assay before any key is read, it runs one job at a
 * time. Who runs below it and as whom, over which pipes, and what ends a run: README.md of this
 * folder. It may hold no key and read no byte that a guest writes, nobody asks the guest anything,
 * and when assay or this program dies, all that it started must die with it.
 */
#include "sandbox/native/keeper/boot.h"
#include "sandbox/native/keeper/job.h"
#include "sandbox/native/keeper/keeper.h"
#include "sandbox/native/keeper/share.h"
#include "sandbox/native/keeper/single.h"
#include "sandbox/native/keeper/standby.h"
#include "sandbox/native/keeper/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the first run's disk, as far as we can guess: those of sandbox.h. */
#define DISK_BYTES (64ll << 20)
#define INODES	   16384

#define LEASE_SPARE_S 5

static void describe_cgroups(const struct cgroups *c, struct protocol_hello *hello)
{
	const char *name = c->has_v1 && c->has_v2 ? "hybrid" :
			   c->has_v1		  ? "v1" :
			   c->has_v2		  ? "v2" :
						    "none";

	memset(hello->cgroup, 0, sizeof(hello->cgroup));
	strncpy(hello->cgroup, name, sizeof(hello->cgroup) - 1);
	hello->memory_cgroup = c->files[CG_MEMORY_LIMIT] >= 0 && c->files[CG_MEMORY_EVENTS] >= 0;
	hello->pids_cgroup = c->files[CG_PIDS_LIMIT] >= 0 && c->files[CG_PIDS_EVENTS] >= 0;
	hello->cpu_cgroup = c->files[CG_CPU_QUOTA] >= 0;
	hello->cpu_count_cgroup = c->files[CG_CPU_TOTAL] >= 0 && c->files[CG_CPU_USER] >= 0 &&
				  c->files[CG_CPU_SYSTEM] >= 0;
	hello->filter = hello->memory_cgroup && hello->pids_cgroup && hello->cpu_count_cgroup ?
				PROTOCOL_FILTER_STANDARD :
				PROTOCOL_FILTER_SUPERVISED;
}

static int start_launcher(struct keeper *k)
{
	return launcher_start(&k->cgroups, &k->launcher) < 0 ?
		       failure_set(&k->hello.failure, "start the launcher", "") :
		       0;
}

/* Until it is in its groups. */
static int wait_for_launcher(struct keeper *k, struct event *ret_ready)
{
	return message_receive(k->launcher.events, ret_ready, sizeof(*ret_ready), NULL, 0) !=
			       sizeof(*ret_ready) ?
		       failure_set(&k->hello.failure, "start the launcher", "") :
		       0;
}

/* A group we could make but may not move into (a frozen or threaded parent, an
 * ancestor somebody else owns) is as good as none: limits fall back, and the
 * isolation says so. */
static int settle_launcher(struct keeper *k)
{
	struct event ready = { .kind = EVENT_FAILED };

	if (wait_for_launcher(k, &ready) < 0)
		return -1;
	if (ready.kind != EVENT_READY && k->cgroups.count > 0) {
		close_all((int[]){ k->launcher.orders, k->launcher.events }, 2);
		waitpid(k->launcher.pid, NULL, 0);
		cgroups_forget(&k->cgroups);
		describe_cgroups(&k->cgroups, &k->hello);
		if (start_launcher(k) < 0 || wait_for_launcher(k, &ready) < 0)
			return -1;
	}
	if (ready.kind != EVENT_READY) {
		k->hello.failure = ready.failure;
		return -1;
	}
	if (ready.status)
		k->hello.namespaces |= PROTOCOL_NS_CGROUP;
	return 0;
}

/* Those a guest may use: it can take more than we were given, as far as its cpuset
 * goes. sysconf would read /sys, which we leave. */
static long count_processors(void)
{
	cpu_set_t own;

	if (sched_getaffinity(0, sizeof(own), &own) < 0)
		return 1;
	cpu_set_t all;
	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
	long count =
		sched_getaffinity(0, sizeof(all), &all) < 0 ? CPU_COUNT(&own) : CPU_COUNT(&all);
	sched_setaffinity(0, sizeof(own), &own);
	return count;
}

/* A limit on file sizes that we inherit would be one more limit of every run,
 * which nobody asked for. Returns what cannot be lifted. */
static int64_t lift_file_size(void)
{
	struct rlimit now = { RLIM_INFINITY, RLIM_INFINITY };

	if (setrlimit(RLIMIT_FSIZE, &now) == 0 || getrlimit(RLIMIT_FSIZE, &now) < 0)
		return INT64_MAX;
	now.rlim_cur = now.rlim_max;
	setrlimit(RLIMIT_FSIZE, &now);
	return now.rlim_max > INT64_MAX ? INT64_MAX : (int64_t)now.rlim_max;
}

/* Who sends descriptors, as we all do here, is refused when its user has more on
 * their way than this limit of its own: confine_open_files. */
static void lift_open_files(void)
{
	struct rlimit now;
	char most[32];

	if (file_read(AT_FDCWD, "/proc/sys/fs/nr_open", most, sizeof(most)) > 0) {
		now.rlim_cur = now.rlim_max = strtoul(most, NULL, 10);
		if (setrlimit(RLIMIT_NOFILE, &now) == 0)
			return;
	}
	if (getrlimit(RLIMIT_NOFILE, &now) < 0)
		return;
	now.rlim_cur = now.rlim_max;
	setrlimit(RLIMIT_NOFILE, &now);
}

/* The kernel lets go on who waits for a lease after so many seconds. */
static uint32_t lease_ms(void)
{
	char text[32];

	if (file_read(AT_FDCWD, "/proc/sys/fs/lease-break-time", text, sizeof(text)) <= 0)
		return 0;
	return strtoul(text, NULL, 10) < 2 * LEASE_SPARE_S || strtoul(text, NULL, 10) > 3600 ?
		       0 :
		       (uint32_t)(strtoul(text, NULL, 10) - LEASE_SPARE_S) * 1000;
}

static int set_up(struct keeper *k)
{
	struct protocol_hello *hello = &k->hello;

	k->file_size = lift_file_size();
	k->lease_ms = lease_ms();
	lift_open_files();
	crash_open(&k->crash);
	if (crash_check(&k->crash, &hello->failure) < 0)
		return -1;
	if (run_check_file_size(k, ROOT_BYTES, &hello->failure) < 0)
		return -1;
	hello->guest_uid = GUEST_ID;
	k->processors = count_processors();
	cgroups_open(&k->cgroups);
	describe_cgroups(&k->cgroups, hello);
	if (cgroups_start_janitor(&k->cgroups) < 0)
		return failure_set(&hello->failure, "start the janitor", "");
	if (root_unshare(&hello->namespaces, &hello->failure) < 0)
		return -1;
	if (confine_fix_privileges(true) < 0)
		return failure_set(&hello->failure, "no new privileges", "");
	/* It makes the net namespace while we build the root, and no init before its first order.
	 */
	if (start_launcher(k) < 0 || root_enter(&hello->failure) < 0)
		return -1;
	/* Made for every run; a run that does not get them fails. */
	hello->namespaces |= PROTOCOL_NS_PID | PROTOCOL_NS_IPC | PROTOCOL_NS_NET;
	hello->landlock_abi = confine_landlock_abi();
	return settle_launcher(k);
}

static int serve(struct keeper *k)
{
	static struct protocol_request request;
	int status = 0;

	while (status == 0) {
		int fds[PROTOCOL_RUN_FDS];

		job_idle(k);
		ssize_t n = message_receive(k->client, &request, sizeof(request), fds,
					    PROTOCOL_RUN_FDS);
		if (n <= 0)
			break;
		/* An order to kill may come after the end it wanted. */
		if (n == sizeof(request) && request.kind == PROTOCOL_RUN)
			status = run_job(k, &request, fds);
		else if (n == sizeof(request) && request.kind == PROTOCOL_PREPARE)
			job_prepare(k, &request, fds);
		else if (n == sizeof(request) && request.kind == PROTOCOL_DROP)
			job_drop(k, &request);
		close_all(fds, PROTOCOL_RUN_FDS);
	}
	return status;
}

int main(int argc, char **argv)
{
	static struct keeper k;

	if (getpid() == 1 && !strcmp(argv[0], KEEPER_INIT))
		boot_main();
	if (argc > 1 && !strcmp(argv[1], SHARE_WORD))
		return share_main();
	if (argc > 1 && !strcmp(argv[1], KEEPER_SINGLE))
		return single_main();
	if (argc > 1)
		return stream_main(argv + 1);
	k = (struct keeper){ .client = PROTOCOL_FD,
			     .sockets = -1,
			     .hello = { .kind = PROTOCOL_HELLO, .version = PROTOCOL_VERSION } };
	fcntl(PROTOCOL_FD, F_SETFD, FD_CLOEXEC);
	fcntl(PROTOCOL_STARTED_FD, F_SETFD, FD_CLOEXEC);
	if (set_up(&k) < 0) {
		message_send(k.client, &k.hello, sizeof(k.hello), NULL, 0);
		return 1;
	}
	if (message_send(k.client, &k.hello, sizeof(k.hello), NULL, 0) < 0)
		return 1;
	standby_order(&k, &(struct standby){ .disk_bytes = DISK_BYTES, .inodes = INODES });
	return serve(&k) < 0;
}
