/*
 * The files that are part of the program, found by their names in the table that the build makes
 * (build/embed.S). Read only; a name that is not there is NULL.
 */
#include "base/embed.h"

#include <string.h>

const struct embed *embed_find(const char *path)
{
	for (const struct embed *e = embed_table; e->path; e++)
		if (!strcmp(e->path, path))
			return e;
	return NULL;
}
