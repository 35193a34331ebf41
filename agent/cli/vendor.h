/*
 * Who offers models: one row each, built in or from [provider NAME] in the
 * configuration. Internal to agent/cli/provider.c and its neighbours.
 */
#ifndef AGENT_VENDOR_H
#define AGENT_VENDOR_H

#include "agent/cli/settings.h"
#include "llm/llm.h"

enum vendor_kind {
	VENDOR_HTTP,   /* a service: a key and a model's name are needed */
	VENDOR_SERVER, /* one's own server: no key, its first model when none is named */
	VENDOR_LOCAL,  /* whichever local server answers */
	VENDOR_COMMAND,
	VENDOR_SCRIPT,
};

struct vendor {
	const char *name;
	enum vendor_kind kind;
	enum llm_wire wire;
	/* Base URL; $NAME in it is a variable that must be set, {model} the
	 * model. NULL: the vendor of the wire. */
	const char *url;
	const char *url_variable; /* replaces url when set, or NULL */
	const char *auth;	  /* as in llm_http_options */
	const char *key;	  /* variable of the key, or NULL */
	const char *model;	  /* asked when none is named, or NULL */
	unsigned quirks;	  /* enum llm_quirk */
	bool needs_key;		  /* although it is one's own server */
};

/* The row of that name: the user's own, laid over a built-in one of that name.
 * Strings are borrowed from settings. ERR_USAGE for an unknown name (known ones
 * are listed), ERR_CONFIG for a bad section. */
int vendor_find(struct vendor *ret, const struct settings *settings, const char *name,
		struct error *err);

/* The nth built-in row, NULL after the last. */
const struct vendor *vendor_at(size_t n);

/* url with its variables filled in, the caller's to free; ERR_CONFIG naming
 * one that is not set. */
int vendor_url(const struct vendor *v, char **ret, struct error *err);

#endif
