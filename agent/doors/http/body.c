/*
 * What is held in memory of requests and their answers, within bounds, and the body of a request as
 * it comes: kept, or handed on to who has a place for it. What it means is not known here.
 */
#include "agent/doors/http/server.h"

#include "agent/doors/service/owner.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define HELD_MAX ((size_t)128 << 20) /* of all requests together, and of all answers */

/* With the server's lock held. */
static struct body_share *share_of(struct server *s, const char *owner)
{
	for (size_t i = 0; i < s->share_count; i++)
		if (owner_is_same(s->shares[i].owner, owner))
			return &s->shares[i];
	s->shares = mem_one_more(s->shares, s->share_count, sizeof(*s->shares));
	s->shares[s->share_count] = (struct body_share){ .owner = owner };
	return &s->shares[s->share_count++];
}

/* A key has at most half of what others leave, so that several leave something for another; the
 * user himself has no others beside him. */
static bool has_room(struct server *s, const struct exchange *x, enum held_for what, size_t len)
{
	size_t own = share_of(s, x->owner)->bytes[what], others = s->load.held_bytes[what] - own;
	size_t left = HELD_MAX - (others < HELD_MAX ? others : HELD_MAX);

	return own + len <= (x->owner ? left / 2 : left);
}

static void add(struct exchange *x, enum held_for what, size_t len)
{
	x->held[what] += len;
	x->server->load.held_bytes[what] += len;
	share_of(x->server, x->owner)->bytes[what] += len;
}

static void take_away(struct exchange *x, enum held_for what, size_t len)
{
	x->held[what] -= len;
	x->server->load.held_bytes[what] -= len;
	share_of(x->server, x->owner)->bytes[what] -= len;
}

bool exchange_may_hold(struct exchange *x, enum held_for what, size_t len)
{
	pthread_mutex_lock(&x->server->lock);
	bool room = has_room(x->server, x, what, len);
	if (room)
		add(x, what, len);
	pthread_mutex_unlock(&x->server->lock);
	return room;
}

void exchange_holds(struct exchange *x, enum held_for what, size_t len)
{
	pthread_mutex_lock(&x->server->lock);
	add(x, what, len);
	pthread_mutex_unlock(&x->server->lock);
}

void exchange_drops(struct exchange *x, enum held_for what, size_t len)
{
	pthread_mutex_lock(&x->server->lock);
	take_away(x, what, len);
	pthread_mutex_unlock(&x->server->lock);
}

void exchange_drop_all(struct exchange *x)
{
	take_away(x, HELD_REQUEST, x->held[HELD_REQUEST]);
	take_away(x, HELD_ANSWER, x->held[HELD_ANSWER]);
}

bool exchange_is_announced_too_large(const struct exchange *x)
{
	const char *length = microhttpd.header(x->mhd, MHD_HEADER_KIND, "Content-Length");
	size_t most = x->route->take ? HTTP_FILE_MAX : HTTP_BODY_MAX;

	return length && (strlen(length) > 18 || strtoull(length, NULL, 10) > most);
}

bool exchange_body_is_written(struct MHD_Connection *mhd)
{
	const char *length = microhttpd.header(mhd, MHD_HEADER_KIND, "Content-Length");

	if (!length || strlen(length) > 18 || microhttpd.header(mhd, MHD_HEADER_KIND, "Expect"))
		return false;
	unsigned long long len = strtoull(length, NULL, 10);
	return len && len <= HTTP_BODY_MAX;
}

/* What is taken as it comes may be large, and has the longer the more of it is there. */
static bool pass_body(struct exchange *x, const char *bytes, size_t len)
{
	if (!x->route->take)
		return false;
	x->too_large = x->too_large || x->passed + len > HTTP_FILE_MAX;
	if (!x->too_large && !x->route->take(x, bytes, len))
		return false;
	x->passed += len;
	pthread_mutex_lock(&x->server->lock);
	x->connection->larger_ms = (int64_t)(x->passed / EXCHANGE_LARGE_RATE);
	pthread_mutex_unlock(&x->server->lock);
	return true;
}

/* What its place is taken for with its first bytes: all of it, if its length was told, so that of
 * many at once some are whole. Later, what comes beyond that. */
static size_t place_for(const struct exchange *x, size_t len)
{
	const char *length = microhttpd.header(x->mhd, MHD_HEADER_KIND, "Content-Length");
	size_t told = length ? strtoull(length, NULL, 10) : 0, held = x->held[HELD_REQUEST];

	if (!held && told > len)
		return told;
	return x->body.len + len > held ? x->body.len + len - held : 0;
}

/* Where nobody reads it, it is not kept: it may come without a key, and takes nobody's place. */
void exchange_take_body(struct exchange *x, const char *bytes, size_t len)
{
	if (!(x->route->flags & (HTTP_JSON | HTTP_BODY)) || pass_body(x, bytes, len))
		return;
	size_t place = place_for(x, len);
	x->too_large = x->too_large || place > HTTP_BODY_MAX;
	if (x->no_room || x->too_large)
		return;
	x->no_room = !exchange_may_hold(x, HELD_REQUEST, place);
	x->too_large = !x->no_room && buf_add(&x->body, bytes, len) < 0;
}
