/*
 * What options, environment and configuration say, read once into values with their meaning. A
 * value that cannot be understood is an error that names where it stands; none is guessed, and
 * none is looked for but by settings_value.c.
 */
#include "agent/cli/settings.h"

#include "audit/audit.h"
#include "agent/input/input.h"
#include "base/mem.h"
#include "base/name.h"
#include "verifier/screen/rules.h"
#include "verifier/lang/lang.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int load_limits(struct settings *s, struct error *err)
{
	struct sandbox_limits *l = &s->policy.limits;

	if (settings_number(s, OPT_TIMEOUT, settings_parse_ms, 1, settings_wanted_time, &l->wall_ms,
			    err) ||
	    settings_number(s, OPT_CPU_SECONDS, settings_parse_ms, 1, settings_wanted_time,
			    &l->cpu_ms, err) ||
	    settings_number(s, OPT_MEMORY, settings_parse_bytes, 1, settings_wanted_size,
			    &l->memory_bytes, err) ||
	    settings_number(s, OPT_DISK, settings_parse_bytes, 1, settings_wanted_size,
			    &l->disk_bytes, err) ||
	    settings_number(s, OPT_PIDS, settings_parse_count, 1, settings_wanted_count,
			    &l->processes, err) ||
	    settings_number(s, OPT_OUTPUT_BYTES, settings_parse_bytes, 1, settings_wanted_size,
			    &l->stdout_bytes, err))
		return -1;
	l->stderr_bytes = l->stdout_bytes;
	return 0;
}

static int load_budget(struct settings *s, struct error *err)
{
	struct budget_limits *b = &s->policy.budget;
	const char *cost = settings_text(s, OPT_MAX_COST, NULL);

	if (settings_number(s, OPT_MAX_ATTEMPTS, settings_parse_count, 1, settings_wanted_count,
			    &b->attempts, err) ||
	    settings_number(s, OPT_MAX_CALLS, settings_parse_count, 1, settings_wanted_count,
			    &b->calls, err) ||
	    settings_number(s, OPT_MAX_TOKENS, settings_parse_count, 1, settings_wanted_count,
			    &b->tokens, err) ||
	    settings_number(s, OPT_MAX_EXEC_SECONDS, settings_parse_ms, 1, settings_wanted_time,
			    &b->exec_ms, err) ||
	    settings_number(s, OPT_DEADLINE, settings_parse_ms, 1, settings_wanted_time,
			    &b->deadline_ms, err))
		return -1;
	if (cost) {
		char *end;
		double usd = strtod(cost, &end);

		if (end == cost || *end || !(usd >= 0) || usd > 1e9)
			return settings_bad(s, OPT_MAX_COST, "an amount in dollars", err);
		b->cost_micro_usd = llround(usd * 1e6);
	}
	return 0;
}

/* --- choices --- */

static const char *const color_names[] = { "auto", "always", "never" };
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

void settings_color_list(struct buf *out, const char *between, const char *last)
{
	name_list(out, color_names, ARRAY_SIZE(color_names), between, last);
}

/* What was wanted is one of a table's names. */
static int no_such(const struct settings *s, enum option_id id,
		   void (*list)(struct buf *out, const char *between, const char *last),
		   struct error *err)
{
	cleanup_buf struct buf names = BUF_INIT(4096);

	list(&names, ", ", " or ");
	return settings_bad(s, id, names.data, err);
}

static int load_color(struct settings *s, struct error *err)
{
	int when =
		name_find(color_names, ARRAY_SIZE(color_names), settings_text(s, OPT_COLOR, NULL));
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	bool able = !(no && *no) && term && *term && strcmp(term, "dumb");

	if (when < 0)
		return no_such(s, OPT_COLOR, settings_color_list, err);
	s->color = s->color_out = when == COLOR_ALWAYS;
	if (when == COLOR_AUTO) {
		s->color = able && isatty(STDERR_FILENO);
		s->color_out = able && isatty(STDOUT_FILENO);
	}
	return 0;
}

