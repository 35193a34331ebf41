#include "agent/settings.h"

#include "audit/audit.h"
#include "base/mem.h"
#include "verifier/rules.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char *const role_names[ROLE_COUNT] = {
	"plan", "code", "repair", "tests", "cross_check", "judge", "answer",
};

const char *role_name(enum role role)
{
	return role_names[role];
}

int role_parse(const char *name)
{
	int i;

	for (i = 0; i < ROLE_COUNT; i++)
		if (!strcmp(role_names[i], name))
			return i;
	return -1;
}

/* --- where a value comes from --- */

static const char *from_environment(const char *name)
{
	char variable[64] = "ASSAY_";
	size_t n = strlen(variable);

	for (; *name && n < sizeof(variable) - 1; name++)
		variable[n++] = *name == '-' ? '_' : (char)toupper((unsigned char)*name);
	variable[n] = '\0';
	return getenv(variable);
}

const char *settings_text(const struct settings *s, enum option_id id, const char **ret_origin)
{
	const struct option_row *row = &option_table[id];
	const struct option_values *given = &s->options->given[id];
	const struct config_entry *entry = NULL;
	const char *ignored, *use, *text;
	cleanup_free char *section = NULL;

	if (!ret_origin)
		ret_origin = &ignored;
	*ret_origin = "flag";
	if (given->count)
		return given->values[given->count - 1];
	if (row->flags & OPTION_NO_CONFIG) {
		*ret_origin = "default";
		return row->fallback;
	}
	*ret_origin = "environment";
	text = from_environment(row->name);
	if (text && *text)
		return text;
	*ret_origin = "configuration";
	use = id == OPT_USE ? NULL : settings_text(s, OPT_USE, NULL);
	if (use) {
		section = mem_printf("profile %s", use);
		entry = config_find(&s->config, section, row->name);
	}
	if (!entry)
		entry = config_find(&s->config, "", row->name);
	if (entry)
		return entry->value;
	*ret_origin = "default";
	return row->fallback;
}

static int bad(const struct settings *s, enum option_id id, const char *wanted, struct error *err)
{
	const char *origin, *text = settings_text(s, id, &origin);
	bool flag = !strcmp(origin, "flag");

	return error_set(err, flag ? ERR_USAGE : ERR_CONFIG, "%s%s%s: \"%.100s\" is not %s",
			 flag ? "--" : origin, flag ? "" : " ", option_table[id].name, text,
			 wanted);
}

/* --- types --- */

int settings_parse_ms(const char *text, int64_t *ret_ms)
{
	char *end;
	double value = strtod(text, &end), unit = 1000;

	if (end == text || !isfinite(value) || value < 0)
		return -1;
	if (!strcmp(end, "ms"))
		unit = 1;
	else if (!strcmp(end, "m"))
		unit = 60000;
	else if (!strcmp(end, "h"))
		unit = 3600000;
	else if (*end && strcmp(end, "s"))
		return -1;
	if (value * unit > 1e15)
		return -1;
	*ret_ms = (int64_t)llround(value * unit);
	return 0;
}

int settings_parse_bytes(const char *text, int64_t *ret_bytes)
{
	static const char units[] = "kmgt";
	const char *unit;
	char *end;
	double value = strtod(text, &end), factor = 1;

	if (end == text || !isfinite(value) || value < 0)
		return -1;
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		factor = ldexp(1, 10 * (int)(unit - units + 1));
		end++;
		if (!strcasecmp(end, "ib") || !strcasecmp(end, "b"))
			end += strlen(end);
	}
	if (*end || value * factor > 1e15)
		return -1;
	*ret_bytes = (int64_t)(value * factor);
	return 0;
}

static int parse_count(const char *text, int64_t *ret)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < 0)
		return -1;
	*ret = value;
	return 0;
}

typedef int number_parser(const char *text, int64_t *ret);

static const char wanted_count[] = "a whole number, 1 or more";
static const char wanted_time[] = "a time (10, 1.5, 500ms, 2m) above zero";
static const char wanted_size[] = "a size (4096, 512K, 64M, 1G) above zero";

