/* The hierarchies of control groups: where each is mounted, and where in it we are. */
#ifndef SANDBOX_KEEPER_HIERARCHY_H
#define SANDBOX_KEEPER_HIERARCHY_H

#include <stdbool.h>
#include <stddef.h>

#define HIERARCHY_PATH 512
#define HIERARCHY_TEXT 16384

/* Where a hierarchy is mounted and where in it we are. */
struct hierarchy {
	char own[HIERARCHY_PATH]; /* our group's directory */
	size_t mount_len;	  /* the part of own that is the mount point */
};

/* What the kernel says of all of them: read once, it is half of the work. */
struct hierarchy_tables {
	char mounts[65536], own[HIERARCHY_TEXT];
};

bool hierarchy_read(struct hierarchy_tables *ret);
/* That of a v1 controller; "" is v2. */
bool hierarchy_find(const struct hierarchy_tables *t, const char *controller,
		    struct hierarchy *ret);
/* The word is in the first len bytes of a list by comma, blank or colon. */
bool hierarchy_list_has(const char *list, size_t len, const char *word);

#endif