static int load_choices(struct settings *s, struct error *err)
{
	const char *lang = settings_text(s, OPT_LANG, NULL);
	cleanup_buf struct buf known = BUF_INIT(4096);
	int profile = screen_profile_parse(settings_text(s, OPT_PROFILE, NULL));
	int require = level_parse(settings_text(s, OPT_REQUIRE, NULL));
	int approve = approve_mode_parse(settings_text(s, OPT_APPROVE, NULL));
	int images = images_mode_parse(settings_text(s, OPT_IMAGES, NULL));

	if (profile < 0)
		return no_such(s, OPT_PROFILE, screen_profile_list, err);
	if (require < 0)
		return no_such(s, OPT_REQUIRE, level_list, err);
	if (approve < 0)
		return no_such(s, OPT_APPROVE, approve_mode_list, err);
	if (images < 0)
		return no_such(s, OPT_IMAGES, images_mode_list, err);
	s->policy.screen_profile = (enum screen_profile)profile;
	s->policy.require = (enum level)require;
	s->policy.approve = (enum approve_mode)approve;
	s->policy.images = (enum images_mode)images;
	if (lang && !language_find(lang)) {
		buf_addstr(&known, "a known language (");
		lang_list(&known, ", ", ", ");
		buf_addch(&known, ')');
		return settings_bad(s, OPT_LANG, known.data, err);
	}
	s->policy.lang = lang ? language_find(lang)->name : NULL;
	return 0;
}

/* Options that are what stands behind the colon of a sandbox's name: `--sandbox oci --oci-runtime
 * crun` is `--sandbox oci:crun`, which is what a record has. */
static const struct {
	enum option_id id;
	const char *target;
} name_parts[] = {
	{ OPT_OCI_RUNTIME, OPTION_TARGET_RUNTIME },
	{ OPT_IMAGE, OPTION_TARGET_IMAGE },
};

static int name_sandbox(struct settings *s, struct error *err)
{
	const char *name = settings_text(s, OPT_SANDBOX, NULL);

	if (!name)
		name = sandbox_name_at(0);
	s->sandbox = mem_strdup(name);
	for (size_t i = 0; i < ARRAY_SIZE(name_parts); i++) {
		const char *owner = sandbox_with_target(name_parts[i].target);
		bool its_own = owner && !strcmp(name, owner);

		const char *part = settings_text(s, name_parts[i].id, NULL);
		if (part && owner && !its_own && s->flags->given[name_parts[i].id].count) {
			cleanup_free char *wanted =
				mem_printf("for any sandbox but --sandbox %s", owner);

			return settings_bad(s, name_parts[i].id, wanted, err);
		}
		if (!part || !its_own)
			continue;
		free(s->sandbox);
		s->sandbox = mem_printf("%s:%s", name, part);
	}
	return 0;
}

/* Absolute, so that a record says where it was; links are the sandbox's affair. No shell has seen
 * what a file of settings has. NULL: none, which "" is, too. */
static char *load_path(const struct settings *s, enum option_id id)
{
	const char *path = settings_text(s, id, NULL), *home = getenv("HOME");

	if (!path || !*path)
		return NULL;
	if (home && !strncmp(path, "~/", 2))
		return mem_printf("%s%s", home, path + 1);
	cleanup_free char *here = *path != '/' ? getcwd(NULL, 0) : NULL;
	return here ? mem_printf("%s/%s", here, path) : mem_strdup(path);
}

static int load_sandbox(struct settings *s, struct error *err)
{
	if (name_sandbox(s, err) < 0)
		return -1;
	s->policy.python = load_path(s, OPT_PYTHON);
	s->policy.node_modules = load_path(s, OPT_NODE_MODULES);
	free(s->policy.sandbox);
	s->policy.sandbox = mem_strdup(sandbox_name_find(s->sandbox));
	if (s->policy.sandbox)
		return 0;
	cleanup_free char *whole = sandbox_whole_name(s->sandbox);
	cleanup_free char *names = sandbox_names();
	cleanup_free char *wanted = whole ? mem_printf("complete: %s", whole) :
					    mem_printf("a sandbox; there is: %s", names);
	return settings_bad(s, OPT_SANDBOX, wanted, err);
}

