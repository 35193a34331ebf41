/* The fake backend as what calls through sandbox.h has it, in a folder of the test's own. */
#ifndef TEST_SANDBOX_BACKEND_H
#define TEST_SANDBOX_BACKEND_H

#include "tests/unit/test_fake_backend.h"

#include "agent/cli/app.h"
#include "agent/cli/command.h"
#include "agent/cli/session.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>

#include <cmocka.h>

static char folder[] = "/tmp/assay-backend-XXXXXX";
static char db[64], script[64];

static inline struct sandbox *open_named(const char *name)
{
	const struct sandbox_options options = { .name = name };
	struct sandbox *s = NULL;
	struct error err = ERROR_INIT;

	if (sandbox_open(&s, &options, &err) < 0)
		fail_msg("%s", err.message);
	return s;
}

static inline struct sandbox_job job_of(const char *code)
{
	struct sandbox_job job = { .language = language_find("python"),
				   .code = code,
				   .code_len = strlen(code) };

	sandbox_limits_default(&job.limits);
	return job;
}

/* A keeper would be a child of ours. */
static inline void assert_nothing_was_started(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static inline char *run_from(struct sandbox *s, const char *id, const char *from, struct error *err)
{
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct sandbox_job job = job_of("");

	job.id = id;
	job.state_from = from;
	return sandbox_run(s, &job, NULL, &r, err) < 0 ? NULL : mem_strdup(r.out.bytes);
}

static inline void assert_run_prints(struct sandbox *s, const char *id, const char *from,
				     const char *wanted)
{
	struct error err = ERROR_INIT;
	cleanup_free char *text = run_from(s, id, from, &err);

	if (!text)
		fail_msg("%s", err.message);
	assert_string_equal(text, wanted);
}

static inline int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || setenv("HOME", folder, 1))
		return -1;
	snprintf(db, sizeof(db), "%s/log.db", folder);
	snprintf(script, sizeof(script), "%s/script.jsonl", folder);
	command_signals_own();
	return 0;
}

static inline int tear_down(void **state)
{
	cleanup_free char *line = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(line);
}

#endif
