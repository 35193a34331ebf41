/*
 * The table of providers, and the user's own from the configuration. A row says how a server is
 * spoken to; whether there is a key for it is not looked at here.
 */
#include "agent/cli/vendor.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define UPPER	  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAMES_MAX 64

/* In the order in which a key in the environment chooses one. */
static const struct vendor vendors[] = {
	{ "openai", VENDOR_HTTP, LLM_WIRE_OPENAI_CHAT, NULL, "OPENAI_BASE_URL", NULL,
	  "OPENAI_API_KEY", "gpt-5-mini", 0, false },
	{ "anthropic", VENDOR_HTTP, LLM_WIRE_ANTHROPIC, NULL, "ANTHROPIC_BASE_URL", NULL,
	  "ANTHROPIC_API_KEY", "claude-sonnet-4-5", 0, false },
	{ "openrouter", VENDOR_HTTP, LLM_WIRE_OPENAI_CHAT, "https://openrouter.ai/api/v1", NULL,
	  NULL, "OPENROUTER_API_KEY", "openai/gpt-5-mini", 0, false },
	{ "gemini", VENDOR_HTTP, LLM_WIRE_OPENAI_CHAT,
	  "https://generativelanguage.googleapis.com/v1beta/openai", NULL, NULL, "GEMINI_API_KEY",
	  "gemini-2.5-flash", 0, false },
	{ "mistral", VENDOR_HTTP, LLM_WIRE_OPENAI_CHAT, "https://api.mistral.ai/v1", NULL, NULL,
	  "MISTRAL_API_KEY", "mistral-medium-latest", LLM_QUIRK_NO_STREAM_OPTIONS, false },
	{ "deepseek", VENDOR_HTTP, LLM_WIRE_OPENAI_CHAT, "https://api.deepseek.com/v1", NULL, NULL,
	  "DEEPSEEK_API_KEY", "deepseek-chat", 0, false },
	{ "groq", VENDOR_HTTP, LLM_WIRE_OPENAI_CHAT, "https://api.groq.com/openai/v1", NULL, NULL,
	  "GROQ_API_KEY", "openai/gpt-oss-120b", LLM_QUIRK_COMPLETION_TOKENS, false },
	{ "azure", VENDOR_HTTP, LLM_WIRE_OPENAI_CHAT, "$AZURE_OPENAI_ENDPOINT/openai/v1", NULL,
	  "api-key", "AZURE_OPENAI_API_KEY", NULL, 0, false },
	{ "azure-dated", VENDOR_HTTP, LLM_WIRE_OPENAI_CHAT,
	  "$AZURE_OPENAI_ENDPOINT/openai/deployments/{model}?api-version=$OPENAI_API_VERSION", NULL,
	  "api-key", "AZURE_OPENAI_API_KEY", NULL, 0, false },
	{ "openai-responses", VENDOR_HTTP, LLM_WIRE_OPENAI_RESPONSES, NULL, "OPENAI_BASE_URL", NULL,
	  "OPENAI_API_KEY", "gpt-5-mini", 0, false },
	{ "ollama", VENDOR_SERVER, LLM_WIRE_OLLAMA, NULL, NULL, NULL, NULL, NULL,
	  LLM_QUIRK_CUTS_CONTEXT, false },
	{ "llama.cpp", VENDOR_SERVER, LLM_WIRE_OPENAI_CHAT, "http://127.0.0.1:8080/v1", NULL, NULL,
	  "LLAMA_API_KEY", NULL, 0, false },
	{ "vllm", VENDOR_SERVER, LLM_WIRE_OPENAI_CHAT, "http://127.0.0.1:8000/v1", NULL, NULL,
	  "VLLM_API_KEY", NULL, 0, false },
	{ "lmstudio", VENDOR_SERVER, LLM_WIRE_OPENAI_CHAT, "http://127.0.0.1:1234/v1", NULL, NULL,
	  NULL, NULL, LLM_QUIRK_CUTS_CONTEXT, false },
	{ "local", VENDOR_LOCAL, LLM_WIRE_OPENAI_CHAT, NULL, NULL, NULL, NULL, NULL,
	  LLM_QUIRK_CUTS_CONTEXT, false },
	{ "command", VENDOR_COMMAND, LLM_WIRE_OPENAI_CHAT, NULL, NULL, NULL, NULL, NULL, 0, false },
	{ "script", VENDOR_SCRIPT, LLM_WIRE_OPENAI_CHAT, NULL, NULL, NULL, NULL, NULL, 0, false },
};

const struct vendor *vendor_at(size_t n)
{
	return n < ARRAY_SIZE(vendors) ? &vendors[n] : NULL;
}

static const struct vendor *find_built_in(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
		if (!strcmp(vendors[i].name, name))
			return &vendors[i];
	return NULL;
}

/* --- the user's rows --- */

static int set_wire(struct vendor *v, const struct config_entry *e, struct error *err)
{
	static const struct {
		const char *name;
		enum llm_wire wire;
	} wires[] = {
		{ "openai", LLM_WIRE_OPENAI_CHAT },
		{ "openai-responses", LLM_WIRE_OPENAI_RESPONSES },
		{ "anthropic", LLM_WIRE_ANTHROPIC },
		{ "ollama", LLM_WIRE_OLLAMA },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wires); i++) {
		if (!strcmp(wires[i].name, e->value)) {
			v->wire = wires[i].wire;
			return 0;
		}
	}
	return error_set(err, ERR_CONFIG,
			 "line %d: wire \"%.60s\" is none of openai, "
			 "openai-responses, anthropic, ollama",
			 e->line, e->value);
}