/* What is wrong with a value of a list, wherever it is from. */
static enum error_kind kind_of_list(const struct settings *s, enum option_id id)
{
	return s->flags->given[id].count ? ERR_USAGE : ERR_CONFIG;
}

static int load_role(struct settings *s, const char *text, struct error *err)
{
	const char *equals = strchr(text, '=');
	cleanup_free char *name = equals ? mem_strndup(text, (size_t)(equals - text)) : NULL;
	cleanup_buf struct buf roles = BUF_INIT(BUF_MAX_DEFAULT);
	int role = name ? role_parse(name) : -1;

	if (role < 0 || !equals[1]) {
		role_list(&roles, ", ", ", ");
		return error_set(err, kind_of_list(s, OPT_ROLE_MODEL),
				 "role-model \"%s\": ROLE=MODEL expected, ROLE one of %s", text,
				 roles.data);
	}
	s->policy.roles[role].off = !strcmp(equals + 1, "off");
	if (s->policy.roles[role].off && role == ROLE_CODE)
		return error_set(err, kind_of_list(s, OPT_ROLE_MODEL),
				 "role-model: the coder cannot be off");
	free(s->policy.roles[role].model);
	s->policy.roles[role].model = s->policy.roles[role].off ? NULL : mem_strdup(equals + 1);
	return 0;
}

static int load_roles(struct settings *s, struct error *err)
{
	const struct option_values *given = &s->options->given[OPT_ROLE_MODEL];

	for (size_t i = 0; i < given->count; i++) {
		cleanup_free char *copy = mem_strdup(given->values[i]);
		char *rest = copy, *one;

		while ((one = strsep(&rest, ", ")))
			if (*one && load_role(s, one, err) < 0)
				return -1;
	}
	return 0;
}

static int load_model_options(struct settings *s, struct error *err)
{
	const struct option_values *given = &s->options->given[OPT_OPTION];

	for (size_t i = 0; i < given->count; i++) {
		const char *equals = strchr(given->values[i], '=');

		if (!equals || equals == given->values[i])
			return error_set(err, kind_of_list(s, OPT_OPTION),
					 "-o \"%s\": KEY=VALUE expected", given->values[i]);
		cleanup_free char *key =
			mem_strndup(given->values[i], (size_t)(equals - given->values[i]));
		struct error ignored = ERROR_INIT;
		struct json *value = json_parse(equals + 1, strlen(equals + 1), 0, &ignored);
		if (!s->policy.model_options)
			s->policy.model_options = json_object();
		json_set(s->policy.model_options, key, value ? value : json_new_string(equals + 1));
	}
	return 0;
}

static void load_strings(struct settings *s)
{
	const char *db = settings_text(s, OPT_DB, NULL);

	s->db_path = db ? mem_strdup(db) : audit_default_path();
	s->policy.provider = mem_strdup(settings_text(s, OPT_PROVIDER, NULL));
	s->policy.model = mem_strdup(settings_text(s, OPT_MODEL, NULL));
	s->base_url = mem_strdup(settings_text(s, OPT_BASE_URL, NULL));
	s->ca_file = mem_strdup(settings_text(s, OPT_CA_FILE, NULL));
	s->model_command = mem_strdup(settings_text(s, OPT_MODEL_COMMAND, NULL));
	s->script = mem_strdup(settings_text(s, OPT_SCRIPT, NULL));
	s->means.prompts_dir = mem_strdup(settings_text(s, OPT_PROMPTS, NULL));
}

/* A folder that is not there would be taken for one that replaces no prompt. */
static int check_prompts(const struct settings *s, struct error *err)
{
	const char *origin, *path = settings_text(s, OPT_PROMPTS, &origin);

	if (!path)
		return 0;
	enum error_kind kind = !strcmp(origin, "flag") ? ERR_USAGE : ERR_CONFIG;
	struct stat st;
	if (stat(path, &st) < 0)
		return error_set_errno(err, kind, errno, "--prompts %s", path);
	if (!S_ISDIR(st.st_mode))
		return error_set(err, kind, "--prompts %s: is no folder", path);
	return 0;
}

