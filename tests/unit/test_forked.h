/* Two sandboxes, in one of which no interpreter waits and in the other a template forks them. */
#ifndef TEST_FORKED_H
#define TEST_FORKED_H

#include "tests/unit/test_sandbox_fixture.h"

static struct sandbox *cold;

static struct sandbox *open_warm(void)
{
	struct sandbox_options options = { .cache_dir = cache, .warm = 64 };
	struct error err = ERROR_INIT;
	struct sandbox *s;

	if (sandbox_open(&s, &options, &err) < 0)
		fail_msg("%s", err.message);
	return s;
}

static int set_up_both(void **state)
{
	if (set_up(state) < 0)
		return -1;
	cold = sandbox;
	sandbox = open_warm();
	return 0;
}

static int tear_down_both(void **state)
{
	sandbox_close(cold);
	return tear_down(state);
}

static const char *start_of(const struct sandbox_result *r)
{
	return sandbox_fact(&r->isolation, "start");
}

static struct sandbox_result run_in(struct sandbox *s, const struct sandbox_job *job)
{
	struct sandbox_result result = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	if (sandbox_run(s, job, NULL, &result, &err) < 0)
		fail_msg("%s", err.message);
	return result;
}

static struct sandbox_result run_prepared(struct sandbox *s, const struct sandbox_job *job)
{
	sandbox_prepare(s, job);
	return run_in(s, job);
}

/* The first that is prepared has the template made, and waits for it to be settled; what was
 * prepared by foresight, and let go of since, may come before. */
static struct sandbox_result run_forked(struct sandbox *s, const struct sandbox_job *job)
{
	struct sandbox_result r = run_prepared(s, job);

	for (int i = 0; i < 2 && strcmp(start_of(&r), "forked") != 0; i++) {
		sandbox_result_release(&r);
		r = run_prepared(s, job);
	}
	if (strcmp(start_of(&r), "forked") != 0)
		fail_msg("%s: %s: %s", start_of(&r), native_of(s)->no_template.step,
			 strerror(native_of(s)->no_template.errnum));
	return r;
}

static inline void assert_same(const struct sandbox_job *job)
{
	cleanup_sandbox_result struct sandbox_result was = run_in(cold, job);
	cleanup_sandbox_result struct sandbox_result is = run_forked(sandbox, job);

	assert_string_equal(start_of(&was), "cold");
	assert_string_equal(is.out.bytes, was.out.bytes);
	assert_int_equal(is.out.len, was.out.len);
	assert_string_equal(is.err.bytes, was.err.bytes);
	assert_int_equal(is.outcome, was.outcome);
	assert_int_equal(is.exit_code, was.exit_code);
	assert_int_equal(is.signal, was.signal);
	assert_string_equal(is.detail, was.detail);
	assert_int_equal(is.forbidden_count, was.forbidden_count);
	assert_int_equal(is.artifact_count, was.artifact_count);
}

static inline void run_once(struct sandbox *s, const struct sandbox_job *job)
{
	cleanup_sandbox_result struct sandbox_result r = run_forked(s, job);

	assert_string_equal(start_of(&r), "forked");
}

#endif
