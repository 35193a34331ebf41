/*
 * Whether a request is taken at all, decided from its head, before a byte of its body is read: for
 * this server, from no foreign page, with a key, for something there is. Nothing is done yet.
 */
#include "agent/doors/http/server.h"

#include "base/json.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PISTON	   "/api/v2/"
#define KEY_PREFIX "/key/" /* for clients that know an address, but no header */

static const char *header(struct MHD_Connection *mhd, const char *name)
{
	return microhttpd.header(mhd, MHD_HEADER_KIND, name);
}

static unsigned refuse(struct admission *a, unsigned status, const char *why)
{
	snprintf(a->why, sizeof(a->why), "%.*s", (int)sizeof(a->why) - 1, why);
	return status;
}

/* --- which route --- */

/* {} takes one part. */
static bool fits(const char *pattern, const char *path, char **ret_part)
{
	const char *hole = strstr(pattern, "{}");
	size_t before = hole ? (size_t)(hole - pattern) : 0;

	if (!hole)
		return !strcmp(pattern, path);
	if (strncmp(pattern, path, before))
		return false;
	size_t len = strcspn(path + before, "/");
	if (!len || strcmp(path + before + len, hole + 2))
		return false;
	*ret_part = mem_strndup(path + before, len);
	return true;
}

static void allow(struct admission *a, const char *method)
{
	size_t len = strlen(a->allow);

	snprintf(a->allow + len, sizeof(a->allow) - len, "%s%s%s", len ? ", " : "", method,
		 strcmp(method, "GET") ? "" : ", HEAD");
}

/* The row of a table; NULL: it has none, or of other methods. */
static const struct route *find_row(struct admission *a, const struct route *table,
				    const struct head *h)
{
	for (const struct route *r = table; r->method; r++) {
		free(TAKE_PTR(a->part));
		if (!fits(r->path, h->path, &a->part))
			continue;
		if (!strcmp(r->method, h->method))
			return r;
		allow(a, r->method);
	}
	return NULL;
}

static unsigned find_route(struct admission *a, const struct route *const *tables,
			   const struct head *h)
{
	for (; *tables && !a->route; tables++)
		a->route = find_row(a, *tables, h);
	if (a->route)
		return 0;
	return *a->allow ?
		       refuse(a, MHD_HTTP_METHOD_NOT_ALLOWED, "this path knows another method") :
		       refuse(a, MHD_HTTP_NOT_FOUND, "there is no such path");
}

/* --- whose --- */

/* "/key/KEY/path": *path becomes "/path". */
static const struct guard_key *key_of_path(const struct guard *g, const char **path)
{
	const char *key = *path + strlen(KEY_PREFIX);

	if (strncmp(*path, KEY_PREFIX, strlen(KEY_PREFIX)))
		return NULL;
	size_t len = strcspn(key, "/");
	*path = key[len] ? key + len : "/";
	return guard_find(g, key, len);
}

static const struct guard_key *key_of_header(const struct guard *g, struct MHD_Connection *mhd)
{
	const char *key = header(mhd, "X-API-Key"), *bearer = header(mhd, "Authorization");

	if (!key && bearer && !strncasecmp(bearer, "Bearer ", 7))
		key = bearer + 7;
	return key ? guard_find(g, key, strlen(key)) : NULL;
}

static bool is_type(const char *type, size_t len, const char *wanted)
{
	return strlen(wanted) == len && !strncasecmp(type, wanted, len);
}

static unsigned check_type(struct MHD_Connection *mhd, struct admission *a)
{
	const char *type = header(mhd, "Content-Type");
	size_t len = type ? strcspn(type, "; \t") : 0;

	if (!(a->route->flags & HTTP_JSON) || is_type(type, len, "application/json"))
		return 0;
	a->unsaid = a->route->flags & HTTP_UNSAID && (!len || is_type(type, len, "text/plain"));
	return a->unsaid ? 0 :
			   refuse(a, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
				  "the body must be JSON: Content-Type: application/json");
}

const char *head_path(const struct head *h)
{
	return h->path;
}

const char *head_method(const struct head *h)
{
	return h->method;
}

const char *head_header(const struct head *h, const char *name)
{
	return header(h->mhd, name);
}

const char *head_query(const struct head *h, const char *name)
{
	const char *value = microhttpd.header(h->mhd, MHD_GET_ARGUMENT_KIND, name);

	return value ? value : "";
}

/* False: the request is for no guest. */
static bool enter(const struct server *s, const struct head *h, struct admission *a,
		  unsigned *ret_status)
{
	const struct guests *guests = s->options.guests;
	struct entry entry = { .guest = NULL };

	if (!guests || !guests->enter(guests->self, h, &entry))
		return false;
	a->guest = entry.guest;
	a->owner = entry.owner;
	a->said = entry.said;
	a->reads_on = entry.reads_on;
	*ret_status = entry.status ? entry.status : find_route(a, guests->routes, h);
	if (!*ret_status)
		*ret_status = check_type(h->mhd, a);
	return true;
}

