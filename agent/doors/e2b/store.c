/*
 * Contents of files (store.h). What is on disk has no name from its first byte on: nobody else can
 * open it, and the kernel frees it with the last descriptor. What a file is called is not known
 * here, and nothing is taken before it has its place in the bounds.
 */
#include "agent/doors/e2b/store.h"

#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM_LEAST 4096

struct share {
	const char *owner;
	struct store_used used;
};

struct store {
	struct store_bounds bounds;
	const char *const *folders;
	pthread_mutex_t lock; /* of all below */
	struct store_used used;
	struct share *shares; /* of who has or had something in it; the user himself has none */
	size_t share_count;
};

struct store *store_new(const struct store_bounds *bounds, const char *const *folders)
{
	struct store *s = mem_alloc(sizeof(*s));

	*s = (struct store){ .bounds = *bounds, .folders = folders };
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	free(s->shares);
	free(s);
}

void store_look(struct store *s, struct store_used *ret)
{
	pthread_mutex_lock(&s->lock);
	*ret = s->used;
	pthread_mutex_unlock(&s->lock);
}

/* --- the bounds --- */

/* With the lock held; NULL: the user himself. */
static struct share *share_of(struct store *s, const char *owner)
{
	for (size_t i = 0; owner && i < s->share_count; i++)
		if (!strcmp(s->shares[i].owner, owner))
			return &s->shares[i];
	if (!owner)
		return NULL;
	s->shares = mem_one_more(s->shares, s->share_count, sizeof(*s->shares));
	s->shares[s->share_count] = (struct share){ .owner = owner };
	return &s->shares[s->share_count++];
}

static bool fits(const struct store_used *used, const struct store_used *more,
		 const struct store_bounds *bounds, size_t parts)
{
	return used->memory + more->memory <= bounds->memory / parts &&
	       used->disk + more->disk <= bounds->disk / parts &&
	       used->files + more->files <= bounds->files / parts;
}

static void add(struct store_used *to, const struct store_used *more)
{
	to->memory += more->memory;
	to->disk += more->disk;
	to->files += more->files;
}

static void subtract(struct store_used *from, const struct store_used *less)
{
	from->memory -= less->memory;
	from->disk -= less->disk;
	from->files -= less->files;
}

static int take(const struct content *c, struct store_used more, struct error *err)
{
	struct store *s = c->store;

	if (!s)
		return 0;
	pthread_mutex_lock(&s->lock);
	struct share *own = share_of(s, c->owner);
	bool room = fits(&s->used, &more, &s->bounds, 1) &&
		    (!own || fits(&own->used, &more, &s->bounds, 2));
	if (room) {
		add(&s->used, &more);
		if (own)
			add(&own->used, &more);
	}
	pthread_mutex_unlock(&s->lock);
	return room ? 0 :
		      error_set(err, ERR_BUDGET,
				"the files of all sandboxes have as much as they may: kill some "
				"sandboxes, or remove files");
}

static void give_back(const struct content *c, struct store_used less)
{
	struct store *s = c->store;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	struct share *own = share_of(s, c->owner);
	subtract(&s->used, &less);
	if (own)
		subtract(&own->used, &less);
	pthread_mutex_unlock(&s->lock);
}

/* --- one --- */

static struct store_used use_of(const struct content *c)
{
	return c->on_disk ? (struct store_used){ .disk = c->len, .files = 1 } :
			    (struct store_used){ .memory = c->len };
}

void content_release(struct content *c)
{
	give_back(c, use_of(c));
	if (c->on_disk)
		io_close(c->fd);
	free(c->bytes);
	*c = (struct content){ .store = c->store, .owner = c->owner };
}

