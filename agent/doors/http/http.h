/*
 * assay over HTTP: a server that admits requests, has their answers made by the workers of a
 * service, and sends them. What the wires mean stands in a file each; here is what they share.
 */
#ifndef AGENT_DOORS_HTTP_H
#define AGENT_DOORS_HTTP_H

#include "agent/doors/http/guard.h"
#include "agent/doors/mcp/mcp.h"
#include "agent/doors/service/call.h"
#include "base/json.h"

struct server;
struct exchange;

struct server_options {
	struct service *service; /* borrowed until server_close, as all here */
	struct mcp *mcp;	 /* NULL, as guests, where routes has nothing that asks for it */
	const struct guests *guests;
	const struct guard *guard;
	const struct route *const *routes; /* what is answered at all: tables, and a NULL */
	unsigned restarts;		   /* of servers before it that died */
	int listen_fd;			   /* owned by the server from server_open on */
	const char *cert;		   /* PEM texts: TLS; or NULL */
	const char *cert_key;
};
int server_open(struct server **ret, const struct server_options *options, struct error *err);
/* Serves until cancel_fd is readable, then takes nothing more and ends when all that was taken is
 * answered; again(self) forgets the signal, and the next one cancels what is under way. False when
 * something was. */
bool server_run(struct server *server, int cancel_fd, void (*again)(void *self), void *self);
/* The end of that: takes nothing more, and returns when all that was taken is answered, or
 * cancelled because cancel_fd is readable: false then. busy(self) is told before anything is waited
 * for. */
bool server_drain(struct server *server, int cancel_fd, void (*busy)(void *self), void *self);
void server_close(struct server *server); /* NULL allowed */

/* --- for the wires --- */

#define HTTP_BODY_MAX ((size_t)16 << 20) /* that is kept */
#define HTTP_FILE_MAX ((size_t)1 << 30)	 /* that is taken as it comes (route.take) */

enum http_flags {
	HTTP_ANYBODY = 1, /* no key is asked for; else one's runs belong to it */
	HTTP_JSON = 2,	  /* the body is JSON, and said to be */
	HTTP_UNSAID = 4,  /* or said to be a text, as a client of this wire does */
	HTTP_RAW = 16,	  /* and parsed by who answers */
	HTTP_STREAMS = 8, /* may be asked for as a stream of events */
	HTTP_LOOKS = 64,  /* it only reads the log: it does not wait for a worker */
	HTTP_STAYS = 128, /* what it began goes on when its client leaves */
	HTTP_BODY = 32,	  /* the body is kept, and is whatever it is */
};

struct route {
	const char *method, *path; /* "/runs/{}": {} is one part of it */
	unsigned flags;
	/* In a worker's thread: makes the answer. */
	void (*handle)(struct exchange *x, struct worker *w);
	/* Instead: at once, by the server's own thread, without a worker. */
	void (*at_once)(struct exchange *x);
	/* Beforehand, by the server's own thread: false when it has answered. May be NULL. */
	bool (*check)(struct exchange *x);
	/* What it answers, from the first byte on as a stream: its type. NULL: it does not. */
	const char *stream;
	/* Has its body as it comes, by the server's own thread, instead of keeping it; false: this
	 * one is kept. May be NULL. */
	bool (*take)(struct exchange *x, const char *bytes, size_t len);
};
extern const struct route http_routes[]; /* ends with a NULL method; agent/doors/http/routes.c */
/* Of these, what a conversation answers whose sandbox is lent: programs, and nothing of its log. */
extern const struct route http_lent_routes[];

/* --- for doors behind the same server --- */

/* What a request begins with, before a byte of its body is there. */
struct head;
const char *head_path(const struct head *h);
const char *head_method(const struct head *h);
const char *head_header(const struct head *h, const char *name); /* NULL: not there */
const char *head_query(const struct head *h, const char *name);	 /* "": not there */

/* Who comes in with such a request. */
struct entry {
	void *guest; /* held until it is left, refused or not; NULL: none */
	const char *owner;
	unsigned status;   /* that refuses it, or 0 */
	struct json *said; /* with that; owned */
	bool reads_on;	   /* it is said when the body has come */
};

/* What a door has that requests are for: not a key lets in to one, but what they carry. All are
 * called by the server's own threads. */
struct guests {
	const struct route *const *routes; /* of requests for one: tables, and a NULL */
	/* How much of a Host stands before the name of the server, if it is for one. */
	size_t (*label)(const char *host);
	/* False: the request is for none, and ret is left alone. */
	bool (*enter)(void *self, const struct head *h, struct entry *ret);
	void (*leave)(void *self, void *guest); /* NULL allowed */
	void (*look)(void *self);		/* every now and then: whose time is over */
	void (*count)(void *self, struct json *health);
	void (*measure)(void *self, struct buf *out); /* by http_add_metric */
	void *self;
};

/* As Prometheus has it. */
void http_add_metric(struct buf *out, const char *name, const char *type, const char *help,
		     uint64_t value);

/* What a handler may ask. */
const char *exchange_header(const struct exchange *x, const char *name);
/* Those whose names begin so, in any case of letters: {REST: VALUE}, the rest in small ones; owned.
 * NULL: there are none, or they have more than most bytes. */
