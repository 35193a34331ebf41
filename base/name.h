/* Tables of names: an enum's members are found in its table by what they are called. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include <stddef.h>

struct buf;

/* Where text stands in names, exactly as it is written; -1: nowhere, as NULL is. A name
 * may be NULL: nothing is called so. */
int name_find(const char *const *names, size_t count, const char *text);
/* The names as words say them: "a, b or c", with between ", " and last " or ". */
void name_list(struct buf *out, const char *const *names, size_t count, const char *between,
	       const char *last);

#endif
