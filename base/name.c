/*
 * Tables of names, searched and listed. Nothing here decides what an unknown name means, or
 * takes one for another.
 */
#include "base/name.h"

#include "base/buf.h"

#include <string.h>

int name_find(const char *const *names, size_t count, const char *text)
{
	for (size_t i = 0; text && i < count; i++)
		if (names[i] && !strcmp(names[i], text))
			return (int)i;
	return -1;
}

void name_list(struct buf *out, const char *const *names, size_t count, const char *between,
	       const char *last)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_addstr(out, i + 1 == count ? last : between);
		buf_addstr(out, names[i]);
	}
}
