/*
 * What a handler may ask of its request: who sent it, what its head and body say. Nothing is
 * answered here.
 */
#include "agent/doors/http/server.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *exchange_header(const struct exchange *x, const char *name)
{
	return microhttpd.header(x->mhd, MHD_HEADER_KIND, name);
}

bool exchange_wants_events(struct MHD_Connection *mhd)
{
	const char *accept = microhttpd.header(mhd, MHD_HEADER_KIND, "Accept");

	return accept && strcasestr(accept, "text/event-stream");
}

struct gathered {
	const char *prefix;
	struct json *found;
	size_t bytes;
};

static enum MHD_Result gather(void *self, enum MHD_ValueKind kind, const char *name,
			      const char *value)
{
	struct gathered *g = self;
	size_t len = strlen(g->prefix);
	char rest[256];
	size_t n = 0;

	(void)kind;
	if (strncasecmp(name, g->prefix, len) || !name[len] || strlen(name + len) >= sizeof(rest))
		return MHD_YES;
	for (; name[len + n]; n++)
		rest[n] = (char)tolower((unsigned char)name[len + n]);
	rest[n] = '\0';
	g->bytes += n + (value ? strlen(value) : 0);
	json_set_bytes(g->found, rest, value ? value : "", value ? strlen(value) : 0);
	return MHD_YES;
}

struct json *exchange_headers(const struct exchange *x, const char *prefix, size_t most)
{
	struct gathered g = { .prefix = prefix, .found = json_object() };

	microhttpd.headers(x->mhd, MHD_HEADER_KIND, gather, &g);
	if (json_count(g.found) && g.bytes <= most)
		return g.found;
	json_free(g.found);
	return NULL;
}

const char *exchange_query(const struct exchange *x, const char *name)
{
	return microhttpd.header(x->mhd, MHD_GET_ARGUMENT_KIND, name);
}

void *exchange_guest(const struct exchange *x)
{
	return x->guest;
}

const char *exchange_part(const struct exchange *x)
{
	return x->part ? x->part : "";
}

const char *exchange_owner(const struct exchange *x)
{
	return x->owner;
}

const struct buf *exchange_body(const struct exchange *x)
{
	return &x->body;
}

const struct json *exchange_json(const struct exchange *x)
{
	return x->json;
}

int exchange_cancel_fd(const struct exchange *x)
{
	return x->cancel_fd;
}

bool exchange_streams(const struct exchange *x)
{
	return x->streams;
}

bool exchange_takes_events(const struct exchange *x)
{
	return exchange_wants_events(x->mhd);
}

void exchange_stays(struct exchange *x)
{
	x->stays = true;
}

void **exchange_memory(struct exchange *x)
{
	return &x->memory;
}

void exchange_memory_is(struct exchange *x, void *memory, void (*release)(void *memory))
{
	x->memory = memory;
	x->release = release;
}

void *exchange_memory_of(const struct exchange *x)
{
	return x->memory;
}

void exchange_again(struct exchange *x)
{
	x->again = true;
}

struct contexts *exchange_contexts(const struct exchange *x)
{
	return service_contexts(x->server->options.service);
}

void exchange_is_alone(struct exchange *x, const char *name, size_t place)
{
	snprintf(x->work.alone, sizeof(x->work.alone), "%s", name);
	x->work.place = place;
}

const char *exchange_alone(const struct exchange *x)
{
	return x->work.alone;
}

struct server *exchange_server(const struct exchange *x)
{
	return x->server;
}