static int load_number(const struct settings *s, enum option_id id, number_parser *parse,
		       int64_t least, const char *wanted, int64_t *ret, struct error *err)
{
	const char *text = settings_text(s, id, NULL);
	int64_t value;

	if (!text)
		return 0;
	if (parse(text, &value) < 0 || value < least)
		return bad(s, id, wanted, err);
	*ret = value;
	return 0;
}

static int load_switch(const struct settings *s, enum option_id id, bool *ret, struct error *err)
{
	const char *text = settings_text(s, id, NULL);

	if (!text || !strcasecmp(text, "false") || !strcasecmp(text, "no") || !strcmp(text, "0"))
		*ret = false;
	else if (!strcasecmp(text, "true") || !strcasecmp(text, "yes") || !strcmp(text, "1"))
		*ret = true;
	else
		return bad(s, id, "true or false", err);
	return 0;
}

static int load_limits(struct settings *s, struct error *err)
{
	struct sandbox_limits *l = &s->limits;

	sandbox_limits_default(l);
	if (load_number(s, OPT_TIMEOUT, settings_parse_ms, 1, wanted_time, &l->wall_ms, err) ||
	    load_number(s, OPT_CPU_SECONDS, settings_parse_ms, 1, wanted_time, &l->cpu_ms, err) ||
	    load_number(s, OPT_MEMORY, settings_parse_bytes, 1, wanted_size, &l->memory_bytes,
			err) ||
	    load_number(s, OPT_DISK, settings_parse_bytes, 1, wanted_size, &l->disk_bytes, err) ||
	    load_number(s, OPT_PIDS, parse_count, 1, wanted_count, &l->processes, err) ||
	    load_number(s, OPT_OUTPUT_BYTES, settings_parse_bytes, 1, wanted_size, &l->stdout_bytes,
			err))
		return -1;
	l->stderr_bytes = l->stdout_bytes;
	return 0;
}

static int load_budget(struct settings *s, struct error *err)
{
	struct budget_limits *b = &s->budget;
	const char *cost = settings_text(s, OPT_MAX_COST, NULL);
	char *end;

	if (load_number(s, OPT_MAX_ATTEMPTS, parse_count, 1, wanted_count, &b->attempts, err) ||
	    load_number(s, OPT_MAX_CALLS, parse_count, 1, wanted_count, &b->calls, err) ||
	    load_number(s, OPT_MAX_TOKENS, parse_count, 1, wanted_count, &b->tokens, err) ||
	    load_number(s, OPT_MAX_EXEC_SECONDS, settings_parse_ms, 1, wanted_time, &b->exec_ms,
			err) ||
	    load_number(s, OPT_DEADLINE, settings_parse_ms, 1, wanted_time, &b->deadline_ms, err))
		return -1;
	b->cost_micro_usd = -1;
	if (cost) {
		double usd = strtod(cost, &end);

		if (end == cost || *end || !(usd >= 0) || usd > 1e9)
			return bad(s, OPT_MAX_COST, "an amount in dollars", err);
		b->cost_micro_usd = llround(usd * 1e6);
	}
	return 0;
}

/* --- choices --- */

static int load_color(struct settings *s, struct error *err)
{
	const char *when = settings_text(s, OPT_COLOR, NULL), *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	bool able = !(no && *no) && term && *term && strcmp(term, "dumb");

	if (strcmp(when, "always") && strcmp(when, "never") && strcmp(when, "auto"))
		return bad(s, OPT_COLOR, "auto, always or never", err);
	if (!strcmp(when, "auto")) {
		s->color = able && isatty(STDERR_FILENO);
		s->color_out = able && isatty(STDOUT_FILENO);
	} else {
		s->color = s->color_out = !strcmp(when, "always");
	}
	return 0;
}

static int load_choices(struct settings *s, struct error *err)
{
	const char *approve = settings_text(s, OPT_APPROVE, NULL);
	const char *lang = settings_text(s, OPT_LANG, NULL);
	int profile = screen_profile_parse(settings_text(s, OPT_PROFILE, NULL));
	int require = level_parse(settings_text(s, OPT_REQUIRE, NULL));

	if (profile < 0)
		return bad(s, OPT_PROFILE, "strict, standard or off", err);
	if (require < 0)
		return bad(s, OPT_REQUIRE, "none, ran, judged, checked or expected", err);
	s->screen_profile = (enum screen_profile)profile;
	s->require = (enum level)require;
	if (!strcmp(approve, "ask"))
		s->approve = APPROVE_ASK;
	else if (!strcmp(approve, "auto"))
		s->approve = APPROVE_AUTO;
	else if (!strcmp(approve, "never"))
		s->approve = APPROVE_NEVER;
	else
		return bad(s, OPT_APPROVE, "ask, auto or never", err);
	if (lang && !language_find(lang))
		return bad(s, OPT_LANG, "a known language (python, javascript, bash)", err);
	s->lang = lang ? language_find(lang)->name : NULL;
	return 0;
}

