/*
 * Which model to speak to: from --provider, the flags that imply one
 * (--script, --model-command), the keys in the environment, or a local server
 * that answers.
 */
#ifndef AGENT_PROVIDER_H
#define AGENT_PROVIDER_H

#include "agent/cli/settings.h"
#include "audit/audit.h"
#include "llm/llm.h"

/*
 * Opens the model that policy names, by what settings say of how to reach it, and
 * fills in policy's provider and model when they were to be found out. Without a key, a flag or a
 * local server: ERR_CONFIG with three lines that say what to set. The rows of providers are in
 * agent/cli/vendor.h, keys in agent/cli/keys.h.
 */
int provider_open(struct llm *ret, const struct settings *settings, struct policy *policy,
		  struct error *err);

/* What the provider offers: a JSON array of {"id","name"}; the caller frees. */
int provider_models(const struct settings *settings, struct json **ret, struct error *err);

/* Before a batch forks its workers: the models they open share one view of the
 * server's limits. per_minute 0: none but the server's own. */
int provider_share_limits(struct app *app, int processes, int64_t requests_per_minute,
			  int64_t tokens_per_minute, struct error *err);

/* ERR_CONFIG when --ca-file cannot be read or holds no certificate. */
int provider_check_ca_file(const struct settings *settings, struct error *err);

/* Every secret this process can see, for redaction: an array of count that the
 * caller frees (the strings are borrowed from the environment). */
struct audit_secret *provider_secrets(const struct settings *settings, size_t *ret_count);

/* Who would be asked, for doctor: {"name","url","model"}, and "error" why nobody.
 * A local server is asked for its models. */
struct json *provider_choice_json(const struct settings *settings);

/* One line per known key variable and whether it is set, for doctor. */
struct json *provider_keys_json(const struct settings *settings);

#endif
