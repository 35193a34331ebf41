/* Files of the source tree that are part of the binary (build/embed.S). */
#ifndef BASE_EMBED_H
#define BASE_EMBED_H

#include <stddef.h>

struct embed {
	const char *path; /* in the source tree: "prompts/plan.md" */
	const char *data; /* NUL-terminated for convenience */
	const char *end;  /* one past the last byte, before the NUL */
};

/* The table ends with a NULL path. */
extern const struct embed embed_table[];

/* NULL when no such file was embedded. */
const struct embed *embed_find(const char *path);
static inline size_t embed_len(const struct embed *e)
{
	return (size_t)(e->end - e->data);
}

#endif