struct json *exchange_headers(const struct exchange *x, const char *prefix, size_t most);
const char *exchange_query(const struct exchange *x, const char *name); /* NULL: not there */
void *exchange_guest(const struct exchange *x);	      /* whom it is for; held by the exchange */
const char *exchange_part(const struct exchange *x);  /* what {} was; "" */
const char *exchange_owner(const struct exchange *x); /* NULL: the user himself */
struct contexts *exchange_contexts(const struct exchange *x);
/* Of route.check: what the work waits for and where it is at home (struct work). */
void exchange_is_alone(struct exchange *x, const char *name, size_t place);
const char *exchange_alone(const struct exchange *x); /* that name; "" */
const struct buf *exchange_body(const struct exchange *x);
const struct json *exchange_json(const struct exchange *x); /* the body; NULL: none */
int exchange_cancel_fd(const struct exchange *x);	    /* readable when the client has gone */
bool exchange_streams(const struct exchange *x);
bool exchange_takes_events(const struct exchange *x); /* its client says so */
/* Of route.check: as HTTP_STAYS, of this one. */
void exchange_stays(struct exchange *x);
bool exchange_has_left(struct exchange *x); /* of one that stays: whether its client is gone */
struct server *exchange_server(const struct exchange *x);
const struct server_options *server_options_of(const struct server *server);

/* The answer, once. Takes body. */
void exchange_answer(struct exchange *x, unsigned status, struct json *body);
void exchange_answer_bytes(struct exchange *x, unsigned status, const char *type, const void *bytes,
			   size_t len);
/* The same, of a file, len bytes behind the first `from`, as the client takes them. Takes fd. */
void exchange_answer_file(struct exchange *x, unsigned status, const char *type, int fd,
			  size_t from, size_t len);
/* One more header of it, before it is answered; name is static. */
void exchange_answer_header(struct exchange *x, const char *name, const char *value);
/* From here on it is a stream of that type, of what exchange_send is given. */
void exchange_begin_stream(struct exchange *x, const char *type);
/* To be handled once more, when others have had their turn. */
void exchange_again(struct exchange *x);
/* What a handler keeps from one time to the next; NULL at first. Freed with the exchange. */
void **exchange_memory(struct exchange *x);
/* The same, which release frees then. */
void exchange_memory_is(struct exchange *x, void *memory, void (*release)(void *memory));
void *exchange_memory_of(const struct exchange *x);
/* More of a stream (route.stream). What the client does not take in time ends the request. */
void exchange_send(struct exchange *x, const void *bytes, size_t len);
/* It has no end: behind what was sent the connection breaks off, as where a machine went away. */
void exchange_cut(struct exchange *x);
void exchange_answer_text(struct exchange *x, unsigned status, const char *type, const char *text);
/* {"error": {"status", "message"}} */
void exchange_refuse(struct exchange *x, unsigned status, const char *message);
/* An event of a stream (server-sent events); data is borrowed. */
void exchange_event(struct exchange *x, const char *name, const struct json *data);

/* A call's ends: cancelled with the client, tagged with its owner. tags has room for three. */
void exchange_call(struct exchange *x, struct call *ret, const char **tags, int64_t wall_ms);

/* What memory is held for. */
enum held_for {
	HELD_REQUEST,
	HELD_ANSWER, /* that its client has not taken yet */
	HELD_COUNT,
};

struct server_load {
	size_t connections, exchanges, held_bytes[HELD_COUNT];
	uint64_t requests, by_class[6]; /* of status: 2 is 200 to 299 */
	bool draining;			/* it is about to end */
};
void server_look(struct server *server, struct server_load *ret);

/* For a handler of the worker that looks, which is to be called again: false when the client has
 * left or the server is about to end. Waits until it is time, which with many is at once: none
 * waits for another's pause. looked_ms is the exchange's own, 0 at first. */
bool http_looks_on(struct exchange *x, int64_t *looked_ms);

/* agent/doors/http/{execute,sandbox,contexts,runs,events,piston,remote}.c */
void http_execute(struct exchange *x, struct worker *w);
void http_sandbox(struct exchange *x, struct worker *w);
void http_runs(struct exchange *x, struct worker *w);
void http_run(struct exchange *x, struct worker *w);
void http_run_events(struct exchange *x, struct worker *w);
bool http_execute_check(struct exchange *x);
void http_contexts(struct exchange *x);
void http_context_open(struct exchange *x);
void http_context_close(struct exchange *x);
void http_context_interrupt(struct exchange *x);
void http_health(struct exchange *x);
void http_metrics(struct exchange *x);
void http_mcp(struct exchange *x, struct worker *w);
bool http_mcp_check(struct exchange *x);
void http_mcp_end(struct exchange *x);
void http_piston_runtimes(struct exchange *x, struct worker *w);
void http_piston_execute(struct exchange *x, struct worker *w);
void http_piston_packages(struct exchange *x, struct worker *w);
void http_piston_install(struct exchange *x, struct worker *w);
/* What is asked for, out of a body; limits become those that hold. */
struct program;
int piston_read(struct program *ret, const struct json *body, const struct language *language,
		const struct policy *policy, struct sandbox_limits *limits, struct error *err);
/* call_run, but that what is no program of its language is answered in the words and with the exit
 * code of its interpreter, which read it and ran nothing of it (invalid.c). */
int http_run_program(struct worker *w, const struct call *call, const struct program *program,
		     struct loop_result *ret, struct error *err);

#endif
