/*
 * The call that everybody makes, whatever answers, and the names of what a reply says. What holds
 * for every implementation is done here once: times, an empty text, an error where none was told.
 */
#include "llm/llm.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/name.h"

#include <stdlib.h>
#include <string.h>

static const char *const stop_names[] = {
	[LLM_STOP_STOP] = "stop",	    [LLM_STOP_LENGTH] = "length",
	[LLM_STOP_REFUSAL] = "refusal",	    [LLM_STOP_FILTER] = "filter",
	[LLM_STOP_TOOL] = "tool",	    [LLM_STOP_TRUNCATED] = "truncated",
	[LLM_STOP_CANCELLED] = "cancelled", [LLM_STOP_NONE] = NULL,
};

static const char *const source_names[] = {
	[LLM_USAGE_NONE] = "none",
	[LLM_USAGE_PARTIAL] = "partial",
	[LLM_USAGE_REPORTED] = "reported",
};

const char *llm_stop_name(enum llm_stop stop)
{
	return stop_names[stop];
}

int llm_stop_parse(const char *name)
{
	return name_find(stop_names, ARRAY_SIZE(stop_names), name);
}

const char *llm_usage_source_name(enum llm_usage_source source)
{
	return source_names[source];
}

int llm_usage_source_parse(const char *name)
{
	return name_find(source_names, ARRAY_SIZE(source_names), name);
}

int llm_call(const struct llm *llm, const struct llm_request *request, const struct llm_sink *sink,
	     struct llm_reply *ret_reply, struct error *err)
{
	int64_t start_ms = clock_mono_ms();

	*ret_reply = (struct llm_reply){ .first_token_ms = -1 };
	int rc = llm->ops->call(llm->self, request, sink, ret_reply, err);
	if (!ret_reply->text)
		ret_reply->text = mem_strdup("");
	if (rc < 0 && ret_reply->stop == LLM_STOP_STOP)
		ret_reply->stop = LLM_STOP_NONE;
	if (rc < 0 && ret_reply->error.class == LLM_ERROR_NONE && err->kind != ERR_CANCELLED)
		llm_error_set(&ret_reply->error, LLM_ERROR_INVALID, 0, err->message);
	ret_reply->duration_ms = clock_mono_ms() - start_ms;
	return rc;
}

void llm_close(struct llm *llm)
{
	if (llm->ops)
		llm->ops->free(llm->self);
	*llm = (struct llm){ .ops = NULL };
}

void llm_reply_release(struct llm_reply *reply)
{
	free(reply->text);
	free(reply->reasoning);
	free(reply->raw_stop);
	free(reply->model);
	free(reply->request_id);
	free(reply->tries);
	llm_error_release(&reply->error);
	json_free(reply->adapted);
	*reply = (struct llm_reply){ .first_token_ms = -1 };
}
