/*
 * Clients of the era with initialize that come message by message: what belongs together is held
 * by the id that each was given. One is a peer like any; there are so many and no more, and of
 * those that nobody uses the one that has been unused the longest makes room.
 */
#include "agent/doors/mcp/peer.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SESSIONS_MAX	  1024
#define SESSIONS_OF_OWNER 256
#define ID_BYTES	  16

struct mcp_session {
	char id[2 * ID_BYTES + 1];
	const char *owner;
	struct mcp *mcp;
	struct peer *peer;
	size_t holders;
	uint64_t used; /* the clock, when it was held last */
	bool ended;    /* and out of the list */
	struct mcp_session *next;
};

/* What is said to its messages goes where each came from. */
static void send_nowhere(void *self, const struct json *message)
{
	(void)self;
	(void)message;
}

static bool same_owner(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void mcp_session_free(struct mcp_session *s)
{
	peer_free(s->peer);
	free(s);
}

/* With the lock held, as all down to the opening. */
static void take_out(struct mcp *mcp, struct mcp_session *s)
{
	struct mcp_session **at = &mcp->sessions;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	mcp->session_count--;
	s->ended = true;
}

static struct mcp_session *find(const struct mcp *mcp, const char *owner, const char *id)
{
	struct mcp_session *s = mcp->sessions;

	while (s && (strcmp(s->id, id) || !same_owner(s->owner, owner)))
		s = s->next;
	return s;
}

/* Of an owner's, or (any) of all; NULL: each is in use. */
static struct mcp_session *longest_unused(const struct mcp *mcp, const char *owner, bool any)
{
	struct mcp_session *best = NULL;

	for (struct mcp_session *s = mcp->sessions; s; s = s->next)
		if (!s->holders && (any || same_owner(s->owner, owner)) &&
		    (!best || s->used < best->used))
			best = s;
	return best;
}

static size_t count_of(const struct mcp *mcp, const char *owner)
{
	size_t n = 0;

	for (const struct mcp_session *s = mcp->sessions; s; s = s->next)
		n += same_owner(s->owner, owner);
	return n;
}

/* False: there is no room. *ret_old is to be freed, if there is one. */
static bool make_room(struct mcp *mcp, const char *owner, struct mcp_session **ret_old)
{
	bool own = count_of(mcp, owner) >= SESSIONS_OF_OWNER;

	if (!own && mcp->session_count < SESSIONS_MAX)
		return true;
	*ret_old = longest_unused(mcp, owner, !own);
	if (*ret_old)
		take_out(mcp, *ret_old);
	return *ret_old != NULL;
}

static struct mcp_session *mcp_session_new(struct mcp *mcp, const char *owner)
{
	const struct peer_sink sink = { send_nowhere, NULL };
	struct mcp_session *s = mem_alloc(sizeof(*s));
	unsigned char bytes[ID_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		abort();
	*s = (struct mcp_session){ .owner = owner, .mcp = mcp, .holders = 1 };
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(s->id + 2 * i, 3, "%02x", bytes[i]);
	s->peer = peer_new(mcp, &sink, owner);
	return s;
}

struct mcp_session *mcp_session_open(struct mcp *mcp, const char *owner)
{
	struct mcp_session *s = mcp_session_new(mcp, owner), *old = NULL;

	pthread_mutex_lock(&mcp->lock);
	bool room = make_room(mcp, owner, &old);
	if (room) {
		s->used = ++mcp->session_clock;
		s->next = mcp->sessions;
		mcp->sessions = s;
		mcp->session_count++;
	}
	pthread_mutex_unlock(&mcp->lock);
	if (old)
		mcp_session_free(old);
	if (!room)
		mcp_session_free(s);
	return room ? s : NULL;
}

struct mcp_session *mcp_session_hold(struct mcp *mcp, const char *owner, const char *id)
{
	pthread_mutex_lock(&mcp->lock);
	struct mcp_session *s = find(mcp, owner, id);
	if (s) {
		s->holders++;
		s->used = ++mcp->session_clock;
	}
	pthread_mutex_unlock(&mcp->lock);
	return s;
}

void mcp_session_put_back(struct mcp_session *s)
{
	if (!s)
		return;
	struct mcp *mcp = s->mcp;
	pthread_mutex_lock(&mcp->lock);
	bool over = !--s->holders && s->ended;
	pthread_mutex_unlock(&mcp->lock);
	if (over)
		mcp_session_free(s);
}

bool mcp_session_end(struct mcp *mcp, const char *owner, const char *id)
{
	pthread_mutex_lock(&mcp->lock);
	struct mcp_session *s = find(mcp, owner, id);
	if (s) {
		take_out(mcp, s);
		s->holders++;
	}
	pthread_mutex_unlock(&mcp->lock);
	if (!s)
		return false;
	peer_leaves(s->peer);
	peer_cancel(s->peer);
	mcp_session_put_back(s);
	return true;
}

struct peer *mcp_session_peer(const struct mcp_session *s)
{
	return s->peer;
}

const char *mcp_session_id(const struct mcp_session *s)
{
	return s->id;
}

void sessions_free(struct mcp *mcp)
{
	while (mcp->sessions) {
		struct mcp_session *s = mcp->sessions;

		take_out(mcp, s);
		mcp_session_free(s);
	}
}
