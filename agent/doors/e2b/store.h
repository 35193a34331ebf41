/*
 * What files of sandboxes hold: in memory as long as it is little, then in a file of the disk that
 * has no name, so that nothing of it outlives this process, however that ends. What is held is
 * bounded for all together, and for one owner.
 */
#ifndef AGENT_DOORS_STORE_H
#define AGENT_DOORS_STORE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_SMALL	 ((size_t)4 << 20)   /* of one file, in memory */
#define STORE_MEMORY_MAX ((size_t)512 << 20) /* of all */
#define STORE_DISK_MAX	 ((size_t)4 << 30)
#define STORE_FILES_MAX	 256 /* on disk: each takes a descriptor */

struct store_bounds {
	size_t memory, disk, files; /* of all; one owner has at most half of each */
};
struct store_used {
	size_t memory, disk, files;
};

struct store;
/* folders: of these the first that takes a file has what is on disk; ends with NULL, and is
 * borrowed as what it names. */
struct store *store_new(const struct store_bounds *bounds, const char *const *folders);
void store_free(struct store *store); /* nothing is held in it; NULL allowed */
void store_look(struct store *store, struct store_used *ret);

/* One file's content. Zeroed but for store and owner, it is empty; with no store it has no bound,
 * and stays in memory. */
struct content {
	struct store *store; /* borrowed */
	const char *owner;   /* borrowed for good; NULL: the user himself, who may have all */
	char *bytes;	     /* owned; of no meaning on disk */
	size_t len, room;
	bool on_disk;
	int fd; /* then; owned */
};
void content_release(struct content *content); /* empty again */
/* ERR_BUDGET: there is no room; then, as when writing fails, it is of no use any more. */
int content_add(struct content *content, const void *bytes, size_t len, struct error *err);
/* Takes bytes, whatever comes of it. */
int content_set(struct content *content, char *bytes, size_t len, struct error *err);
/* len bytes from `at` on, which are there. */
int content_read(const struct content *content, size_t at, void *to, size_t len, struct error *err);
/* The same bytes once more; a file is shared. */
int content_copy(struct content *ret, const struct content *from, struct error *err);
/* A descriptor for reading, the caller's, of one on disk; -1 with err. */
int content_open(const struct content *content, struct error *err);

#endif
