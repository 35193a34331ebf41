/*
 * The policy of a run: copied whole, and as the log keeps it, and back. What decides a run stands
 * here; what is not here cannot make a replay differ.
 */
#include "agent/policy.h"

#include "base/mem.h"
#include "base/name.h"
#include "verifier/screen/rules.h"

#include <stdlib.h>
#include <string.h>

static const char *const mode_names[] = { "usual", "careful", "fast" };
static const char *const images_names[] = { "auto", "always", "never" };
static const char *const approve_names[] = { "auto", "ask", "never" };

const char *mode_name(enum mode mode)
{
	return mode_names[mode];
}

int mode_parse(const char *name)
{
	return name_find(mode_names, ARRAY_SIZE(mode_names), name);
}

const char *images_mode_name(enum images_mode mode)
{
	return images_names[mode];
}

int images_mode_parse(const char *name)
{
	return name_find(images_names, ARRAY_SIZE(images_names), name);
}

void images_mode_list(struct buf *out, const char *between, const char *last)
{
	name_list(out, images_names, ARRAY_SIZE(images_names), between, last);
}

const char *approve_mode_name(enum approve_mode mode)
{
	return approve_names[mode];
}

int approve_mode_parse(const char *name)
{
	return name_find(approve_names, ARRAY_SIZE(approve_names), name);
}

void approve_mode_list(struct buf *out, const char *between, const char *last)
{
	name_list(out, approve_names, ARRAY_SIZE(approve_names), between, last);
}

void policy_init(struct policy *p)
{
	*p = (struct policy){
		.sandbox = mem_strdup(sandbox_name_find(NULL)),
		.budget = { .attempts = 4,
			    .calls = 20,
			    .tokens = 200000,
			    .exec_ms = 30000,
			    .cost_micro_usd = -1 },
		.screen_profile = SCREEN_STANDARD,
		.approve = APPROVE_AUTO,
		.mode = MODE_USUAL,
		.judge = true,
		.require = LEVEL_JUDGED,
	};
	sandbox_limits_default(&p->limits);
}

/* --- copies --- */

static void free_rules(struct policy *p)
{
	if (p->rules)
		ruleset_release(p->rules);
	free(p->rules);
	p->rules = NULL;
}

/* They were read from this text before, so they can be read from it again. */
static struct ruleset *copy_rules(const struct ruleset *rules)
{
	if (!rules)
		return NULL;
	struct ruleset *copy = mem_alloc(sizeof(*copy));
	struct error err = ERROR_INIT;
	if (ruleset_parse(rules->text, strlen(rules->text), copy, &err) < 0)
		abort();
	return copy;
}

void policy_copy(struct policy *ret, const struct policy *p)
{
	struct policy copy = *p;

	copy.provider = mem_strdup(p->provider);
	copy.model = mem_strdup(p->model);
	for (int i = 0; i < ROLE_COUNT; i++)
		copy.roles[i].model = mem_strdup(p->roles[i].model);
	copy.model_options = p->model_options ? json_copy(p->model_options) : NULL;
	copy.rules = copy_rules(p->rules);
	copy.allow = mem_strdup(p->allow);
	copy.sandbox = mem_strdup(p->sandbox);
	copy.python = mem_strdup(p->python);
	copy.node_modules = mem_strdup(p->node_modules);
	*ret = copy;
}

void policy_release(struct policy *p)
{
	free(p->provider);
	free(p->model);
	for (int i = 0; i < ROLE_COUNT; i++)
		free(p->roles[i].model);
	json_free(p->model_options);
	free_rules(p);
	free(p->allow);
	free(p->sandbox);
	free(p->python);
	free(p->node_modules);
	*p = (struct policy){ .provider = NULL };
}

/* --- the record --- */

struct limit_row {
	const char *name;
	size_t offset; /* of an int64_t in struct sandbox_limits or budget_limits */
};

#define LIMIT(name_)                                           \
	{                                                      \
#name_, offsetof(struct sandbox_limits, name_) \
	}
#define BUDGET(name_)                                         \
	{                                                     \
#name_, offsetof(struct budget_limits, name_) \
	}

