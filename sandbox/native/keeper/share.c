/*
 * The keeper's program as the sharer: shows a run files of the host where they are, read-only,
 * without a byte copied (README.md says why no link and no socket leads out of them). It builds
 * /in as one tree of mounts, hands the tree over as a descriptor and is gone. It may read no file's
 * contents, mount nothing but the very inode that assay opened, and no guest is ever in reach of
 * it.
 */
#include "sandbox/native/keeper/share.h"

#include "sandbox/native/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BASE	  "/tmp" /* any directory: only our mount namespace sees what we do to it */
#define LOWER	  "lower"
#define EMPTY	  "empty"
#define TOP	  "top"
#define ATTRS	  (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define PATH_MOST 4200

struct item {
	const struct share_record *record;
	const char *name, *path, *cfg, *link;
	int tree;    /* -1: not there */
	bool denied; /* it is there, and the guest could not read it */
};

/* The ids of an owner, mapped to the guest's: a user namespace that nobody is in. */
struct mapping {
	uid_t uid;
	gid_t gid;
	int fd; /* -1: none made yet */
};

struct share {
	const struct share_list *list;
	struct item items[SHARE_MAX];
	struct mapping mapping; /* the last one */
	struct share_reply reply;
};

static int step_failed(struct share *s, const char *step)
{
	return failure_set(&s->reply.failure, step, "");
}

/* --- the list --- */

static void take_record(struct item *i, const struct share_record *r)
{
	*i = (struct item){ .record = r, .tree = -1 };
	i->name = (const char *)(r + 1);
	i->path = i->name + r->name_len + 1;
	i->cfg = i->path + r->path_len + 1;
	i->link = i->cfg + r->cfg_len + 1;
}

static int read_list(struct share *s)
{
	struct stat st;

	if (fstat(SHARE_LIST_FD, &st) < 0 || (size_t)st.st_size < sizeof(*s->list))
		return -1;
	const char *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, SHARE_LIST_FD, 0);
	if (at == MAP_FAILED)
		return -1;
	const char *end = at + st.st_size;
	s->list = (const void *)at;
	at += (sizeof(*s->list) + PAYLOAD_ALIGN - 1) & ~(PAYLOAD_ALIGN - 1ul);
	for (size_t i = 0; i < s->list->count; i++) {
		const struct share_record *r = (const void *)at;

		errno = EBADMSG;
		if (i >= SHARE_MAX || (size_t)(end - at) < sizeof(*r))
			return -1;
		size_t need = sizeof(*r) + (size_t)r->name_len + 1 + r->path_len + 1 + r->cfg_len +
			      1 + r->link_len + 1;
		if ((size_t)(end - at) < need)
			return -1;
		take_record(&s->items[i], r);
		at += (need + PAYLOAD_ALIGN - 1) & ~(PAYLOAD_ALIGN - 1ul);
	}
	return 0;
}

/* --- what a guest may read --- */

static int write_map(pid_t pid, const char *file, unsigned from, unsigned to)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	char text[64];
	snprintf(text, sizeof(text), "%u %u 1", from, to);
	return file_write(AT_FDCWD, path, text);
}

