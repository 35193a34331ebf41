/*
 * A list in shared memory (kept.h). A row is there when all of it is written; nothing is locked, as
 * whoever has the list's owner (contexts.c) writes under a lock of its own, and alone.
 */
#include "agent/doors/service/kept.h"

#include "agent/context.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define ROWS 1024

struct kept_contexts {
	struct kept_context rows[ROWS];
};

struct kept_contexts *kept_new(void)
{
	void *memory = mmap(NULL, sizeof(struct kept_contexts), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

struct kept_context *kept_add(struct kept_contexts *kept, const char *id, const char *owner,
			      const char *lang, int64_t opened_ms)
{
	struct kept_context *row = kept ? kept->rows : NULL;

	while (row && row < kept->rows + ROWS && row->there)
		row++;
	if (!row || row == kept->rows + ROWS || strlen(id) >= sizeof(row->id) ||
	    (owner && strlen(owner) >= sizeof(row->owner)) || strlen(lang) >= sizeof(row->lang))
		return NULL;
	*row = (struct kept_context){ .owned = owner, .opened_ms = opened_ms };
	snprintf(row->id, sizeof(row->id), "%s", id);
	snprintf(row->owner, sizeof(row->owner), "%s", owner ? owner : "");
	snprintf(row->lang, sizeof(row->lang), "%s", lang);
	__atomic_store_n(&row->there, true, __ATOMIC_RELEASE);
	return row;
}

void kept_remove(struct kept_context *row)
{
	if (row)
		row->there = false;
}

static bool is_whole(const struct kept_context *row)
{
	static const char digits[] = "0123456789abcdef";

	return memchr(row->id, '\0', sizeof(row->id)) && !strncmp(row->id, "ctx-", 4) &&
	       strspn(row->id + 4, digits) == CONTEXT_ID_LEN - 4 &&
	       memchr(row->last, '\0', sizeof(row->last)) &&
	       memchr(row->owner, '\0', sizeof(row->owner)) &&
	       row->owned == (*row->owner != '\0') && memchr(row->lang, '\0', sizeof(row->lang)) &&
	       language_find(row->lang);
}

struct kept_context *kept_next(struct kept_contexts *kept, struct kept_context *after)
{
	struct kept_context *row = after ? after + 1 : kept ? kept->rows : NULL;

	for (; row && row < kept->rows + ROWS; row++) {
		if (row->there && is_whole(row))
			return row;
		row->there = false;
	}
	return NULL;
}
