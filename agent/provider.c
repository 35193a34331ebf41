#include "agent/provider.h"

#include "agent/command.h"
#include "agent/keys.h"
#include "agent/vendor.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define LOCAL_SEARCH_MS 400
#define CA_FILE_MAX	((size_t)16 << 20)

/* One view of the limits for all workers of a batch; NULL outside of one. */
static struct llm_limits *shared_limits;

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
		"no model is set up, and no local Ollama or llama.cpp answers. Set one of:\n"
		"  OPENAI_API_KEY or ANTHROPIC_API_KEY, or OPENAI_BASE_URL of a keyless server\n"
		"  --model-command 'llm -m NAME', any program as the model; or run: ollama serve");
}

/* The first vendor with a key; a model of Anthropic's goes to Anthropic. With a
 * base URL only the two it can be meant for: no other key may go there. */
static int by_keys(const struct settings *s, struct vendor *ret, struct error *err)
{
	bool url = s->base_url || variable("OPENAI_BASE_URL");
	bool claude = s->model && !strncmp(s->model, "claude", 6);
	const struct vendor *v, *found = NULL;
	size_t i;

	for (i = 0; (v = vendor_at(i)); i++) {
		bool anthropic = !strcmp(v->name, "anthropic");

		if (v->kind != VENDOR_HTTP || !keys_present(s, v->key, NULL) ||
		    (url && !anthropic && strcmp(v->name, "openai")))
			continue;
		if (!found || (anthropic && claude))
			found = v;
	}
	if (found || url)
		return vendor_find(ret, s, found ? found->name : "openai", err);
	return find_local() ? vendor_find(ret, s, "local", err) : none_found(err);
}

static int choose(const struct settings *s, struct vendor *ret, struct error *err)
{
	if (s->provider)
		return vendor_find(ret, s, s->provider, err);
	if (s->script || s->model_command)
		return vendor_find(ret, s, s->script ? "script" : "command", err);
	return by_keys(s, ret, err);
}

/* --- HTTP --- */

/* What curl would say of it names no file, and comes only with the first call. */
int provider_check_ca_file(const struct settings *s, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(CA_FILE_MAX);

	if (!s->ca_file)
		return 0;
	if (io_read_file(s->ca_file, &text, err) < 0) {
		err->kind = ERR_CONFIG;
		return error_wrap(err, "ca-file");
	}
	if (!strstr(text.data, "-----BEGIN CERTIFICATE-----") &&
	    !strstr(text.data, "-----BEGIN TRUSTED CERTIFICATE-----"))
		return error_set(err, ERR_CONFIG,
				 "ca-file: %s has no certificate in it: PEM is expected, with a "
				 "line -----BEGIN CERTIFICATE-----",
				 s->ca_file);
	return 0;
}

/* *ret_own is what had to be made for it, the caller's. */
static int base_of(const struct vendor *v, const struct settings *s, const char **ret,
		   char **ret_own, struct error *err)
{
	*ret = s->base_url ? s->base_url : variable(v->url_variable);
	if (!*ret && v->wire == LLM_WIRE_OLLAMA && !v->url)
		*ret = ollama_base();
	if (*ret || !v->url)
		return 0;
	if (vendor_url(v, ret_own, err) < 0)
		return -1;
	*ret = *ret_own;
	return 0;
}

static int use_local(struct llm_http_options *o, const struct settings *s, struct error *err)
{
	if (!find_local())
		return error_set(err, ERR_CONFIG, "no Ollama or llama.cpp server answers here");
	o->base_url = local.base_url;
	o->model = s->model ? s->model : local.model;
	return 0;
}

static int use_key(struct llm_http_options *o, const struct vendor *v, const struct settings *s,
		   struct error *err)
{
	if (!v->key)
		return 0;
	if (keys_find(s, v->key, &o->key, NULL, err) < 0)
		return -1;
	/* Elsewhere than at the vendor's a key may not be needed. */
	if (!o->key && (v->kind == VENDOR_HTTP || v->needs_key) && !s->base_url &&
	    !variable(v->url_variable))
		return error_set(err, ERR_CONFIG,
				 "%s is not set, and provider %s needs it (or a line in the "
				 "configuration under [keys]: %s = file:PATH or command:CMD)",
				 v->key, v->name, v->key);
	return 0;
}

