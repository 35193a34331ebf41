/*
 * What the processes of a run use, counted through its /proc where no control group counts. Memory
 * is what a process has of its own and its page tables, the tmpfs, the shared mappings at their
 * full length (grant.c) and the sockets at what they can hold; memory of other kinds the filter
 * refuses then. Anonymous memory is summed first by process (cheap, and too high by what a fork
 * shares); only when that passes the limit, by share; and only when that does, without those that
 * are in another's memory (vfork). The first may never wait for a guest; the others, which do, are
 * made aside (aside.c). Nothing here kills or stops a process (kill.c).
 */
#include "sandbox/native/keeper/supervise.h"

#include "sandbox/native/keeper/processes.h"
#include "sandbox/native/keeper/util.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MEMORY_KEY   "\nVmPTE:" /* of a status, where there is memory */
#define WORTH_A_LOOK (1 << 20)

static int64_t field_bytes(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return !at ? 0 : strtoll(at + strlen(key), NULL, 10) * 1024;
}

/* Its own CPU time and that of the children it waited for, which in init's case
 * are the orphans; threads add to the count of processes, as they do at the
 * limit, and so does a zombie. */
static void add_times(int proc, const char *pid, struct usage *u)
{
	char text[1024];
	long tick = sysconf(_SC_CLK_TCK);

	if (processes_read(proc, pid, "stat", text, sizeof(text)) <= 0)
		return;
	const char *at = strrchr(text, ')');
	unsigned long long times[4];
	char state;
	long threads;
	if (!at || sscanf(at + 1,
			  " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu "
			  "%llu %llu %*d %*d %ld",
			  &state, &times[0], &times[1], &times[2], &times[3], &threads) != 6)
		return;
	if (!processes_is_init(pid))
		u->pids += threads > 0 ? threads : 1;
	if (!processes_is_init(pid) && u->ledger)
		ledger_see(u->ledger, (pid_t)strtol(pid, NULL, 10), threads,
			   (int64_t)(times[0] + times[1]) * 1000000 / tick, state == 'Z');
	u->user_us += (int64_t)(times[0] + times[2]) * 1000000 / tick;
	u->system_us += (int64_t)(times[1] + times[3]) * 1000000 / tick;
}

/* Tells where the figures of its memory are, with its status: a process whose
 * first thread has ended has them with any other of its threads only. */
static int find_memory(int proc, const char *pid, char *ret_where, size_t size, char *ret_status,
		       size_t status_size)
{
	snprintf(ret_where, size, "%s", pid);
	if (processes_read(proc, ret_where, "status", ret_status, status_size) <= 0)
		return -1;
	if (strstr(ret_status, MEMORY_KEY))
		return 0;
	snprintf(ret_where, size, "%s/task", pid);
	int fd = openat(proc, ret_where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
	if (!tasks) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	struct dirent *entry;
	do {
		entry = readdir(tasks);
		if (entry)
			snprintf(ret_where, size, "%.16s/task/%.16s", pid, entry->d_name);
	} while (entry &&
		 (!isdigit((unsigned char)entry->d_name[0]) ||
		  processes_read(proc, ret_where, "status", ret_status, status_size) <= 0 ||
		  !strstr(ret_status, MEMORY_KEY)));
	closedir(tasks);
	return !entry ? -1 : 0;
}

static int64_t anonymous_bytes(const char *status)
{
	return field_bytes(status, "\nRssAnon:") + field_bytes(status, "\nVmSwap:");
}

static void add_upper(int proc, const char *pid, struct usage *u)
{
	add_times(proc, pid, u);
	char where[40], text[4096];
	if (processes_is_init(pid) ||
	    find_memory(proc, pid, where, sizeof(where), text, sizeof(text)) < 0)
		return;
	u->memory_bytes += anonymous_bytes(text) + field_bytes(text, MEMORY_KEY);
	u->address_bytes += field_bytes(text, "\nVmSize:");
	u->processes++;
}

static void add_share(int proc, const char *pid, struct usage *u)
{
	char where[40], status[4096];

	if (processes_is_init(pid) ||
	    find_memory(proc, pid, where, sizeof(where), status, sizeof(status)) < 0)
		return;
	u->memory_bytes += field_bytes(status, MEMORY_KEY);
	char text[2048];
	/* Not to be had of a program that may be run but not read. */
	if (processes_read(proc, where, "smaps_rollup", text, sizeof(text)) > 0)
		u->memory_bytes +=
			field_bytes(text, "\nPss_Anon:") + field_bytes(text, "\nSwapPss:");
	else
		u->memory_bytes += anonymous_bytes(status);
}

/* Not what lives in its parent's memory, where it is counted. What does not will
 * not later: so the figures, which are read after, are its own. */
static void add_own(int proc, const char *pid, struct usage *u)
{
	char where[40], status[4096];

	if (processes_is_init(pid) ||
	    find_memory(proc, pid, where, sizeof(where), status, sizeof(status)) < 0)
		return;
	const char *at = strstr(status, "\nPPid:");
	long number = !at ? 0 : strtol(at + strlen("\nPPid:"), NULL, 10);
	int64_t bytes = anonymous_bytes(status);
	char parent[16];
	snprintf(parent, sizeof(parent), "%ld", number);
	if (number > 1 && bytes >= WORTH_A_LOOK &&
	    find_memory(proc, parent, where, sizeof(where), status, sizeof(status)) == 0) {
		int64_t theirs = anonymous_bytes(status);
		if (bytes / 2 <= theirs && theirs / 2 <= bytes &&
		    relation_shares_memory(proc, u->init, (pid_t)strtol(pid, NULL, 10),
					   (pid_t)number))
			return;
	}
	add_share(proc, pid, u);
}

static int64_t tmpfs_bytes(int out)
{
	struct statfs fs;

	if (out < 0 || fstatfs(out, &fs) < 0)
		return 0;
	return (int64_t)(fs.f_blocks - fs.f_bfree) * (int64_t)fs.f_bsize;
}

/* The kernel lets one message of up to net.core.wmem_default, which is what a new
 * socket has, begin while as much is queued; the rest is for what carries it. */
int64_t supervise_socket_bytes(void)
{
	static int64_t bytes;
	int queue = 212992; /* the kernel's own choice */
	socklen_t size = sizeof(queue);

	if (bytes > 0)
		return bytes;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &queue, &size);
		close(fd);
	}
	bytes = 2 * (int64_t)queue + (16 << 10);
	return bytes;
}

