/*
 * A table from keys to values, for the members of a large object: finding one of n
 * takes no longer than finding one of a few. One block of memory, freed with free().
 * Keys are borrowed: they live as long as the table, or until their entry is replaced.
 * Of entries with one key it knows the first. Internal to base/json*.c.
 */
#ifndef BASE_JSON_INDEX_H
#define BASE_JSON_INDEX_H

#include <stddef.h>

struct json_index;

/* Empty, with room for count entries. */
struct json_index *json_index_make(size_t count);
void *json_index_find(const struct json_index *index, const char *key); /* NULL: none */
/* Adds an entry, unless the key is there; the index may move. */
struct json_index *json_index_add(struct json_index *index, const char *key, void *value);
/* Another value, and another copy of the key, where the one of that key stood. */
void json_index_replace(struct json_index *index, const char *key, void *value);

#endif
