/*
 * The parts of a key by which one that waits is found: each with its length before it. What belongs
 * into a key is for its maker to say; nothing here looks at a job.
 */
#include "sandbox/native/key.h"

#include <string.h>

void key_add_text(struct buf *key, const char *text)
{
	buf_addf(key, "%zu:", strlen(text));
	buf_addstr(key, text);
}

void key_add_list(struct buf *key, const char *const *list)
{
	for (; list && *list; list++)
		key_add_text(key, *list);
	buf_addch(key, ';');
}
