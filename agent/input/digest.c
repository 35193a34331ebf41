/*
 * Digests of inputs, computed in a thread beside the run, and the cache that spares them. A digest
 * is trusted for exactly the file it was made of: same device, inode, size and times, and those no
 * younger than a file system's clock can tell apart. The cache is ours alone (0600 in 0700); what
 * somebody else could have written is not read.
 */
#include "agent/input/input.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE	   ((size_t)1 << 18)
#define TOLD_BYTES (16 << 20) /* less is not worth a word */
#define SETTLED_MS 2000	      /* times younger than this may stand for two states */

struct input_digests {
	struct input *const *inputs;
	size_t count;
	char *folder; /* of the cache; NULL: none. Owned */
	pthread_t thread;
	bool started;
	int done; /* eventfd: the thread has come to its end */
	atomic_bool stop;
	char *piece;
	int64_t bytes, ms; /* read, and how long that took */
	size_t read;	   /* inputs that were */
};

/* --- the cache --- */

static char *entry_path(const struct input_digests *d, const struct input *i)
{
	return d->folder ? mem_printf("%s/%s", d->folder, i->stamp) : NULL;
}

static bool is_digest(const char *text, size_t len)
{
	return len == HASH_HEX_LEN && strspn(text, "0123456789abcdef") == HASH_HEX_LEN;
}

static bool load(const struct input_digests *d, struct input *i)
{
	cleanup_free char *path = entry_path(d, i);
	cleanup_close int fd = path ? io_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0) : -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 077))
		return false;
	char text[HASH_HEX_LEN + 1];
	ssize_t n = io_read(fd, text, sizeof(text));
	if (n < 0 || !is_digest(text, (size_t)n))
		return false;
	memcpy(i->digest, text, HASH_HEX_LEN);
	return true;
}

/* One that cannot be written costs time, nothing else. */
static void store(const struct input_digests *d, const struct input *i)
{
	cleanup_free char *path = entry_path(d, i);
	struct error ignored = ERROR_INIT;

	if (path && clock_wall_ms() - i->mtime_ms > SETTLED_MS &&
	    io_make_dirs(d->folder, 0700, &ignored) == 0)
		io_replace_file(path, i->digest, HASH_HEX_LEN, 0600, &ignored);
}

/* --- reading --- */

static int add_contents(struct input_digests *d, int fd, struct hash *h)
{
	off_t at = 0;
	ssize_t n = 1;

	while (n > 0) {
		if (atomic_load(&d->stop))
			return -1;
		n = pread(fd, d->piece, PIECE, at);
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n > 0)
			hash_add(h, d->piece, (size_t)n);
		at += n > 0 ? n : 0;
	}
	d->bytes += at;
	return n < 0 ? -1 : 0;
}

struct folder_digest {
	struct input_digests *d;
	struct hash *h;
};

static int add_link(const struct input_entry *e, struct hash *h)
{
	char target[4096];
	ssize_t n = readlinkat(e->folder, e->name, target, sizeof(target));

	hash_add(h, target, n > 0 ? (size_t)n : 0);
	return 0;
}

/* What cannot be read is in it by its name: nobody in the sandbox can read it either. */
static int add_entry(void *self, const struct input_entry *e)
{
	struct folder_digest *f = self;
	cleanup_close int fd = -1;

	if (atomic_load(&f->d->stop))
		return -1;
	hash_add(f->h, e->path, strlen(e->path) + 1);
	hash_add(f->h, &e->mode, sizeof(e->mode));
	if (S_ISLNK(e->mode))
		return add_link(e, f->h);
	if (S_ISREG(e->mode))
		fd = io_openat(e->folder, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return 0;
	struct hash *h = hash_start();
	int status = add_contents(f->d, fd, h);
	char digest[HASH_HEX_LEN + 1] = "";
	hash_finish(h, digest);
	hash_add(f->h, digest, sizeof(digest));
	return status;
}

static int compute(struct input_digests *d, struct input *i, struct hash *h)
{
	struct folder_digest f = { d, h };

	return i->source.folder ? input_visit_all(i, add_entry, &f) :
				  add_contents(d, i->source.fd, h);
}

/* Of what has changed meanwhile there is none. */
static void digest(struct input_digests *d, struct input *i)
{
	struct hash *h = hash_start();
	char result[HASH_HEX_LEN + 1];
	int status = compute(d, i, h);

	hash_finish(h, result);
	if (status < 0)
		return;
	input_look_again(i);
	if (i->changed)
		return;
	d->read++;
	memcpy(i->digest, result, sizeof(result));
	store(d, i);
}

static void *work(void *self)
{
	struct input_digests *d = self;
	const int64_t begun = clock_mono_ms();

	d->piece = mem_alloc(PIECE);
	for (size_t n = 0; n < d->count && !atomic_load(&d->stop); n++)
		if (!*d->inputs[n]->digest && !load(d, d->inputs[n]))
			digest(d, d->inputs[n]);
	free(d->piece);
	d->ms = clock_mono_ms() - begun;
	const uint64_t one = 1;
	(void)!io_write(d->done, &one, sizeof(one));
	return NULL;
}

/* --- beside the run --- */

struct input_digests *input_digests_start(struct input *const *inputs, size_t count,
					  const char *cache_dir)
{
	if (!count)
		return NULL;
	struct input_digests *d = mem_alloc(sizeof(*d));
	d->inputs = inputs;
	d->count = count;
	d->folder = cache_dir ? mem_printf("%s/digests", cache_dir) : NULL;
	d->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	d->started = d->done >= 0 && pthread_create(&d->thread, NULL, work, d) == 0;
	return d;
}

static void say(const struct input_digests *d, struct buf *out)
{
	const double mib = (double)d->bytes / (1 << 20);

	if (d->bytes >= TOLD_BYTES)
		buf_addf(out, "digest of %zu input%s: %.1f MiB in %.1f s, %.0f MiB/s", d->read,
			 d->read == 1 ? "" : "s", mib, (double)d->ms / 1000,
			 d->ms ? mib * 1000 / (double)d->ms : mib);
}

static int left_ms(int64_t until)
{
	int64_t left = until - clock_mono_ms();

	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

void input_digests_abandon(struct input_digests *d)
{
	if (!d)
		return;
	atomic_store(&d->stop, true);
	if (d->started)
		pthread_join(d->thread, NULL);
	if (d->done >= 0)
		io_close(d->done);
	free(d->folder);
	free(d);
}

void input_digests_finish(struct input_digests *d, int cancel_fd, int64_t wait_ms,
			  struct buf *ret_told)
{
	const int64_t until = clock_mono_ms() + wait_ms;

	if (!d)
		return;
	struct pollfd fds[2];
	fds[0] = (struct pollfd){ .fd = d->done, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = cancel_fd, .events = POLLIN };
	int n = 0;
	while (d->started && (n = poll(fds, 2, wait_ms < 0 ? -1 : left_ms(until))) < 0 &&
	       errno == EINTR)
		;
	if (n > 0 && fds[0].revents)
		say(d, ret_told);
	input_digests_abandon(d);
}
