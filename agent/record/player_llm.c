/*
 * The model of a recorded run: its replies in their order, and from where a fork begins the live
 * one's or a person's program. It asks nobody before that.
 */
#include "agent/record/player.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define CODE_FENCE "~~~~~~~~" /* around a program that is given: hardly in one */

/* The next call the record holds, whatever its stage. */
static struct recorded_event *next_call(struct recording *r)
{
	for (size_t i = 0; i < r->count; i++) {
		struct recorded_event *e = &r->events[i];

		if (!e->used && !strcmp(e->phase, "done") && role_parse(e->stage) >= 0 &&
		    json_get(e->data, "text"))
			return e;
	}
	return NULL;
}

static int diverged(struct recording *r, const char *asked, const struct recorded_event *has,
		    struct error *err)
{
	cleanup_free char *what =
		has ? mem_printf("asked for %s where the record has %s", asked, has->stage) :
		      mem_printf("asked for %s where the record ends", asked);

	return recording_lacks(r, ERR_PROVIDER, what, err);
}

static int play_reply(struct recording *r, const struct recorded_event *e,
		      const struct llm_sink *sink, struct llm_reply *ret, struct error *err)
{
	cleanup_json struct json *data = json_copy(e->data);
	const struct json *failure = json_get(data, "failure");
	struct llm_reply reply = { .text = NULL };
	char *text;
	size_t len;

	if (recording_blob(r, e->data, "text", &text, &len, err) < 0)
		return -1;
	json_set_string(data, "text", "");
	json_set_null(data, "reasoning");
	if (llm_reply_from_json(data, &reply, err) < 0) {
		free(text);
		return -1;
	}
	free(reply.text);
	reply.text = text;
	reply.text_len = len;
	reply.played = true;
	if (sink && sink->text && len)
		sink->text(sink->self, text, len);
	*ret = reply;
	if (failure)
		return error_set(err, (enum error_kind)json_get_int(failure, "kind", ERR_PROVIDER),
				 "%s", json_get_string(failure, "message"));
	return 0;
}

/* A program that a person gives, as a model would say it. */
static int play_code(struct recording *r, const struct llm_sink *sink, struct llm_reply *ret)
{
	const char *language = recording_language(r), *code = TAKE_PTR(r->code);
	size_t len = strlen(code);

	*ret = (struct llm_reply){
		.text = mem_printf(CODE_FENCE "%s\n%s%s" CODE_FENCE "\n", language ? language : "",
				   code, len && code[len - 1] == '\n' ? "" : "\n"),
		.stop = LLM_STOP_STOP,
		.first_token_ms = -1,
		.played = true,
	};
	ret->text_len = strlen(ret->text);
	if (sink && sink->text)
		sink->text(sink->self, ret->text, ret->text_len);
	return 0;
}

/* Whether the fork begins with this call. */
static bool begins_here(const struct recording *r, const char *stage,
			const struct recorded_event *next)
{
	return r->from &&
	       (!strcmp(r->from, stage) || (!next && !strcmp(r->from, stage_name(STAGE_END))));
}

static int play_call(void *self, const struct llm_request *request, const struct llm_sink *sink,
		     struct llm_reply *ret, struct error *err)
{
	struct recording *r = self;
	struct recorded_event *e = next_call(r);

	*ret = (struct llm_reply){ .text = mem_strdup("") };
	if (begins_here(r, request->stage, e))
		r->forked = true;
	if (r->forked) {
		llm_reply_release(ret);
		if (r->code)
			return play_code(r, sink, ret);
		return llm_call(r->live, request, sink, ret, err);
	}
	if (!e || strcmp(e->stage, request->stage))
		return diverged(r, request->stage, e, err);
	e->used = true;
	llm_reply_release(ret);
	*ret = (struct llm_reply){ .text = NULL };
	return play_reply(r, e, sink, ret, err);
}

static void free_nothing(void *self)
{
	(void)self;
}

void recorded_llm(struct llm *ret, struct recording *r)
{
	static const struct llm_ops ops = { play_call, free_nothing };

	*ret = (struct llm){ &ops, r, "recorded" };
}
