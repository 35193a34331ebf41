/*
 * What is no program of its language, on wires that have a compiler's or interpreter's own words
 * and exit code for it. Screening does not let it run: another program, of ours, has the
 * interpreter read it and say what is the matter, in the same walls, and none of it runs.
 */
#include "agent/doors/http/http.h"

#include "agent/doors/service/program.h"
#include "base/embed.h"
#include "base/mem.h"
#include "verifier/lang/lang.h"

#include <string.h>

#define NAME "program" /* in /in, as refusals find it */

static const struct embed *refusal_of(const char *language)
{
	const struct lang *lang = lang_find(language);

	if (!lang || !lang->refusal)
		return NULL;
	cleanup_free char *path = mem_printf("verifier/lang/%s/%s", lang->name, lang->refusal);
	return embed_find(path);
}

static bool is_told(const struct loop_result *r)
{
	return r->executed && r->status != RUN_SUCCESS && r->execution.outcome == SANDBOX_EXIT;
}

int http_run_program(struct worker *w, const struct call *call, const struct program *program,
		     struct loop_result *ret, struct error *err)
{
	cleanup_program struct program other = { .code = NULL };
	cleanup_loop_result struct loop_result told = { .execution.exit_code = -1 };

	if (call_run(w, call, &program->task, ret, err) < 0)
		return -1;
	const struct embed *refusal = refusal_of(program->task.lang);
	if (ret->executed || ret->failure.class != FAILURE_SYNTAX || !refusal)
		return 0;
	if (program_set(&other, program->task.lang, refusal->data, embed_len(refusal),
			program->task.prompt, err) < 0)
		return -1;
	other.given.screened = false;
	task_add_bytes(&other.task, NAME, mem_strndup(program->code, program->given.len),
		       program->given.len);
	if (call_run(w, call, &other.task, &told, err) < 0)
		return -1;
	if (!is_told(&told)) /* the interpreter takes it: it stays refused */
		return 0;
	struct loop_result first = *ret;
	*ret = told;
	told = first;
	return 0;
}
