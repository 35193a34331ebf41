/*
 * API keys and other secrets: from the environment, or from where [keys] of the
 * configuration says: NAME = file:PATH of a 0600 file (or the bare path), or
 * NAME = command:CMD, whose first line is the key.
 *
 * A key that has been used is taken out of this process's environment, bytes
 * and all, so that no child gets it and /proc does not show it. Others stay:
 * a program used as the model may need one of its own. The environment is the process's: keys of it
 * are found while one thread is there, and of two struct keys the first that asks has one.
 */
#ifndef AGENT_KEYS_H
#define AGENT_KEYS_H

#include "audit/audit.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct config; /* agent/cli/config.h */

/* Kept as long as the process has use for them: secrets are borrowed from here. Zeroed
 * it is empty. */
struct keys {
	struct key {
		char *name, *origin, *value;
	} * found; /* owned */
	size_t count;
	/* Other secrets of the environment, for redaction; owned. */
	struct key_copy {
		char *name, *value;
	} * copies;
	size_t copy_count;
};
/* Wipes the values. */
void keys_release(struct keys *keys);

/*
 * *ret_value NULL when there is none; it lives until the keys
 * are released. ERR_CONFIG when the file of it cannot be read, is readable by
 * others, or is not ours, or its command fails. *ret_origin (may be NULL):
 * "environment", or what [keys] says.
 */
int keys_find(struct keys *keys, const struct config *config, const char *name,
	      const char **ret_value, const char **ret_origin, struct error *err);

/* Whether there seems to be one, without reading a file or running a command;
 * *ret_origin (may be NULL) as above. */
bool keys_present(const struct keys *keys, const struct config *config, const char *name,
		  const char **ret_origin);

/* As provider_secrets. Keys of commands only once they have been found. */
struct audit_secret *keys_secrets(struct keys *keys, const struct config *config,
				  size_t *ret_count);

#endif
