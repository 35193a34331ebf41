/* The configuration file: $XDG_CONFIG_HOME/assay/config.ini (inih). */
#ifndef AGENT_CONFIG_H
#define AGENT_CONFIG_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct config_entry {
	char *section; /* "" before the first header */
	char *name;
	char *value;
	int line;
};

struct config {
	char *path; /* of the file read, or that would be read; NULL without HOME */
	bool found;
	struct config_entry *entries;
	size_t count;
};

/* path NULL: the user's file, which may be absent. A given path must exist.
 * Bad lines and keys that no option has are ERR_CONFIG errors with file, line
 * and the nearest key. */
int config_load(struct config *ret, const char *path, struct error *err);
void config_release(struct config *c);

/* The last entry of that section and name, or NULL. */
const struct config_entry *config_find(const struct config *c, const char *section,
				       const char *name);

#endif
