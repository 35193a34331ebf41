/* The frames that a program sends (agent/calls.h): a hostile program's bytes, read. */
#ifndef AGENT_CALL_FRAME_H
#define AGENT_CALL_FRAME_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#define CALLS_HEAD	    4		      /* bytes of a frame's length */
#define CALLS_ARGUMENTS_MAX ((size_t)1 << 20) /* bytes of a frame that a program sends */

enum call_frame_kind {
	CALL_FRAME_CUT,	 /* more of it is to come */
	CALL_FRAME_CALL, /* of tool, with arguments */
	CALL_FRAME_TURN, /* {"cell": N} (agent/call_cells.h) */
	CALL_FRAME_BAD,	 /* nothing after it is one either */
};

struct call_frame {
	enum call_frame_kind kind;
	size_t size;		      /* bytes that it took */
	struct json *value;	      /* owned; the others point into it */
	const char *tool;	      /* some bytes without control characters */
	const struct json *arguments; /* an object */
	int64_t cell;		      /* below 0: none that can be */
	char why[ERROR_MESSAGE_MAX];  /* it is a bad one */
};

/* The frame that bytes begin with. */
void call_frame_read(struct call_frame *ret, const char *bytes, size_t len);
void call_frame_release(struct call_frame *f);
#define cleanup_call_frame __attribute__((cleanup(call_frame_release)))

/* Adds value as one frame. */
void calls_frame(struct buf *out, const struct json *value);

#endif
