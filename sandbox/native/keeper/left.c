/*
 * What a guest left, as a list that can be sent (protocol_left): the same choice in the same order
 * as sandbox/artifact.c makes of a folder. The guest is dead; only regular files are read, no link
 * is followed, and no more is read than the limits of the run allow.
 */
#include "sandbox/native/keeper/stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct left {
	const struct protocol_request *limits;
	const char *payload; /* mapped */
	size_t payload_len;
	int list; /* memfd */
	size_t looked_at, kept;
	int64_t bytes;
	bool cut, failed;
	char path[PROTOCOL_PATH_MAX];
	char **top; /* what /out has at its top */
	size_t top_count;
};

struct names {
	char **list;
	size_t count;
};

static void names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One of the names in dir. */
static int open_below(int dir, const char *name, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};
	int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));

	/* gVisor's kernel has none. A name has no slash, and nobody is there any more to mount. */
	return fd < 0 && errno == ENOSYS ? openat(dir, name, (int)how.flags) : fd;
}

/* --- the list --- */

static void put(struct left *l, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0 && !l->failed) {
		ssize_t n = write(l->list, at, len);

		l->failed = n < 0;
		at += n;
		len -= (size_t)n;
	}
}

static void put_entry(struct left *l, struct protocol_left entry)
{
	entry.path_len = entry.state == LEFT_CUT ? 0 : (uint32_t)strlen(l->path);
	put(l, &entry, sizeof(entry));
	put(l, l->path, entry.path_len);
}

static void put_error(struct left *l, uint64_t size)
{
	put_entry(l, (struct protocol_left){ .state = LEFT_ERROR, .errnum = errno, .size = size });
}

/* As many bytes as fstat said, or none: the entry is written again then. */
static void put_file(struct left *l, int fd, size_t size)
{
	struct protocol_left entry = { .state = LEFT_KEPT, .size = size, .bytes_len = size };
	off_t start = lseek(l->list, 0, SEEK_CUR);
	size_t left = size;

	put_entry(l, entry);
	char bytes[STREAM_PIECE];
	ssize_t n = 1;
	while (left > 0 && (n = read(fd, bytes, left < sizeof(bytes) ? left : sizeof(bytes))) > 0) {
		put(l, bytes, (size_t)n);
		left -= (size_t)n;
	}
	if (left == 0) {
		l->bytes += (int64_t)size;
		l->kept++;
		return;
	}
	entry.state = LEFT_UNREAD;
	entry.bytes_len = 0;
	l->failed |= lseek(l->list, start, SEEK_SET) < 0 || ftruncate(l->list, start) < 0;
	put_entry(l, entry);
}

/* --- the walk --- */

static void take_file(struct left *l, int dir, const char *name)
{
	struct protocol_left entry = { .state = LEFT_KEPT };
	int fd = open_below(dir, name, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		put_error(l, 0);
		close_all(&fd, 1);
		return;
	}
	entry.size = (uint64_t)st.st_size;
	entry.mode = st.st_mode & S_IFMT;
	if (!S_ISREG(st.st_mode))
		entry.state = LEFT_KIND;
	else if ((int64_t)l->kept >= l->limits->artifacts)
		entry.state = LEFT_COUNT;
	else if (st.st_size > l->limits->artifact_bytes - l->bytes)
		entry.state = LEFT_BYTES;
	if (entry.state == LEFT_KEPT)
		put_file(l, fd, (size_t)st.st_size);
	else
		put_entry(l, entry);
	close(fd);
}

static int list_names(struct left *l, int dir, struct names *ret)
{
	int fd = open_below(dir, ".", O_RDONLY | O_DIRECTORY);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (!stream) {
		close_all(&fd, 1);
		return -1;
	}
	ret->list = calloc(LEFT_ENTRIES_MAX, sizeof(*ret->list));
	l->failed |= !ret->list;
	struct dirent *entry;
	while (!l->failed && (entry = readdir(stream))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (l->looked_at == LEFT_ENTRIES_MAX) {
			l->cut = true;
			break;
		}
		l->looked_at++;
		ret->list[ret->count] = strdup(entry->d_name);
		l->failed |= !ret->list[ret->count++];
	}
	closedir(stream);
	if (ret->count > 0 && !l->failed)
		qsort(ret->list, ret->count, sizeof(*ret->list), compare);
	return 0;
}

static void take_folder(struct left *l, int dir, int depth);

static void take_below(struct left *l, int dir, const char *name, int depth)
{
	int next = open_below(dir, name, O_RDONLY | O_DIRECTORY);

	if (next < 0)
		put_error(l, 0);
	else if (depth == LEFT_DEPTH_MAX)
		put_entry(l, (struct protocol_left){ .state = LEFT_DEPTH });
	else
		take_folder(l, next, depth + 1);
	close_all(&next, 1);
}