static int load_rules(struct settings *s, struct error *err)
{
	const char *origin, *path = settings_text(s, OPT_RULES, &origin);

	if (!path)
		return 0;
	struct ruleset rules;
	if (ruleset_read(path, &rules, err) < 0) {
		err->kind = !strcmp(origin, "flag") ? ERR_USAGE : ERR_CONFIG;
		return -1;
	}
	s->policy.rules = mem_alloc(sizeof(*s->policy.rules));
	*s->policy.rules = rules;
	return 0;
}

/* A pattern that no rule has approves nothing: a slip that would be found out
 * only by a refused run. */
static bool rule_exists(const struct settings *s, const char *pattern)
{
	const struct ruleset *set = s->policy.rules;

	for (size_t i = 0; set && i < set->count; i++)
		if (!fnmatch(pattern, set->rules[i].id, 0))
			return true;
	const struct language *language;
	struct error ignored = ERROR_INIT;
	for (size_t i = 0; (language = language_at(i)); i++) {
		set = ruleset_builtin(language->name, &ignored);
		for (size_t j = 0; set && j < set->count; j++)
			if (!fnmatch(pattern, set->rules[j].id, 0))
				return true;
	}
	return false;
}

static int load_allow(struct settings *s, struct error *err)
{
	const struct option_values *given = &s->flags->given[OPT_ALLOW];
	const char *text = settings_text(s, OPT_ALLOW, NULL);
	cleanup_buf struct buf all = BUF_INIT((size_t)64 << 10);
	cleanup_free char *copy = NULL;

	for (size_t i = 0; i < given->count; i++)
		buf_addf(&all, "%s%s", i ? "," : "", given->values[i]);
	if (!given->count && text)
		buf_addstr(&all, text);
	s->policy.allow = all.len ? buf_take(&all, NULL) : NULL;
	char *rest = copy = mem_strdup(s->policy.allow);
	char *pattern;
	while (rest && (pattern = strsep(&rest, ", ")))
		if (*pattern && strncmp(pattern, "tool.", 5) && !rule_exists(s, pattern))
			return settings_bad(s, OPT_ALLOW,
					    "the id of a screening rule, or a pattern of ids", err);
	return 0;
}

/* Good or refused, with where it stands. */
static int add_redact(struct settings *s, const char *pattern, const char *origin,
		      enum error_kind kind, struct error *err)
{
	if (redact_check_pattern(pattern, err) < 0) {
		err->kind = kind;
		return error_wrap(err, "%s \"%.60s\"", origin, pattern);
	}
	s->redact = mem_array(s->redact, s->redact_count + 1, sizeof(*s->redact));
	s->redact[s->redact_count++] = pattern;
	return 0;
}

/* No place takes the patterns of another away: what was secret stays so. */
static int load_redact(struct settings *s, struct error *err)
{
	const struct option_values *given = &s->flags->given[OPT_REDACT];
	const char *name = option_table[OPT_REDACT].name, *text = settings_environment(name);
	cleanup_free char *section = settings_profile_section(s);

	for (size_t i = 0; i < s->config.count; i++) {
		const struct config_entry *e = &s->config.entries[i];
		cleanup_free char *origin = mem_printf("%s:%d: redact", s->config.path, e->line);

		if (!strcmp(e->name, name) &&
		    (!*e->section || (section && !strcmp(e->section, section))) &&
		    add_redact(s, e->value, origin, ERR_CONFIG, err) < 0)
			return -1;
	}
	if (text && *text && add_redact(s, text, "ASSAY_REDACT", ERR_CONFIG, err) < 0)
		return -1;
	for (size_t i = 0; i < given->count; i++)
		if (add_redact(s, given->values[i], "--redact", ERR_USAGE, err) < 0)
			return -1;
	return 0;
}

static void load_prices(struct settings *s)
{
	for (size_t i = 0; i < s->config.count; i++) {
		const struct config_entry *e = &s->config.entries[i];

		if (!strcmp(e->section, "prices"))
			price_list_add(&s->means.prices, e->name, e->value);
	}
}

