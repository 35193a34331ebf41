/*
 * The files of a sandbox, below /home/user: kept by the server between two programs, which each
 * have a copy, or of a large one a link to it as it is. Paths of clients and of guests come in by
 * home_path alone.
 */
#ifndef AGENT_DOORS_HOME_H
#define AGENT_DOORS_HOME_H

#include "agent/doors/e2b/store.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOME_PATH      "/home/user"
#define HOME_BYTES_MAX ((size_t)48 << 20) /* of those that programs have copies of */
#define HOME_COPY_MAX  ((size_t)16 << 20) /* a larger one is shown where it is, read-only */
#define HOME_SHOWN     "/in/.e2b/"	  /* there, by its version */
#define HOME_NODES_MAX 2000
#define HOME_TAG_MAX   80

struct home_node {
	char *path; /* below home: "a/b"; owned */
	bool folder;
	struct content content;
	char *metadata; /* what its writer said of it: an object as JSON; owned, or NULL */
	unsigned mode;
	int64_t modified_ms;
	uint64_t version;	/* no other content of this home has it */
	char tag[HOME_TAG_MAX]; /* the program that has it already, and what it calls it; "" */
};

/* Zeroed but for store and owner (struct content), it is an empty home. In order of paths. */
struct home {
	struct store *store;
	const char *owner;
	struct home_node *nodes;
	size_t count, bytes;
	size_t copied;	  /* of bytes, what programs have copies of */
	uint64_t changes; /* so far */
};
void home_release(struct home *t);
/* The same files, which no program has yet; to is empty, and stays so where there is no room
 * (ERR_BUDGET). What is on disk is shared. */
int home_copy(struct home *to, const struct home *from, struct error *err);

/* A client's or a guest's path as one below home, "" being home itself; what is relative is so to
 * home. NULL with err (ERR_USAGE): it leads elsewhere, or is none. Caller frees. */
char *home_path(const char *path, struct error *err);

struct home_node *home_find(const struct home *t, const char *path);
bool home_shows(const struct home_node *node); /* it is too large for a copy */
/* Folders above it are made. Takes bytes, whatever comes of it. */
int home_put(struct home *t, const char *path, char *bytes, size_t len, unsigned mode,
	     struct error *err);
/* The same, of what has come already: it is empty after that, but for its bounds. */
int home_put_content(struct home *t, const char *path, struct content *content, unsigned mode,
		     struct error *err);
void home_note_metadata(struct home_node *node, const char *metadata); /* copied; NULL: nothing */
/* *ret_was: it is there already. */
int home_make_folder(struct home *t, const char *path, bool *ret_was, struct error *err);
void home_drop(struct home *t, size_t i); /* the node at that place alone */
/* With all below it; false: it is not there. */
bool home_remove(struct home *t, const char *path);
/* With all below it, taking the place of a file. */
int home_move(struct home *t, const char *from, const char *to, struct error *err);
/* Whether path lies below folder ("": everything), and how deep: 1 is in it. 0: it does not. */
size_t home_depth(const char *folder, const char *path);

/* --- agent/doors/e2b/taken.c --- */

/* What was there when a program began, which what it left is compared with. */
struct home_given_node {
	char *path; /* owned */
	bool folder;
	uint64_t version;
	unsigned mode;
};
struct home_given {
	struct home_given_node *nodes; /* owned; in order of paths */
	size_t count;
	uint64_t changes; /* of the home, so far */
};
void home_give(const struct home *t, struct home_given *ret);
void home_given_release(struct home_given *given);
/* NULL: it was not there. */
const struct home_given_node *home_given_find(const struct home_given *given, const char *path);
#define cleanup_home_given __attribute__((cleanup(home_given_release)))

/* What a program left: a listing, entries `KIND MODE PATH` that each end with a NUL, of all that is
 * there, and the contents of what it changed; of a link to a large file the kind is `l`, and the
 * mode where it leads. Anything may be in it. */
struct home_left {
	/* An entry each, ended by a null byte, the last of which is "."; without that nothing
	 * counts as removed, for it was cut off. */
	const char *listing;
	size_t len;
	/* The content of a file, or NULL: it did not change, or was not kept. */
	const char *(*content)(void *self, const char *path, size_t *ret_len);
	const char *context; /* whose cell it was, and its number; NULL: none */
	size_t cell;
	void *self;
	const struct home_given *given;
};
/* What others changed since it was given stays as it is. What is not kept, for that or because
 * there is no room, is added to lost, a line each. */
void home_take(struct home *t, const struct home_left *left, struct buf *lost);

/* --- agent/doors/e2b/home.c --- */

/* All of it as a tar archive (ustar, long names as GNU has them), with links to what is shown.
 * Caller frees; NULL: it could not be read. */
char *home_archive(const struct home *t, size_t *ret_len, struct error *err);

#endif
