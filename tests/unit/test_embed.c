/*
 * A stranger's program: one question to the engine, by its public headers alone (the head of
 * agent/loop.h says how), with a shell command as the model, a real sandbox and a log of its own.
 */
#include "agent/live.h"
#include "agent/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whatever it is asked, it answers with one program. */
#define MODEL "sh -c 'cat >/dev/null; printf \"~~~python\\nprint(6 * 7)\\n~~~\\n\"'"

static int deny(void *self, int attempt, const char *lang, const char *code, size_t len,
		const struct screening *screening, enum approval *ret, char **ret_code,
		char **ret_reason, struct error *err)
{
	(void)self, (void)attempt, (void)lang, (void)code, (void)len, (void)screening, (void)err;
	*ret = APPROVAL_NO;
	*ret_code = *ret_reason = NULL;
	return 0;
}

static int ask(const char *log, const char *question, struct loop_result *ret, struct error *err)
{
	const struct llm_command_options model = { .command = MODEL };
	cleanup_sandbox struct sandbox *sandbox = NULL;
	cleanup_audit struct audit *audit = NULL;
	struct llm llm = { .self = NULL };
	struct policy policy;
	struct task task = { .id = NULL };
	struct live live = { .cancel_fd = -1 };
	struct loop loop = { .policy = &policy, .llm = &llm, .approve.ask = deny, .cancel_fd = -1 };

	policy_init(&policy);
	policy.mode = MODE_FAST;
	policy.require = LEVEL_RAN;
	int rc = sandbox_open(&sandbox, NULL, err);
	if (!rc)
		rc = audit_open(&audit, &(struct audit_options){ .path = log }, err);
	if (!rc)
		rc = llm_command_open(&llm, &model, err);
	if (!rc)
		rc = task_set_prompt(&task, question, strlen(question), "the question", err);
	if (!rc) {
		live.sandbox = sandbox;
		live_execute(&loop.execute, &live);
		live_clock(&loop.clock, &live);
		loop.audit = audit;
		loop.kind = "ask";
		rc = loop_run(&loop, &task, ret, err);
	}
	task_release(&task);
	llm_close(&llm);
	policy_release(&policy);
	return rc;
}

int main(void)
{
	static const char *const endings[] = { "", "-wal", "-shm" };
	char folder[] = "/tmp/assay-embed-XXXXXX", log[64];
	cleanup_loop_result struct loop_result result = { .status = RUN_FAILED };
	struct error err = ERROR_INIT;

	if (!mkdtemp(folder))
		return 1;
	snprintf(log, sizeof(log), "%s/log.db", folder);
	bool good = ask(log, "What is six times seven?", &result, &err) == 0 &&
		    result.status == RUN_SUCCESS && result.level == LEVEL_RAN && result.answer &&
		    !strncmp(result.answer, "42", 2);
	printf("1..1\n%sok 1 - a program that embeds the engine has its answer\n",
	       good ? "" : "not ");
	if (!good)
		printf("# %s %s\n", err.message, result.reason ? result.reason : "");
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		snprintf(log, sizeof(log), "%s/log.db%s", folder, endings[i]);
		remove(log);
	}
	return remove(folder) || !good;
}
