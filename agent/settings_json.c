/* Settings as the log keeps them, and back: a replay runs under the recorded ones. */
#include "agent/settings.h"

#include "base/mem.h"
#include "verifier/rules.h"

#include <stdlib.h>
#include <string.h>

struct limit_row {
	const char *name;
	size_t offset;	/* of an int64_t in struct sandbox_limits or budget_limits */
};

#define LIMIT(name_) { #name_, offsetof(struct sandbox_limits, name_) }
#define BUDGET(name_) { #name_, offsetof(struct budget_limits, name_) }

static const struct limit_row limit_rows[] = {
	LIMIT(wall_ms), LIMIT(cpu_ms), LIMIT(memory_bytes), LIMIT(processes), LIMIT(open_files),
	LIMIT(disk_bytes), LIMIT(inodes), LIMIT(stdout_bytes), LIMIT(stderr_bytes),
	LIMIT(artifact_bytes), LIMIT(artifacts),
};

static const struct limit_row budget_rows[] = {
	BUDGET(attempts), BUDGET(calls), BUDGET(tokens), BUDGET(exec_ms), BUDGET(cost_micro_usd),
	BUDGET(deadline_ms),
};

static struct json *rows_json(const struct limit_row *rows, size_t count, const void *base)
{
	struct json *object = json_object();
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t value;

		memcpy(&value, (const char *)base + rows[i].offset, sizeof(value));
		json_set_int(object, rows[i].name, value);
	}
	return object;
}

static void rows_from_json(const struct limit_row *rows, size_t count, void *base,
			   const struct json *object)
{
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t value;

		memcpy(&value, (char *)base + rows[i].offset, sizeof(value));
		value = json_get_int(object, rows[i].name, value);
		memcpy((char *)base + rows[i].offset, &value, sizeof(value));
	}
}

static const char *approve_name(enum approve_mode mode)
{
	static const char *const names[] = { "auto", "ask", "never" };

	return names[mode];
}

struct json *settings_json(const struct settings *s)
{
	struct json *object = json_object(), *roles = json_object();
	int i;

	for (i = 0; i < ROLE_COUNT; i++)
		if (s->roles[i].off || s->roles[i].model)
			json_set_string(roles, role_name((enum role)i),
					s->roles[i].off ? "off" : s->roles[i].model);
	json_set_string(object, "provider", s->provider);
	json_set_string(object, "model", s->model);
	json_set(object, "roles", roles);
	json_set(object, "options",
		 s->model_options ? json_copy(s->model_options) : json_new_null());
	json_set_string(object, "lang", s->lang);
	json_set(object, "limits", rows_json(limit_rows, ARRAY_SIZE(limit_rows), &s->limits));
	json_set(object, "budget", rows_json(budget_rows, ARRAY_SIZE(budget_rows), &s->budget));
	json_set_string(object, "profile", screen_profile_name(s->screen_profile));
	json_set_string(object, "rules", s->rules ? s->rules->text : NULL);
	json_set_string(object, "allow", s->allow);
	json_set_string(object, "approve", approve_name(s->approve));
	json_set_bool(object, "judge", s->judge);
	json_set_bool(object, "tests", s->tests);
	json_set_bool(object, "cross_check", s->cross_check);
	json_set_string(object, "require", level_name(s->require));
	return object;
}

static char *text_or_null(const struct json *config, const char *key)
{
	return mem_strdup(json_get_string(config, key));
}

/* The recorded rules, whatever became of the file they were read from. */
static int rules_from_json(struct settings *s, const char *text, struct error *err)
{
	struct ruleset rules;

	settings_free_rules(s);
	if (!text)
		return 0;
	if (ruleset_parse(text, strlen(text), &rules, err) < 0) {
		err->kind = ERR_LOG;
		return error_wrap(err, "the recorded screening rules");
	}
	s->rules = mem_alloc(sizeof(*s->rules));
	*s->rules = rules;
	return 0;
}

