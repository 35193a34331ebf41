/* A client and what is under way for it. Internal to agent/doors/mcp/. */
#ifndef AGENT_DOORS_PEER_H
#define AGENT_DOORS_PEER_H

#include "agent/doors/mcp/mcp.h"
#include "agent/doors/mcp/message.h"
#include "agent/doors/service/call.h"

struct flight;

struct mcp {
	struct mcp_options options;
	struct json *list;    /* of tools, as tools/list has it; owned */
	struct json *tools;   /* and what each is made of, by name; owned */
	char secret[65];      /* signs what a client hands back */
	pthread_mutex_t lock; /* of all below */
	struct mcp_session *sessions;
	size_t session_count;
	uint64_t session_clock;
};
void sessions_free(struct mcp *mcp); /* nobody holds one */

/* What a tool came to. Zeroed, it is nothing. */
struct tool_result {
	struct json *structured; /* owned, as all here */
	struct json *content;	 /* an array, beside the text of structured; NULL: nothing more */
	char *text;		 /* instead of structured: what was wrong */
	struct json *asked;	 /* an input_required result instead of all that */
	bool failed;
};
void tool_result_release(struct tool_result *r);

/* --- agent/doors/mcp/tools.c --- */
int tools_load(struct mcp *mcp, struct error *err);
/* What a tool is made of; NULL when there is none of that name. */
const struct json *tools_find(const struct mcp *mcp, const char *name);
/* In a worker's thread. What is wrong with the arguments or the run is the result's, too. */
void tools_run(struct flight *f, struct worker *worker, struct tool_result *ret);

/* --- agent/doors/mcp/tools_context.c --- */
/* What needs no worker; false: it is none of that. */
bool tools_at_once(struct flight *f, struct tool_result *ret);

/* --- agent/doors/mcp/tools_log.c --- */
int tools_list_runs(struct flight *f, struct worker *w, struct tool_result *ret, struct error *err);
int tools_show_run(struct flight *f, struct worker *w, struct tool_result *ret, struct error *err);
int tools_read_file(struct flight *f, struct worker *w, struct tool_result *ret, struct error *err);
int tools_replay_run(struct flight *f, struct worker *w, struct tool_result *ret,
		     struct error *err);

/* --- agent/doors/mcp/peer.c --- */
struct peer {
	struct mcp *mcp;
	struct peer_sink sink;
	const char *owner;
	const char *tags[3];
	pthread_mutex_t lock;	 /* of all below */
	pthread_mutex_t sending; /* one message at a time */
	pthread_cond_t changed;
	struct flight *flights;
	size_t flight_count, flight_bytes;
	uint64_t asked; /* how often it was asked something */
	int fd;
	bool initialized, left;
	bool elicits; /* said so by initialize */
};
/* Takes message. */
void peer_send(struct peer *peer, const struct peer_sink *sink, struct json *message);

/* A message on its way in, and where what is said to it goes. */
struct incoming {
	struct peer *peer;
	const struct peer_remote *remote; /* NULL: it came as all of this peer's do */
	const struct peer_sink *sink;
	struct message *message;
	size_t bytes;
	struct flight *flight; /* a call that is to be made for it; of a remote one */
};

/* --- agent/doors/mcp/flight.c: a tools/call --- */
struct flight {
	struct work work;
	struct flight *next;
	struct peer *peer;
	struct peer_sink sink;
	bool (*has_left)(void *self); /* as struct peer_remote has it; NULL: the peer says so */
	struct message message;	      /* owned */
	size_t bytes;
	const struct json *tool;      /* what it is made of */
	const struct json *arguments; /* an object, or NULL */
	const struct json *progress_token;
	bool modern, elicits;
	int cancel_fd;			    /* readable: to be ended; owned */
	bool cancelled;			    /* nobody waits for the answer */
	int64_t progress, told_ms, printed; /* of notifications/progress; with the peer's lock */
	pthread_mutex_t telling;	    /* of progress, one at a time */
	int landed_fd;			    /* readable: there is no more of it to tell */
	/* A question to the client's person, under way. */
	char asked[32];		 /* the id of ours; "": none */
	struct json *answer;	 /* result of it; owned */
	const struct task *task; /* that is run now, for what is asked about it */
	struct json *wanted;	 /* input_required, to be the answer; owned */
};
/* Takes the message. What cannot be taken on is answered at once. */
void flight_start(struct incoming *in, const struct json *tool, bool modern, bool elicits);
/* Something of it to the client. Takes message. */
void flight_send(struct flight *f, struct json *message);
/* With the peer's lock held. */
void flight_cancel(struct flight *f);
void flight_call(struct flight *f, struct call *ret, int64_t wall_ms, const struct task *task);
const char *flight_tool_name(const struct flight *f);

/* --- agent/doors/mcp/approval.c: what wants a yes --- */
int approval_ask(void *self, int attempt, const char *lang, const char *code, size_t len,
		 const struct screening *screening, enum approval *ret, char **ret_code,
		 char **ret_reason, struct error *err);
/* Whether a call of a tool that wants a yes can be asked about while the program waits: asked by
 * the same call once more, the program would call all again. */
bool approval_present(void *self);

/* --- agent/doors/mcp/peer.c --- */

/* resultType and serverInfo, where the era has them. Takes and returns result. */
struct json *peer_complete(bool modern, struct json *result);

#endif
