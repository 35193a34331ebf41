/*
 * What one line of the results says of a task's run, as far as a batch needs it again. It judges
 * nothing, and reads no file.
 */
#include "agent/cli/batch/outcome.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void batch_outcome_read(struct batch_outcome *ret, const struct json *line, bool answers)
{
	const char *status = json_get_string(line, "status");
	const char *level = json_get_string(line, "level");

	const struct json *usage = json_get(line, "usage");
	const char *key = json_get_string(line, "key");
	int64_t repeat = json_get_int(line, "repeat", 1);

	const char *output = json_get_string(json_get(line, "execution"), "stdout");

	*ret = (struct batch_outcome){
		.id = mem_strdup(json_get_string(line, "id")),
		.status = mem_strdup(status ? status : run_status_name(RUN_FAILED)),
		.level = mem_strdup(level ? level : level_name(LEVEL_NONE)),
		.error = mem_strdup(json_get_string(line, "error")),
		.answer = answers ? mem_strdup(json_get_string(line, "answer")) : NULL,
		.output = answers && !json_get_string(line, "answer") ? mem_strdup(output) : NULL,
		.run = answers ? mem_strdup(json_get_string(line, "run")) : NULL,
		.attempts = json_get_int(line, "attempts", 0),
		.input_tokens = json_get_int(usage, "input_tokens", 0),
		.output_tokens = json_get_int(usage, "output_tokens", 0),
		.cost_usd = json_get_number(line, "cost_usd", NAN),
		.repeat = repeat > 1 ? (uint32_t)repeat - 1 : 0,
		.duration_ms = json_get_int(line, "duration_ms", 0),
		.unfinished = json_get_bool(line, "unfinished", false),
	};
	if (key && strlen(key) == BATCH_KEY_LEN)
		memcpy(ret->key, key, BATCH_KEY_LEN);
}

void batch_outcome_release(struct batch_outcome *o)
{
	free(o->id);
	free(o->status);
	free(o->level);
	free(o->error);
	free(o->answer);
	free(o->output);
	free(o->run);
}