int settings_from_json(struct settings *s, const struct json *config, struct error *err)
{
	const char *lang = json_get_string(config, "lang");
	const char *profile = json_get_string(config, "profile");
	const char *require = json_get_string(config, "require");
	const char *approve = json_get_string(config, "approve");
	const struct json *roles = json_get(config, "roles"), *role;
	const struct json *options = json_get(config, "options");
	int i;

	if (!profile || screen_profile_parse(profile) < 0 || !require || level_parse(require) < 0 ||
	    (lang && !language_find(lang)))
		return error_set(err, ERR_LOG,
				 "the recorded configuration of the run cannot be read");
	free(s->provider);
	free(s->model);
	s->provider = text_or_null(config, "provider");
	s->model = text_or_null(config, "model");
	for (i = 0; i < ROLE_COUNT; i++) {
		role = json_get(roles, role_name((enum role)i));
		free(s->roles[i].model);
		s->roles[i].off = role && !strcmp(json_string(role), "off");
		s->roles[i].model = s->roles[i].off ? NULL : mem_strdup(json_string(role));
	}
	json_free(s->model_options);
	s->model_options = json_type(options) == JSON_OBJECT ? json_copy(options) : NULL;
	free(s->allow);
	s->allow = text_or_null(config, "allow");
	s->lang = lang ? language_find(lang)->name : NULL;
	rows_from_json(limit_rows, ARRAY_SIZE(limit_rows), &s->limits, json_get(config, "limits"));
	rows_from_json(budget_rows, ARRAY_SIZE(budget_rows), &s->budget,
		       json_get(config, "budget"));
	s->screen_profile = (enum screen_profile)screen_profile_parse(profile);
	s->approve = approve && !strcmp(approve, "ask")	    ? APPROVE_ASK :
		     approve && !strcmp(approve, "never") ? APPROVE_NEVER :
							      APPROVE_AUTO;
	s->judge = json_get_bool(config, "judge", true);
	s->tests = json_get_bool(config, "tests", false);
	s->cross_check = json_get_bool(config, "cross_check", false);
	s->require = (enum level)level_parse(require);
	return rules_from_json(s, json_get_string(config, "rules"), err);
}

/* --- a task's own limits --- */

enum limit_unit { UNIT_SECONDS, UNIT_BYTES, UNIT_COUNT };

struct task_limit {
	const char *name;
	bool budget;
	size_t offset;
	enum limit_unit unit;
};

static const struct task_limit task_limits[] = {
	{ "timeout", false, offsetof(struct sandbox_limits, wall_ms), UNIT_SECONDS },
	{ "cpu_seconds", false, offsetof(struct sandbox_limits, cpu_ms), UNIT_SECONDS },
	{ "memory", false, offsetof(struct sandbox_limits, memory_bytes), UNIT_BYTES },
	{ "disk", false, offsetof(struct sandbox_limits, disk_bytes), UNIT_BYTES },
	{ "pids", false, offsetof(struct sandbox_limits, processes), UNIT_COUNT },
	{ "output_bytes", false, offsetof(struct sandbox_limits, stdout_bytes), UNIT_BYTES },
	{ "max_attempts", true, offsetof(struct budget_limits, attempts), UNIT_COUNT },
	{ "max_calls", true, offsetof(struct budget_limits, calls), UNIT_COUNT },
	{ "max_tokens", true, offsetof(struct budget_limits, tokens), UNIT_COUNT },
	{ "max_exec_seconds", true, offsetof(struct budget_limits, exec_ms), UNIT_SECONDS },
};

static int limit_value(const struct json *value, enum limit_unit unit, int64_t *ret)
{
	const char *text = json_string(value);
	double number = json_number(value, -1);

	if (text)
		return unit == UNIT_SECONDS ? settings_parse_ms(text, ret) :
		       unit == UNIT_BYTES   ? settings_parse_bytes(text, ret) :
					      -1;
	if (!(number > 0) || number > 1e15)
		return -1;
	*ret = (int64_t)(unit == UNIT_SECONDS ? number * 1000 : number);
	return *ret > 0 ? 0 : -1;
}

int settings_apply_limits(struct settings *s, const struct json *limits, struct error *err)
{
	const struct json *member;
	size_t i;

	for (member = json_first(limits); member; member = json_next(member)) {
		int64_t value;
		char *base;

		for (i = 0; i < ARRAY_SIZE(task_limits); i++)
			if (!strcmp(task_limits[i].name, json_key(member)))
				break;
		if (i == ARRAY_SIZE(task_limits))
			return error_set(
				err, ERR_USAGE,
				"limits: unknown limit \"%.60s\"; known: timeout, "
				"cpu_seconds, memory, disk, pids, output_bytes, max_attempts, "
				"max_calls, max_tokens, max_exec_seconds",
				json_key(member));
		if (limit_value(member, task_limits[i].unit, &value) < 0)
			return error_set(err, ERR_USAGE,
					 "limits: \"%s\" must be a number above zero",
					 task_limits[i].name);
		base = task_limits[i].budget ? (char *)&s->budget : (char *)&s->limits;
		memcpy(base + task_limits[i].offset, &value, sizeof(value));
		if (!strcmp(task_limits[i].name, "output_bytes"))
			s->limits.stderr_bytes = value;
	}
	return 0;
}