static int load_rest(struct settings *s, struct error *err)
{
	bool no_judge, no_stream, fast, careful;
	int64_t retries = 2;

	if (settings_switch(s, OPT_QUIET, &s->quiet, err) ||
	    settings_switch(s, OPT_JSON, &s->json, err) ||
	    settings_switch(s, OPT_NO_JUDGE, &no_judge, err) ||
	    settings_switch(s, OPT_NO_STREAM, &no_stream, err) ||
	    settings_switch(s, OPT_SHOW_REASONING, &s->show_reasoning, err) ||
	    settings_switch(s, OPT_WEAKER, &s->policy.weaker, err) ||
	    settings_switch(s, OPT_TESTS, &s->policy.tests, err) ||
	    settings_switch(s, OPT_CROSS_CHECK, &s->policy.cross_check, err) ||
	    settings_switch(s, OPT_FAST, &fast, err) ||
	    settings_switch(s, OPT_CAREFUL, &careful, err) ||
	    settings_number(s, OPT_RETRIES, settings_parse_count, 0, "a whole number", &retries,
			    err) ||
	    settings_number(s, OPT_REQUEST_TIMEOUT, settings_parse_ms, 1, settings_wanted_time,
			    &s->means.request_timeout_ms, err))
		return -1;
	if (settings_number(s, OPT_KEEP_INPUTS, settings_parse_bytes, 0, settings_wanted_size,
			    &s->keep_inputs, err))
		return -1;
	if (s->keep_inputs > INPUT_KEEP_MAX)
		return settings_bad(s, OPT_KEEP_INPUTS, "at most 256M", err);
	if (fast && careful)
		return error_set(err, ERR_USAGE,
				 "fast and careful exclude each other: drop one of the two");
	s->policy.mode = fast ? MODE_FAST : careful ? MODE_CAREFUL : MODE_USUAL;
	s->policy.judge = !no_judge && !fast;
	const char *origin;
	settings_text(s, OPT_REQUIRE, &origin);
	if (fast && !strcmp(origin, "default"))
		s->policy.require = LEVEL_RAN;
	s->means.stream = !no_stream;
	s->means.retries = (int)(retries > 100 ? 100 : retries);
	return 0;
}

/* Whoever names a profile relies on what it sets: without it, weaker settings would be in force. */
static int check_profile(const struct settings *s, struct error *err)
{
	cleanup_free char *section = settings_profile_section(s), *place = NULL;

	for (size_t i = 0; section && i < s->config.count; i++)
		if (!strcmp(s->config.entries[i].section, section))
			return 0;
	if (!section)
		return 0;
	enum error_kind kind = settings_place(s, OPT_USE, &place);
	return error_set(err, kind, "%s: %s sets nothing in a section [%.100s]", place,
			 s->config.path ? s->config.path : "no configuration", section);
}

int settings_load(struct settings *ret, const struct options *options, struct error *err)
{
	struct settings s = { .flags = options, .means = MEANS_INIT };
	const struct option_values *config = &options->given[OPT_CONFIG];

	if (config_load(&s.config, config->count ? config->values[0] : NULL, err) < 0)
		return -1;
	settings_fill_options(&s);
	policy_init(&s.policy);
	load_strings(&s);
	load_prices(&s);
	if (check_profile(&s, err) || load_color(&s, err) || load_limits(&s, err) ||
	    load_budget(&s, err) || load_choices(&s, err) || load_sandbox(&s, err) ||
	    load_roles(&s, err) || load_model_options(&s, err) || check_prompts(&s, err) ||
	    load_rules(&s, err) || load_allow(&s, err) || load_redact(&s, err) ||
	    load_rest(&s, err)) {
		settings_release(&s);
		return -1;
	}
	*ret = s;
	return 0;
}

void settings_release(struct settings *s)
{
	config_release(&s->config);
	settings_free_options(s->options);
	free(s->db_path);
	free(s->sandbox);
	free(s->redact);
	free(s->base_url);
	free(s->ca_file);
	free(s->model_command);
	free(s->script);
	policy_release(&s->policy);
	means_release(&s->means);
	*s = (struct settings){ .options = NULL };
}