static unsigned check_names(const struct server *s, struct MHD_Connection *mhd, struct admission *a)
{
	const struct guard *g = s->options.guard;
	const char *host = header(mhd, "Host"), *origin = header(mhd, "Origin");

	if (origin && !guard_origin(g, origin))
		return refuse(a, MHD_HTTP_FORBIDDEN, "Origin: no page of another server may ask");
	size_t label = host && s->options.guests ? s->options.guests->label(host) : 0;
	if (label)
		host += label + 1;
	if (!g->open && (!host || !guard_host(g, host)))
		return refuse(a, MHD_HTTP_FORBIDDEN,
			      "Host: this server is not called so (--host NAME, where it is "
			      "started, adds a name)");
	return 0;
}

/* --- whether it is one request --- */

/* Of these one says where the body ends or who is meant: two could be read as two requests, or as
 * another's, by who stands between the client and us. */
static const char *const singles[] = { "Content-Length", "Transfer-Encoding", "Host",
				       "Origin",	 "Content-Type",      "X-API-Key",
				       "Authorization",	 "X-Access-Token",    "E2b-Sandbox-Id",
				       "Expect",	 "E2b-Sandbox-Port" };

struct singles {
	unsigned seen; /* of singles, a bit each */
	bool bad;
};

/* A letter, or what may stand in the name of a header beside those (RFC 9110, 5.6.2). */
static bool is_token(const char *name)
{
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("!#$%&'*+-.^_`|~", *name))
			return false;
	return true;
}

static enum MHD_Result look_at_header(void *self, enum MHD_ValueKind kind, const char *name,
				      const char *value)
{
	struct singles *h = self;

	(void)kind;
	(void)value;
	h->bad = h->bad || !is_token(name);
	for (size_t i = 0; i < ARRAY_SIZE(singles); i++)
		if (!strcasecmp(name, singles[i])) {
			h->bad = h->bad || h->seen & 1U << i;
			h->seen |= 1U << i;
		}
	return MHD_YES;
}

/* 0, or why its end is not certain: nothing behind it is taken as another request. */
static unsigned check_head(struct MHD_Connection *mhd, struct admission *a)
{
	const char *coding = header(mhd, "Transfer-Encoding");
	struct singles h = { .seen = 0 };

	microhttpd.headers(mhd, MHD_HEADER_KIND, look_at_header, &h);
	if (h.bad)
		return refuse(a, MHD_HTTP_BAD_REQUEST,
			      "a header that stands once in a request stands there twice, or its "
			      "name is none");
	if (coding && (strcasecmp(coding, "chunked") || header(mhd, "Content-Length")))
		return refuse(a, MHD_HTTP_BAD_REQUEST,
			      "Transfer-Encoding: chunked is taken, alone and without "
			      "Content-Length");
	return 0;
}

/* Its own words where it has some: a method that a path does not know is no path to it. */
static unsigned say_as_piston(struct admission *a, unsigned status)
{
	bool is_type = status == MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;

	if (!status)
		return 0;
	a->said = json_object();
	json_set_string(a->said, "message",
			is_type ? "requests must be of type application/json" : "Not Found");
	return is_type ? status : MHD_HTTP_NOT_FOUND;
}

unsigned admit(const struct server *s, struct MHD_Connection *mhd, bool foreign, const char *url,
	       const char *method, struct admission *ret)
{
	const struct guard *g = s->options.guard;
	/* The same answer, of which what sends it leaves the body out. */
	struct head head = { mhd, url, strcmp(method, "HEAD") ? method : "GET" };

	*ret = (struct admission){ .route = NULL };
	if (foreign)
		return refuse(ret, MHD_HTTP_FORBIDDEN, "this socket is another user's");
	unsigned status = check_head(mhd, ret);
	if (!status)
		status = check_names(s, mhd, ret);
	if (status)
		return status;
	if (enter(s, &head, ret, &status))
		return status;
	const struct guard_key *key = key_of_path(g, &head.path);
	key = key ? key : key_of_header(g, mhd);
	unsigned routed = find_route(ret, s->options.routes, &head);
	if (!g->open && !key && (routed || !(ret->route->flags & HTTP_ANYBODY)))
		return refuse(ret, MHD_HTTP_UNAUTHORIZED,
			      "a key is needed: X-API-Key: KEY; assay serve printed it at its "
			      "first start, and keeps it in its file of keys");
	ret->owner = key ? key->owner : NULL;
	status = routed ? routed : check_type(mhd, ret);
	return strncmp(head.path, PISTON, strlen(PISTON)) ? status : say_as_piston(ret, status);
}
