/* assay ask: one question; the answer on stdout. */
#include "agent/command.h"

#include "agent/console.h"
#include "agent/session.h"
#include "agent/task.h"
#include "agent/term.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static int build_task(struct task *task, const struct settings *settings, struct error *err)
{
	const struct option_values *input = &settings->options->given[OPT_STDIN];
	cleanup_buf struct buf bytes = BUF_INIT(BUF_MAX_DEFAULT);

	if (task_prompt_argument(task, settings->options, err) < 0 ||
	    task_add_flags(task, settings, err) < 0 || task_add_files(task, settings, err) < 0)
		return -1;
	task->lang = settings->lang;
	if (input->count) {
		if (io_read_file(input->values[0], &bytes, err) < 0)
			return -1;
		task->stdin_bytes = buf_take(&bytes, &task->stdin_len);
	}
	return 0;
}

static int show(const struct settings *settings, const struct loop_result *r, struct error *err)
{
	cleanup_json struct json *object = NULL;
	cleanup_free char *text = NULL;
	size_t len;

	console_evidence(r);
	console_conclusion(r);
	if (settings->json) {
		object = loop_result_json(r);
		text = json_print(object);
		return term_outf(err, "%s\n", text);
	}
	if (!r->answer)
		return 0;
	len = strlen(r->answer);
	if (term_out(r->answer, len, err) < 0)
		return -1;
	return len && r->answer[len - 1] == '\n' ? 0 : term_out("\n", 1, err);
}

/* A question that could not begin has a document, too, and its usual exit code. */
static int could_not_begin(const struct settings *settings, const struct error *why)
{
	cleanup_loop_result struct loop_result none = {
		.status = run_status_of_error(why),
		.cost_micro_usd = -1,
		.reason = mem_strdup(why->message),
	};
	cleanup_json struct json *object = NULL;
	cleanup_free char *text = NULL;
	struct error ignored = ERROR_INIT;	/* why is what the user must hear of */

	if (settings->json) {
		object = loop_result_json(&none);
		text = json_print(object);
		term_outf(&ignored, "%s\n", text);
	}
	return exit_code_of_error(why);
}

static int ask(struct session *s, const struct settings *settings, const struct task *task,
	       struct error *err)
{
	cleanup_loop_result struct loop_result result = { .answer = NULL };

	if (session_run(s, task, &result, err) < 0)
		return could_not_begin(settings, err);
	if (!settings->quiet)	/* the conclusion says why the run ended so, once */
		*err = (struct error)ERROR_INIT;
	if (show(settings, &result, err) < 0 ||
	    session_save_artifacts(settings_text(settings, OPT_OUT, NULL), &result, err) < 0)
		return exit_code_of_error(err);
	return (int)result.exit_code;
}

int cmd_ask(const struct settings *settings, struct error *err)
{
	const struct option_values *tags = &settings->options->given[OPT_TAG];
	cleanup_free const char **tag_list = mem_alloc((tags->count + 1) * sizeof(*tag_list));
	struct task task = { .id = NULL };
	struct session session;
	int code;

	if (tags->count)
		memcpy(tag_list, tags->values, tags->count * sizeof(*tag_list));
	if (build_task(&task, settings, err) < 0 ||
	    session_open(&session, settings, "ask", err) < 0) {
		task_release(&task);
		return could_not_begin(settings, err);
	}
	console_log(session.audit);
	session.loop.tags = tag_list;
	code = ask(&session, settings, &task, err);
	session_close(&session);
	task_release(&task);
	return code;
}
