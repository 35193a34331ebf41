/*
 * From bytes of a response to the parts of a reply. One struct decode per
 * attempt; the wire (llm/wire/wire.h) says what an event means. Pure: no I/O, no
 * clock; text goes to the sink as soon as it is known to be text.
 */
#ifndef LLM_DECODE_H
#define LLM_DECODE_H

#include "base/buf.h"
#include "base/json.h"
#include "llm/llm.h"
#include "llm/wire/sse.h"
#include "llm/think.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decode;

#define DECODE_EVENT_MAX ((size_t)32 << 20) /* one line or event */
#define DECODE_TEXT_MAX	 ((size_t)32 << 20) /* text, and reasoning, of a reply */

/* What a wire says of its responses; part of its row (llm/wire/wire.h). */
struct decode_rules {
	enum sse_framing framing;
	void (*event)(struct decode *d, const struct json *value); /* one streamed event */
	void (*body)(struct decode *d, const struct json *value);  /* one whole response */
};

struct decode {
	const struct decode_rules *rules; /* NULL for text that has no wire */
	const struct llm_sink *sink;	  /* may be NULL */
	struct sse sse;
	struct think think;
	struct buf text, reasoning;
	struct llm_usage usage; /* of the wire: a count is -1 when it is missing */
	enum llm_stop stop;
	char *raw_stop, *model, *request_id; /* owned, may be NULL */
	struct llm_error error;		     /* of an event or of the decoding */
	char *error_param;		     /* the rejected parameter, owned, may be NULL */
	bool failed;			     /* error is set */
	bool terminal;			     /* the wire's last event has been seen */
	bool ended;			     /* nothing follows, whether or not it is terminal */
	bool counted;			     /* the count that only comes after all text has come */
	bool refused;
	bool called;			    /* a tool, although none was offered */
	bool halves;			    /* the event at hand has halves of characters */
	uint32_t half_text, half_reasoning; /* that wait for the other; 0: none */
};

void decode_init(struct decode *d, const struct decode_rules *rules, const struct llm_sink *sink);
void decode_release(struct decode *d);
#define cleanup_decode __attribute__((cleanup(decode_release)))

/* A piece of a streamed response. -1: failed, feeding more is pointless. */
int decode_feed(struct decode *d, const char *bytes, size_t len);

/*
 * The stream ended. Without its terminal event stop is LLM_STOP_TRUNCATED. A
 * report of usage that cannot be true is LLM_USAGE_PARTIAL.
 */
void decode_finish(struct decode *d);

/* A whole response that is one JSON value. Implies decode_finish. */
void decode_body(struct decode *d, const char *bytes, size_t len);

/* Moves what was decoded into ret, whose earlier values are freed. */
void decode_into_reply(struct decode *d, struct llm_reply *ret);

/* --- for the wires --- */

/* Text that may carry inline reasoning. NULL is nothing. */
void decode_text(struct decode *d, const char *text);
void decode_text_bytes(struct decode *d, const char *bytes, size_t len);
void decode_reasoning(struct decode *d, const char *text);
void decode_refusal(struct decode *d, const char *text);
/* The wire's word for why it stopped, and ours. */
void decode_stop(struct decode *d, const char *raw, enum llm_stop stop);
void decode_model(struct decode *d, const char *model);
void decode_request_id(struct decode *d, const char *id);
/* An error event; value holds {"error": ...} in any of its shapes. */
void decode_error(struct decode *d, const struct json *value);
/* The response breaks the wire's rules; message is copied. */
void decode_protocol(struct decode *d, const char *message);
/* The server says itself that there is no reply. */
void decode_failure(struct decode *d, const char *message);

#endif
