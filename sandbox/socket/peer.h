/* One request to an `assay serve` of the same user, over its socket. */
#ifndef SANDBOX_SOCKET_PEER_H
#define SANDBOX_SOCKET_PEER_H

#include "sandbox/http/events.h"

/* A connection to who listens there, or -1 with ERR_SANDBOX: errnum when there is nobody, 0 when
 * the socket, or who listens, is not this user's alone. */
int peer_connect(const char *path, struct error *err);

enum peer_end {
	PEER_ANSWERED, /* events->answer is there */
	PEER_REFUSED,  /* err: by a status of its own; nothing was taken */
	PEER_BUSY,     /* the same, and another time it might be */
	PEER_ABSENT,   /* err: it went before it had all of the request */
	PEER_LOST,     /* err: it went after that */
	PEER_LATE,     /* err: deadline_ms has come */
	PEER_CANCELLED /* nothing came in time after it was told so, or it had not all */
};

/* Takes fd. By then (clock_mono_ms) it must have ended. When cancel_fd (-1: none) is readable the
 * other side is told, and its result waited for a little. */
enum peer_end peer_post(int fd, const char *body, int64_t deadline_ms, int cancel_fd,
			struct events *events, struct error *err);

#endif