/* Without a name where the file system has such files, else with one for a moment. */
static int open_in(const char *folder)
{
	int fd = io_open(folder, O_TMPFILE | O_RDWR, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	cleanup_free char *path = mem_printf("%s/.assay-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		io_unlink(path);
	return fd;
}

/* A guest that has no user of ours reads it, too, where it is shown to one; a name, by which
 * others could, it has none. */
static int open_file(const struct store *s, struct error *err)
{
	int fd = -1;

	for (const char *const *folder = s->folders; *folder && fd < 0; folder++)
		fd = open_in(*folder);
	if (fd >= 0 && fchmod(fd, 0644) == 0)
		return fd;
	error_set_errno(err, ERR_FAILED, errno, "a file for what does not fit into memory");
	if (fd >= 0)
		io_close(fd);
	return -1;
}

/* From memory to disk. */
static int move_out(struct content *c, struct error *err)
{
	struct store_used was = use_of(c);

	if (take(c, (struct store_used){ .disk = c->len, .files = 1 }, err) < 0)
		return -1;
	int fd = open_file(c->store, err);
	if (fd < 0 || io_write_all(fd, c->bytes, c->len, err) < 0) {
		if (fd >= 0)
			io_close(fd);
		give_back(c, (struct store_used){ .disk = c->len, .files = 1 });
		return -1;
	}
	give_back(c, was);
	free(TAKE_PTR(c->bytes));
	c->room = 0;
	c->on_disk = true;
	c->fd = fd;
	return 0;
}

static void grow(struct content *c, size_t len)
{
	size_t room = c->room < ROOM_LEAST ? ROOM_LEAST : c->room;

	while (room < len)
		room *= 2;
	if (room > c->room)
		c->bytes = mem_realloc(c->bytes, room);
	c->room = room;
}

int content_add(struct content *c, const void *bytes, size_t len, struct error *err)
{
	if (!len)
		return 0;
	if (c->store && !c->on_disk && len > STORE_SMALL - c->len && move_out(c, err) < 0)
		return -1;
	struct store_used more = { .memory = c->on_disk ? 0 : len, .disk = c->on_disk ? len : 0 };
	if (take(c, more, err) < 0)
		return -1;
	if (c->on_disk) {
		if (io_write_all(c->fd, bytes, len, err) < 0) {
			give_back(c, more);
			return -1;
		}
	} else {
		grow(c, c->len + len);
		memcpy(c->bytes + c->len, bytes, len);
	}
	c->len += len;
	return 0;
}

int content_set(struct content *c, char *bytes, size_t len, struct error *err)
{
	cleanup_free char *own = bytes;

	content_release(c);
	if (c->store && len > STORE_SMALL)
		return content_add(c, own, len, err);
	if (take(c, (struct store_used){ .memory = len }, err) < 0)
		return -1;
	c->bytes = TAKE_PTR(own);
	c->len = c->room = len;
	return 0;
}

int content_read(const struct content *c, size_t at, void *to, size_t len, struct error *err)
{
	char *bytes = to;

	if (!c->on_disk) {
		if (len)
			memcpy(bytes, c->bytes + at, len);
		return 0;
	}
	while (len) {
		ssize_t n = pread(c->fd, bytes, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set_errno(err, ERR_FAILED, n ? errno : EIO,
					       "read a file of a sandbox");
		bytes += n;
		at += (size_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int content_copy(struct content *ret, const struct content *from, struct error *err)
{
	struct content c = { .store = from->store, .owner = from->owner };

	if (take(&c, use_of(from), err) < 0)
		return -1;
	c.len = from->len;
	c.on_disk = from->on_disk;
	if (c.on_disk)
		c.fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 0);
	else if (c.len)
		c.bytes = mem_strndup(from->bytes, from->len);
	c.room = c.on_disk ? 0 : c.len;
	if (c.on_disk && c.fd < 0) {
		give_back(&c, use_of(&c));
		return error_set_errno(err, ERR_FAILED, errno, "a file of a sandbox");
	}
	*ret = c;
	return 0;
}

int content_open(const struct content *c, struct error *err)
{
	cleanup_free char *path = mem_printf("/proc/self/fd/%d", c->fd);
	int fd = io_open(path, O_RDONLY, 0);

	return fd >= 0 ? fd : error_set_errno(err, ERR_FAILED, errno, "a file of a sandbox");
}
