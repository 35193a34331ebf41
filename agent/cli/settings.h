/*
 * Settings: every option resolved by its precedence, flag > ASSAY_* variable >
 * [profile NAME] > configuration file > default, and turned into its type.
 * No file of the working directory is ever read for settings.
 */
#ifndef AGENT_SETTINGS_H
#define AGENT_SETTINGS_H

#include "agent/cli/settings_value.h"

/* Errors are ERR_USAGE for flags, ERR_CONFIG for variables and the file, and
 * say where the value came from. */
int settings_load(struct settings *ret, const struct options *options, struct error *err);
void settings_release(struct settings *s);
/* What --color may be; last stands before the last one. */
void settings_color_list(struct buf *out, const char *between, const char *last);

/* Limits and budgets out of a task's "limits" object: timeout, cpu_seconds,
 * memory, disk, pids, output_bytes, max_attempts, max_calls, max_tokens,
 * max_exec_seconds. Unknown keys are errors. */
int settings_apply_limits(struct policy *p, const struct json *limits, struct error *err);
/* The nth of their names; NULL after the last. */
const char *settings_limit_name(size_t n);

#endif
