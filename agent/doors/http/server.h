/* A server, its connections and the exchanges on them. Internal to agent/doors/http/. */
#ifndef AGENT_DOORS_HTTP_SERVER_H
#define AGENT_DOORS_HTTP_SERVER_H

#include "agent/doors/http/http.h"
#include "agent/doors/http/microhttpd.h"

#include <pthread.h>

struct connection {
	int fd;
	int64_t since_ms;   /* a request is waited for, or on its way; 0: it is worked on */
	int64_t sending_ms; /* since when the whole answer is on its way; 0: it is not */
	int left_looks;	    /* that saw a client gone before all of its request was there */
	int64_t larger_ms;  /* how much longer than others a large one may take */
	bool foreign;	    /* at the end of a socket of one's own sits somebody else */
	struct exchange *exchange;
	struct connection *next;
};

/* What is held of an owner's requests and their answers. */
struct body_share {
	const char *owner;
	size_t bytes[HELD_COUNT];
};

struct server {
	struct server_options options;
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct connection *connections;
	struct exchange *staying; /* HTTP_STAYS: with their clients or without */
	struct server_load load;
	struct body_share *shares; /* of whom there was one so far; owned */
	size_t share_count;
	bool draining, cut, ending;
	int wake_fd;
	pthread_t watch;
	bool watches;
};

/* One request and its answer. Two hold it: the connection, and the worker it was submitted to. */
struct exchange {
	struct work work; /* first */
	struct server *server;
	struct MHD_Connection *mhd;
	struct connection *connection;
	const struct route *route;
	char *part;
	const char *owner;
	void *guest; /* held; NULL: none */
	struct buf body;
	size_t passed;		 /* bytes of it that were taken as they came */
	size_t held[HELD_COUNT]; /* in memory for it, as it is counted; with the server's lock */
	struct json *json;
	bool too_large, no_room, streams, unsaid;
	bool stays;   /* with its client or without (HTTP_STAYS) */
	bool again;   /* to be handled once more */
	void *memory; /* of its handler; owned */
	void (*release)(void *memory);
	bool begun; /* all of the request is there */
	bool waits; /* for a worker, whose answer is then sent */
	int cancel_fd;
	const char *tags[3];
	int64_t worked_ms; /* since when its answer is all there; with the server's lock */

	pthread_mutex_t lock; /* of all below */
	int holders;
	bool answered, done, suspended, late; /* late: a stream has begun */
	bool left;			      /* nobody reads what is sent */
	bool cut;			      /* the stream breaks off behind what is sent */
	unsigned status;
	const char *type;
	char *answer;
	int answer_fd; /* instead; owned. -1: none */
	size_t answer_from, answer_len;
	const char *header_name; /* of the answer, one more; NULL: none */
	char *header_value;	 /* owned */
	struct buf events;
	bool lost;		       /* output is left out of them since */
	size_t taken;		       /* of events, from its beginning */
	struct exchange *next_staying; /* with the server's lock */
};

/* agent/doors/http/server.c */
/* What %XX stands for, in its place; %00 is left as it is: nothing here has a NUL in its name, and
 * a text with one would be read as what stands before it. Returns its length. */
size_t server_unescape(void *self, struct MHD_Connection *mhd, char *text);

/* agent/doors/http/body.c */
#define EXCHANGE_LARGE_RATE 100 /* bytes a millisecond, at least, of what is large */
bool exchange_is_announced_too_large(const struct exchange *x);
/* Whether its client may still be writing one of a length that it told, which is small: closed
 * before that, the connection would break, and no client read why. One that asks first does not
 * write. */
bool exchange_body_is_written(struct MHD_Connection *mhd);
void exchange_take_body(struct exchange *x, const char *bytes, size_t len);
/* What is held for it grows by so much, if there is room: else false, and nothing is counted. */
bool exchange_may_hold(struct exchange *x, enum held_for what, size_t len);
/* The same of what nobody can refuse any more, room or not; and less. */
void exchange_holds(struct exchange *x, enum held_for what, size_t len);
void exchange_drops(struct exchange *x, enum held_for what, size_t len);
/* Nothing is held any more; with the server's lock held. */
void exchange_drop_all(struct exchange *x);

/* agent/doors/http/asked.c */
bool exchange_wants_events(struct MHD_Connection *mhd);

/* agent/doors/http/stream.c */
#define EXCHANGE_STREAM_MAX ((size_t)64 << 20) /* that a client has not taken: it is ended */
ssize_t exchange_read_stream(void *self, uint64_t at, char *bytes, size_t room);

/* agent/doors/http/exchange.c */
void server_leave(struct server *s, void *guest); /* of whom an exchange or an admission has */
/* With x's lock held: whoever sends goes on. */
void exchange_wake(struct exchange *x);
/* From here on the client has its time to take what there is; without x's lock. */
void exchange_begins_to_send(struct exchange *x);
enum MHD_Result exchange_on_request(void *self, struct MHD_Connection *mhd, const char *url,
				    const char *method, const char *version, const char *bytes,
				    size_t *len, void **context);
void exchange_on_completed(void *self, struct MHD_Connection *mhd, void **context,
			   enum MHD_RequestTerminationCode code);
/* With the server's lock held: its client is gone, or nobody waits any more. */
void exchange_cancel(struct exchange *x);
/* The same, but that what stays goes on, unless all is to end: then only the connection wakes up,
 * which finds out by itself. */
void exchange_leave(struct exchange *x, bool ends);

/* agent/doors/http/admit.c: who may ask for what. 0, or the status that refuses it with why. */
struct head {
	struct MHD_Connection *mhd;
	const char *path, *method;
};

struct admission {
	const struct route *route;
	const char *owner; /* NULL: the user himself */
	void *guest;	   /* held; NULL: it is for none */
	char *part;	   /* owned */
	bool unsaid;	   /* nothing says that the body is JSON */
	char why[256];
	char allow[64];	   /* what the path knows, where it knows another method */
	struct json *said; /* instead of why; owned, or NULL */
	bool reads_on;	   /* what is refused is told when its body has come */
};
unsigned admit(const struct server *server, struct MHD_Connection *mhd, bool foreign,
	       const char *url, const char *method, struct admission *ret);

#endif
