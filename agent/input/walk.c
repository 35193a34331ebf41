/*
 * The names in a folder that is an input: counted, stamped, handed on. By descriptors, in the
 * order of names, never through a link and never onto another file system.
 */
#include "agent/input/input.h"

#include "base/io.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX 1000000
#define DEPTH_MAX   200
#define DEAD_SHOWN  3

#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif

struct walk {
	struct input *input; /* what is found is noted here; NULL: nothing is */
	struct hash *stamp;
	struct buf dead, path; /* names that lead nowhere; where we are */
	size_t dead_count;
	input_visit *visit;
	void *self;
	size_t depth;
	struct error *err;
};

static int64_t ns_of(const struct statx_timestamp *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static int refuse(const struct walk *w, const char *what)
{
	return error_set(w->err, ERR_USAGE, "%s: %s%s%s", w->input->source.path, w->path.data,
			 w->path.len ? " " : "", what);
}

/* --- one name --- */

static void note_dead(struct walk *w)
{
	if (w->dead_count++ < DEAD_SHOWN)
		buf_addf(&w->dead, "%s%s", w->dead.len ? ", " : "", w->path.data);
}

static int note(struct walk *w, const struct statx *x)
{
	struct input *i = w->input;
	const int64_t facts[] = { (int64_t)x->stx_ino,	x->stx_mode,	      (int64_t)x->stx_size,
				  ns_of(&x->stx_mtime), ns_of(&x->stx_ctime), x->stx_dev_major,
				  x->stx_dev_minor };

	/* With its NUL: no two lists of names are one text. */
	hash_add(w->stamp, w->path.data, w->path.len + 1);
	hash_add(w->stamp, facts, sizeof(facts));
	if (++i->entries > ENTRIES_MAX)
		return refuse(w, "is one of more than a million names; give a part of the folder");
	if (S_ISREG(x->stx_mode))
		i->bytes += (int64_t)x->stx_size;
	if (ns_of(&x->stx_mtime) / 1000000 > i->mtime_ms)
		i->mtime_ms = ns_of(&x->stx_mtime) / 1000000;
	if (!S_ISREG(x->stx_mode) && !S_ISDIR(x->stx_mode) && !S_ISLNK(x->stx_mode))
		note_dead(w);
	return 0;
}

static int go_below(struct walk *w, int folder);

static int enter(struct walk *w, int folder, const char *name, const struct statx *x)
{
	if (x->stx_attributes & STATX_ATTR_MOUNT_ROOT)
		return w->input ? refuse(w, "is another file system; give that by itself") : 0;
	if (w->depth == DEPTH_MAX)
		return w->input ? refuse(w, "lies too deep") : 0;
	cleanup_close int fd = io_openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (fd < 0) /* the program may not read it either */
		return 0;
	w->depth++;
	int status = go_below(w, TAKE_FD(fd));
	w->depth--;
	return status;
}

static int take(struct walk *w, int folder, const char *name)
{
	size_t len = w->path.len;
	struct statx x;

	if (statx(folder, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &x) < 0)
		return 0; /* gone since it was listed */
	if (len)
		buf_addch(&w->path, '/');
	buf_addstr(&w->path, name);
	int status = 0;
	if (w->input)
		status = note(w, &x);
	if (status == 0 && S_ISDIR(x.stx_mode))
		status = enter(w, folder, name, &x);
	else if (status == 0 && w->visit)
		status = w->visit(w->self, &(struct input_entry){ .folder = folder,
								  .name = name,
								  .path = w->path.data,
								  .mode = x.stx_mode,
								  .size = (int64_t)x.stx_size });
	buf_truncate(&w->path, len);
	return status;
}

/* --- a folder's names --- */

static int by_name(const void *a, const void *b)
{
	char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* Owned, as is each; the folder's descriptor stays open in *ret_dir. */
static char **list(int fd, DIR **ret_dir, size_t *ret_count)
{
	*ret_dir = fdopendir(fd);
	*ret_count = 0;
	if (!*ret_dir) {
		io_close(fd);
		return NULL;
	}
	char **names = NULL;
	const struct dirent *entry;
	size_t count = 0;
	while ((entry = readdir(*ret_dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
			names = mem_one_more(names, count, sizeof(*names));
			names[count++] = mem_strdup(entry->d_name);
		}
	if (count)
		qsort(names, count, sizeof(*names), by_name);
	*ret_count = count;
	return names;
}

/* Takes the descriptor. */
static int go_below(struct walk *w, int folder)
{
	size_t count;
	DIR *dir;
	char **names = list(folder, &dir, &count);
	int status = 0;

	for (size_t n = 0; n < count; n++) {
		if (status == 0)
			status = take(w, folder, names[n]);
		free(names[n]);
	}
	free(names);
	if (dir)
		closedir(dir);
	return status;
}

static int open_top(const struct input *i)
{
	/* A descriptor of its own: the place in it is nobody else's. */
	return io_openat(i->source.fd, ".", O_RDONLY | O_DIRECTORY);
}

int input_walk(struct input *i, struct error *err)
{
	struct walk w = { .input = i,
			  .stamp = hash_start(),
			  .dead = BUF_INIT((size_t)16 * PATH_MAX),
			  .path = BUF_INIT((size_t)DEPTH_MAX * 512),
			  .err = err };
	int top = open_top(i);

	i->bytes = i->entries = i->mtime_ms = 0;
	int status = top < 0 ? error_set_errno(err, ERR_FAILED, errno, "%s", i->source.path) :
			       go_below(&w, top);
	hash_finish(w.stamp, i->stamp);
	if (w.dead_count > DEAD_SHOWN)
		buf_addf(&w.dead, " and %zu more", w.dead_count - DEAD_SHOWN);
	free(i->dead);
	i->dead = w.dead_count ? buf_take(&w.dead, NULL) : NULL;
	buf_release(&w.dead);
	buf_release(&w.path);
	return status;
}

int input_visit_all(const struct input *i, input_visit *visit, void *self)
{
	struct walk w = { .visit = visit, .self = self, .path = BUF_INIT((size_t)DEPTH_MAX * 512) };
	int top = open_top(i), status = top < 0 ? -1 : go_below(&w, top);

	buf_release(&w.path);
	return status;
}
