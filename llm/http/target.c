/*
 * Where a request goes: URL, headers, and whose server that is. Pure; the key is in one header,
 * which is wiped when it is freed.
 */
#include "llm/http/target.h"

#include "base/http/http.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *target_default_base(enum llm_wire wire)
{
	switch (wire) {
	case LLM_WIRE_OPENAI_CHAT:
	case LLM_WIRE_OPENAI_RESPONSES:
		return "https://api.openai.com/v1";
	case LLM_WIRE_ANTHROPIC:
		return "https://api.anthropic.com";
	case LLM_WIRE_OLLAMA:
		return "http://127.0.0.1:11434";
	}
	return "";
}

static bool ends_with(const char *s, size_t len, const char *tail)
{
	size_t n = strlen(tail);

	return len >= n && !memcmp(s + len - n, tail, n);
}

/* base with its "{model}" filled in, or without the folder it is in. */
static char *fill_model(const char *base, const char *model)
{
	static const char mark[] = "{model}";
	const char *at = strstr(base, mark);

	if (!at)
		return mem_strdup(base);
	int before = (int)(at - base);
	if (model)
		return mem_printf("%.*s%s%s", before, base, model, at + strlen(mark));
	for (int slashes = 0; before > 0 && slashes < 2; before--)
		slashes += base[before - 1] == '/';
	return mem_printf("%.*s%s", before, base, at + strlen(mark));
}

char *target_url(const char *template, const char *path, const char *model)
{
	cleanup_free char *base = fill_model(template, model);
	size_t len = strcspn(base, "?");
	const char *query = base[len] == '?' ? base + len + 1 : NULL;
	const char *glue = strchr(path, '?') ? "&" : "?";

	while (len > 0 && base[len - 1] == '/')
		len--;
	if (ends_with(base, len, "/v1") &&
	    (!strncmp(path, "/v1/", 4) || !strncmp(path, "/api/", 5)))
		len -= 3;
	return mem_printf("%.*s%s%s%s", (int)len, base, path, query ? glue : "",
			  query ? query : "");
}

/* The host of a URL: borrowed bytes and their length. */
static size_t host_of(const char *url, const char **ret_host)
{
	size_t len = http_authority(url, ret_host);
	const char *start = *ret_host;

	if (*start == '[')
		return strcspn(start, "]") + 1 <= len ? strcspn(start, "]") + 1 : len;
	return strcspn(start, ":/?#") < len ? strcspn(start, ":/?#") : len;
}

bool target_official(enum llm_wire wire, const char *base)
{
	const char *host, *ours;
	size_t len = host_of(base, &host);
	size_t ours_len = host_of(target_default_base(wire), &ours);

	return len == ours_len && !strncasecmp(host, ours, len);
}

static bool ends(const char *host, size_t len, const char *tail)
{
	size_t n = strlen(tail);

	return len >= n && !strncasecmp(host + len - n, tail, n);
}

bool target_local(const char *url)
{
	static const char *const tails[] = { ".local", ".localhost", ".lan", ".internal",
					     ".home.arpa" };
	const char *start;
	size_t len = host_of(url, &start);

	if (*start == '[')
		return !strncmp(start, "[::1]", 5) || !strncasecmp(start, "[fd", 3) ||
		       !strncasecmp(start, "[fe80:", 6);
	cleanup_free char *host = mem_strndup(start, len);
	unsigned int a, b, c, d;
	char end;
	if (sscanf(host, "%3u.%3u.%3u.%3u%c", &a, &b, &c, &d, &end) == 4)
		return a == 127 || a == 10 || a == 0 || (a == 192 && b == 168) ||
		       (a == 172 && b >= 16 && b < 32) || (a == 169 && b == 254);
	for (size_t i = 0; i < ARRAY_SIZE(tails); i++)
		if (ends(host, len, tails[i]))
			return true;
	return len > 0 && !strchr(host, '.');
}

bool target_azure(const char *base)
{
	static const char *const tails[] = { ".openai.azure.com", ".services.ai.azure.com",
					     ".cognitiveservices.azure.com" };
	const char *host;
	size_t len = host_of(base, &host);

	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		size_t n = strlen(tails[i]);

		if (len > n && !strncasecmp(host + len - n, tails[i], n))
			return true;
	}
	return false;
}

/* "Authorization: Bearer" + key, "api-key" + key. */
static const char *auth_of(enum llm_wire wire, const char *base)
{
	if (wire == LLM_WIRE_ANTHROPIC)
		return "x-api-key";
	return target_azure(base) ? "api-key" : "Authorization: Bearer";
}

void target_headers(enum llm_wire wire, const char *base, const char *auth, const char *key,
		    char *ret[TARGET_HEADERS_MAX])
{
	auth = auth ? auth : auth_of(wire, base);

	size_t n = 0;
	ret[n++] = mem_strdup("Content-Type: application/json");
	if (wire == LLM_WIRE_ANTHROPIC)
		ret[n++] = mem_strdup("anthropic-version: 2023-06-01");
	if (key)
		ret[n++] = mem_printf("%s%s %s", auth, strchr(auth, ':') ? "" : ":", key);
	ret[n] = NULL;
}

void target_headers_free(char *headers[TARGET_HEADERS_MAX])
{
	for (size_t i = 0; headers[i]; i++) {
		explicit_bzero(headers[i], strlen(headers[i]));
		free(headers[i]);
		headers[i] = NULL;
	}
}
