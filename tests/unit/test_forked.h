/* Of the two sandboxes, in the other a template forks the interpreters that wait. */
#ifndef TEST_FORKED_H
#define TEST_FORKED_H

#include "tests/unit/test_starts.h"

static inline struct sandbox *open_warm(void)
{
	return open_with(64);
}

static int set_up_both(void **state)
{
	return set_up_cold(state, 64);
}

/* The first that is prepared has the template made, and waits for it to be settled; what was
 * prepared by foresight, and let go of since, may come before. */
static struct sandbox_result run_forked(struct sandbox *s, const struct sandbox_job *job)
{
	struct sandbox_result r = run_prepared(s, job);

	for (int i = 0; i < 2 && strcmp(start_of(&r), "forked"); i++) {
		sandbox_result_release(&r);
		r = run_prepared(s, job);
	}
	if (strcmp(start_of(&r), "forked"))
		fail_msg("%s: %s: %s", start_of(&r), native_of(s)->no_template.step,
			 strerror(native_of(s)->no_template.errnum));
	return r;
}

static inline void assert_same(const struct sandbox_job *job)
{
	cleanup_sandbox_result struct sandbox_result was = run_in(cold, job);
	cleanup_sandbox_result struct sandbox_result is = run_forked(sandbox, job);

	assert_alike(&was, &is);
}

static inline void run_once(struct sandbox *s, const struct sandbox_job *job)
{
	cleanup_sandbox_result struct sandbox_result r = run_forked(s, job);

	assert_string_equal(start_of(&r), "forked");
}

#endif
