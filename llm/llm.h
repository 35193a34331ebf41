/*
 * Speaking to a model. One call: messages in, one reply out, streamed or not.
 *
 * A struct llm is an operation table with a self pointer, so that the loop
 * does not know whether an HTTP server, a program, a script or a recording
 * answers. Implementations: client.c (four wires over HTTP), command.c,
 * script.c; the recorded one lives in agent/ because this folder does not know
 * the audit log.
 *
 * A failed call returns -1 with err (kind ERR_PROVIDER, ERR_CONFIG for a key,
 * ERR_CANCELLED, ERR_DEADLINE) AND fills ret_reply as far as it got: text so
 * far, usage known so far, tries, reply->error. It is released either way.
 */
#ifndef LLM_LLM_H
#define LLM_LLM_H

#include "base/error.h"
#include "base/json.h"
#include "llm/error.h"
#include "llm/vision.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct llm_message {
	const char *role;		/* "system", "user", "assistant" */
	const char *content;		/* UTF-8 */
	const struct llm_image *images; /* beside it; borrowed */
	size_t image_count;
};

struct llm_request {
	const char *stage; /* plan code repair judge answer tests cross_check complete */
	const char *task;  /* task id, or NULL */
	unsigned repeat;   /* which run of the task asks, from 0; a script is told anew for each */
	const char *model; /* or NULL: the provider's default */
	const struct llm_message *messages;
	size_t message_count;
	int64_t max_tokens;	    /* of the reply; 0: provider's default */
	double temperature;	    /* NaN: not sent */
	const struct json *options; /* object merged into the request body, or NULL */
	bool stream;
	int64_t timeout_ms; /* whole call, all tries; 0: provider's default */
	int cancel_fd;	    /* readable: cancel at once; -1: none */
	int billed_max;	    /* tries that may cost money; 0: any number */
};

enum llm_stop {
	LLM_STOP_STOP,
	LLM_STOP_LENGTH,
	LLM_STOP_REFUSAL,
	LLM_STOP_FILTER,
	LLM_STOP_TOOL,
	LLM_STOP_TRUNCATED, /* the stream ended without its terminal event */
	LLM_STOP_CANCELLED,
	LLM_STOP_NONE, /* no reply began: null in JSON */
};

enum llm_usage_source { LLM_USAGE_NONE, LLM_USAGE_PARTIAL, LLM_USAGE_REPORTED };

struct llm_usage {
	int64_t input_tokens, cached_tokens, output_tokens, reasoning_tokens;
	enum llm_usage_source source;
};

/* One HTTP attempt (or one start of a command). */
struct llm_try {
	long status;	   /* HTTP status or 0 */
	int curl;	   /* CURLcode or 0 */
	int64_t waited_ms; /* slept before this try */
};

struct llm_reply {
	char *text; /* owned, NUL-terminated, never NULL after a call */
	size_t text_len;
	char *reasoning; /* owned or NULL; never code to run */
	enum llm_stop stop;
	char *raw_stop;	  /* the wire's own word, owned, may be NULL */
	char *model;	  /* as the server named it, owned, may be NULL */
	char *request_id; /* owned, may be NULL */
	struct llm_usage usage;
	struct llm_try *tries; /* owned */
	size_t try_count;
	int64_t first_token_ms; /* from the start of the call; -1: none came */
	int64_t duration_ms;
	struct llm_error error;
	/*
	 * usage is the sum of what all tries reported. This many more may have
	 * been billed without saying how much: sent, and neither refused nor
	 * answered to the end.
	 */
	int unmetered_tries;
	bool played; /* out of a record: nobody was asked, and nothing is billed */
	/* What the request was changed to for this server: sentences; owned or NULL. */
	struct json *adapted;
};

/*
 * Called with each piece of text as it arrives. Any member, and a sink itself,
 * may be NULL. What streamed can differ from the reply in one case: reasoning
 * closed by a tag that was never opened is text until the tag comes.
 */
struct llm_sink {
	void (*text)(void *self, const char *bytes, size_t len);
	void (*note)(void *self, const char *line); /* "retrying in 2 s (429)"; may be NULL */
	void *self;
	void (*reasoning)(void *self, const char *bytes, size_t len); /* may be NULL */
	/* While a next try is waited for, each second: what is left; 0 when it is over. */
	void (*wait)(void *self, int64_t left_ms);
};

struct llm_ops {
	int (*call)(void *self, const struct llm_request *request, const struct llm_sink *sink,
		    struct llm_reply *ret_reply, struct error *err);
	void (*free)(void *self);
};

struct llm {
	const struct llm_ops *ops;
	void *self;
	const char *provider; /* "openai", "anthropic", "command", "script", "recorded" */
};

