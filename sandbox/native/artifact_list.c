/*
 * Reads the list of what a guest left at the far end of a stream. The far end is not believed: a
 * path that leads out of its folder, a size that is not that of the bytes, or more than was
 * allowed, makes the whole run fail. Nothing is written anywhere.
 */
#include "sandbox/native/artifact_list.h"

#include "base/io.h"
#include "base/mem.h"
#include "sandbox/artifact.h"
#include "sandbox/native/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(LEFT_DEPTH_MAX == ARTIFACT_DEPTH_MAX, "both choose alike");
_Static_assert(LEFT_ENTRIES_MAX == ARTIFACT_ENTRIES_MAX, "both choose alike");

struct list {
	int fd;
	const struct sandbox_limits *limits;
	struct sandbox_result *result;
	size_t entries, kept;
	int64_t bytes;
};

/* 1; 0 at the end of the list; -1 when it breaks off. */
static int read_whole(int fd, void *ret, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = io_read(fd, (char *)ret + len, size - len);

		if (n <= 0)
			return n == 0 && len == 0 ? 0 : -1;
		len += (size_t)n;
	}
	return 1;
}

/* Below its folder, and every part the name of something. */
static bool is_path(const char *path, size_t len)
{
	return strlen(path) == len && sandbox_path_is_safe(path);
}

static int take_bytes(struct list *l, const struct protocol_left *e, const char *path)
{
	if (e->bytes_len != e->size || (int64_t)l->kept >= l->limits->artifacts ||
	    e->size > (uint64_t)(l->limits->artifact_bytes - l->bytes))
		return -1;
	cleanup_free char *bytes = mem_alloc(e->size + 1);
	if (e->size > 0 && read_whole(l->fd, bytes, e->size) <= 0)
		return -1;
	l->kept++;
	l->bytes += (int64_t)e->size;
	artifact_keep(l->result, path, TAKE_PTR(bytes), e->size);
	return 0;
}

static char *why_not(const struct list *l, const struct protocol_left *e)
{
	switch ((enum protocol_left_state)e->state) {
	case LEFT_KIND:
		return mem_strdup(artifact_kind((mode_t)e->mode));
	case LEFT_ERROR:
		return mem_strdup(strerror(e->errnum));
	case LEFT_COUNT:
		return artifact_why(ARTIFACT_OVER_COUNT, l->limits);
	case LEFT_BYTES:
		return artifact_why(ARTIFACT_OVER_BYTES, l->limits);
	case LEFT_DEPTH:
		return artifact_why(ARTIFACT_TOO_DEEP, l->limits);
	case LEFT_CUT:
		return artifact_why(ARTIFACT_TOO_MANY, l->limits);
	case LEFT_UNREAD:
	case LEFT_KEPT:
	case LEFT_STATES:
		break;
	}
	return artifact_why(ARTIFACT_CUT_SHORT, l->limits);
}

static int take_entry(struct list *l, const struct protocol_left *e)
{
	char path[PROTOCOL_PATH_MAX] = "";
	/* What was not looked at has no name, nor has a folder at the top that could not be. */
	bool nameless = e->state == LEFT_CUT || (e->state == LEFT_ERROR && e->path_len == 0);

	if (e->state >= LEFT_STATES || e->path_len >= sizeof(path) ||
	    l->entries++ > LEFT_ENTRIES_MAX ||
	    (e->path_len > 0 && read_whole(l->fd, path, e->path_len) <= 0) ||
	    (nameless ? e->path_len > 0 : !is_path(path, e->path_len)))
		return -1;
	if (e->state == LEFT_KEPT)
		return take_bytes(l, e, path);
	if (e->bytes_len > 0)
		return -1;
	artifact_refuse(l->result, path, e->size, why_not(l, e));
	return 0;
}

int artifact_read_list(int list, const struct sandbox_job *job, struct sandbox_result *result,
		       struct error *err)
{
	struct list l = { .fd = list, .limits = &job->limits, .result = result };
	struct protocol_left entry;
	int more = lseek(list, 0, SEEK_SET) < 0 ? -1 : 1;

	while (more > 0 && (more = read_whole(list, &entry, sizeof(entry))) > 0)
		if (take_entry(&l, &entry) < 0)
			more = -1;
	return more == 0 ? 0 :
			   error_set(err, ERR_SANDBOX,
				     "the far end's list of what the program left is broken");
}