static const struct limit_row limit_rows[] = {
	LIMIT(wall_ms),	     LIMIT(cpu_ms),	    LIMIT(memory_bytes), LIMIT(processes),
	LIMIT(open_files),   LIMIT(disk_bytes),	    LIMIT(inodes),	 LIMIT(stdout_bytes),
	LIMIT(stderr_bytes), LIMIT(artifact_bytes), LIMIT(artifacts),
};

static const struct limit_row budget_rows[] = {
	BUDGET(attempts), BUDGET(calls),	  BUDGET(tokens),
	BUDGET(exec_ms),  BUDGET(cost_micro_usd), BUDGET(deadline_ms),
};

static struct json *rows_json(const struct limit_row *rows, size_t count, const void *base)
{
	struct json *object = json_object();

	for (size_t i = 0; i < count; i++) {
		int64_t value;

		memcpy(&value, (const char *)base + rows[i].offset, sizeof(value));
		json_set_int(object, rows[i].name, value);
	}
	return object;
}

/* A limit that is none is no limit of anybody's: to a control group, say, -1 is "unlimited". */
static bool are_limits(const struct json *limits)
{
	for (size_t i = 0; i < ARRAY_SIZE(limit_rows); i++)
		if (json_get_int(limits, limit_rows[i].name, 0) < 0)
			return false;
	return true;
}

static void rows_from_json(const struct limit_row *rows, size_t count, void *base,
			   const struct json *object)
{
	for (size_t i = 0; i < count; i++) {
		int64_t value;

		memcpy(&value, (char *)base + rows[i].offset, sizeof(value));
		value = json_get_int(object, rows[i].name, value);
		memcpy((char *)base + rows[i].offset, &value, sizeof(value));
	}
}

struct json *policy_json(const struct policy *p)
{
	struct json *object = json_object(), *roles = json_object();

	for (int i = 0; i < ROLE_COUNT; i++)
		if (p->roles[i].off || p->roles[i].model)
			json_set_string(roles, role_name((enum role)i),
					p->roles[i].off ? "off" : p->roles[i].model);
	json_set_string(object, "provider", p->provider);
	json_set_string(object, "model", p->model);
	json_set(object, "roles", roles);
	json_set(object, "options",
		 p->model_options ? json_copy(p->model_options) : json_new_null());
	json_set_string(object, "lang", p->lang);
	json_set_string(object, "sandbox", p->sandbox);
	if (p->weaker)
		json_set_bool(object, "weaker", true);
	if (p->python)
		json_set_string(object, "own_python", p->python);
	if (p->node_modules)
		json_set_string(object, "own_modules", p->node_modules);
	json_set(object, "limits", rows_json(limit_rows, ARRAY_SIZE(limit_rows), &p->limits));
	json_set(object, "budget", rows_json(budget_rows, ARRAY_SIZE(budget_rows), &p->budget));
	json_set_string(object, "profile", screen_profile_name(p->screen_profile));
	json_set_string(object, "rules", p->rules ? p->rules->text : NULL);
	json_set_string(object, "allow", p->allow);
	json_set_string(object, "approve", approve_mode_name(p->approve));
	json_set_string(object, "images", images_mode_name(p->images));
	json_set_string(object, "mode", mode_name(p->mode));
	json_set_bool(object, "judge", p->judge);
	json_set_bool(object, "tests", p->tests);
	json_set_bool(object, "cross_check", p->cross_check);
	json_set_string(object, "require", level_name(p->require));
	return object;
}

static char *text_or_null(const struct json *config, const char *key)
{
	return mem_strdup(json_get_string(config, key));
}

/* The recorded rules, whatever became of the file they were read from. */
static int rules_from_json(struct policy *p, const char *text, struct error *err)
{
	free_rules(p);
	if (!text)
		return 0;
	struct ruleset rules;
	if (ruleset_parse(text, strlen(text), &rules, err) < 0) {
		err->kind = ERR_LOG;
		return error_wrap(err, "the recorded screening rules");
	}
	p->rules = mem_alloc(sizeof(*p->rules));
	*p->rules = rules;
	return 0;
}

