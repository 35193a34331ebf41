/*
 * The Model Context Protocol (modelcontextprotocol.io): the tools that assay is to other agents.
 * Both eras are spoken, by each message's own word: with `initialize` (up to 2025-11-25), and
 * without (2026-07-28), where every request says in `_meta` who asks.
 *
 * A struct mcp is the tools over a service. A peer is one client; what it is sent goes into its
 * sink, from several threads but one message at a time.
 */
#ifndef AGENT_DOORS_MCP_H
#define AGENT_DOORS_MCP_H

#include "agent/doors/service/service.h"
#include "base/json.h"

struct mcp;
struct peer;

struct mcp_options {
	struct service *service; /* borrowed until mcp_close */
	bool has_model;		 /* answer_question is a tool */
	bool may_call;		 /* programs can call tools of the user's (--tools) */
};
int mcp_open(struct mcp **ret, const struct mcp_options *options, struct error *err);
void mcp_close(struct mcp *mcp); /* after its peers; NULL allowed */

struct peer_sink {
	void (*send)(void *self, const struct json *message);
	void *self;
};

/* owner (may be NULL) is whose turn its calls take, and the tag of its runs: with one, others' do
 * not exist for it. Borrowed until peer_free, as the sink is copied. */
struct peer *peer_new(struct mcp *mcp, const struct peer_sink *sink, const char *owner);

/* It has not begun by a message, and may leave out what the new era wants in every one. */
void peer_is_initialized(struct peer *peer);

/* One message of the client. Answers come at once or later, by the sink. */
void peer_message(struct peer *peer, const char *bytes, size_t len);

/* A message that came alone, with a place of its own for what is said to it. */
struct message;
struct flight;
struct peer_remote {
	struct peer_sink sink; /* instead of the peer's */
	/* By the sink's self, from any thread: nobody is there any more who would take a message.
	 */
	bool (*has_left)(void *self);
	bool streams;  /* it takes more than the answer */
	int cancel_fd; /* readable, or written to, when the call is to end; borrowed */
};
/* Takes the message. NULL: all is said that is to be said. Else a call that wants a worker: made by
 * one of flight_work, in that one's thread, or dropped. */
struct flight *peer_take(struct peer *peer, const struct peer_remote *remote,
			 struct message *message, size_t bytes);
const struct work *flight_work(const struct flight *f); /* what it waits for, and its place */
void flight_fly(struct flight *f, struct worker *worker);
void flight_drop(struct flight *f);

/* Whether there is such a version of the protocol here, of either era; and the error that names
 * those there are. id may be NULL. Caller frees. */
bool peer_knows_version(const char *version);
struct json *peer_refuse_version(const struct json *id, const char *requested);
/* What could not be taken as a message at all. */
void peer_refuse(struct peer *peer, const char *problem);

/* Nothing more is read from the client: what it is asked is answered by no. */
void peer_leaves(struct peer *peer);
/* Everything under way is to end, unanswered. */
void peer_cancel(struct peer *peer);
/* What is under way; fd becomes readable when one of it ended (reset by peer_busy). */
size_t peer_busy(struct peer *peer);
int peer_fd(const struct peer *peer);
void peer_free(struct peer *peer); /* waits until nothing is; NULL allowed */

/* Clients that come message by message, each with the id of a session that it was given: found by
 * it and its owner together. One that nobody holds may be ended for another. */
struct mcp_session;
/* Held; NULL: all that may be are in use. */
struct mcp_session *mcp_session_open(struct mcp *mcp, const char *owner);
struct mcp_session *mcp_session_hold(struct mcp *mcp, const char *owner, const char *id);
void mcp_session_put_back(struct mcp_session *session); /* NULL allowed */
/* What is under way in it ends. False: there is none. */
bool mcp_session_end(struct mcp *mcp, const char *owner, const char *id);
struct peer *mcp_session_peer(const struct mcp_session *session);
const char *mcp_session_id(const struct mcp_session *session);

/*
 * Speaks to one client over two descriptors, a message a line, until in ends, and all that was
 * asked until then is answered; or cancel_fd becomes readable, and all is cancelled; or out breaks,
 * which is the same.
 */
int mcp_stdio(struct mcp *mcp, int in, int out, int cancel_fd, struct error *err);

/* What to paste into a client's configuration to have assay started by it: for "claude", "codex",
 * "vscode", ...; path is assay's own. NULL and err (ERR_USAGE) with the names there are. Caller
 * frees. */
char *mcp_paste(const char *client, const char *path, struct error *err);

#endif
