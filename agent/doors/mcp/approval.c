/*
 * What screening wants a yes for, asked through the protocol: by a request of ours while the
 * program waits, or, in the era without those, by a result that asks and the same call once more,
 * which hands back a signature of the program that was shown. Nothing but a clear yes is one.
 */
#include "agent/doors/mcp/peer.h"

#include "agent/doors/service/program.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ASK_SECONDS    600
#define LOOK_MS	       200 /* whether the client is still there */
#define QUESTION_KEY   "approve"
#define FINDINGS_SHOWN 20
#define CODE_SHOWN     ((size_t)4 << 10)
#define QUESTION_MAX   ((size_t)1 << 20) /* more than what is shown, made visible */

/* --- the question --- */

/* Those that want a yes; how many are not shown is said, too. */
static void add_findings(struct buf *text, const struct screening *s)
{
	size_t wanting = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->findings[i].action < SCREEN_CONFIRM || s->findings[i].approved)
			continue;
		if (wanting++ < FINDINGS_SHOWN)
			buf_addf(text, "line %zu: %s [%s]\n", s->findings[i].line,
				 s->findings[i].message, s->findings[i].rule);
	}
	if (wanting > FINDINGS_SHOWN)
		buf_addf(text, "... and %zu more findings\n", wanting - FINDINGS_SHOWN);
}

/* A call of a tool by a program (agent/calls.h): all of it is shown, or nobody is asked. */
static bool is_call(const struct screening *s)
{
	return s->count == 1 && !strncmp(s->findings[0].rule, "tool.", strlen("tool."));
}

/* Without control characters: a person reads it in whatever window the client has. */
static char *question_text(const char *lang, const char *code, size_t len,
			   const struct screening *s)
{
	struct buf text = BUF_INIT(QUESTION_MAX);
	size_t shown = utf8_valid_prefix(code, len < CODE_SHOWN ? len : CODE_SHOWN);

	if (is_call(s))
		buf_addstr(&text,
			   "May the program in assay's sandbox call this tool, this once?\n");
	else
		buf_addf(&text, "Run this %s program in assay's sandbox?\n", lang);
	add_findings(&text, s);
	buf_addstr(&text, "\n");
	utf8_visible(&text, code, shown);
	if (shown < len)
		buf_addf(&text, "\n... %zu more bytes", len - shown);
	return buf_take(&text, NULL);
}

static struct json *question(const char *lang, const char *code, size_t len,
			     const struct screening *s)
{
	cleanup_free char *text = question_text(lang, code, len, s);
	struct json *params = json_object(), *schema = json_object(), *members = json_object();
	struct json *yes = json_object(), *required = json_array();

	json_set_string(yes, "type", "boolean");
	json_set_string(yes, "title", "Run it");
	json_set_string(yes, "description", "whether the program may run, this once");
	json_set(members, QUESTION_KEY, yes);
	json_append(required, json_new_string(QUESTION_KEY));
	json_set_string(schema, "type", "object");
	json_set(schema, "properties", members);
	json_set(schema, "required", required);
	json_set_string(params, "mode", "form");
	json_set_string(params, "message", text);
	json_set(params, "requestedSchema", schema);
	return params;
}

static bool is_yes(const struct json *answer)
{
	const char *action = json_get_string(answer, "action");

	return action && !strcmp(action, "accept") &&
	       json_get_bool(json_get(answer, "content"), QUESTION_KEY, false);
}

/* --- while the program waits --- */

/* With the peer's lock held. The call may outlive its client; a question does not. */
static bool is_asked(const struct flight *f)
{
	return !f->answer && !f->cancelled && !f->peer->left &&
	       !(f->has_left && f->has_left(f->sink.self));
}

/* NULL when the client left, the call was cancelled or nobody said anything. */
static struct json *wait_for_answer(struct flight *f)
{
	int64_t until_ms = clock_mono_ms() + (int64_t)ASK_SECONDS * 1000;
	struct peer *p = f->peer;

	pthread_mutex_lock(&p->lock);
	while (is_asked(f) && clock_mono_ms() < until_ms) {
		struct timespec look;

		clock_gettime(CLOCK_MONOTONIC, &look);
		look.tv_nsec += LOOK_MS * 1000000L;
		look.tv_sec += look.tv_nsec / 1000000000;
		look.tv_nsec %= 1000000000;
		pthread_cond_clockwait(&p->changed, &p->lock, CLOCK_MONOTONIC, &look);
	}
	struct json *answer = TAKE_PTR(f->answer);
	*f->asked = '\0';
	pthread_mutex_unlock(&p->lock);
	return answer;
}

