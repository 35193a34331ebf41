/*
 * The table of what models refuse, applied before a request and learnt from a refusal. It may
 * take away or rename a parameter, never a bound on tokens, and says so.
 */
#include "llm/wire/capability.h"

#include "base/mem.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Whose models a row is about. */
enum scope { SCOPE_OPENAI, SCOPE_ANTHROPIC, SCOPE_QUIRK };

struct rule {
	enum scope scope;
	unsigned quirk;	   /* of SCOPE_QUIRK */
	const char *model; /* glob */
	const char *param;
	const char *instead; /* its other name, NULL: it is left out */
};

/*
 * OpenAI's reasoning models refuse what steers sampling. The newest of
 * Anthropic's do too. Names of Azure's deployments are the user's own: there
 * the table helps when they are the model's, and a refusal teaches the rest.
 */
static const struct rule rules[] = {
	{ SCOPE_OPENAI, 0, "o[1-9]*", "max_tokens", "max_completion_tokens" },
	{ SCOPE_OPENAI, 0, "gpt-5*", "max_tokens", "max_completion_tokens" },
	{ SCOPE_OPENAI, 0, "o[1-9]*", "temperature", NULL },
	{ SCOPE_OPENAI, 0, "gpt-5*", "temperature", NULL },
	{ SCOPE_OPENAI, 0, "o[1-9]*", "top_p", NULL },
	{ SCOPE_OPENAI, 0, "gpt-5*", "top_p", NULL },
	{ SCOPE_OPENAI, 0, "o[34]*", "stop", NULL },
	{ SCOPE_OPENAI, 0, "gpt-5*", "stop", NULL },
	{ SCOPE_ANTHROPIC, 0, "claude-opus-4-7*", "temperature", NULL },
	{ SCOPE_ANTHROPIC, 0, "claude-opus-4-7*", "top_p", NULL },
	{ SCOPE_ANTHROPIC, 0, "claude-opus-4-7*", "top_k", NULL },
	{ SCOPE_QUIRK, LLM_QUIRK_NO_STREAM_OPTIONS, "*", "stream_options", NULL },
	{ SCOPE_QUIRK, LLM_QUIRK_COMPLETION_TOKENS, "*", "max_tokens", "max_completion_tokens" },
};

static bool concerns(const struct rule *r, const struct capability_target *t)
{
	if (r->scope == SCOPE_QUIRK)
		return (t->quirks & r->quirk) != 0;
	if (r->scope == SCOPE_ANTHROPIC)
		return t->wire == LLM_WIRE_ANTHROPIC && fnmatch(r->model, t->model, 0) == 0;
	return (t->wire == LLM_WIRE_OPENAI_CHAT || t->wire == LLM_WIRE_OPENAI_RESPONSES) &&
	       t->official && fnmatch(r->model, t->model, 0) == 0;
}

/* Takes param out of body, or gives it its other name unless that is there. */
static void change(struct json *body, const char *param, const char *instead)
{
	if (instead && !json_get(body, instead))
		json_set(body, instead, json_copy(json_get(body, param)));
	json_remove(body, param);
}

static void add_note(struct json **notes, char *sentence)
{
	if (!*notes)
		*notes = json_array();
	json_append(*notes, json_new_string(sentence));
	free(sentence);
}

void capability_apply(struct json *body, const struct capability_target *target,
		      const struct capability_lessons *lessons, const struct json *options,
		      struct json **notes)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const struct rule *r = &rules[i];

		if (!json_get(body, r->param) || !concerns(r, target))
			continue;
		change(body, r->param, r->instead);
		if (!r->instead && json_get(options, r->param))
			add_note(notes, mem_printf("%s takes no %s: sent without it", target->model,
						   r->param));
	}
	for (size_t i = 0; i < lessons->count; i++) {
		const struct capability_lesson *l = &lessons->lessons[i];

		if (!json_get(body, l->param) || strcmp(l->base_url, target->base_url) ||
		    strcmp(l->model, target->model))
			continue;
		change(body, l->param, l->instead);
		add_note(notes, mem_printf("the server rejected %s before: sent %s%s", l->param,
					   l->instead ? "as " : "without it",
					   l->instead ? l->instead : ""));
	}
}