int64_t supervise_sockets(int sockstat)
{
	static const char key[] = "sockets: used ";
	char text[1024];
	ssize_t n = sockstat < 0 ? -1 : pread(sockstat, text, sizeof(text) - 1, 0);

	if (n < (ssize_t)strlen(key))
		return -1;
	text[n] = '\0';
	return !strncmp(text, key, strlen(key)) ? strtoll(text + strlen(key), NULL, 10) : -1;
}

/* Of the net namespace, in which only a run makes any. */
int64_t supervise_sockets_of(int proc)
{
	int sockstat = proc < 0 ? -1 : openat(proc, "1/net/sockstat", O_RDONLY | O_CLOEXEC);
	int64_t count = supervise_sockets(sockstat);

	if (sockstat >= 0)
		close(sockstat);
	return count;
}

struct finer {
	int64_t common, limit;
	pid_t init;
};

static int64_t finer_bytes(int proc, const void *what)
{
	static void (*const ways[])(int proc, const char *pid, struct usage *usage) = {
		add_share,
		add_own,
	};
	const struct finer *f = what;
	struct usage u = { .memory_bytes = f->limit + 1, .init = f->init };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && u.memory_bytes > f->limit; i++) {
		u.memory_bytes = f->common;
		if (processes_visit(proc, ways[i], &u) < 0)
			return -1;
	}
	return u.memory_bytes;
}

int supervise_count(int proc, int out, pid_t init, int64_t other_bytes, int64_t memory_limit,
		    struct ledger *ledger, struct usage *ret_usage)
{
	int64_t sockets = supervise_sockets_of(proc);
	struct usage u = { .sockets_bytes = sockets < 0 ? 0 : sockets * supervise_socket_bytes(),
			   .ledger = ledger };
	const struct finer finer = {
		.common = tmpfs_bytes(out) + u.sockets_bytes + other_bytes,
		.limit = memory_limit,
		.init = init,
	};

	u.memory_bytes = finer.common;
	ledger_begin(ledger);
	if (processes_visit(proc, add_upper, &u) < 0)
		return -1;
	ledger_settle(ledger);
	if (u.memory_bytes > memory_limit) {
		int64_t bytes = aside_count(proc, finer_bytes, &finer);
		if (bytes < 0)
			return -1;
		if (bytes != ASIDE_LATE) /* it is taken for the worst */
			u.memory_bytes = bytes;
	}
	*ret_usage = u;
	return 0;
}

int64_t supervise_pids(int proc)
{
	struct usage u = { .pids = 0 };

	return processes_visit(proc, add_times, &u) < 0 ? -1 : u.pids;
}

/* --- the maps themselves --- */

