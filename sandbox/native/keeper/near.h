/* The near end's parts to each other: near.c speaks, transport.c starts and ends COMMAND. */
#ifndef KEEPER_NEAR_H
#define KEEPER_NEAR_H

#include "sandbox/native/keeper/stream.h"

enum near_state {
	NEAR_GREETING, /* the far end's line has not come */
	NEAR_STARTING, /* nor has its keeper's hello */
	NEAR_IDLE,
	NEAR_FINDING,
	NEAR_SENDING, /* a job */
	NEAR_RUNNING,
};

struct near {
	struct stream_reader in;
	struct stream_writer out;
	struct link link;
	enum near_state state;
	int client;	 /* assay */
	int errors;	 /* what COMMAND writes to its standard error */
	pid_t transport; /* COMMAND */
	struct protocol_request request;
	int job[2]; /* payload, stdin */
	uint64_t to_send[2], sent[2];
	int output[2];
	uint64_t came[2];	  /* for them */
	struct stream_frame held; /* output that the pipe had no room for */
	bool has_held, ran, killed, lost;
	int left;
	uint64_t left_len;
	uint64_t progress; /* bytes since assay was last told */
	int64_t busy_us;
	char said[480]; /* the end of COMMAND's complaints, as plain text */
	size_t said_len;
};

/* --- near.c --- */

/* Until either side ends. */
void near_serve(struct near *n);
/* One frame of the far end; -1: no keeper would say that now. */
int near_take(struct near *n, const struct stream_frame *f);
/* The far end is gone, or as good as that: assay is told what is known. */
void near_lose(struct near *n, const char *why);

/* --- transport.c --- */

/* Tells assay that there is no keeper, and why. */
void near_refuse(struct near *n, const char *why);
void near_read_errors(struct near *n);
/* The stream has ended: what COMMAND has to say about that comes at once, or not at all. */
void near_wait_for_errors(struct near *n);

#endif