int llm_call(const struct llm *llm, const struct llm_request *request, const struct llm_sink *sink,
	     struct llm_reply *ret_reply, struct error *err);
void llm_close(struct llm *llm); /* frees self; safe on a zeroed struct */

void llm_reply_release(struct llm_reply *reply);
#define cleanup_llm_reply __attribute__((cleanup(llm_reply_release)))

/* The words of the JSON documents, and back (-1 when unknown); none for LLM_STOP_NONE: NULL. */
const char *llm_stop_name(enum llm_stop stop);
int llm_stop_parse(const char *name);
const char *llm_usage_source_name(enum llm_usage_source source);
int llm_usage_source_parse(const char *name);

/* The object of `assay complete --json`: text, reasoning, ... error. Caller frees. */
struct json *llm_reply_json(const struct llm_reply *reply);
/* Its inverse, for the recorded model; err when a member is missing. */
int llm_reply_from_json(const struct json *value, struct llm_reply *ret, struct error *err);

/*
 * Constructors. Each fills *ret_llm or fails with ERR_CONFIG/ERR_USAGE.
 *
 * Scripted model: `path` is JSONL (README.md here). A malformed line is an
 * error with its number. Lines are consumed in order per stage and task: a
 * line with an id serves only that task, a line without serves any; each task
 * reads the script with its own cursor, and calls without a task id share one. The
 * cursors of the last 64 tasks are kept.
 * is_stage knows the stages that a line may answer.
 */
int llm_script_open(struct llm *ret_llm, const char *path, bool (*is_stage)(const char *name),
		    struct error *err);

/* Any program as the model; command is split into arguments without a shell. */
struct llm_command_options {
	const char *command;
	bool json; /* -o format=json */
};
int llm_command_open(struct llm *ret_llm, const struct llm_command_options *options,
		     struct error *err);

/* An HTTP API. Strings are copied; the key is wiped on close. */
enum llm_wire {
	LLM_WIRE_OPENAI_CHAT,
	LLM_WIRE_ANTHROPIC,
	LLM_WIRE_OPENAI_RESPONSES,
	LLM_WIRE_OLLAMA,
};
/* How a server differs from the vendor of its wire. */
enum llm_quirk {
	LLM_QUIRK_NO_STREAM_OPTIONS = 1, /* usage comes without being asked for */
	LLM_QUIRK_COMPLETION_TOKENS = 2, /* max_completion_tokens, whatever the model */
	LLM_QUIRK_CUTS_CONTEXT = 4,	 /* drops the start of a long prompt silently: warn */
};
struct llm_limits;
struct llm_http_options {
	enum llm_wire wire;
	unsigned quirks;      /* enum llm_quirk */
	const char *provider; /* name for messages */
	/* What the official SDKs take; "{model}" in it becomes the model's name. */
	const char *base_url;
	/* The key's header: "api-key", or with a word before the key
	 * "Authorization: Bearer"; NULL: the wire's own. */
	const char *auth;
	const char *key; /* or NULL (local servers) */
	/* PEM file of the authorities to trust; NULL: SSL_CERT_FILE or the system's. */
	const char *ca_file;
	const struct http_words *words; /* of base/http/http.h, static; or NULL */
	struct llm_limits *limits;	/* shared with other processes; borrowed, or NULL */
	const char *model;		/* default model */
	int retries;			/* tries after the first */
	int64_t idle_timeout_ms;	/* no byte for so long: timeout; 0: default */
	int64_t connect_timeout_ms;	/* 0: default */
	int64_t first_byte_timeout_ms;	/* from the start of a try; 0: default */
};
int llm_http_open(struct llm *ret_llm, const struct llm_http_options *options, struct error *err);

/*
 * One view of a server's limits for all processes of a batch, in memory they
 * share: made before they are forked. per_minute 0: as the server says only.
 * NULL when there is no memory for it. See llm/http/limits.h.
 */
struct llm_limits *llm_limits_create(int processes, int64_t requests_per_minute,
				     int64_t tokens_per_minute);
void llm_limits_free(struct llm_limits *limits);

/*
 * Asks well-known local servers (Ollama on 11434, llama.cpp on 8080) whether
 * they are there, within timeout_ms in all. Returns 1 and fills base_url
 * (OpenAI-compatible, ending in /v1) and model (the first listed), both the
 * caller's, 0 when none answers. Never an error: absence is normal.
 */
int llm_find_local(int64_t timeout_ms, char **ret_base_url, char **ret_model);

/*
 * GET {base}/models, or what the wire has for it: a JSON array of {"id","name"}
 * objects. cancel_fd as in struct llm_request.
 */
int llm_http_models(const struct llm_http_options *options, int cancel_fd, struct json **ret_models,
		    struct error *err);

#endif
