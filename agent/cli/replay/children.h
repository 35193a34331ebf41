/* Replays in processes of their own, some at a time. */
#ifndef AGENT_CHILDREN_H
#define AGENT_CHILDREN_H

#include "agent/cli/settings.h"
#include "base/json.h"
#include "base/stop.h"

/* What a child came to. */
struct child_end {
	const struct json *report; /* what it wrote; {"error"} when it failed; NULL: nothing came */
	const char *problem;	   /* why nothing came; NULL: it did */
	int code;		   /* its exit code; -1: a signal ended it */
	int64_t duration_ms;
};

/* All is borrowed. */
struct children {
	const struct settings *settings;
	size_t count; /* of what is to be done */
	/* In the child, which has signals of its own: does the i-th, writes one JSON document to
	 * fd and returns the exit code; or fills err. */
	int (*work)(void *self, size_t i, int fd, struct error *err);
	/* In the parent, for each that was not stopped; -1 with err stops all. */
	int (*ended)(void *self, size_t i, const struct child_end *end, struct error *err);
	/* After each look, as for a live line; or NULL. */
	void (*watch)(void *self);
	void *self;
};

/*
 * Does all of it, --jobs at a time, and waits for every child. No log and no sandbox may be open.
 * -1 with err when children cannot be had, ended said so, or at --deadline or a
 * signal: then what still worked was stopped.
 */
int children_run(const struct children *c, struct error *err);

#endif