/* What a record calls by a name: one that is not known is no name of ours, and is not guessed at.
 * Where the member is not there, it is what it was before there was such a choice; -1: it was
 * always there. */
static bool named(const struct json *config, const char *key, int (*parse)(const char *name),
		  int before, int *ret)
{
	const struct json *value = json_get(config, key);

	*ret = value ? parse(json_string(value)) : before;
	return *ret >= 0;
}

/* A member that may be absent or null. */
static bool text_or_none(const struct json *config, const char *key)
{
	const struct json *value = json_get(config, key);

	return !value || json_type(value) == JSON_NULL || json_string(value);
}

/* In place of p's. Before images could be sent none were, and before there were modes each role had
 * its call. */
static bool choices_from_json(struct policy *p, const struct json *config)
{
	int profile, require, approve, images, mode;

	if (!named(config, "profile", screen_profile_parse, -1, &profile) ||
	    !named(config, "require", level_parse, -1, &require) ||
	    !named(config, "approve", approve_mode_parse, APPROVE_AUTO, &approve) ||
	    !named(config, "images", images_mode_parse, IMAGES_NEVER, &images) ||
	    !named(config, "mode", mode_parse, MODE_CAREFUL, &mode))
		return false;
	p->screen_profile = (enum screen_profile)profile;
	p->require = (enum level)require;
	p->approve = (enum approve_mode)approve;
	p->images = (enum images_mode)images;
	p->mode = (enum mode)mode;
	return true;
}

int policy_from_json(struct policy *p, const struct json *config, struct error *err)
{
	const char *lang = json_get_string(config, "lang");
	const struct json *roles = json_get(config, "roles");
	const struct json *options = json_get(config, "options");

	if ((lang && !language_find(lang)) || !text_or_none(config, "lang") ||
	    !text_or_none(config, "sandbox") || !are_limits(json_get(config, "limits")) ||
	    !choices_from_json(p, config))
		return error_set(err, ERR_LOG,
				 "the recorded configuration of the run cannot be read");
	free(p->provider);
	free(p->model);
	p->provider = text_or_null(config, "provider");
	p->model = text_or_null(config, "model");
	for (int i = 0; i < ROLE_COUNT; i++) {
		const struct json *role = json_get(roles, role_name((enum role)i));
		free(p->roles[i].model);
		p->roles[i].off = role && !strcmp(json_string(role), "off");
		p->roles[i].model = p->roles[i].off ? NULL : mem_strdup(json_string(role));
	}
	json_free(p->model_options);
	p->model_options = json_type(options) == JSON_OBJECT ? json_copy(options) : NULL;
	free(p->allow);
	p->allow = text_or_null(config, "allow");
	free(p->python);
	free(p->node_modules);
	p->python = text_or_null(config, "own_python");
	p->node_modules = text_or_null(config, "own_modules");
	p->lang = lang ? language_find(lang)->name : NULL;
	/* Before there was a choice, it was the first. */
	free(p->sandbox);
	p->sandbox = mem_strdup(sandbox_name_find(json_get_string(config, "sandbox")));
	rows_from_json(limit_rows, ARRAY_SIZE(limit_rows), &p->limits, json_get(config, "limits"));
	rows_from_json(budget_rows, ARRAY_SIZE(budget_rows), &p->budget,
		       json_get(config, "budget"));
	p->weaker = json_get_bool(config, "weaker", false);
	p->judge = json_get_bool(config, "judge", true);
	p->tests = json_get_bool(config, "tests", false);
	p->cross_check = json_get_bool(config, "cross_check", false);
	return rules_from_json(p, json_get_string(config, "rules"), err);
}

int policy_of_record(struct policy *ret, const struct policy *given, const struct json *config,
		     struct error *err)
{
	struct policy p;

	policy_copy(&p, given);
	if (policy_from_json(&p, config, err) < 0) {
		policy_release(&p);
		return -1;
	}
	p.weaker = given->weaker;
	*ret = p;
	return 0;
}