static int http_options(struct llm_http_options *ret, const struct vendor *v,
			const struct settings *s, char **ret_own, struct error *err)
{
	struct llm_http_options o = { .wire = v->wire,
				      .quirks = v->quirks,
				      .provider = v->name,
				      .auth = v->auth,
				      .ca_file = s->ca_file,
				      .model = s->model,
				      .retries = s->retries,
				      .limits = shared_limits };
	size_t len;

	if (provider_check_ca_file(s, err) < 0)
		return -1;
	if (v->kind == VENDOR_LOCAL ? use_local(&o, s, err) < 0
				    : base_of(v, s, &o.base_url, ret_own, err) < 0)
		return -1;
	/* Ollama speaks OpenAI's language too, under /v1. */
	len = o.base_url ? strlen(o.base_url) : 0;
	if (v->wire == LLM_WIRE_OLLAMA && len >= 3 && !strcmp(o.base_url + len - 3, "/v1"))
		o.wire = LLM_WIRE_OPENAI_CHAT;
	if (use_key(&o, v, s, err) < 0)
		return -1;
	if (!o.model)
		o.model = v->model;
	*ret = o;
	return 0;
}

/* A server with its own models answers with the first when none is named. */
static int first_model(struct llm_http_options *o, char **ret, struct error *err)
{
	cleanup_json struct json *models = NULL;
	const char *id;

	if (llm_http_models(o, command_cancel_fd(), &models, err) < 0)
		return -1;
	id = json_get_string(json_first(models), "id");
	if (!id)
		return error_set(err, ERR_CONFIG,
				 "%s has no model yet; name one with -m after "
				 "installing it (ollama pull NAME)",
				 o->provider);
	*ret = mem_strdup(id);
	return 0;
}

static int open_http(struct llm *ret, const struct vendor *v, struct settings *s, struct error *err)
{
	cleanup_free char *found = NULL, *base = NULL;
	struct llm_http_options o;

	if (http_options(&o, v, s, &base, err) < 0)
		return -1;
	if (!o.model && v->kind == VENDOR_HTTP)
		return error_set(
			err, ERR_USAGE, "provider %s needs a model: name one with -m%s", v->name,
			strncmp(v->name, "azure", 5) ? "" : " (the name of your deployment)");
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
	struct vendor v;
	int rc;

	if (choose(settings, &v, err) < 0)
		return -1;
	if (v.kind == VENDOR_SCRIPT && !settings->script)
		return error_set(err, ERR_USAGE, "--provider script needs --script FILE");
	rc = v.kind == VENDOR_SCRIPT	? llm_script_open(ret, settings->script, err)
	     : v.kind == VENDOR_COMMAND ? open_command(ret, settings, err)
					: open_http(ret, &v, settings, err);
	if (rc < 0)
		return -1;
	if (!settings->provider)
		settings->provider = mem_strdup(v.name);
	return 0;
}

int provider_models(const struct settings *settings, struct json **ret, struct error *err)
{
	cleanup_free char *base = NULL;
	struct llm_http_options options;
	struct vendor v;

	if (choose(settings, &v, err) < 0)
		return -1;
	if (v.kind == VENDOR_COMMAND || v.kind == VENDOR_SCRIPT)
		return error_set(err, ERR_USAGE, "provider %s has no list of models", v.name);
	if (http_options(&options, &v, settings, &base, err) < 0)
		return -1;
	return llm_http_models(&options, command_cancel_fd(), ret, err);
}

int provider_share_limits(int processes, int64_t requests_per_minute, int64_t tokens_per_minute,
			  struct error *err)
{
	llm_limits_free(shared_limits);
	shared_limits = llm_limits_create(processes, requests_per_minute, tokens_per_minute);
	return shared_limits ? 0 : error_set(err, ERR_FAILED, "no memory to share between workers");
}

/* --- what there is --- */

struct audit_secret *provider_secrets(const struct settings *settings, size_t *ret_count)
{
	return keys_secrets(settings, ret_count);
}

/* The two that most people have are listed even when they are not set. */
static bool worth_listing(const struct settings *s, const char *key)
{
	return keys_present(s, key, NULL) || !strcmp(key, "OPENAI_API_KEY") ||
	       !strcmp(key, "ANTHROPIC_API_KEY");
}

static struct json *key_json(const struct settings *settings, const char *key)
{
	struct json *object = json_object();
	const char *value = NULL, *origin = NULL;
	struct error problem = ERROR_INIT;
	bool present = keys_present(settings, key, &origin);

	/* A command is not run for this: it might ask for a passphrase. */
	if (present && strncmp(origin, "command:", 8) &&
	    keys_find(settings, key, &value, &origin, &problem) < 0)
		present = false;
	json_set_string(object, "name", key);
	json_set_bool(object, "set", present);
	json_set_string(object, "origin", present ? origin : NULL);
	json_set_string(object, "error", problem.kind != ERR_NONE ? problem.message : NULL);
	return object;
}

struct json *provider_keys_json(const struct settings *settings)
{
	struct json *array = json_array(), *seen = json_object();
	const struct vendor *v;
	size_t i;

	for (i = 0; (v = vendor_at(i)); i++) {
		if (!v->key || json_get(seen, v->key) || !worth_listing(settings, v->key))
			continue;
		json_set_bool(seen, v->key, true);
		json_append(array, key_json(settings, v->key));
	}
	json_free(seen);
	return array;
}
