/*
 * A reply as the JSON of `assay complete --json`, and back from it: the two halves stand side by
 * side, so that what one writes the other reads. What is not understood is an error, not a guess.
 */
#include "llm/llm.h"

#include "base/mem.h"

#include <string.h>

static struct json *usage_json(const struct llm_reply *reply)
{
	const struct llm_usage *usage = &reply->usage;
	struct json *o = json_object();

	json_set_int(o, "input_tokens", usage->input_tokens);
	json_set_int(o, "cached_tokens", usage->cached_tokens);
	json_set_int(o, "output_tokens", usage->output_tokens);
	json_set_int(o, "reasoning_tokens", usage->reasoning_tokens);
	json_set_string(o, "source", llm_usage_source_name(usage->source));
	if (reply->unmetered_tries > 0)
		json_set_int(o, "unmetered_tries", reply->unmetered_tries);
	return o;
}

static struct json *tries_json(const struct llm_reply *reply)
{
	struct json *array = json_array();

	for (size_t i = 0; i < reply->try_count; i++) {
		struct json *o = json_object();

		json_set_int(o, "status", reply->tries[i].status);
		json_set_int(o, "curl", reply->tries[i].curl);
		json_set_int(o, "waited_ms", reply->tries[i].waited_ms);
		json_append(array, o);
	}
	return array;
}

static struct json *error_json(const struct llm_error *error)
{
	if (error->class == LLM_ERROR_NONE)
		return json_new_null();
	struct json *o = json_object();
	json_set_string(o, "class", llm_error_class_name(error->class));
	json_set_int(o, "status", error->status);
	json_set_string(o, "code", error->code);
	json_set_string(o, "message", error->message);
	json_set_bool(o, "retryable", error->retryable);
	return o;
}

struct json *llm_reply_json(const struct llm_reply *reply)
{
	struct json *o = json_object();

	json_set_bytes(o, "text", reply->text, reply->text_len);
	json_set_string(o, "reasoning", reply->reasoning);
	json_set_string(o, "stop_reason", llm_stop_name(reply->stop));
	json_set_string(o, "raw_stop_reason", reply->raw_stop);
	json_set_string(o, "model", reply->model);
	json_set_string(o, "request_id", reply->request_id);
	json_set(o, "usage", usage_json(reply));
	json_set_null(o, "cost_usd");
	json_set(o, "tries", tries_json(reply));
	if (reply->first_token_ms >= 0)
		json_set_int(o, "first_token_ms", reply->first_token_ms);
	else
		json_set_null(o, "first_token_ms");
	json_set_int(o, "duration_ms", reply->duration_ms);
	json_set(o, "error", error_json(&reply->error));
	if (reply->adapted)
		json_set(o, "adapted", json_copy(reply->adapted));
	return o;
}

static void take_usage(const struct json *value, struct llm_reply *reply)
{
	struct llm_usage *ret = &reply->usage;
	int source = llm_usage_source_parse(json_get_string(value, "source"));

	ret->input_tokens = json_get_int(value, "input_tokens", 0);
	ret->cached_tokens = json_get_int(value, "cached_tokens", 0);
	ret->output_tokens = json_get_int(value, "output_tokens", 0);
	ret->reasoning_tokens = json_get_int(value, "reasoning_tokens", 0);
	ret->source = source < 0 ? LLM_USAGE_NONE : (enum llm_usage_source)source;
	reply->unmetered_tries = (int)json_get_int(value, "unmetered_tries", 0);
}

static void take_tries(const struct json *array, struct llm_reply *ret)
{
	size_t count = json_count(array);

	if (count == 0)
		return;
	ret->tries = mem_array(NULL, count, sizeof(*ret->tries));
	for (const struct json *o = json_first(array); o; o = json_next(o))
		ret->tries[ret->try_count++] = (struct llm_try){
			.status = (long)json_get_int(o, "status", 0),
			.curl = (int)json_get_int(o, "curl", 0),
			.waited_ms = json_get_int(o, "waited_ms", 0),
		};
}

static void take_error(const struct json *value, struct llm_error *ret)
{
	int class = llm_error_class_parse(json_get_string(value, "class"));

	if (class < 0)
		return;
	ret->class = (enum llm_error_class) class;
	ret->status = (long)json_get_int(value, "status", 0);
	ret->code = mem_strdup(json_get_string(value, "code"));
	ret->message = mem_strdup(json_get_string(value, "message"));
	ret->retryable = json_get_bool(value, "retryable", false);
}

int llm_reply_from_json(const struct json *value, struct llm_reply *ret, struct error *err)
{
	const char *text = json_get_string(value, "text");
	const struct json *reason = json_get(value, "stop_reason");
	int stop = reason && json_type(reason) == JSON_NULL ? LLM_STOP_NONE :
							      llm_stop_parse(json_string(reason));

	if (!text)
		return error_set(err, ERR_FAILED, "a recorded reply has no \"text\"");
	if (stop < 0)
		return error_set(err, ERR_FAILED, "a recorded reply has no valid \"stop_reason\"");
	if (json_type(json_get(value, "usage")) != JSON_OBJECT)
		return error_set(err, ERR_FAILED, "a recorded reply has no \"usage\"");
	*ret = (struct llm_reply){
		.text = mem_strdup(text),
		.text_len = strlen(text),
		.reasoning = mem_strdup(json_get_string(value, "reasoning")),
		.stop = (enum llm_stop)stop,
		.raw_stop = mem_strdup(json_get_string(value, "raw_stop_reason")),
		.model = mem_strdup(json_get_string(value, "model")),
		.request_id = mem_strdup(json_get_string(value, "request_id")),
		.first_token_ms = json_get_int(value, "first_token_ms", -1),
		.duration_ms = json_get_int(value, "duration_ms", 0),
	};
	if (json_get(value, "adapted"))
		ret->adapted = json_copy(json_get(value, "adapted"));
	take_usage(json_get(value, "usage"), ret);
	take_tries(json_get(value, "tries"), ret);
	take_error(json_get(value, "error"), &ret->error);
	return 0;
}
