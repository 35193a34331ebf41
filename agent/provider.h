/*
 * Which model to speak to: from --provider, the flags that imply one
 * (--script, --model-command), the keys in the environment, or a local server
 * that answers.
 */
#ifndef AGENT_PROVIDER_H
#define AGENT_PROVIDER_H

#include "agent/settings.h"
#include "audit/audit.h"
#include "llm/llm.h"

/*
 * Opens the model and fills settings' provider and model when they were to be
 * found out. Without a key, a flag or a local server: ERR_CONFIG with three
 * lines that say what to set. Keys come from the usual variables
 * (OPENAI_API_KEY, ANTHROPIC_API_KEY, ...) or the file named by [keys] in the
 * configuration (NAME = path of a 0600 file).
 */
int provider_open(struct llm *ret, struct settings *settings, struct error *err);

/* The HTTP options of a provider for `assay models`; strings live as long as
 * settings and the environment. */
int provider_http_options(struct llm_http_options *ret, const struct settings *settings,
			  struct error *err);

/* Every secret this process can see, for redaction: an array of count that the
 * caller frees (the strings are borrowed from the environment). */
struct audit_secret *provider_secrets(const struct settings *settings, size_t *ret_count);

/* One line per known key variable and whether it is set, for doctor. */
struct json *provider_keys_json(const struct settings *settings);

#endif
