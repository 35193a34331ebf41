/* A program's descriptors 3 and 4. */
#ifndef NATIVE_PORT_H
#define NATIVE_PORT_H

#include "base/buf.h"
#include "sandbox/sandbox.h"

#include <poll.h>
#include <stdbool.h>

/* Descriptors 3 and 4 of the program, and what of an answer it has not taken yet (port.c). */
struct port {
	int in, out; /* our ends; -1: closed, or there is none */
	struct buf answer;
	bool more; /* of what was read not all is answered */
};

/* Makes the pipes of the job's port; the program's ends (what it reads, what it writes) are the
 * caller's. */
int port_open(struct port *port, int ret_link[2], struct error *err);
void port_close(struct port *port);
/* What to poll for, two of them, and what to do with what came, which is for to, until then.
 * True: the program is to be stopped. */
void port_poll(const struct port *port, struct pollfd *ret_fds);
bool port_handle(struct port *port, const struct sandbox_port *to, int64_t deadline_ms,
		 const struct pollfd *fds);

#endif
