/*
 * Whether all of a process is in what a fork copies, and what of it needs a hand afterwards. It
 * only looks, and reopens.
 */
#include "sandbox/native/hold/hold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSES	 20
#define PAUSE_NS 500000

/* Of a folder of /proc with numbers each one to a function, but the descriptor that it is read by.
 */
static int each_number(const char *path, bool descriptors, int (*visit)(int number, void *to),
		       void *to)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int status = !dir ? -1 : 0;

	while (status == 0 && (entry = readdir(dir))) {
		int number = entry->d_name[0] == '.' ? -1 : atoi(entry->d_name);

		if (number >= 0 && !(descriptors && number == dirfd(dir)))
			status = visit(number, to);
	}
	if (dir)
		closedir(dir);
	return status;
}

static int count_one(int number, void *to)
{
	(void)number;
	++*(int *)to;
	return 0;
}

/* One whose bytes nobody can change meanwhile: of a file system that is only read, or of a file
 * that has no name any more. */
static bool is_still(int fd, const struct stat *st)
{
	struct statvfs fs;

	return S_ISREG(st->st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY &&
	       (st->st_nlink == 0 || (fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_RDONLY)));
}

struct descriptors {
	int control;
	const char *why;
};

static int look_at_descriptor(int fd, void *to)
{
	struct descriptors *d = to;
	struct stat st;

	if (fd <= STDERR_FILENO || fd == d->control || fstat(fd, &st) < 0 || is_still(fd, &st) ||
	    S_ISCHR(st.st_mode))
		return 0;
	d->why = S_ISREG(st.st_mode)  ? HOLD_FILE :
		 S_ISFIFO(st.st_mode) ? HOLD_PIPE :
		 S_ISSOCK(st.st_mode) ? HOLD_SOCKET :
		 S_ISDIR(st.st_mode)  ? HOLD_FOLDER :
					HOLD_DESCRIPTOR;
	return 0;
}

/* Memory that a fork has in common with others, unless it is of a file that nobody writes. */
static bool map_is_shared(const char *line)
{
	const char *mode = strchr(line, ' '), *path = strchr(line, '/');

	if (!mode || strlen(mode) < 5 || mode[4] != 's')
		return false;
	return mode[2] == 'w' || !path || strncmp(path, "/usr/", 5);
}

static bool has_shared_memory(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t size = 0;
	bool shared = !maps;

	while (!shared && getline(&line, &size, maps) > 0)
		shared = map_is_shared(line);
	free(line);
	if (maps)
		fclose(maps);
	return shared;
}

/* One that is about to end, as what a shell read from, is given the time. */
static bool has_children(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	for (int n = 0; n < PAUSES; n++) {
		siginfo_t info;

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static bool has_timer(void)
{
	static const int kinds[] = { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF };
	struct itimerval timer;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (getitimer((__itimer_which_t)kinds[i], &timer) == 0 &&
		    (timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0))
			return true;
	return false;
}

const char *check_copy(int control)
{
	struct descriptors d = { .control = control };
	int threads = 0;

	if (each_number("/proc/self/task", false, count_one, &threads) < 0 || threads != 1)
		return HOLD_THREAD;
	if (has_children())
		return HOLD_PROCESS;
	if (has_timer())
		return HOLD_TIMER;
	if (each_number("/proc/self/fd", true, look_at_descriptor, &d) < 0)
		return HOLD_UNKNOWN;
	if (d.why)
		return d.why;
	return has_shared_memory() ? HOLD_SHARED : NULL;
}

static int separate(int fd, void *to)
{
	const int *control = to;
	struct stat st;

	if (fd <= STDERR_FILENO || fd == *control || fstat(fd, &st) < 0 || !is_still(fd, &st))
		return 0;
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int flags = fcntl(fd, F_GETFD);
	off_t at = lseek(fd, 0, SEEK_CUR);
	int own = open(path, O_RDONLY | O_CLOEXEC);
	if (own < 0 || flags < 0 || at < 0 || lseek(own, at, SEEK_SET) < 0 ||
	    dup3(own, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0) < 0)
		return -1;
	return close(own);
}

int check_separate(int control)
{
	int numbers = 0;

	/* Nothing is open commonly: a folder is not read for that. */
	if (each_number("/proc/self/fd", true, count_one, &numbers) < 0)
		return -1;
	return numbers <= STDERR_FILENO + 2 ?
		       0 :
		       each_number("/proc/self/fd", true, separate, &control);
}