static void take_entry(struct left *l, int dir, const char *name, int depth)
{
	size_t before = strlen(l->path), len = strlen(name);

	if (before + len + 2 > sizeof(l->path)) {
		l->failed = true; /* LEFT_DEPTH_MAX names of 255 bytes have room */
		return;
	}
	if (before > 0)
		l->path[before] = '/';
	memcpy(l->path + before + (before > 0), name, len + 1);
	struct stat st;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		put_error(l, 0);
	else if (S_ISDIR(st.st_mode))
		take_below(l, dir, name, depth);
	else if (S_ISREG(st.st_mode))
		take_file(l, dir, name);
	else
		put_entry(l, (struct protocol_left){ .state = LEFT_KIND,
						     .mode = st.st_mode & S_IFMT });
	l->path[before] = '\0';
}

static void take_folder(struct left *l, int dir, int depth)
{
	struct names names = { .count = 0 };

	if (list_names(l, dir, &names) < 0)
		put_error(l, 0);
	for (size_t i = 0; i < names.count && !l->failed; i++)
		take_entry(l, dir, names.list[i], depth);
	if (depth > 0 || l->top) {
		names_release(&names);
		return;
	}
	l->top = names.list;
	l->top_count = names.count;
}

/* --- the work folder --- */

static bool is_in_payload(const struct left *l, const char *name)
{
	const char *at = l->payload, *end = at + l->payload_len;
	size_t len = strlen(name);
	struct payload_record r;

	while ((size_t)(end - at) >= sizeof(r)) {
		const char *text = at + sizeof(r);

		memcpy(&r, at, sizeof(r));
		size_t whole = (r.text_len + 1ul + r.bytes_len + PAYLOAD_ALIGN - 1) &
			       ~(PAYLOAD_ALIGN - 1ul);
		if (r.kind == PAYLOAD_END || whole > (size_t)(end - text) ||
		    r.bytes_len > (size_t)(end - text) || text[r.text_len] != '\0')
			return false;
		if ((r.kind == PAYLOAD_WORK || r.kind == PAYLOAD_INPUT) &&
		    !strncmp(text, name, len) && (text[len] == '\0' || text[len] == '/'))
			return true;
		at = text + whole;
	}
	return false;
}

/* Not what was put there, no caches, nothing that /out has, but for a folder. */
static bool is_left_behind(const struct left *l, int out, const char *name)
{
	if (*name == '.' || *name == '_' || !strcmp(name, "node_modules") || is_in_payload(l, name))
		return false;
	struct stat st;
	for (size_t i = 0; i < l->top_count; i++)
		if (!strcmp(l->top[i], name))
			return fstatat(out, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			       S_ISDIR(st.st_mode);
	return true;
}

static void take_work(struct left *l, int out, int work)
{
	struct names names = { .count = 0 };

	if (list_names(l, work, &names) < 0)
		put_error(l, 0);
	for (size_t i = 0; i < names.count && !l->failed; i++)
		if (is_left_behind(l, out, names.list[i]))
			take_entry(l, work, names.list[i], 0);
	names_release(&names);
}

/* Root of a container may not read what is the guest's alone, and may become whoever it was. */
static void look_as_guest(int work)
{
	struct stat st;

	if (geteuid() == 0 && prctl(PR_CAPBSET_READ, CAP_DAC_OVERRIDE, 0, 0, 0) == 0 && work >= 0 &&
	    fstat(work, &st) == 0)
		setfsuid(st.st_uid);
}

static void list_disk(struct left *l, int disk)
{
	int out = openat(disk, "out", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int work = openat(disk, "work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	l->failed = out < 0 || work < 0;
	look_as_guest(work);
	if (!l->failed) {
		take_folder(l, out, 0);
		take_work(l, out, work);
	}
	if (l->cut)
		put_entry(l, (struct protocol_left){ .state = LEFT_CUT });
	setfsuid(geteuid());
	close_all((int[]){ out, work }, 2);
}

int left_list(int disk, const struct protocol_request *request, int payload, int *ret_fd)
{
	struct left l = { .limits = request, .list = memfd_create("assay-left", MFD_CLOEXEC) };
	struct stat st;

	if (l.list < 0 || fstat(payload, &st) < 0 || st.st_size <= 0) {
		close_all(&l.list, 1);
		return -1;
	}
	void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, payload, 0);
	if (map == MAP_FAILED) {
		close_all(&l.list, 1);
		return -1;
	}
	l.payload = map;
	l.payload_len = (size_t)st.st_size;
	list_disk(&l, disk);
	struct names top = (struct names){ l.top, l.top_count };
	names_release(&top);
	munmap(map, (size_t)st.st_size);
	if (l.failed || lseek(l.list, 0, SEEK_SET) < 0) {
		close_all(&l.list, 1);
		return -1;
	}
	*ret_fd = l.list;
	return 0;
}
