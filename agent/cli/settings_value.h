/* Settings, and each value of them; the end of it is for settings.c alone. */
#ifndef AGENT_SETTINGS_VALUE_H
#define AGENT_SETTINGS_VALUE_H

#include "agent/cli/config.h"
#include "agent/cli/option.h"
#include "agent/means.h"
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
	int64_t keep_inputs;   /* bytes of a file that the log has whole, at most */
	/* What is secret by a pattern of the user's own: an owned array of borrowed strings. */
	const char **redact;
	size_t redact_count;

	/* How to reach the model. */
	char *sandbox; /* its whole name, which the policy borrows */
	char *base_url, *ca_file, *model_command, *script;
	bool show_reasoning;

	/* What the engine is told. Its provider and model are NULL when they are to be
	 * found out (agent/cli/provider.h). */
	struct policy policy;
	struct means means;
};

/* An option that may be repeated has a line for each value in the file. */

/* The text of an option by precedence; NULL when nothing sets it. *ret_origin
 * (may be NULL) becomes "flag", "environment", "configuration" or "default". */
const char *settings_text(const struct settings *s, enum option_id id, const char **ret_origin);

/* An option as a whole number from 1, or from 0, as a size or as a switch; *ret stays as it is when
 * nothing sets it. Errors as settings_load's. */
int settings_count(const struct settings *s, enum option_id id, int64_t *ret, struct error *err);
int settings_amount(const struct settings *s, enum option_id id, int64_t *ret, struct error *err);
int settings_bytes(const struct settings *s, enum option_id id, int64_t *ret, struct error *err);
int settings_switch(const struct settings *s, enum option_id id, bool *ret, struct error *err);

/* "10", "1.5", "500ms", "2m" -> milliseconds; "512M", "1g", "4096" -> bytes. */
int settings_parse_ms(const char *text, int64_t *ret_ms);
int settings_parse_bytes(const char *text, int64_t *ret_bytes);

/* --- for settings.c --- */

/* The variable ASSAY_NAME of an option, or NULL. */
const char *settings_environment(const char *name);
/* The section of the profile in use, or NULL. Caller frees. */
char *settings_profile_section(const struct settings *s);

/* Options that are read as given: from the first place that has them. */
void settings_fill_options(struct settings *s);
void settings_free_options(struct options *o);

/* Where an option that is set is set: "--timeout", "ASSAY_TIMEOUT", "FILE:3: timeout" (caller
 * frees). Returns the kind of an error of its value. */
enum error_kind settings_place(const struct settings *s, enum option_id id, char **ret_place);
/* The error of a value that is not what is wanted, with where it stands. Returns -1. */
int settings_bad(const struct settings *s, enum option_id id, const char *wanted,
		 struct error *err);

typedef int number_parser(const char *text, int64_t *ret);
int settings_parse_count(const char *text, int64_t *ret);

extern const char settings_wanted_count[], settings_wanted_time[], settings_wanted_size[];

/* *ret stays as it is when nothing sets the option. */
int settings_number(const struct settings *s, enum option_id id, number_parser *parse,
		    int64_t least, const char *wanted, int64_t *ret, struct error *err);

#endif
