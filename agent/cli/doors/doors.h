/* What the doors (agent/doors/) are given by the command line: ends that settings open, a service
 * over them, and whether there is a model. */
#ifndef AGENT_CLI_DOORS_H
#define AGENT_CLI_DOORS_H

#include "agent/cli/settings.h"
#include "agent/doors/service/service.h"

struct doors {
	const struct settings *settings;
	struct service_ends ends;
	struct service *service;
	struct sandbox_warm_count warm_count; /* of the sandboxes of all workers */
	struct contexts_options contexts;
	size_t parallel;      /* workers */
	struct tools **tools; /* of each worker's programs, owned; NULL: they can call nothing */
	bool has_model;
};
/* ret must not move until doors_close. survivors: contexts of a server that died, and for one after
 * this (struct contexts_options); or NULL. Says on standard error when no model is found. */
int doors_open(struct doors *ret, const struct settings *settings, struct kept_contexts *survivors,
	       struct error *err);
/* Ends the work; the command then ends with code, or what the log's end makes of it. */
int doors_close(struct doors *d, int code, struct error *err);

/* agent/cli/doors/again.c: `assay replay RUN --json` in a process of its own. */
int doors_replay(const struct settings *settings, const char *run, int cancel_fd, struct json **ret,
		 struct error *err);

#endif
