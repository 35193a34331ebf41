/*
 * The tags between which a model thinks in its text: <think> ... </think>, and its kin of other
 * names. A tag closes only what one of its own kind has opened.
 */
#ifndef BASE_THINK_TAG_H
#define BASE_THINK_TAG_H

#include <stdbool.h>
#include <stddef.h>

#define THINK_KINDS 4 /* numbered from 0 */
/* Where a function takes a kind: any, and what it leaves in *kind is the one that it found. */
#define THINK_ANY     (-1)
#define THINK_TAG_MAX 16 /* no tag has as many bytes */

/* Bytes of the tag that s begins with; 0: none, and *kind stays. */
size_t think_tag(const char *s, size_t len, bool closing, int *kind);

/* Whether s, all of it, is the beginning of a tag that is not whole yet. */
bool think_tag_begun(const char *s, size_t len, bool closing, int kind);

/* The first such tag in s; *ret_len: its bytes. NULL: none, and *kind and *ret_len stay. */
const char *think_tag_find(const char *s, size_t len, bool closing, int *kind, size_t *ret_len);

/* Whether s speaks of one at all: whatever follows the name, as in a pattern or an attribute. */
bool think_tag_mentioned(const char *s, size_t len, bool closing);

#endif
