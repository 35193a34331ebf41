#include "agent/provider.h"

#include "agent/keys.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define LOCAL_SEARCH_MS 400

enum provider_kind { KIND_HTTP, KIND_LOCAL, KIND_COMMAND, KIND_SCRIPT };

struct provider {
	const char *name;
	enum provider_kind kind;
	enum llm_wire wire;
	const char *key;	/* variable; NULL: none is needed */
	const char *base;	/* variable of the base URL, or NULL */
	const char *model;	/* asked when none is named, or NULL */
};

static const struct provider providers[] = {
	{ "openai", KIND_HTTP, LLM_WIRE_OPENAI_CHAT, "OPENAI_API_KEY", "OPENAI_BASE_URL",
	  "gpt-5-mini" },
	{ "openai-responses", KIND_HTTP, LLM_WIRE_OPENAI_RESPONSES, "OPENAI_API_KEY",
	  "OPENAI_BASE_URL", "gpt-5-mini" },
	{ "anthropic", KIND_HTTP, LLM_WIRE_ANTHROPIC, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
	  "claude-sonnet-4-5" },
	{ "ollama", KIND_HTTP, LLM_WIRE_OLLAMA, NULL, NULL, NULL },
	{ "local", KIND_LOCAL, LLM_WIRE_OPENAI_CHAT, NULL, NULL, NULL },
	{ "command", KIND_COMMAND, LLM_WIRE_OPENAI_CHAT, NULL, NULL, NULL },
	{ "script", KIND_SCRIPT, LLM_WIRE_OPENAI_CHAT, NULL, NULL, NULL },
};

static const struct provider *find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(providers); i++)
		if (!strcmp(providers[i].name, name))
			return &providers[i];
	return NULL;
}

static const char *variable(const char *name)
{
	const char *value = name ? getenv(name) : NULL;

	return value && *value ? value : NULL;
}

/* --- a local server: looked for once, found strings kept --- */

static struct {
	bool searched;
	char *base_url, *model;
} local;

static bool find_local(void)
{
	if (!local.searched && llm_find_local(LOCAL_SEARCH_MS, &local.base_url, &local.model) != 1)
		local.base_url = NULL;
	local.searched = true;
	return local.base_url != NULL;
}

/* OLLAMA_HOST is "host", "host:port" or a URL; a server bound to every address
 * is asked at this one. Kept to the end of the process. */
static const char *ollama_base(void)
{
	static char *base;
	const char *host = variable("OLLAMA_HOST");

	free(base);
	base = NULL;
	if (!host)
		return NULL;
	if (strstr(host, "://"))
		return host;
	if (!strncmp(host, "0.0.0.0", 7))
		base = mem_printf("http://127.0.0.1%s", host[7] ? host + 7 : ":11434");
	else
		base = mem_printf("http://%s%s", host, strchr(host, ':') ? "" : ":11434");
	return base;
}

/* --- which one --- */

static int none_found(struct error *err)
{
	return error_set(
		err, ERR_CONFIG,
		"no model is set up, and no Ollama or llama.cpp server answers here. Set one of:\n"
		"  export OPENAI_API_KEY=KEY    or ANTHROPIC_API_KEY=KEY, or OPENAI_BASE_URL=URL "
		"of a server without keys\n"
		"  --model-command 'llm -m NAME' for any program as the model, or start a local "
		"server: ollama serve");
}

static int by_keys(const struct settings *s, const struct provider **ret, struct error *err)
{
	const char *openai, *anthropic;

	if (keys_find(s, "OPENAI_API_KEY", &openai, NULL, err) < 0 ||
	    keys_find(s, "ANTHROPIC_API_KEY", &anthropic, NULL, err) < 0)
		return -1;
	if (anthropic && (!openai || (s->model && !strncmp(s->model, "claude", 6))))
		*ret = find("anthropic");
	else if (openai || s->base_url || variable("OPENAI_BASE_URL"))
		*ret = find("openai");
	else if (find_local())
		*ret = find("local");
	else
		return none_found(err);
	return 0;
}

static int choose(const struct settings *s, const struct provider **ret, struct error *err)
{
	const char *names[ARRAY_SIZE(providers)], *nearest;
	size_t i;

	if (!s->provider) {
		*ret = s->script ? find("script") : s->model_command ? find("command") : NULL;
		return *ret ? 0 : by_keys(s, ret, err);
	}
	*ret = find(s->provider);
	if (*ret)
		return 0;
	for (i = 0; i < ARRAY_SIZE(providers); i++)
		names[i] = providers[i].name;
	nearest = option_nearest(s->provider, names, ARRAY_SIZE(providers));
	return error_set(err, ERR_USAGE,
			 "unknown provider \"%.60s\"%s%s%s; known: openai, "
			 "openai-responses, anthropic, ollama, local, command, script",
			 s->provider, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
			 nearest ? "\"?" : "");
}

/* --- HTTP --- */