/* --- refusals --- */

/* Without these there is no request. */
static bool is_essential(const char *name)
{
	static const char *const names[] = {
		"model",  "messages",	      "input", "system", "instructions",
		"stream", "max_output_tokens"
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A parameter the server does not take, as against a value out of its range. */
static bool is_rejection(const struct llm_error *error)
{
	static const char *const words[] = { "unsupported", "not supported", "not support",
					     "unknown",	    "unrecognized",  "not permitted",
					     "deprecated",  "unexpected",    "cannot find field" };

	if (error->status != 400 && error->status != 422)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if ((error->message && strcasestr(error->message, words[i])) ||
		    (error->code && strcasestr(error->code, words[i])))
			return true;
	}
	return false;
}

void capability_forget(struct capability_lessons *lessons)
{
	for (size_t i = 0; i < lessons->count; i++) {
		free(lessons->lessons[i].base_url);
		free(lessons->lessons[i].model);
		free(lessons->lessons[i].param);
	}
	free(lessons->lessons);
	*lessons = (struct capability_lessons){ .count = 0 };
}

static void learn(struct capability_lessons *all, const struct capability_target *target,
		  const char *param, const char *instead)
{
	all->lessons = mem_array(all->lessons, all->count + 1, sizeof(*all->lessons));
	all->lessons[all->count++] = (struct capability_lesson){
		.base_url = mem_strdup(target->base_url),
		.model = mem_strdup(target->model),
		.param = mem_strdup(param),
		.instead = instead,
	};
}

char *capability_repair(struct json *body, const struct capability_target *target,
			struct capability_lessons *lessons, const struct llm_error *error,
			const char *param)
{
	if (!param || !is_rejection(error))
		return NULL;
	cleanup_free char *name = mem_strndup(param, strcspn(param, ".["));
	if (!json_get(body, name) || is_essential(name))
		return NULL;
	const char *instead = NULL;
	if (!strcmp(name, "max_tokens"))
		instead = "max_completion_tokens";
	else if (!strcmp(name, "max_completion_tokens"))
		instead = "max_tokens";
	if (instead && (json_get(body, instead) || target->wire != LLM_WIRE_OPENAI_CHAT))
		return NULL;
	change(body, name, instead);
	learn(lessons, target, name, instead);
	if (instead)
		return mem_printf("the server rejects %s: sent again as %s", name, instead);
	return mem_printf("the server rejects %s: sent again without it", name);
}

/* --- bounds --- */

static void bound_members(struct json *object, int64_t most, struct json **notes)
{
	static const char *const names[] = { "max_tokens", "max_completion_tokens",
					     "max_output_tokens", "num_predict" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int64_t n = json_get_int(object, names[i], 0);

		if (!json_get(object, names[i]) || (n > 0 && n <= most))
			continue;
		json_set_int(object, names[i], most);
		add_note(notes, mem_printf("%s is held to %lld, what the budget leaves", names[i],
					   (long long)most));
	}
}

void capability_bound(struct json *body, int64_t most, const struct json *options,
		      struct json **notes)
{
	static const char *const several[] = { "n", "best_of" };

	/* An option under one of the two names replaces ours under the other. */
	if (json_get(options, "max_completion_tokens") && !json_get(options, "max_tokens"))
		json_remove(body, "max_tokens");
	for (size_t i = 0; i < ARRAY_SIZE(several); i++) {
		if (!json_get(body, several[i]))
			continue;
		json_remove(body, several[i]);
		add_note(notes, mem_printf("%s is left out: one answer is asked for", several[i]));
	}
	if (most <= 0)
		return;
	bound_members(body, most, notes);
	bound_members(json_get(body, "options"), most, notes);
}