#define MAP_BYTES      256  /* a map, and its place among the others */
#define MAP_LINK_BYTES 64   /* to each of those it was forked from */
#define MAPS_FREE      1000 /* of a process: programs have so many */
#define WORTH_COUNTING 16   /* when they might be one part in so many of the limit */

struct maps {
	int64_t count, enough;
};

static void visit_lines(int proc, const char *pid, struct usage *u)
{
	char where[40], text[16384];

	if (processes_is_init(pid) ||
	    find_memory(proc, pid, where, sizeof(where), text, sizeof(text)) < 0)
		return;
	char path[64];
	snprintf(path, sizeof(path), "%s/maps", where);
	int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	int64_t lines = 0;
	ssize_t n;
	while (fd >= 0 && u->maps->count + lines <= u->maps->enough &&
	       (n = read(fd, text, sizeof(text))) > 0)
		for (const char *at = text; (at = memchr(at, '\n', (size_t)(text + n - at))); at++)
			lines++;
	close_all(&fd, 1);
	u->maps->count += lines > MAPS_FREE ? lines : 0;
}

static int64_t count_maps(int proc, const void *what)
{
	struct maps maps = { .enough = *(const int64_t *)what };

	if (processes_visit(proc, visit_lines, &(struct usage){ .maps = &maps }) < 0)
		return -1;
	return maps.count;
}

/* A map is no page, but has one at least in the addresses of its process. */
int64_t supervise_maps(int proc, const struct usage *seen, int64_t memory_limit)
{
	const int64_t each = MAP_BYTES + MAP_LINK_BYTES * seen->processes;
	int64_t most = seen->address_bytes / sysconf(_SC_PAGESIZE);

	if (most <= MAPS_FREE || most < memory_limit / WORTH_COUNTING / each)
		return 0;
	int64_t enough = memory_limit / each + 1;
	int64_t count = aside_count(proc, count_maps, &enough);
	return count < 0 ? -1 : (count < enough ? count : enough) * each;
}

/* --- shared mappings --- */

#define LINES_MAX  40000 /* of all maps: some 40 ms */
#define INODES_MAX 4096

struct inodes {
	uint64_t inodes[INODES_MAX];
	size_t count, lines;
	long pids[INODES_MAX];
	size_t pid_count;
	bool failed;
};

static void add_inode(struct inodes *in, uint64_t inode)
{
	for (size_t i = in->count; i-- > 0;)
		if (in->inodes[i] == inode)
			return;
	if (in->count == INODES_MAX)
		in->failed = true;
	else
		in->inodes[in->count++] = inode;
}

/* Files of that name only the kernel makes; another would be one more to count. */
static void add_maps(int proc, const char *where, struct inodes *in)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/maps", where);
	int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
	if (!maps) {
		if (fd >= 0)
			close(fd);
		in->failed |= errno != ENOENT && errno != ESRCH;
		return;
	}
	char line[512];
	while (!in->failed && fgets(line, sizeof(line), maps)) {
		uint64_t inode;

		if (in->lines++ == LINES_MAX)
			in->failed = true;
		if (strstr(line, "/dev/zero (deleted)") &&
		    sscanf(line, "%*s %*s %*s %*s %" SCNu64, &inode) == 1)
			add_inode(in, inode);
	}
	in->failed |= ferror(maps) != 0 && errno != ESRCH;
	fclose(maps);
}

static void visit_maps(int proc, const char *pid, struct usage *u)
{
	if (u->inodes->pid_count == INODES_MAX)
		u->inodes->failed = true;
	else
		u->inodes->pids[u->inodes->pid_count++] = strtol(pid, NULL, 10);
	char where[40], status[4096];
	if (!processes_is_init(pid) && !u->inodes->failed &&
	    find_memory(proc, pid, where, sizeof(where), status, sizeof(status)) == 0)
		add_maps(proc, where, u->inodes);
}

/* One born meanwhile may have what its parent took away with it. */
static void refuse_new(int proc, const char *pid, struct usage *u)
{
	(void)proc;
	size_t i = 0;
	while (i < u->inodes->pid_count && u->inodes->pids[i] != strtol(pid, NULL, 10))
		i++;
	u->inodes->failed |= i == u->inodes->pid_count;
}

static int64_t count_inodes(int proc, const void *what)
{
	static struct inodes in;
	struct usage u = { .inodes = &in };

	(void)what;
	in.count = in.lines = in.pid_count = 0;
	in.failed = false;
	if (processes_visit(proc, visit_maps, &u) < 0 ||
	    processes_visit(proc, refuse_new, &u) < 0 || in.failed)
		return -1;
	return (int64_t)in.count;
}

int64_t supervise_shared(int proc)
{
	return proc < 0 ? -1 : aside_count(proc, count_inodes, NULL);
}
