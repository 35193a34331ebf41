/*
 * API keys and other secrets: from the environment, or from the 0600 files
 * that [keys] of the configuration names. Values live as long as the process.
 */
#ifndef AGENT_KEYS_H
#define AGENT_KEYS_H

#include "agent/settings.h"
#include "audit/audit.h"

/* *ret_value NULL when there is none. ERR_CONFIG when the file of it cannot be
 * read, is readable by others, or is not ours. *ret_origin (may be NULL):
 * "environment" or the file's path. */
int keys_find(const struct settings *settings, const char *name, const char **ret_value,
	      const char **ret_origin, struct error *err);

/* As provider_secrets. */
struct audit_secret *keys_secrets(const struct settings *settings, size_t *ret_count);

#endif
