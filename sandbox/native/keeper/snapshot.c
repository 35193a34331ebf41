/*
 * The files of a state: the folders that a guest may write to, copied to where no guest is, and
 * back. Init's, who has no more rights than a guest and is none: what a guest made (links, names,
 * depth, modes) is walked by descriptors, never followed, and within bounds.
 */
#include "sandbox/native/keeper/context.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DEPTH_MAX 64
#define LINK_MAX  4096

static const char *const tops[] = { "work", "out", "tmp", "shm" };

/* When each began to be copied. */
static struct timespec taken[SLOTS];

struct walk {
	int like;		/* folder with an older copy; -1: none */
	struct timespec before; /* what changed since is not taken from there */
	bool marks;		/* copies are to say what they are of */
};

static int open_folder(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	/* A guest may have shut one that is its own, and so ours. */
	if (fd < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0)
		fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* --- away --- */

static int empty(int fd, int like, int depth);

static int remove_entry(int at, const char *name, int depth)
{
	if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM && errno != EACCES)
		return -1;
	int fd = open_folder(at, name);
	if (fd < 0 || empty(fd, -1, depth + 1) < 0)
		return -1;
	return unlinkat(at, name, AT_REMOVEDIR);
}

/* A folder that is in like, too, stays the folder that it is, and is emptied: a process of the
 * state may be in it. */
static int clear_entry(int at, int like, const char *name, int depth)
{
	int old =
		like < 0 ? -1 : openat(like, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int fd = old < 0 ? -1 : open_folder(at, name);
	int status = fd < 0 ? remove_entry(at, name, depth) : empty(fd, old, depth + 1);

	close_all(&old, 1);
	return status;
}

/* Of the folder fd, which is closed. */
static int empty(int fd, int like, int depth)
{
	DIR *dir = depth > DEPTH_MAX || fchmod(fd, 0700) < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		close(fd);
		return -1;
	}
	const struct dirent *entry;
	int status = 0;
	while (status == 0 && (entry = readdir(dir)))
		if (!is_dots(entry->d_name))
			status = clear_entry(dirfd(dir), like, entry->d_name, depth);
	closedir(dir);
	return status;
}

/* --- copied --- */

static bool is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/* A copy says which file it is of: its number as the time of its last reading. */
static void mark_of(const struct stat *st, struct timespec ret[2])
{
	ret[0] = (struct timespec){ .tv_sec = (time_t)(st->st_ino & 0x3fffffff) };
	ret[1] = st->st_mtim;
}

/* Whether the older copy is of this file as it is. Nobody can set the time of a change. */
static bool is_in_like(const struct walk *w, int like, const char *name, const struct stat *st)
{
	struct timespec mark[2];

	mark_of(st, mark);
	struct stat old;
	return w->marks && like >= 0 && is_before(st->st_ctim, w->before) &&
	       fstatat(like, name, &old, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(old.st_mode) &&
	       old.st_size == st->st_size && old.st_mode == st->st_mode &&
	       old.st_atim.tv_sec == mark[0].tv_sec && old.st_mtim.tv_sec == mark[1].tv_sec &&
	       old.st_mtim.tv_nsec == mark[1].tv_nsec;
}

static int copy_bytes(int from, int to, off_t left)
{
	static char bytes[65536];

	while (left > 0) {
		ssize_t n = copy_file_range(from, NULL, to, NULL, (size_t)left, 0);

		if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS)) {
			n = read(from, bytes, sizeof(bytes));
			if (n > 0 && write(to, bytes, (size_t)n) != n)
				return -1;
		}
		if (n <= 0)
			return (int)n;
		left -= n;
	}
	return 0;
}

static int copy_file(const struct walk *w, int from, int to, int like, const char *name,
		     const struct stat *st)
{
	if (is_in_like(w, like, name, st) && linkat(like, name, to, name, 0) == 0)
		return 0;
	int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (in < 0 && errno == EACCES && fchmodat(from, name, 0600, 0) == 0) {
		in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		(void)!fchmodat(from, name, st->st_mode & 07777, 0);
	}
	int out = in < 0 ? -1 : openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct timespec times[2];
	mark_of(st, times);
	if (!w->marks)
		times[0] = st->st_mtim;
	int status = -1;
	if (out >= 0 && copy_bytes(in, out, st->st_size) == 0 &&
	    fchmod(out, st->st_mode & 07777) == 0 && futimens(out, times) == 0)
		status = 0;
	close_all((int[]){ in, out }, 2);
	return status;
}

