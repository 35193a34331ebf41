/*
 * Settings: every option resolved by its precedence, flag > ASSAY_* variable >
 * [profile NAME] > configuration file > default, and turned into its type.
 * No file of the working directory is ever read for settings.
 */
#ifndef AGENT_SETTINGS_H
#define AGENT_SETTINGS_H

#include "agent/config.h"
#include "agent/option.h"
#include "base/json.h"
#include "sandbox/sandbox.h"
#include "verifier/check.h"
#include "verifier/screen.h"

#include <stdbool.h>
#include <stdint.h>

enum role {
	ROLE_PLAN, ROLE_CODE, ROLE_REPAIR, ROLE_TESTS, ROLE_CROSS_CHECK, ROLE_JUDGE, ROLE_ANSWER,
	ROLE_COUNT,
};
const char *role_name(enum role role);	/* the stage names of INTERFACE.md */
int role_parse(const char *name);	/* -1 when unknown */

enum approve_mode { APPROVE_AUTO, APPROVE_ASK, APPROVE_NEVER };

struct role_settings {
	bool off;
	char *model;	/* NULL: the common one */
};

struct budget_limits {
	int64_t attempts, calls, tokens, exec_ms;
	int64_t cost_micro_usd;	/* -1: no cap */
	int64_t deadline_ms;	/* 0: none */
};

struct price {
	bool known;
	double input, cached, output;	/* micro-dollars per token == dollars per million */
};

struct settings {
	const struct options *options;	/* borrowed */
	struct config config;

	bool quiet, json;
	bool color, color_out;	/* on stderr, on stdout */
	char *db_path;			/* NULL: no home to put it in */

	char *provider;			/* NULL: to be found out */
	char *model;			/* NULL: provider's default */
	char *base_url, *ca_file, *model_command, *script, *prompts_dir;
	struct role_settings roles[ROLE_COUNT];
	struct json *model_options;	/* object from -o, or NULL */
	bool stream, show_reasoning;
	int retries;
	int64_t request_timeout_ms;

	const char *lang;		/* canonical name, or NULL */
	struct sandbox_limits limits;
	struct budget_limits budget;
	enum screen_profile screen_profile;
	struct ruleset *rules;		/* the user's, beside the built-in ones; NULL: none */
	char *allow;			/* rule ids and globs, by commas; NULL: none */
	enum approve_mode approve;
	bool judge, tests, cross_check;
	enum level require;
};

/* Errors are ERR_USAGE for flags, ERR_CONFIG for variables and the file, and
 * say where the value came from. */
int settings_load(struct settings *ret, const struct options *options, struct error *err);
void settings_release(struct settings *s);
void settings_free_rules(struct settings *s);

/* The text of an option by precedence; NULL when nothing sets it. *ret_origin
 * (may be NULL) becomes "--flag", "ASSAY_X", "file:line" or "default". */
const char *settings_text(const struct settings *s, enum option_id id, const char **ret_origin);

/* What decides a run, as JSON for the log, and back for replay. The key is not
 * part of it. Both sides keep: provider, model, roles, options, limits,
 * budget, profile, rules (their text), allow, approve, judge, tests, cross_check, require, lang. */
struct json *settings_json(const struct settings *s);
int settings_from_json(struct settings *s, const struct json *config, struct error *err);

/* Price of a model by the [prices] globs: "input,cached,output" dollars per
 * million tokens. */
struct price settings_price(const struct settings *s, const char *model);

/* Limits and budgets out of a task's "limits" object: timeout, cpu_seconds,
 * memory, disk, pids, output_bytes, max_attempts, max_calls, max_tokens,
 * max_exec_seconds. Unknown keys are errors. */
int settings_apply_limits(struct settings *s, const struct json *limits, struct error *err);

/* "10", "1.5", "500ms", "2m" -> milliseconds; "512M", "1g", "4096" -> bytes. */
int settings_parse_ms(const char *text, int64_t *ret_ms);
int settings_parse_bytes(const char *text, int64_t *ret_bytes);

#endif