/* The value is not repeated: it may be the key itself. */
static int set_key(struct vendor *v, const struct config_entry *e, struct error *err)
{
	if (!e->value[0] || e->value[strspn(e->value, UPPER "0123456789_")])
		return error_set(err, ERR_CONFIG,
				 "line %d: key is the NAME of the variable that "
				 "has the key, like MY_API_KEY, not the key itself",
				 e->line);
	v->key = e->value;
	v->needs_key = true;
	return 0;
}

static int set_quirks(struct vendor *v, const struct config_entry *e, struct error *err)
{
	static const struct {
		const char *name;
		unsigned quirk;
	} quirks[] = {
		{ "no-stream-options", LLM_QUIRK_NO_STREAM_OPTIONS },
		{ "max-completion-tokens", LLM_QUIRK_COMPLETION_TOKENS },
		{ "cuts-context", LLM_QUIRK_CUTS_CONTEXT },
	};
	const char *at = e->value;

	v->quirks = 0;
	while (*(at += strspn(at, ", \t"))) {
		size_t len = strcspn(at, ", \t"), i = 0;

		while (i < ARRAY_SIZE(quirks) &&
		       (strlen(quirks[i].name) != len || memcmp(quirks[i].name, at, len)))
			i++;
		if (i == ARRAY_SIZE(quirks))
			return error_set(err, ERR_CONFIG,
					 "line %d: quirk \"%.*s\" is none of "
					 "no-stream-options, max-completion-tokens, cuts-context",
					 e->line, (int)(len < 60 ? len : 60), at);
		v->quirks |= quirks[i].quirk;
		at += len;
	}
	return 0;
}

static int take_entry(struct vendor *v, const struct config_entry *e, struct error *err)
{
	if (!strcmp(e->name, "wire"))
		return set_wire(v, e, err);
	if (!strcmp(e->name, "key"))
		return set_key(v, e, err);
	if (!strcmp(e->name, "quirks"))
		return set_quirks(v, e, err);
	if (!strcmp(e->name, "url"))
		v->url = e->value;
	else if (!strcmp(e->name, "header"))
		v->auth = e->value;
	else if (!strcmp(e->name, "model"))
		v->model = e->value;
	else
		return error_set(err, ERR_CONFIG,
				 "line %d: unknown key \"%.60s\"; known: url, wire, "
				 "key, header, model, quirks",
				 e->line, e->name);
	return 0;
}

static const char *section_name(const struct config_entry *e)
{
	return strncmp(e->section, "provider ", 9) ? NULL : e->section + 9;
}

static int unknown(const struct settings *s, const char *name, struct error *err)
{
	cleanup_buf struct buf known = BUF_INIT(4096);
	const char *names[NAMES_MAX];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
		names[n++] = vendors[i].name;
	for (size_t i = 0; i < s->config.count && n < NAMES_MAX; i++)
		if (section_name(&s->config.entries[i]))
			names[n++] = section_name(&s->config.entries[i]);
	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
		buf_addf(&known, "%s%s", i ? ", " : "", vendors[i].name);
	const char *nearest = option_nearest(name, names, n);
	return error_set(err, ERR_USAGE,
			 "unknown provider \"%.60s\"%s%s%s; known: %s, and "
			 "[provider NAME] of the configuration",
			 name, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
			 nearest ? "\"?" : "", known.data);
}

int vendor_find(struct vendor *ret, const struct settings *settings, const char *name,
		struct error *err)
{
	const struct vendor *row = find_built_in(name);
	struct vendor v = row ? *row : (struct vendor){ .name = name, .kind = VENDOR_SERVER };
	bool own = false;

	for (size_t i = 0; i < settings->config.count; i++) {
		const struct config_entry *e = &settings->config.entries[i];

		if (!section_name(e) || strcmp(section_name(e), name))
			continue;
		own = true;
		if (take_entry(&v, e, err) < 0)
			return error_wrap(err, "%s: [provider %s]", settings->config.path, name);
	}
	if (!row && !own)
		return unknown(settings, name, err);
	if (!row && !v.url && !settings->base_url)
		return error_set(err, ERR_CONFIG, "%s: [provider %s] has no url",
				 settings->config.path, name);
	*ret = v;
	return 0;
}

int vendor_url(const struct vendor *v, char **ret, struct error *err)
{
	cleanup_buf struct buf out = BUF_INIT(8192);
	const char *at = v->url;

	while (*at) {
		size_t plain = strcspn(at, "$");

		buf_add(&out, at, plain);
		at += plain;
		if (!*at)
			break;
		size_t len = strspn(at + 1, UPPER "0123456789_");
		cleanup_free char *name = mem_strndup(at + 1, len);
		const char *value = getenv(name);
		if (!value || !*value)
			return error_set(err, ERR_CONFIG, "%s is not set, and provider %s needs it",
					 name, v->name);
		/* "https://x.example/" and what follows make one slash */
		buf_addstr(&out, value);
		at += 1 + len;
		if (*at == '/' && out.len && out.data[out.len - 1] == '/')
			at++;
	}
	if (out.overflow)
		return error_set(err, ERR_CONFIG, "the URL of provider %s is too long", v->name);
	*ret = buf_take(&out, NULL);
	return 0;
}
