/*
 * Cells in the real sandbox, for the tests of states that are kept: what one prints, how it ends,
 * and whether states are kept here at all.
 */
#ifndef TEST_SANDBOX_CONTEXT_H
#define TEST_SANDBOX_CONTEXT_H

#include "sandbox/sandbox.h"
#include "verifier/tests.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CELLS_MAX 40

static struct sandbox *sandbox;
static const char *lang = "python";
static char ids[CELLS_MAX][32];
static size_t count;

struct limits {
	int64_t wall_ms, cpu_ms, memory_bytes;
};

/* The id of the cell, to start from; NULL: it did not end well. r is released by the caller. */
static inline const char *run_with(const char *from, const char *code, const struct limits *limits,
				   struct sandbox_result *r)
{
	struct tests t = { .mode = TESTS_CELL };
	struct sandbox_job job = { .language = language_find(lang),
				   .code = code,
				   .code_len = strlen(code),
				   .state_from = from,
				   .rebuilds = true };
	struct error err = ERROR_INIT;

	assert_true(count < CELLS_MAX);
	snprintf(ids[count], sizeof(ids[count]), "RUN/%zu", count + 1);
	job.id = ids[count++];
	sandbox_limits_default(&job.limits);
	if (limits && limits->wall_ms)
		job.limits.wall_ms = limits->wall_ms;
	if (limits && limits->cpu_ms)
		job.limits.cpu_ms = limits->cpu_ms;
	if (limits && limits->memory_bytes)
		job.limits.memory_bytes = limits->memory_bytes;
	*r = (struct sandbox_result){ .exit_code = -1 };
	if (tests_prepare(&t, job.language, "", 0, &job, &err) < 0 ||
	    sandbox_run(sandbox, &job, NULL, r, &err) < 0)
		fail_msg("%s", err.message);
	tests_collect(&t, r);
	tests_release(&t);
	return r->outcome == SANDBOX_EXIT && r->exit_code == 0 ? job.id : NULL;
}

/* One that ends well, in a copy of from unless that is NULL, and prints that. */
static inline const char *cell(const char *from, const char *code, const char *prints)
{
	cleanup_sandbox_result struct sandbox_result r;
	const char *id = run_with(from, code, NULL, &r);

	if (!id)
		fail_msg("%s %d %s%s\n%s\n%s", sandbox_outcome_name(r.outcome), r.exit_code,
			 sandbox_fact(&r.isolation, "state"),
			 sandbox_fact(&r.isolation, "state_lost"), r.err.bytes, code);
	assert_string_equal(sandbox_fact(&r.isolation, "state"), from ? "forked" : "fresh");
	if (prints)
		assert_string_equal(r.out.bytes, prints);
	return id;
}

/* One that does not, with that outcome. */
static inline void fails(const char *from, const char *code, enum sandbox_outcome outcome,
			 const struct limits *limits)
{
	cleanup_sandbox_result struct sandbox_result r;

	assert_null(run_with(from, code, limits, &r));
	assert_string_equal(sandbox_outcome_name(r.outcome), sandbox_outcome_name(outcome));
	assert_string_equal(sandbox_fact(&r.isolation, "state"), "forked");
}

static inline int set_up(void **state)
{
	const struct sandbox_options options = { .states = 8 };
	struct error err = ERROR_INIT;

	(void)state;
	count = 0;
	lang = "python";
	return sandbox_open(&sandbox, &options, &err);
}

static inline int tear_down(void **state)
{
	(void)state;
	sandbox_close(sandbox);
	return 0;
}

static inline bool keeps_states(void)
{
	cleanup_sandbox_result struct sandbox_result r;

	run_with(NULL, "x = 1", NULL, &r);
	return !strcmp(sandbox_fact(&r.isolation, "held"), "yes");
}

static inline void needs_states(void **state)
{
	static int keeps = -1;

	(void)state;
	if (keeps < 0)
		keeps = keeps_states();
	sandbox_forget_states(sandbox);
	count = 0;
	if (keeps)
		return;
	print_message("skipped: no control groups of ours, without which no state is kept\n");
	skip();
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
