#include "base/embed.h"

#include <string.h>

const struct embed *embed_find(const char *path)
{
	const struct embed *e;

	for (e = embed_table; e->path; e++)
		if (!strcmp(e->path, path))
			return e;
	return NULL;
}
