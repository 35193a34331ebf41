/*
 * Inputs that are given as what they are on this machine, not as bytes: a file too large to be
 * kept in the log, a folder. What identifies one (device, inode, size, times) is taken when it is
 * given and compared when the run is over; what it holds is known by a digest, which is computed
 * in a thread beside the run and kept in a cache by that identity.
 */
#ifndef AGENT_INPUT_H
#define AGENT_INPUT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "sandbox/sandbox.h"

#include <stdbool.h>
#include <stdint.h>

/* What the log keeps whole, unless --keep-inputs says otherwise; and what it can at most. */
#define INPUT_KEEP_DEFAULT ((int64_t)1 << 20)
#define INPUT_KEEP_MAX	   ((int64_t)256 << 20)

struct input {
	struct sandbox_source source;  /* first (input_of); fd and path owned */
	int64_t bytes;		       /* of a folder those of all its files */
	int64_t entries;	       /* of a folder; 1 of a file */
	int64_t mtime_ms;	       /* the latest in it */
	char stamp[HASH_HEX_LEN + 1];  /* of all that identifies it, by name, size and times */
	char digest[HASH_HEX_LEN + 1]; /* of what it holds; "" while not known */
	bool changed;		       /* it is not what it was when it was given */
	char *dead;		       /* names in a folder that lead nowhere; owned; NULL: none */
};

/* A descriptor of a regular file or a folder, whatever links lead to it. ERR_FAILED when it cannot
 * be opened; ERR_USAGE, by name, for a pipe, a socket, a device. */
int input_open_path(const char *path, struct error *err);
/*
 * The input that is open for reading as fd, which stays the caller's; path: as it was named.
 * ERR_USAGE for what input_open_path refuses, for what is the kernel's word (/proc, /sys), and for
 * a folder with another file system below it, or with too much in it.
 */
int input_open_fd(struct input **ret, int fd, const char *path, struct error *err);
void input_close(struct input *input); /* NULL is allowed */
/* Whose source it is: every source that a task has is an input's. */
const struct input *input_of(const struct sandbox_source *source);

/* Whether path, whatever links lead there, is this file, or lies below this folder. */
bool input_holds(const struct input *input, const char *path);

/* Looks again, and notes in changed what it finds. */
void input_look_again(struct input *input);

/* For the record: what it is, where, and what identifies it. */
struct json *input_json(const struct input *input);

/* --- walk.c --- */

/* Fills in what there is to say of a folder, in the order of names. */
int input_walk(struct input *input, struct error *err);

/* What is there, for a digest: called for each name but folders, in order. */
struct input_entry {
	int folder;		 /* the folder it is in, open */
	const char *name, *path; /* in that, and below the input */
	unsigned mode;
	int64_t size;
};
typedef int input_visit(void *self, const struct input_entry *entry);
int input_visit_all(const struct input *input, input_visit *visit, void *self);

/* --- digest.c --- */

struct input_digests;

/* Begins to compute those that are not known, in a thread. inputs are borrowed till the end;
 * cache_dir may be NULL. */
struct input_digests *input_digests_start(struct input *const *inputs, size_t count,
					  const char *cache_dir);
/* Waits for them, until cancel_fd (-1: none) is readable or so much time has passed (-1: for as
 * long as it takes); then what is not known stays so. NULL is allowed. ret_told: how much was read
 * and how fast, for people; "" when nothing was. */
void input_digests_finish(struct input_digests *d, int cancel_fd, int64_t wait_ms,
			  struct buf *ret_told);
/* Without them. NULL is allowed. */
void input_digests_abandon(struct input_digests *d);

#endif