static int copy_link(int from, int to, const char *name)
{
	char target[LINK_MAX + 1];
	ssize_t n = readlinkat(from, name, target, LINK_MAX);

	if (n < 0)
		return -1;
	target[n] = '\0';
	return symlinkat(target, to, name);
}

static int copy_folder(const struct walk *w, int from, int to, int like, int depth);

static int copy_below(const struct walk *w, int from, int to, int like, const char *name,
		      const struct stat *st, int depth)
{
	int in = open_folder(from, name), out = -1;

	if (in >= 0 && (mkdirat(to, name, 0700) == 0 || errno == EEXIST))
		out = open_folder(to, name);
	int old = -1;
	if (like >= 0)
		old = openat(like, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int status = -1;
	if (out >= 0) {
		status = copy_folder(w, in, out, old, depth + 1);
		if (status == 0)
			status = fchmod(out, st->st_mode & 07777);
		in = -1;
	}
	close_all((int[]){ in, out, old }, 3);
	return status;
}

static int copy_entry(const struct walk *w, int from, int to, int like, const char *name, int depth)
{
	struct stat st;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (S_ISREG(st.st_mode))
		return copy_file(w, from, to, like, name, &st);
	if (S_ISDIR(st.st_mode))
		return copy_below(w, from, to, like, name, &st, depth);
	if (S_ISLNK(st.st_mode))
		return copy_link(from, to, name);
	if (S_ISFIFO(st.st_mode))
		return mkfifoat(to, name, st.st_mode & 07777);
	/* Of a socket there is its file: nobody listens, or the state would not be kept. */
	if (!S_ISSOCK(st.st_mode) || mknodat(to, name, S_IFSOCK | 0600, 0) < 0)
		return -1;
	return fchmodat(to, name, st.st_mode & 07777, 0);
}

/* from is closed. */
static int copy_folder(const struct walk *w, int from, int to, int like, int depth)
{
	DIR *dir = depth > DEPTH_MAX ? NULL : fdopendir(from);

	if (!dir) {
		close(from);
		return -1;
	}
	const struct dirent *entry;
	int status = 0;
	while (status == 0 && (entry = readdir(dir)))
		if (!is_dots(entry->d_name))
			status = copy_entry(w, dirfd(dir), to, like, entry->d_name, depth);
	closedir(dir);
	return status;
}

/* --- a state's --- */

static void name_of(int slot, char ret[16])
{
	snprintf(ret, 16, "%d", slot);
}

void snapshot_drop(int store, int slot)
{
	char name[16];

	name_of(slot, name);
	remove_entry(store, name, 0);
}

static int copy_top(const struct walk *w, int from, int to, const char *name)
{
	const struct stat st = { .st_mode = 0755 };

	return copy_below(w, from, to, w->like, name, &st, 0);
}

int snapshot_take(int disk, int store, int slot, int like)
{
	struct walk w = { .like = -1, .marks = true };

	snapshot_drop(store, slot);
	clock_gettime(CLOCK_REALTIME_COARSE, &taken[slot]);
	char name[16];
	name_of(slot, name);
	int to = -1;
	if (mkdirat(store, name, 0700) == 0)
		to = open_folder(store, name);
	if (like >= 0) {
		name_of(like, name);
		w.like = open_folder(store, name);
		w.before = taken[like];
	}
	int status = -1;
	for (size_t i = 0; to >= 0 && i < sizeof(tops) / sizeof(tops[0]); i++) {
		status = copy_top(&w, disk, to, tops[i]);
		if (status < 0)
			break;
	}
	close_all((int[]){ to, w.like }, 2);
	if (status < 0)
		snapshot_drop(store, slot);
	return status;
}

int snapshot_restore(int disk, int store, int slot)
{
	const struct walk w = { .like = -1 };
	char name[16];

	name_of(slot, name);
	int from = open_folder(store, name);
	if (from < 0)
		return -1;
	int status = 0;
	for (size_t i = 0; status == 0 && i < sizeof(tops) / sizeof(tops[0]); i++) {
		int top = open_folder(disk, tops[i]);
		int like = open_folder(from, tops[i]);
		status = top < 0 || empty(top, like, 0) < 0 ||
					 copy_top(&w, from, disk, tops[i]) < 0 ?
				 -1 :
				 0;
		close_all(&like, 1);
	}
	close(from);
	return status;
}