static const char *base_of(const struct provider *p, const struct settings *s)
{
	if (s->base_url)
		return s->base_url;
	return p->wire == LLM_WIRE_OLLAMA ? ollama_base() : variable(p->base);
}

static int http_options(struct llm_http_options *ret, const struct provider *p,
			const struct settings *s, struct error *err)
{
	struct llm_http_options o = { .wire = p->wire, .provider = p->name,
				      .base_url = base_of(p, s), .model = s->model,
				      .retries = s->retries };
	size_t len = o.base_url ? strlen(o.base_url) : 0;

	if (p->kind == KIND_LOCAL) {
		if (!find_local())
			return error_set(err, ERR_CONFIG,
					 "no Ollama or llama.cpp server answers here");
		o.base_url = local.base_url;
		o.model = s->model ? s->model : local.model;
	}
	/* Ollama speaks OpenAI's language too, under /v1. */
	if (p->wire == LLM_WIRE_OLLAMA && len >= 3 && !strcmp(o.base_url + len - 3, "/v1"))
		o.wire = LLM_WIRE_OPENAI_CHAT;
	if (p->key && keys_find(s, p->key, &o.key, NULL, err) < 0)
		return -1;
	if (p->key && !o.key && !o.base_url)
		return error_set(err, ERR_CONFIG,
				 "%s is not set, and provider %s needs it (a file with "
				 "the key can be named under [keys] in the configuration)",
				 p->key, p->name);
	if (!o.model)
		o.model = p->model;
	*ret = o;
	return 0;
}

/* A server with its own models answers with the first when none is named. */
static int first_model(struct llm_http_options *o, char **ret, struct error *err)
{
	cleanup_json struct json *models = NULL;
	const char *id;

	if (llm_http_models(o, &models, err) < 0)
		return -1;
	id = json_get_string(json_first(models), "id");
	if (!id)
		return error_set(err, ERR_CONFIG, "%s has no model yet; name one with -m after "
				 "installing it (ollama pull NAME)", o->provider);
	*ret = mem_strdup(id);
	return 0;
}

static int open_http(struct llm *ret, const struct provider *p, struct settings *s,
		     struct error *err)
{
	cleanup_free char *found = NULL;
	struct llm_http_options o;

	if (http_options(&o, p, s, err) < 0)
		return -1;
	if (!o.model) {
		if (first_model(&o, &found, err) < 0)
			return -1;
		o.model = found;
	}
	if (llm_http_open(ret, &o, err) < 0)
		return -1;
	if (!s->model)
		s->model = mem_strdup(o.model);
	return 0;
}

static int open_command(struct llm *ret, const struct settings *s, struct error *err)
{
	const char *format = json_get_string(s->model_options, "format");
	struct llm_command_options o = { .command = s->model_command,
					 .json = format && !strcmp(format, "json") };

	if (!o.command)
		return error_set(err, ERR_USAGE, "--provider command needs --model-command CMD");
	return llm_command_open(ret, &o, err);
}

int provider_open(struct llm *ret, struct settings *settings, struct error *err)
{
	const struct provider *p;
	int rc;

	if (choose(settings, &p, err) < 0)
		return -1;
	if (p->kind == KIND_SCRIPT && !settings->script)
		return error_set(err, ERR_USAGE, "--provider script needs --script FILE");
	rc = p->kind == KIND_SCRIPT  ? llm_script_open(ret, settings->script, err) :
	     p->kind == KIND_COMMAND ? open_command(ret, settings, err) :
				       open_http(ret, p, settings, err);
	if (rc < 0)
		return -1;
	if (!settings->provider)
		settings->provider = mem_strdup(p->name);
	return 0;
}

int provider_http_options(struct llm_http_options *ret, const struct settings *settings,
			  struct error *err)
{
	const struct provider *p;

	if (choose(settings, &p, err) < 0)
		return -1;
	if (p->kind != KIND_HTTP && p->kind != KIND_LOCAL)
		return error_set(err, ERR_USAGE, "provider %s has no list of models", p->name);
	return http_options(ret, p, settings, err);
}

/* --- what there is --- */

struct audit_secret *provider_secrets(const struct settings *settings, size_t *ret_count)
{
	return keys_secrets(settings, ret_count);
}

struct json *provider_keys_json(const struct settings *settings)
{
	static const char *const names[] = { "OPENAI_API_KEY", "ANTHROPIC_API_KEY" };
	struct json *array = json_array();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct json *object = json_object();
		struct error problem = ERROR_INIT;
		const char *value = NULL, *origin = NULL;
		int rc = keys_find(settings, names[i], &value, &origin, &problem);

		json_set_string(object, "name", names[i]);
		json_set_bool(object, "set", value != NULL);
		json_set_string(object, "origin", value ? origin : NULL);
		json_set_string(object, "error", rc < 0 ? problem.message : NULL);
		json_append(array, object);
	}
	return array;
}
