/*
 * What changes in a folder of a sandbox's files between two looks at it. Nothing is remembered
 * here: who looks has what it saw.
 */
#ifndef AGENT_DOORS_E2B_CHANGES_H
#define AGENT_DOORS_E2B_CHANGES_H

#include "agent/doors/e2b/home.h"
#include "agent/doors/e2b/pulse.h"
#include "base/json.h"

#include <stdint.h>

/* What is asked for. */
struct wanted {
	char *folder; /* below home; owned */
	bool deep;
	bool entries;
};

/* What was there: a line for each, in order of paths: "VERSION MODE PATH\0". One piece of memory,
 * which free() frees. */
struct seen {
	uint64_t changes;
	struct pulse pulse;
	int64_t looked_ms;
	size_t len;
	char lines[];
};

/* Out of a request, which may be NULL: then err says why already. */
int changes_read(const struct json *request, struct wanted *ret, struct error *err);
/* Why it cannot be watched, and its code in their words. NULL: it is a folder. */
const char *changes_problem(const struct home *home, const char *folder, const char **ret_code);
struct seen *changes_look(const struct wanted *wanted, const struct home *home);
/* Each as their FilesystemEvent, in order of paths; takes the event. */
void changes_tell(const struct wanted *wanted, const struct seen *before, const struct seen *now,
		  const struct home *home, void (*tell)(void *self, struct json *event),
		  void *self);

#endif
