/*
 * The body of a request, as it comes: kept in memory within bounds, or handed on to who has a place
 * for it. What it means is not known here.
 */
#include "agent/doors/http/server.h"

#include "agent/doors/service/owner.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define BODIES_MAX ((size_t)128 << 20) /* that are kept, of all requests together */

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
static bool has_room(struct server *s, const struct exchange *x, size_t len)
{
	size_t own = share_of(s, x->owner)->bytes, others = s->load.body_bytes - own;
	size_t most = x->owner ? (BODIES_MAX - others) / 2 : BODIES_MAX - others;

	return own + len <= most;
}

void exchange_drop_body(struct exchange *x)
{
	x->server->load.body_bytes -= x->body.len;
	share_of(x->server, x->owner)->bytes -= x->body.len;
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

/* Where nobody reads it, it is not kept: it may come without a key, and takes nobody's place. */
void exchange_take_body(struct exchange *x, const char *bytes, size_t len)
{
	struct server *s = x->server;

	if (!(x->route->flags & (HTTP_JSON | HTTP_BODY)) || pass_body(x, bytes, len))
		return;
	pthread_mutex_lock(&s->lock);
	x->no_room = x->no_room || (!x->too_large && !has_room(s, x, len));
	if (!x->no_room && !x->too_large) {
		if (buf_add(&x->body, bytes, len) < 0) {
			x->too_large = true;
		} else {
			s->load.body_bytes += len;
			share_of(s, x->owner)->bytes += len;
		}
	}
	pthread_mutex_unlock(&s->lock);
}
