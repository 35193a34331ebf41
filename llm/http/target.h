/* Where a request goes: URL and headers from a base URL, a wire and a key. Pure. */
#ifndef LLM_TARGET_H
#define LLM_TARGET_H

#include "llm/llm.h"
#include "llm/wire/wire.h"

#include <stdbool.h>

#define TARGET_HEADERS_MAX 5

/* The base URL of a wire's own vendor. */
const char *target_default_base(enum llm_wire wire);

/*
 * base + path. A slash at the end of base does no harm, nor does a version
 * ("/v1") that path brings too; a query of base (Azure's api-version) stays
 * at the end. "{model}" in base becomes model; without one its folder
 * ("/deployments/{model}") is left out. Caller frees.
 */
char *target_url(const char *base, const char *path, const char *model);

/* The wire's own vendor serves this base; Microsoft's cloud does. */
bool target_official(enum llm_wire wire, const char *base);
bool target_azure(const char *base);

/*
 * Fills ret with header lines and a NULL, the caller's to free by
 * target_headers_free, which wipes them: one holds the key. auth is as in
 * struct llm_http_options; NULL: what the wire, or Azure, has.
 */
void target_headers(enum llm_wire wire, const char *base, const char *auth, const char *key,
		    char *ret[TARGET_HEADERS_MAX]);
void target_headers_free(char *headers[TARGET_HEADERS_MAX]);

/* Whether the host of a URL is this machine or one of its network: a loopback or
 * private address, or a name that no public server has. */
bool target_local(const char *url);

#endif
