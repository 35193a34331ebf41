/* Whose something is: the name of a key; NULL: the user's own, who needs none. */
#ifndef AGENT_DOORS_OWNER_H
#define AGENT_DOORS_OWNER_H

#include <stdbool.h>
#include <string.h>

/* By name: several keys may have one. */
static inline bool owner_is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

#endif
