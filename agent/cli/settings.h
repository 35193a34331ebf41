/*
 * Settings: every option resolved by its precedence, flag > ASSAY_* variable >
 * [profile NAME] > configuration file > default, and turned into its type.
 * No file of the working directory is ever read for settings.
 */
#ifndef AGENT_SETTINGS_H
#define AGENT_SETTINGS_H

#include "agent/cli/config.h"
#include "agent/cli/option.h"
#include "agent/policy.h"

#include <stdbool.h>
#include <stdint.h>

struct app;

struct settings {
	struct app *app;	     /* of the process; borrowed, and set by who loads them */
	const struct options *flags; /* the command line; borrowed */
	struct options *options;     /* and what is set elsewhere; owned */
	struct config config;

	bool quiet, json;
	bool color, color_out; /* on stderr, on stdout */
	char *db_path;	       /* NULL: no home to put it in */
	/* What is secret by a pattern of the user's own: an owned array of borrowed strings. */
	const char **redact;
	size_t redact_count;

	/* How to reach the model. */
	char *base_url, *ca_file, *model_command, *script;
	bool show_reasoning;

	/* What the engine is told. Its provider and model are NULL when they are to be
	 * found out (agent/cli/provider.h). */
	struct policy policy;
};

/* Errors are ERR_USAGE for flags, ERR_CONFIG for variables and the file, and
 * say where the value came from. */
int settings_load(struct settings *ret, const struct options *options, struct error *err);
void settings_release(struct settings *s);

/* An option that may be repeated has a line for each value in the file. */

/* The text of an option by precedence; NULL when nothing sets it. *ret_origin
 * (may be NULL) becomes "--flag", "ASSAY_X", "file:line" or "default". */
const char *settings_text(const struct settings *s, enum option_id id, const char **ret_origin);

/* An option as a whole number from 1, as a size or as a switch; *ret stays as it is when nothing
 * sets it. Errors as settings_load's. */
int settings_count(const struct settings *s, enum option_id id, int64_t *ret, struct error *err);
int settings_bytes(const struct settings *s, enum option_id id, int64_t *ret, struct error *err);
int settings_switch(const struct settings *s, enum option_id id, bool *ret, struct error *err);

/* Limits and budgets out of a task's "limits" object: timeout, cpu_seconds,
 * memory, disk, pids, output_bytes, max_attempts, max_calls, max_tokens,
 * max_exec_seconds. Unknown keys are errors. */
int settings_apply_limits(struct policy *p, const struct json *limits, struct error *err);

/* "10", "1.5", "500ms", "2m" -> milliseconds; "512M", "1g", "4096" -> bytes. */
int settings_parse_ms(const char *text, int64_t *ret_ms);
int settings_parse_bytes(const char *text, int64_t *ret_bytes);

#endif
