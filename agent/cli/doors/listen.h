/* Where a server listens: an address and a port, or a socket in the file system. */
#ifndef AGENT_CLI_LISTEN_H
#define AGENT_CLI_LISTEN_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* "127.0.0.1:8317", "[::1]:0", "8317" (on this machine alone): a socket that listens, or -1.
 * *ret_address (owned) is where it really does; *ret_local: nobody else can reach it. */
int listen_address(const char *text, char **ret_address, bool *ret_local, struct error *err);
/* Which socket stands at a path, so that another one's of that name is told from it. */
struct listen_place {
	const char *path; /* borrowed; NULL: none was made */
	dev_t device;
	ino_t inode;
};
/* A socket of this user's alone (0600). One that nobody listens on any more is replaced. */
int listen_path(const char *path, struct listen_place *ret, struct error *err);
/* Removes the socket, if it is still the one that was made. */
void listen_leave(const struct listen_place *place);

#endif
