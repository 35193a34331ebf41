/*
 * Languages by their index and by their names. The rows are verifier/lang/list.c's: no language
 * is named here, and none is treated apart.
 */
#include "verifier/lang/lang.h"

#include <string.h>

static size_t count(void)
{
	size_t n = 0;

	while (lang_rows[n])
		n++;
	return n;
}

const struct lang *lang_at(size_t index)
{
	return index < count() ? lang_rows[index] : NULL;
}

const struct lang *lang_find(const char *name)
{
	for (size_t i = 0; name && lang_rows[i]; i++)
		if (!strcmp(lang_rows[i]->name, name))
			return lang_rows[i];
	return NULL;
}

size_t lang_index(const struct lang *lang)
{
	size_t i = 0;

	while (lang_rows[i] != lang)
		i++;
	return i;
}

void lang_list(struct buf *out, const char *between, const char *last)
{
	size_t n = count();

	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%s",
			 i == 0	    ? "" :
			 i + 1 == n ? last :
				      between,
			 lang_rows[i]->name);
}