static int load_roles(struct settings *s, struct error *err)
{
	const struct option_values *given = &s->options->given[OPT_ROLE_MODEL];
	size_t i;

	for (i = 0; i < given->count; i++) {
		const char *equals = strchr(given->values[i], '=');
		cleanup_free char *name = NULL;
		int role;

		name = equals ? mem_strndup(given->values[i], (size_t)(equals - given->values[i])) :
				NULL;
		role = name ? role_parse(name) : -1;
		if (role < 0 || !equals[1])
			return error_set(
				err, ERR_USAGE,
				"--role-model \"%s\": ROLE=MODEL expected, ROLE one of plan, code, "
				"repair, tests, cross_check, judge, answer",
				given->values[i]);
		if (!strcmp(equals + 1, "off")) {
			if (role == ROLE_CODE)
				return error_set(err, ERR_USAGE,
						 "--role-model: the coder cannot be off");
			s->roles[role].off = true;
			continue;
		}
		free(s->roles[role].model);
		s->roles[role].model = mem_strdup(equals + 1);
	}
	return 0;
}

static int load_model_options(struct settings *s, struct error *err)
{
	const struct option_values *given = &s->options->given[OPT_OPTION];
	size_t i;

	for (i = 0; i < given->count; i++) {
		const char *equals = strchr(given->values[i], '=');
		cleanup_free char *key = NULL;
		struct error ignored = ERROR_INIT;
		struct json *value;

		if (!equals || equals == given->values[i])
			return error_set(err, ERR_USAGE, "-o \"%s\": KEY=VALUE expected",
					 given->values[i]);
		key = mem_strndup(given->values[i], (size_t)(equals - given->values[i]));
		value = json_parse(equals + 1, strlen(equals + 1), 0, &ignored);
		if (!s->model_options)
			s->model_options = json_object();
		json_set(s->model_options, key, value ? value : json_new_string(equals + 1));
	}
	return 0;
}

static void load_strings(struct settings *s)
{
	const char *db = settings_text(s, OPT_DB, NULL);

	s->db_path = db ? mem_strdup(db) : audit_default_path();
	s->provider = mem_strdup(settings_text(s, OPT_PROVIDER, NULL));
	s->model = mem_strdup(settings_text(s, OPT_MODEL, NULL));
	s->base_url = mem_strdup(settings_text(s, OPT_BASE_URL, NULL));
	s->ca_file = mem_strdup(settings_text(s, OPT_CA_FILE, NULL));
	s->model_command = mem_strdup(settings_text(s, OPT_MODEL_COMMAND, NULL));
	s->script = mem_strdup(settings_text(s, OPT_SCRIPT, NULL));
	s->prompts_dir = mem_strdup(settings_text(s, OPT_PROMPTS, NULL));
}

static int load_rules(struct settings *s, struct error *err)
{
	const char *origin, *path = settings_text(s, OPT_RULES, &origin);
	struct ruleset rules;

	if (!path)
		return 0;
	if (ruleset_read(path, &rules, err) < 0) {
		err->kind = !strcmp(origin, "flag") ? ERR_USAGE : ERR_CONFIG;
		return -1;
	}
	s->rules = mem_alloc(sizeof(*s->rules));
	*s->rules = rules;
	return 0;
}

/* A pattern that no rule has approves nothing: a slip that would be found out
 * only by a refused run. */
static bool rule_exists(const struct settings *s, const char *pattern)
{
	const struct language *language;
	const struct ruleset *set = s->rules;
	struct error ignored = ERROR_INIT;
	size_t i, j;

	for (i = 0; set && i < set->count; i++)
		if (!fnmatch(pattern, set->rules[i].id, 0))
			return true;
	for (i = 0; (language = language_at(i)); i++) {
		set = ruleset_builtin(language->name, &ignored);
		for (j = 0; set && j < set->count; j++)
			if (!fnmatch(pattern, set->rules[j].id, 0))
				return true;
	}
	return false;
}

