/* --tools: what the configuration names for programs to call, [tool NAME] and [server NAME]. */
#ifndef AGENT_TOOLS_GIVEN_H
#define AGENT_TOOLS_GIVEN_H

#include "agent/cli/settings.h"
#include "agent/tools/tools.h"

/* *ret NULL without --tools; else what tools_close frees. ERR_CONFIG names the file, the line and
 * what is wanted there. The settings must outlive it. */
int tools_given(const struct settings *settings, struct tools **ret, struct error *err);

/* The same, with or without --tools. */
int tools_read(const struct settings *settings, struct tools **ret, struct error *err);
/* Adds to hash all that the configuration says of them, if there is --tools. */
struct hash;
int tools_hash(const struct settings *settings, struct hash *hash, struct error *err);

#endif