static bool ask_now(struct flight *f, struct json *params)
{
	struct json *request = json_object();

	pthread_mutex_lock(&f->peer->lock);
	snprintf(f->asked, sizeof(f->asked), "assay-%" PRIu64, ++f->peer->asked);
	pthread_mutex_unlock(&f->peer->lock);
	json_set_string(request, "jsonrpc", "2.0");
	json_set_string(request, "id", f->asked);
	json_set_string(request, "method", "elicitation/create");
	json_set(request, "params", params);
	flight_send(f, request);
	cleanup_json struct json *answer = wait_for_answer(f);
	return is_yes(answer);
}

/* --- by the same call once more --- */

/* Of this program and until when, by a secret that only this process has. Caller frees. */
static char *sign(const struct flight *f, const char *digest, int64_t until_ms)
{
	cleanup_free char *inner =
		mem_printf("%s%s %" PRId64, f->peer->mcp->secret, digest, until_ms);
	char sum[HASH_HEX_LEN + 1];

	hash_sha256(inner, strlen(inner), sum);
	cleanup_free char *outer = mem_printf("%s%s", f->peer->mcp->secret, sum);
	hash_sha256(outer, strlen(outer), sum);
	return mem_printf("%" PRId64 ".%s", until_ms, sum);
}

/* Whether the call hands back what was signed for this program, in time. */
static bool is_signed(const struct flight *f, const char *digest)
{
	const char *given = json_get_string(f->message.params, "requestState");
	int64_t until_ms = given ? strtoll(given, NULL, 10) : 0;
	cleanup_free char *state = sign(f, digest, until_ms);

	return given && !strcmp(given, state) && clock_mono_ms() < until_ms;
}

static struct json *ask_later(const char *state, struct json *params)
{
	struct json *result = json_object(), *requests = json_object(), *request = json_object();

	json_set_string(request, "method", "elicitation/create");
	json_set(request, "params", params);
	json_set(requests, QUESTION_KEY, request);
	json_set_string(result, "resultType", "input_required");
	json_set(result, "inputRequests", requests);
	json_set_string(result, "requestState", state);
	return result;
}

/* --- the end that the engine asks --- */

static void say(enum approval *ret, char **ret_reason, bool yes)
{
	*ret = yes ? APPROVAL_YES : APPROVAL_NO;
	*ret_reason = mem_strdup(yes ? "asked through the client, whose person said yes" :
				       "asked through the client, whose person did not say yes");
}

static void decide(struct flight *f, const char *lang, const char *code, size_t len,
		   const struct screening *s, enum approval *ret, char **ret_reason)
{
	if (!f->modern) {
		say(ret, ret_reason, ask_now(f, question(lang, code, len, s)));
		return;
	}
	char digest[PROGRAM_DIGEST_LEN + 1];
	program_digest(lang, code, len, f->task, digest);
	if (is_signed(f, digest)) {
		say(ret, ret_reason,
		    is_yes(json_get(json_get(f->message.params, "inputResponses"), QUESTION_KEY)));
		return;
	}
	cleanup_free char *state = sign(f, digest, clock_mono_ms() + (int64_t)ASK_SECONDS * 1000);
	json_free(f->wanted);
	f->wanted = ask_later(state, question(lang, code, len, s));
	*ret_reason = mem_strdup("it waits for a person's approval, which the client is asked for; "
				 "the call comes again with it");
}

bool approval_present(void *self)
{
	const struct flight *f = self;

	return f->elicits && !f->modern;
}

int approval_ask(void *self, int attempt, const char *lang, const char *code, size_t len,
		 const struct screening *screening, enum approval *ret, char **ret_code,
		 char **ret_reason, struct error *err)
{
	struct flight *f = self;

	(void)attempt;
	(void)ret_code;
	(void)err;
	*ret = APPROVAL_NO;
	if (f->elicits && is_call(screening) && len > CODE_SHOWN)
		*ret_reason =
			mem_printf("its arguments are too long to be shown whole to who would "
				   "say yes (%zu bytes)",
				   len);
	else if (f->elicits)
		decide(f, lang, code, len, screening, ret, ret_reason);
	else
		*ret_reason =
			mem_printf("it needs a person's approval, and %s (--allow RULE, where "
				   "assay is started, approves beforehand)",
				   f->peer->owner ? "who has a key cannot give it" :
						    "this client cannot ask one");
	return 0;
}
