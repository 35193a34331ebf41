/*
 * Whether a request is taken at all, decided from its head, before a byte of its body is read: for
 * this server, from no foreign page, with a key, for something there is. Nothing is done yet.
 */
#include "agent/doors/http/server.h"

#include "agent/doors/e2b/box.h"
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

static unsigned find_route(struct admission *a, const struct route *routes, const char *path,
			   const char *method)
{
	bool known = false;

	for (const struct route *r = routes; r->method; r++) {
		free(TAKE_PTR(a->part));
		if (!fits(r->path, path, &a->part))
			continue;
		if (!strcmp(r->method, method)) {
			a->route = r;
			return 0;
		}
		known = true;
	}
	return known ? refuse(a, MHD_HTTP_METHOD_NOT_ALLOWED, "this path knows another method") :
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

/* What a Host of "PORT-ID.NAME" has before its name: a sandbox of E2B's wire. */
static size_t box_label(const char *host)
{
	size_t port = strspn(host, "0123456789");

	if (!port || host[port] != '-')
		return 0;
	size_t id = strspn(host + port + 1, "0123456789abcdef");
	return id == BOX_ID_LEN && host[port + 1 + id] == '.' ? port + 1 + id : 0;
}

/* Whom a request is for: its id, owned; NULL: for none. */
static char *box_of(struct MHD_Connection *mhd)
{
	const char *id = header(mhd, "E2b-Sandbox-Id"), *host = header(mhd, "Host");
	size_t len = host ? box_label(host) : 0;

	if (id)
		return mem_strdup(id);
	return len ? mem_strndup(host + len - BOX_ID_LEN, BOX_ID_LEN) : NULL;
}

/* Those that answer here, of all that a sandbox of E2B's has: its interpreter and its envd. */
static bool is_port_here(long port)
{
	return port == 49999 || port == 49983;
}

/* Which of its ports is meant; 0: it is not said. */
static long port_of(struct MHD_Connection *mhd)
{
	const char *port = header(mhd, "E2b-Sandbox-Port"), *host = header(mhd, "Host");

	port = port ? port : host && box_label(host) ? host : NULL;
	return port ? strtol(port, NULL, 10) : 0;
}

/* As E2B's envd and its proxy say it. id may be NULL. */
static unsigned refuse_as_envd(struct admission *a, unsigned status, const char *id,
			       const char *message)
{
	a->said = json_object();
	json_set_int(a->said, "code", status);
	json_set_string(a->said, "message", message);
	if (id)
		json_set_string(a->said, "sandboxId", id);
	return status;
}

/* As their proxy says it; whether there is such a sandbox is its owner's to know. */
static unsigned refuse_port(struct admission *a, const char *id, long port)
{
	refuse_as_envd(a, MHD_HTTP_BAD_GATEWAY, id,
		       a->box ? "The sandbox is running but port is not open" : "port is not open");
	json_set_int(a->said, "port", port);
	json_set_string(a->said, "detail",
			"sandboxes of this server have no network: no port of one can be reached; "
			"use its files, commands and code instead");
	return MHD_HTTP_BAD_GATEWAY;
}

static const char *query(struct MHD_Connection *mhd, const char *name)
{
	const char *value = microhttpd.header(mhd, MHD_GET_ARGUMENT_KIND, name);

	return value ? value : "";
}

/* An address of a file that a client made with the sandbox's token, which it need not name: held,
 * or NULL. */
static struct box *enter_signed(const struct server *s, struct MHD_Connection *mhd, const char *id,
				const char *path, const char *method, bool *ret_expired)
{
	const char *operation = !strcmp(method, "GET") ? "read" : "write";

	if (strcmp(path, "/files") || !*query(mhd, "signature"))
		return NULL;
	struct box *box =
		boxes_enter_signed(s->options.boxes, query(mhd, "path"), operation,
				   query(mhd, "username"), query(mhd, "signature_expiration"),
				   query(mhd, "signature"), ret_expired);
	if (!box || !id || !strcmp(id, box->id))
		return box;
	boxes_put_back(s->options.boxes, box);
	return NULL;
}

/* A sandbox's token lets in, and nothing else does. */
static unsigned enter_box(const struct server *s, struct MHD_Connection *mhd, const char *id,
			  const char *path, const char *method, struct admission *a)
{
	const char *token = header(mhd, "X-Access-Token");
	long port = port_of(mhd);

	bool expired = false;
	token = token ? token : header(mhd, "E2B-Traffic-Access-Token");
	a->box = token && id ? boxes_enter(s->options.boxes, id, token) :
			       enter_signed(s, mhd, id, path, method, &expired);
	if (port && !is_port_here(port))
		return refuse_port(a, id ? id : "", port);
	/* In envd's own words, which a form that is sent from a page is to read. */
	a->reads_on = !a->box && !token && *query(mhd, "signature");
	if (a->reads_on)
		return refuse_as_envd(a, MHD_HTTP_UNAUTHORIZED, NULL,
				      expired ? "signature is already expired" :
						"invalid signature");
	if (!a->box)
		return refuse_as_envd(a, MHD_HTTP_BAD_GATEWAY, id,
				      "The sandbox was not found: it has ended or is paused, or "
				      "never was");
	a->owner = a->box->owner;
	unsigned status = find_route(a, e2b_routes, path, method);
	return status ? status : check_type(mhd, a);
}

static unsigned check_names(const struct guard *g, struct MHD_Connection *mhd, struct admission *a)
{
	const char *host = header(mhd, "Host"), *origin = header(mhd, "Origin");

	if (origin && !guard_origin(g, origin))
		return refuse(a, MHD_HTTP_FORBIDDEN, "Origin: no page of another server may ask");
	if (host && box_label(host))
		host += box_label(host) + 1;
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

struct head {
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
	struct head *h = self;

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
	struct head h = { .seen = 0 };

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
	const char *path = url;

	*ret = (struct admission){ .route = NULL };
	if (foreign)
		return refuse(ret, MHD_HTTP_FORBIDDEN, "this socket is another user's");
	unsigned status = check_head(mhd, ret);
	if (!status)
		status = check_names(g, mhd, ret);
	if (status)
		return status;
	cleanup_free char *id = s->options.boxes ? box_of(mhd) : NULL;
	if (id || (s->options.boxes && !strcmp(path, "/files") && *query(mhd, "signature")))
		return enter_box(s, mhd, id, path, method, ret);
	const struct guard_key *key = key_of_path(g, &path);
	key = key ? key : key_of_header(g, mhd);
	unsigned routed =
		find_route(ret, s->options.routes ? s->options.routes : http_routes, path, method);
	if (!g->open && !key && (routed || !(ret->route->flags & HTTP_ANYBODY)))
		return refuse(ret, MHD_HTTP_UNAUTHORIZED,
			      "a key is needed: X-API-Key: KEY; assay serve printed it at its "
			      "first start, and keeps it in its file of keys");
	ret->owner = key ? key->owner : NULL;
	status = routed ? routed : check_type(mhd, ret);
	return strncmp(path, PISTON, strlen(PISTON)) ? status : say_as_piston(ret, status);
}
