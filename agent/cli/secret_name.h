/* Which variables of the environment hold secrets, by what they are called. */
#ifndef AGENT_SECRET_NAME_H
#define AGENT_SECRET_NAME_H

#include <stddef.h>

enum secret_name {
	SECRET_NAME_NONE,
	SECRET_NAME_LIKELY, /* AUTH, DSN, PASS: often, but "1" and "on" too */
	SECRET_NAME_SURE,   /* KEY, TOKEN, PASSWORD */
};

enum secret_name secret_name_is(const char *name, size_t len);

/* The password in a URL (RFC 3986, 3.2.1) as DATABASE_URL or http_proxy hold one: its beginning
 * and length, or NULL. */
const char *secret_name_url_password(const char *value, size_t *ret_len);

#endif
