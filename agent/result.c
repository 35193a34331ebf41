/*
 * What a run came to, apart from the machine that made it: its release, and its form as JSON. It
 * judges nothing, and knows of no run on its way.
 */
#include "agent/result.h"

#include "agent/record/render.h"

#include <stdlib.h>

void loop_result_release(struct loop_result *r)
{
	free(r->carried_by);
	free(r->answer);
	free(r->code);
	free(r->reason);
	free(r->unapproved);
	json_free(r->cut_replies);
	json_free(r->changed_inputs);
	for (size_t i = 0; i < r->check_count; i++)
		check_result_release(&r->checks[i]);
	free(r->checks);
	if (r->executed)
		sandbox_result_release(&r->execution);
	failure_release(&r->failure);
	context_cell_free(r->cell);
	*r = (struct loop_result){ .answer = NULL };
}

struct json *loop_result_json(const struct loop_result *r)
{
	struct json *object = json_object(), *checks = json_array(), *usage = json_object();
	struct json *execution =
		r->executed ? render_execution(&r->execution, &r->failure, true) : NULL;
	const struct json *artifacts = json_get(execution, "artifacts");

	json_set_string(object, "run", *r->run ? r->run : NULL);
	json_set_string(object, "status", run_status_name(r->status));
	json_set_string(object, "level", level_name(r->level));
	json_set_string(object, "carried_by", r->carried_by);
	json_set_string(object, "answer", r->answer);
	json_set_int(object, "attempts", r->attempts);
	if (r->code)
		json_set_bytes(object, "code", r->code, r->code_len);
	else
		json_set_null(object, "code");
	json_set_string(object, "language", r->language);
	for (size_t i = 0; i < r->check_count; i++)
		json_append(checks, check_result_json(&r->checks[i]));
	json_set(object, "checks", checks);
	json_set(object, "artifacts", artifacts ? json_copy(artifacts) : json_array());
	json_set(object, "execution", execution ? execution : json_new_null());
	json_set_int(usage, "input_tokens", r->usage.input_tokens);
	json_set_int(usage, "cached_tokens", r->usage.cached_tokens);
	json_set_int(usage, "output_tokens", r->usage.output_tokens);
	json_set_int(usage, "reasoning_tokens", r->usage.reasoning_tokens);
	json_set_string(usage, "source", llm_usage_source_name(r->usage.source));
	json_set(object, "usage", usage);
	if (r->cost_micro_usd >= 0)
		json_set_number(object, "cost_usd", (double)r->cost_micro_usd / 1e6);
	else
		json_set_null(object, "cost_usd");
	json_set_int(object, "duration_ms", r->duration_ms);
	json_set(object, "cut_replies", r->cut_replies ? json_copy(r->cut_replies) : json_array());
	json_set(object, "changed_inputs",
		 r->changed_inputs ? json_copy(r->changed_inputs) : json_array());
	json_set_string(object, "error", r->status == RUN_SUCCESS ? NULL : r->reason);
	return object;
}
