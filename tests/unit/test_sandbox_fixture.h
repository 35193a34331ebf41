/* One sandbox for all tests of a program, and what they say of it. */
#ifndef TEST_SANDBOX_FIXTURE_H
#define TEST_SANDBOX_FIXTURE_H

#include "tests/unit/test_native.h"

#include "base/clock.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is not about the wall is to end by itself, on a machine however busy. */
#define BUSY_WALL_MS 120000

static struct sandbox *sandbox;
static char cache[64];

/* How many times as slow as this host what runs the job may be, so that limits in time are longer:
 * a machine in software is. */
static inline int64_t patience(void)
{
	const char *times = getenv("ASSAY_TEST_SLOWNESS");

	return times ? atoi(times) : 1;
}

/* The kernel that programs see is gVisor's: a keeper for each run, which is told less. */
static inline bool is_gvisor(void)
{
	const char *name = getenv("ASSAY_TEST_SANDBOX");

	return name && !strcmp(name, "oci:runsc");
}

static int set_up(void **state)
{
	struct sandbox_options options = { .name = getenv("ASSAY_TEST_SANDBOX"),
					   .weaker = is_gvisor(),
					   .cache_dir = cache };
	struct error err = ERROR_INIT;

	(void)state;
	snprintf(cache, sizeof(cache), "/tmp/assay-test-%ld", (long)getpid());
	if (sandbox_open(&sandbox, &options, &err) < 0) {
		print_message("%s\n", err.message);
		return -1;
	}
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	sandbox_close(sandbox);
	snprintf(command, sizeof(command), "rm -rf '%s'", cache);
	return system(command);
}

static struct sandbox_job job_of(const char *language, const char *code)
{
	struct sandbox_job job = { .language = language_find(language),
				   .code = code,
				   .code_len = strlen(code) };

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = BUSY_WALL_MS * patience();
	job.limits.cpu_ms *= patience();
	return job;
}

static struct sandbox_result run_job(const struct sandbox_job *job)
{
	struct sandbox_result result = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	if (sandbox_run(sandbox, job, NULL, &result, &err) < 0)
		fail_msg("%s", err.message);
	return result;
}

static struct sandbox_result run_code(const char *language, const char *code)
{
	struct sandbox_job job = job_of(language, code);

	return run_job(&job);
}

static inline void assert_prints(const char *language, const char *code, const char *expected)
{
	cleanup_sandbox_result struct sandbox_result r = run_code(language, code);

	if (r.outcome != SANDBOX_EXIT || r.exit_code != 0)
		fail_msg("%s (%s): %s", sandbox_outcome_name(r.outcome), r.detail, r.err.bytes);
	assert_string_equal(r.out.bytes, expected);
}

#endif
