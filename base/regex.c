#include "base/regex.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/*
 * Backtracks from one starting point: enough for honest patterns on a megabyte.
 * The limit begins anew at every starting point and does not see the length of
 * a step, so that alone it bounds nothing: an automatic callout between the
 * items of the pattern looks at the CPU time as well.
 */
#define MATCH_LIMIT 2000000u
#define DEPTH_LIMIT 200000u
#define HEAP_LIMIT_KIB (64u * 1024)
#define JIT_STACK_MAX ((size_t)64 << 20)	/* reserved, used as needed */
#define CPU_LIMIT_US 1000000
#define CALLS_PER_LOOK 64

struct regex {
	pcre2_code *code;
	pcre2_match_context *context;
	pcre2_match_data *match;
};

struct effort {
	int64_t start_us;
	unsigned calls;
};

static int look_at_clock(pcre2_callout_block *block, void *data)
{
	struct effort *effort = data;

	(void)block;
	if (++effort->calls % CALLS_PER_LOOK)
		return 0;
	return clock_cpu_us() - effort->start_us > CPU_LIMIT_US ? PCRE2_ERROR_CALLOUT : 0;
}

/* One for all patterns: they never run at the same time. */
static pcre2_jit_stack *jit_stack(void)
{
	static pcre2_jit_stack *stack;

	if (!stack)
		stack = pcre2_jit_stack_create(32 * 1024, JIT_STACK_MAX, NULL);
	return stack;
}

static struct regex *prepare(pcre2_code *code)
{
	struct regex *re = mem_alloc(sizeof(*re));

	pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);	/* without JIT it is slower, not wrong */
	re->code = code;
	re->context = pcre2_match_context_create(NULL);
	re->match = pcre2_match_data_create_from_pattern(code, NULL);
	if (!re->context || !re->match)
		mem_exhausted();
	pcre2_set_match_limit(re->context, MATCH_LIMIT);
	pcre2_set_depth_limit(re->context, DEPTH_LIMIT);
	pcre2_set_heap_limit(re->context, HEAP_LIMIT_KIB);
	pcre2_jit_stack_assign(re->context, NULL, jit_stack());
	return re;
}

struct regex *regex_compile(const char *pattern, unsigned flags, struct error *err)
{
	uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C |
			   PCRE2_AUTO_CALLOUT;
	unsigned char message[128];
	pcre2_code *code;
	PCRE2_SIZE at;
	int number;

	options |= flags & REGEX_ICASE ? PCRE2_CASELESS : 0;
	options |= flags & REGEX_MULTILINE ? PCRE2_MULTILINE : 0;
	options |= flags & REGEX_DOTALL ? PCRE2_DOTALL : 0;
	code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &number, &at,
			     NULL);
	if (!code) {
		pcre2_get_error_message(number, message, sizeof(message));
		error_set(err, ERR_USAGE, "regular expression: %s at byte %zu of \"%.200s\"",
			  (char *)message, (size_t)at + 1, pattern);
		return NULL;
	}
	return prepare(code);
}

void regex_free(struct regex *re)
{
	if (!re)
		return;
	pcre2_match_data_free(re->match);
	pcre2_match_context_free(re->context);
	pcre2_code_free(re->code);
	free(re);
}

void regex_cleanup(struct regex **re)
{
	regex_free(*re);
	*re = NULL;
}

int regex_search(const struct regex *re, const char *subject, size_t len, size_t start,
		 struct regex_span *spans, size_t nspans, struct error *err)
{
	struct effort effort = { .start_us = clock_cpu_us() };
	unsigned char message[128];
	PCRE2_SIZE *ovector;
	size_t i;
	int rc;

	pcre2_set_callout(re->context, look_at_clock, &effort);
	rc = pcre2_match(re->code, (PCRE2_SPTR)subject, len, start, 0, re->match, re->context);
	pcre2_set_callout(re->context, NULL, NULL);
	if (rc == PCRE2_ERROR_NOMATCH)
		return 0;
	if (rc == PCRE2_ERROR_CALLOUT)
		return error_set(err, ERR_FAILED, "regular expression: over %d ms on %zu bytes",
				 CPU_LIMIT_US / 1000, len);
	if (rc < 0) {
		pcre2_get_error_message(rc, message, sizeof(message));
		return error_set(err, ERR_FAILED, "regular expression: %s", (char *)message);
	}
	ovector = pcre2_get_ovector_pointer(re->match);
	for (i = 0; i < nspans; i++) {
		bool set = i < pcre2_get_ovector_count(re->match) &&
			   ovector[2 * i] != PCRE2_UNSET;

		spans[i].set = set;
		spans[i].start = set ? ovector[2 * i] : 0;
		spans[i].end = set ? ovector[2 * i + 1] : 0;
	}
	return 1;
}