/* A child makes the namespace and waits to be killed; the descriptor keeps it. */
static int make_mapping(struct share *s, uid_t uid, gid_t gid)
{
	int ready[2];

	if (pipe2(ready, O_CLOEXEC) < 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWUSER) < 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	int fd = -1;
	char byte;
	if (pid > 0 && read(ready[0], &byte, 1) == 1 &&
	    write_map(pid, "uid_map", uid, s->list->guest_uid) == 0 &&
	    write_map(pid, "gid_map", gid, s->list->guest_gid) == 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	close(ready[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return fd;
}

static int find_mapping(struct share *s, const struct stat *st)
{
	struct mapping *m = &s->mapping;

	if (m->fd >= 0 && m->uid == st->st_uid && m->gid == st->st_gid)
		return m->fd;
	close_all(&m->fd, 1);
	*m = (struct mapping){ st->st_uid, st->st_gid, make_mapping(s, st->st_uid, st->st_gid) };
	return m->fd;
}

static int set_attributes(int tree, uint64_t set, int userns)
{
	struct mount_attr attr = { .attr_set = set,
				   .userns_fd = userns < 0 ? 0 : (unsigned)userns };

	return (int)syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr));
}

/* Whether everybody may read it, so that no mapping is needed. Of a folder nobody knows. */
static bool is_public(const struct item *i, const struct stat *st)
{
	return !i->record->folder && (st->st_mode & S_IROTH);
}

/* The owner's rights are the guest's where that can be had; a file that the guest could
 * not read all the same is none to be mounted. */
static enum share_way grant(struct share *s, const struct item *i, const struct stat *st)
{
	if (st->st_uid == s->list->guest_uid || is_public(i, st))
		return SHARE_MOUNT;
	int userns = (st->st_mode & S_IRUSR) ? find_mapping(s, st) : -1;
	if (userns >= 0 && set_attributes(i->tree, MOUNT_ATTR_IDMAP, userns) == 0)
		return SHARE_MAPPED;
	errno = EACCES;
	return i->record->folder ? SHARE_MOUNT : SHARE_NOT;
}

/* --- from the host --- */

static int clone_open(struct share *s, struct item *i, bool may_map)
{
	const int fd = open(i->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	size_t n = (size_t)(i - s->items);

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != i->record->dev ||
	    st.st_ino != i->record->ino) {
		if (fd >= 0) {
			close(fd);
			errno = ESTALE; /* another has taken its name */
		}
		return -1;
	}
	i->tree = (int)syscall(SYS_open_tree, fd, "",
			       AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	close(fd);
	if (i->tree < 0 || set_attributes(i->tree, ATTRS, -1) < 0)
		return -1;
	s->reply.ways[n] = (uint8_t)(may_map ? grant(s, i, &st) : SHARE_MOUNT);
	i->denied = s->reply.ways[n] == SHARE_NOT;
	return i->denied ? -1 : 0;
}

static void clone_all(struct share *s, bool may_map)
{
	for (size_t n = 0; n < s->list->count; n++) {
		struct item *i = &s->items[n];

		if (i->tree >= 0 || i->denied)
			continue;
		if (clone_open(s, i, may_map) == 0)
			continue;
		s->reply.errnums[n] = errno;
		s->reply.ways[n] = SHARE_NOT;
		close_all(&i->tree, 1);
	}
}

/* --- the tree --- */

static int enter_namespaces(struct share *s)
{
	struct rlimit now;

	if (getrlimit(RLIMIT_NOFILE, &now) == 0) {
		now.rlim_cur = now.rlim_max;
		setrlimit(RLIMIT_NOFILE, &now);
	}
	if (geteuid() == 0)
		clone_all(s, true);
	if (setns(SHARE_USERNS_FD, CLONE_NEWUSER) < 0)
		return step_failed(s, "enter the keeper's user namespace");
	/* What we make shall be somebody's there. */
	if (setresgid(GUEST_ID, GUEST_ID, GUEST_ID) < 0 ||
	    setresuid(GUEST_ID, GUEST_ID, GUEST_ID) < 0)
		return step_failed(s, "become the guest");
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return step_failed(s, "mount namespace for the inputs");
	clone_all(s, false);
	return 0;
}

/* Where each place is laid out; from here it is taken as a whole. */
static const char *const places[SHARE_PLACES] = {
	[SHARE_INPUT] = "in", [SHARE_ENVIRONMENT] = "env"
};

static int make_ground(struct share *s)
{
	static const char *const folders[] = { "in", "env", LOWER, EMPTY, TOP, TOP "/bin" };

	umask(022);
	if (mount("assay", BASE, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755") < 0 ||
	    chdir(BASE) < 0)
		return step_failed(s, "tmpfs for the inputs");
	for (size_t n = 0; n < sizeof(folders) / sizeof(folders[0]); n++)
		if (mkdir(folders[n], 0755) < 0)
			return step_failed(s, "tmpfs for the inputs");
	/* The bytes of small inputs come to lie beside the mounts. */
	for (size_t n = 0; n < SHARE_PLACES; n++)
		if (mount("in", places[n], "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0)
			return step_failed(s, "tmpfs for the inputs");
	return 0;
}

/* The folders that a path is in, from its second part on; nobody but us has ever been there. */
static int make_folders(char *path)
{
	for (char *slash = strchr(path, '/'); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return 0;
}

static int move(int tree, const char *to)
{
	return (int)syscall(SYS_move_mount, tree, "", AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH);
}

static int place_file(const struct item *i, const char *to)
{
	int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);

	if (fd < 0)
		return -1;
	close(fd);
	return move(i->tree, to);
}

/* Two files of a virtual environment that lie over its own: where its base is in the guest. There
 * is one such in a list. */
static int make_top(const struct item *i)
{
	int fd =
		open(TOP "/pyvenv.cfg", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
	ssize_t n = fd < 0 ? -1 : write(fd, i->cfg, i->record->cfg_len);

	close_all(&fd, 1);
	if (n != (ssize_t)i->record->cfg_len)
		return -1;
	return symlink(i->link, TOP "/bin/python") < 0 ? -1 : symlink(i->link, TOP "/bin/python3");
}

/* The overlay keeps what lies below it; that has no name any more. */
static int place_folder(const struct item *i, const char *to)
{
	const bool own = i->record->place == SHARE_ENVIRONMENT, has_top = i->record->cfg_len > 0;
	const unsigned long flags = MS_RDONLY | MS_NOSUID | MS_NODEV | (own ? 0 : MS_NOEXEC);

	if (mkdir(to, 0755) < 0 || (has_top && make_top(i) < 0) || move(i->tree, LOWER) < 0)
		return -1;
	int status = mount("in", to, "overlay", flags,
			   has_top ? "lowerdir=" TOP ":" LOWER : "lowerdir=" LOWER ":" EMPTY);
	return umount2(LOWER, MNT_DETACH) < 0 ? -1 : status;
}

static void place_all(struct share *s)
{
	static char to[PATH_MOST];

	for (size_t n = 0; n < s->list->count; n++) {
		const struct item *i = &s->items[n];

		if (i->tree < 0)
			continue;
		snprintf(to, sizeof(to), "%s/%s", places[i->record->place % SHARE_PLACES], i->name);
		if (make_folders(to) == 0 &&
		    (i->record->folder ? place_folder(i, to) : place_file(i, to)) == 0)
			continue;
		s->reply.errnums[n] = errno;
		s->reply.ways[n] = SHARE_NOT;
		unlink(to); /* a copy is to take its place */
	}
}

static int take_place(const char *place)
{
	return (int)syscall(SYS_open_tree, AT_FDCWD, place,
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
}

/* Nothing is laid beside the environment any more: the place itself is read-only, too. */
static int hand_over(struct share *s)
{
	int trees[SHARE_PLACES];

	for (size_t n = 0; n < SHARE_PLACES; n++)
		trees[n] = take_place(places[n]);
	if (trees[SHARE_INPUT] < 0 || trees[SHARE_ENVIRONMENT] < 0 ||
	    set_attributes(trees[SHARE_ENVIRONMENT], MOUNT_ATTR_RDONLY, -1) < 0)
		return step_failed(s, "take the tree of inputs");
	int status =
		message_send(SHARE_SOCKET_FD, &s->reply, sizeof(s->reply), trees, SHARE_PLACES);
	close_all(trees, SHARE_PLACES);
	return status;
}

int share_main(void)
{
	static struct share s = { .mapping.fd = -1 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read_list(&s) < 0) {
		step_failed(&s, "the list of inputs");
	} else if (enter_namespaces(&s) == 0 && make_ground(&s) == 0) {
		place_all(&s);
		if (hand_over(&s) == 0)
			return 0;
	}
	message_send(SHARE_SOCKET_FD, &s.reply, sizeof(s.reply), NULL, 0);
	return 1;
}
