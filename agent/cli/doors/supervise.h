/* A server that is replaced when it crashes. */
#ifndef AGENT_CLI_SUPERVISE_H
#define AGENT_CLI_SUPERVISE_H

#include "agent/cli/app.h"
#include "base/error.h"

#include <stdbool.h>

struct supervised {
	bool serves;   /* this process is the server; else it was the supervisor, and all is over */
	unsigned died; /* servers before this one */
	int code;      /* of a supervisor: what the last one ended with */
};
/*
 * Forks the server, on the socket *listen_fd, and returns in it. There app's signals are those of
 * the supervisor, which hands them on and closes its own *listen_fd with the first one: the server
 * alone says when nobody is taken any more. It dies with the supervisor. One that a signal ends is
 * followed by another, on the same socket, until five have died within a minute: -1. Called without
 * a thread.
 */
int supervise(struct app *app, int *listen_fd, struct supervised *ret, struct error *err);

#endif
