/*
 * Which model is asked, and how it is reached: from flags, keys and local servers to an open one. A
 * key may go to no server but the one it is for; a guess is said before money is spent.
 */
#include "agent/cli/provider.h"

#include "agent/cli/app.h"
#include "agent/cli/keys.h"
#include "agent/cli/terminal/term.h"
#include "agent/cli/vendor.h"
#include "base/http/http.h"
#include "base/http/http.h"
#include "base/io.h"
#include "base/mem.h"
#include "llm/http/target.h"

#include <stdlib.h>
#include <string.h>

#define LOCAL_SEARCH_MS 400
#define CA_FILE_MAX	((size_t)16 << 20)

static const char *variable(const char *name)
{
	const char *value = name ? getenv(name) : NULL;

	return value && *value ? value : NULL;
}

/* --- a local server: looked for once --- */

static bool find_local(struct app *app)
{
	if (!app->local.searched &&
	    llm_find_local(LOCAL_SEARCH_MS, &app->local.base_url, &app->local.model) != 1)
		app->local.base_url = NULL;
	app->local.searched = true;
	return app->local.base_url != NULL;
}

/* OLLAMA_HOST is "host", "host:port" or a URL; a server bound to every address
 * is asked at this one. The caller frees. */
static char *ollama_base(void)
{
	const char *host = variable("OLLAMA_HOST");

	if (!host || strstr(host, "://"))
		return mem_strdup(host);
	if (!strncmp(host, "0.0.0.0", 7))
		return mem_printf("http://127.0.0.1%s", host[7] ? host + 7 : ":11434");
	return mem_printf("http://%s%s", host, strchr(host, ':') ? "" : ":11434");
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
static int by_keys(const struct settings *s, const struct policy *p, struct vendor *ret,
		   struct error *err)
{
	bool url = s->base_url || variable("OPENAI_BASE_URL");
	bool claude = p->model && !strncmp(p->model, "claude", 6);
	const struct vendor *v, *found = NULL;

	for (size_t i = 0; (v = vendor_at(i)); i++) {
		bool anthropic = !strcmp(v->name, "anthropic");

		if (v->kind != VENDOR_HTTP ||
		    !keys_present(&s->app->keys, &s->config, v->key, NULL) ||
		    (url && !anthropic && strcmp(v->name, "openai")))
			continue;
		if (!found || (anthropic && claude))
			found = v;
	}
	if (found || url)
		return vendor_find(ret, s, found ? found->name : "openai", err);
	return find_local(s->app) ? vendor_find(ret, s, "local", err) : none_found(err);
}

static int choose(const struct settings *s, const struct policy *p, struct vendor *ret,
		  struct error *err)
{
	if (p->provider)
		return vendor_find(ret, s, p->provider, err);
	if (s->script || s->model_command)
		return vendor_find(ret, s, s->script ? "script" : "command", err);
	return by_keys(s, p, ret, err);
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
		*ret = *ret_own = ollama_base();
	if (*ret || !v->url)
		return 0;
	if (vendor_url(v, ret_own, err) < 0)
		return -1;
	*ret = *ret_own;
	return 0;
}

static int use_local(struct llm_http_options *o, const struct settings *s, const struct policy *p,
		     struct error *err)
{
	if (!find_local(s->app))
		return error_set(err, ERR_CONFIG, "no Ollama or llama.cpp server answers here");
	o->base_url = s->app->local.base_url;
	o->model = p->model ? p->model : s->app->local.model;
	return 0;
}

static int use_key(struct llm_http_options *o, const struct vendor *v, const struct settings *s,
		   struct error *err)
{
	if (!v->key)
		return 0;
	if (keys_find(&s->app->keys, &s->config, v->key, &o->key, NULL, err) < 0)
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

/* What would mend an exchange that failed. */
static const struct http_words words = {
	.ca_file = "--ca-file, ca-file in the configuration,",
	.time = "--request-timeout, --deadline",
};

static int http_options(struct llm_http_options *ret, const struct vendor *v,
			const struct settings *s, const struct policy *p, char **ret_own,
			struct error *err)
{
	struct llm_http_options o = { .wire = v->wire,
				      .quirks = v->quirks,
				      .provider = v->name,
				      .auth = v->auth,
				      .ca_file = s->ca_file,
				      .words = &words,
				      .model = p->model,
				      .retries = s->means.retries,
				      .limits = s->app->limits };

	if (provider_check_ca_file(s, err) < 0)
		return -1;
	if (v->kind == VENDOR_LOCAL ? use_local(&o, s, p, err) < 0 :
				      base_of(v, s, &o.base_url, ret_own, err) < 0)
		return -1;
	/* Ollama speaks OpenAI's language too, under /v1. */
	size_t len = o.base_url ? strlen(o.base_url) : 0;
	if (v->wire == LLM_WIRE_OLLAMA && len >= 3 && !strcmp(o.base_url + len - 3, "/v1"))
		o.wire = LLM_WIRE_OPENAI_CHAT;
	if (use_key(&o, v, s, err) < 0)
		return -1;
	*ret = o;
	return 0;
}

static bool lists(const struct json *models, const char *id)
{
	for (const struct json *m = json_first(models); m; m = json_next(m))
		if (!strcmp(json_get_string(m, "id"), id))
			return true;
	return false;
}

/* One of a server's own models, chosen by nobody, is named. Not by each worker
 * of a batch: their runs' records have it. */
static void tell_model(struct terminal *term, const struct llm_http_options *o, const char *id,
		       size_t count)
{
	const char *host = NULL;
	size_t len = http_authority(o->base_url ? o->base_url : "", &host);

	if (!o->limits)
		term_note(term, TERM_DIM,
			  "model %s: the first of %zu that %.*s lists; -m NAME takes "
			  "another\n",
			  id, count, len ? (int)len : (int)strlen(o->provider),
			  len ? host : o->provider);
}

/* A server with its own models answers with the first when none is named;
 * usual, when there is such a one and it has it, goes before. */
static int first_model(struct llm_http_options *o, struct app *app, const char *usual, char **ret,
		       struct error *err)
{
	cleanup_json struct json *models = NULL;

	if (llm_http_models(o, app->cancel_fd, &models, err) < 0)
		return -1;
	if (usual && lists(models, usual)) {
		*ret = mem_strdup(usual);
		return 0;
	}
	const char *id = json_get_string(json_first(models), "id");
	if (!id)
		return error_set(err, ERR_CONFIG,
				 "%s has no model yet; name one with -m after "
				 "installing it (ollama pull NAME)",
				 o->provider);
	tell_model(&app->terminal, o, id, json_count(models));
	*ret = mem_strdup(id);
	return 0;
}

/* The vendor's usual model is not what a server of one's own offers; a model
 * that the user's row names is. */
static bool has_own_models(const struct vendor *v, const struct llm_http_options *o)
{
	if (v->kind != VENDOR_HTTP || !o->base_url || !target_local(o->base_url))
		return false;
	const struct vendor *row;
	for (size_t i = 0; (row = vendor_at(i)); i++)
		if (!strcmp(row->name, v->name))
			return row->model == v->model;
	return false;
}

/* The model when nobody named one; *ret_found is to be freed. */
static int find_model(struct llm_http_options *o, const struct vendor *v, struct app *app,
		      char **ret_found, struct error *err)
{
	bool own = has_own_models(v, o);

	if (o->model || (v->model && !own)) {
		o->model = o->model ? o->model : v->model;
		return 0;
	}
	if (v->kind == VENDOR_HTTP && !v->model)
		return error_set(
			err, ERR_USAGE, "provider %s needs a model: name one with -m%s", v->name,
			strncmp(v->name, "azure", 5) ? "" : " (the name of your deployment)");
	if (first_model(o, app, v->model, ret_found, err) < 0)
		return err->kind == ERR_CANCELLED ?
			       -1 :
			       error_wrap(err, "no model is named with -m, and "
					       "the server's list cannot be had");
	o->model = *ret_found;
	return 0;
}

static int open_http(struct llm *ret, const struct vendor *v, const struct settings *s,
		     struct policy *p, struct error *err)
{
	cleanup_free char *found = NULL, *base = NULL;
	struct llm_http_options o;

	if (http_options(&o, v, s, p, &base, err) < 0)
		return -1;
	if (find_model(&o, v, s->app, &found, err) < 0)
		return -1;
	if (llm_http_open(ret, &o, err) < 0)
		return -1;
	if (!p->model)
		p->model = mem_strdup(o.model);
	return 0;
}

static int open_command(struct llm *ret, const struct settings *s, const struct policy *p,
			struct error *err)
{
	const char *format = json_get_string(p->model_options, "format");
	struct llm_command_options o = { .command = s->model_command,
					 .json = format && !strcmp(format, "json") };

	if (!o.command)
		return error_set(err, ERR_USAGE, "--provider command needs --model-command CMD");
	return llm_command_open(ret, &o, err);
}

int provider_open(struct llm *ret, const struct settings *settings, struct policy *policy,
		  struct error *err)
{
	struct vendor v;

	if (choose(settings, policy, &v, err) < 0)
		return -1;
	if (v.kind == VENDOR_SCRIPT && !settings->script)
		return error_set(err, ERR_USAGE, "--provider script needs --script FILE");
	int rc = v.kind == VENDOR_SCRIPT ?
			 llm_script_open(ret, settings->script, stage_asks_model, err) :
		 v.kind == VENDOR_COMMAND ? open_command(ret, settings, policy, err) :
					    open_http(ret, &v, settings, policy, err);
	if (rc < 0)
		return -1;
	if (!policy->provider)
		policy->provider = mem_strdup(v.name);
	return 0;
}

int provider_models(const struct settings *settings, struct json **ret, struct error *err)
{
	cleanup_free char *base = NULL;
	struct vendor v;

	if (choose(settings, &settings->policy, &v, err) < 0)
		return -1;
	if (v.kind == VENDOR_COMMAND || v.kind == VENDOR_SCRIPT)
		return error_set(err, ERR_USAGE, "provider %s has no list of models", v.name);
	struct llm_http_options options;
	if (http_options(&options, &v, settings, &settings->policy, &base, err) < 0)
		return -1;
	return llm_http_models(&options, settings->app->cancel_fd, ret, err);
}

int provider_share_limits(struct app *app, int processes, int64_t requests_per_minute,
			  int64_t tokens_per_minute, struct error *err)
{
	llm_limits_free(app->limits);
	app->limits = llm_limits_create(processes, requests_per_minute, tokens_per_minute);
	return app->limits ? 0 : error_set(err, ERR_FAILED, "no memory to share between workers");
}

/* --- what there is --- */

/* Neither its password nor its query: keys are written there, too. */
static void set_url(struct json *object, const char *url)
{
	const char *host, *scheme = strstr(url, "://");

	http_authority(url, &host);
	cleanup_free char *shown = mem_printf("%.*s%.*s", scheme ? (int)(scheme + 3 - url) : 0, url,
					      (int)strcspn(host, "?#"), host);
	json_set_string(object, "url", shown);
}

/* Without running a key's command, which might ask for a passphrase. */
static int look_at_choice(const struct settings *s, struct json *object, struct error *err)
{
	cleanup_free char *base = NULL, *found = NULL;
	struct vendor v;

	if (choose(s, &s->policy, &v, err) < 0)
		return -1;
	json_set_string(object, "name", v.name);
	if (v.kind == VENDOR_COMMAND || v.kind == VENDOR_SCRIPT) {
		json_set_string(object, "url",
				v.kind == VENDOR_SCRIPT ? s->script : s->model_command);
		json_set_string(object, "model", s->policy.model);
		return 0;
	}
	const char *origin = NULL;
	if (v.key && keys_present(&s->app->keys, &s->config, v.key, &origin) &&
	    !strncmp(origin, "command:", 8))
		v.key = NULL;
	struct llm_http_options o;
	if (http_options(&o, &v, s, &s->policy, &base, err) < 0)
		return -1;
	set_url(object, o.base_url ? o.base_url : target_default_base(o.wire));
	if (find_model(&o, &v, s->app, &found, err) < 0)
		return -1;
	json_set_string(object, "model", o.model);
	return 0;
}

struct json *provider_choice_json(const struct settings *settings)
{
	struct json *object = json_object();
	struct error err = ERROR_INIT;

	if (look_at_choice(settings, object, &err) < 0)
		json_set_string(object, "error", err.message);
	return object;
}

struct audit_secret *provider_secrets(const struct settings *settings, size_t *ret_count)
{
	return keys_secrets(&settings->app->keys, &settings->config, ret_count);
}

/* The two that most people have are listed even when they are not set. */
static bool worth_listing(const struct settings *s, const char *key)
{
	return keys_present(&s->app->keys, &s->config, key, NULL) ||
	       !strcmp(key, "OPENAI_API_KEY") || !strcmp(key, "ANTHROPIC_API_KEY");
}

static struct json *key_json(const struct settings *settings, const char *key)
{
	struct json *object = json_object();
	const char *value = NULL, *origin = NULL;
	struct error problem = ERROR_INIT;
	bool present = keys_present(&settings->app->keys, &settings->config, key, &origin);

	/* A command is not run for this: it might ask for a passphrase. */
	if (present && strncmp(origin, "command:", 8) &&
	    keys_find(&settings->app->keys, &settings->config, key, &value, &origin, &problem) < 0)
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

	for (size_t i = 0; (v = vendor_at(i)); i++) {
		if (!v->key || json_get(seen, v->key) || !worth_listing(settings, v->key))
			continue;
		json_set_bool(seen, v->key, true);
		json_append(array, key_json(settings, v->key));
	}
	json_free(seen);
	return array;
}