static int load_allow(struct settings *s, struct error *err)
{
	const struct option_values *given = &s->options->given[OPT_ALLOW];
	const char *text = settings_text(s, OPT_ALLOW, NULL);
	cleanup_buf struct buf all = BUF_INIT((size_t)64 << 10);
	cleanup_free char *copy = NULL;
	char *rest, *pattern;
	size_t i;

	for (i = 0; i < given->count; i++)
		buf_addf(&all, "%s%s", i ? "," : "", given->values[i]);
	if (!given->count && text)
		buf_addstr(&all, text);
	s->allow = all.len ? buf_take(&all, NULL) : NULL;
	rest = copy = mem_strdup(s->allow);
	while (rest && (pattern = strsep(&rest, ", ")))
		if (*pattern && !rule_exists(s, pattern))
			return bad(s, OPT_ALLOW, "the id of a screening rule, or a pattern of ids",
				   err);
	return 0;
}

void settings_free_rules(struct settings *s)
{
	if (s->rules)
		ruleset_release(s->rules);
	free(s->rules);
	s->rules = NULL;
}

static int load_rest(struct settings *s, struct error *err)
{
	bool no_judge, no_stream;
	int64_t retries = 2;

	if (load_switch(s, OPT_QUIET, &s->quiet, err) || load_switch(s, OPT_JSON, &s->json, err) ||
	    load_switch(s, OPT_NO_JUDGE, &no_judge, err) ||
	    load_switch(s, OPT_NO_STREAM, &no_stream, err) ||
	    load_switch(s, OPT_SHOW_REASONING, &s->show_reasoning, err) ||
	    load_switch(s, OPT_TESTS, &s->tests, err) ||
	    load_switch(s, OPT_CROSS_CHECK, &s->cross_check, err) ||
	    load_number(s, OPT_RETRIES, parse_count, 0, "a whole number", &retries, err) ||
	    load_number(s, OPT_REQUEST_TIMEOUT, settings_parse_ms, 1, wanted_time,
			&s->request_timeout_ms, err))
		return -1;
	s->judge = !no_judge;
	s->stream = !no_stream;
	s->retries = (int)(retries > 100 ? 100 : retries);
	return 0;
}

int settings_load(struct settings *ret, const struct options *options, struct error *err)
{
	struct settings s = { .options = options };
	const struct option_values *config = &options->given[OPT_CONFIG];

	if (config_load(&s.config, config->count ? config->values[0] : NULL, err) < 0)
		return -1;
	load_strings(&s);
	if (load_color(&s, err) || load_limits(&s, err) || load_budget(&s, err) ||
	    load_choices(&s, err) || load_roles(&s, err) || load_model_options(&s, err) ||
	    load_rules(&s, err) || load_allow(&s, err) || load_rest(&s, err)) {
		settings_release(&s);
		return -1;
	}
	*ret = s;
	return 0;
}

void settings_release(struct settings *s)
{
	int i;

	config_release(&s->config);
	free(s->db_path);
	free(s->provider);
	free(s->model);
	free(s->base_url);
	free(s->ca_file);
	free(s->model_command);
	free(s->script);
	free(s->prompts_dir);
	for (i = 0; i < ROLE_COUNT; i++)
		free(s->roles[i].model);
	json_free(s->model_options);
	free(s->allow);
	settings_free_rules(s);
	*s = (struct settings){ .options = NULL };
}

/* --- prices --- */

struct price settings_price(const struct settings *s, const char *model)
{
	struct price price = { .known = false };
	size_t i;

	for (i = 0; model && i < s->config.count; i++) {
		const struct config_entry *e = &s->config.entries[i];
		double in, cached, out;
		char end;

		if (strcmp(e->section, "prices") || fnmatch(e->name, model, 0))
			continue;
		if (sscanf(e->value, "%lf , %lf , %lf %c", &in, &cached, &out, &end) == 3)
			price = (struct price){ true, in, cached, out };
		else if (sscanf(e->value, "%lf , %lf %c", &in, &out, &end) == 2)
			price = (struct price){ true, in, in, out };
	}
	return price;
}
