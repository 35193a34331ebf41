/*
 * Who may come in over HTTP: keys, and the names of the server that a request may be for. A page
 * of the web that a person looks at can send requests to this machine; it has neither.
 */
#ifndef AGENT_DOORS_GUARD_H
#define AGENT_DOORS_GUARD_H

#include "base/error.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>

#define GUARD_KEY_MIN  20 /* characters */
#define GUARD_NAME_MAX 64

struct guard_key {
	char owner[GUARD_NAME_MAX + 8]; /* "key:NAME" */
	char digest[HASH_HEX_LEN + 1];	/* of the key; the key itself is not kept */
};

struct guard {
	struct guard_key *keys; /* owned */
	size_t count;
	const char *const *hosts; /* beside this machine's own names; NULL-terminated, or NULL */
	bool open;		  /* no key is asked for, nor Host: a socket of one's own */
};

/*
 * Reads the file of keys, a line each: NAME KEY. Without a file it is made (0600) with one key,
 * which *ret_made (owned) is; else NULL. ERR_CONFIG when others can read or change it, or a line
 * is none.
 */
int guard_load(struct guard *ret, const char *path, char **ret_made, struct error *err);
void guard_release(struct guard *g);

/* Whose key it is; NULL when nobody's. As long for a wrong one as for a right one. */
const struct guard_key *guard_find(const struct guard *g, const char *key, size_t len);

/* Whether a Host header names this server: localhost, 127.0.0.1, [::1] or one of hosts, with or
 * without a port. */
bool guard_host(const struct guard *g, const char *host);
/* The same of an Origin header, which is absent for what is no page. */
bool guard_origin(const struct guard *g, const char *origin);

#endif
