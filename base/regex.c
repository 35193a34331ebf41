/*
 * Regular expressions, the only place that includes PCRE2. Each search has a bound on steps and
 * time, since patterns come from models and tasks; one that ran out is told apart from no match.
 */
#include "base/regex.h"

#include "base/clock.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/*
 * Backtracks from one starting point: enough for honest patterns on a megabyte.
 * The limit begins anew at every starting point and does not see the length of
 * a step, so that alone it bounds nothing: an automatic callout between the
 * items of the pattern looks at the CPU time as well.
 */
#define MATCH_LIMIT    2000000u
#define DEPTH_LIMIT    200000u
#define HEAP_LIMIT_KIB (64u * 1024)
#define JIT_STACK_MAX  ((size_t)64 << 20) /* reserved, used as needed */
#define CPU_LIMIT_US   1000000
#define CALLS_PER_LOOK 64

/* Never changed after it is made: threads may search with one at once. */
struct regex {
	pcre2_code *code;
	pcre2_match_context *context; /* each search has a copy */
};

/* One search: its spans, when it began, what it may take, and who may end it. */
struct search {
	pcre2_match_data *found;
	int64_t start_us, limit_us; /* start_us -1: from the first look on */
	const struct stop *stop;
	unsigned calls;
	int64_t looked_ms; /* 0: nobody has yet */
};

static int look_at_clock(pcre2_callout_block *block, void *data)
{
	struct search *search = data;

	(void)block;
	if (++search->calls % CALLS_PER_LOOK)
		return 0;
	/* This clock costs no system call, the others do: they are asked once a millisecond. */
	int64_t now_ms = clock_mono_ms();
	if (now_ms == search->looked_ms)
		return 0;
	const bool is_first = search->looked_ms == 0;
	search->looked_ms = now_ms;
	if (is_first)
		return 0;
	if (search->start_us < 0)
		search->start_us = clock_cpu_us();
	if (clock_cpu_us() - search->start_us > search->limit_us || stop_now(search->stop))
		return PCRE2_ERROR_CALLOUT;
	return 0;
}

/* --- one stack a thread, for all patterns: of those, one runs at a time --- */

static pthread_key_t stack_key;

static void free_stack(void *stack)
{
	pcre2_jit_stack_free(stack);
}

static void make_stack_key(void)
{
	if (pthread_key_create(&stack_key, free_stack))
		mem_exhausted();
}

/* NULL: a small one of the library's own. */
static pcre2_jit_stack *stack_of_thread(void *unused)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)unused;
	pthread_once(&once, make_stack_key);
	pcre2_jit_stack *stack = pthread_getspecific(stack_key);
	if (!stack) {
		stack = pcre2_jit_stack_create(32 * 1024, JIT_STACK_MAX, NULL);
		pthread_setspecific(stack_key, stack);
	}
	return stack;
}

static struct regex *prepare(pcre2_code *code)
{
	struct regex *re = mem_alloc(sizeof(*re));

	pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* without JIT it is slower, not wrong */
	re->code = code;
	re->context = pcre2_match_context_create(NULL);
	if (!re->context)
		mem_exhausted();
	pcre2_set_match_limit(re->context, MATCH_LIMIT);
	pcre2_set_depth_limit(re->context, DEPTH_LIMIT);
	pcre2_set_heap_limit(re->context, HEAP_LIMIT_KIB);
	pcre2_jit_stack_assign(re->context, stack_of_thread, NULL);
	return re;
}

static pcre2_code *compile(const char *pattern, unsigned flags, struct error *err)
{
	uint32_t options =
		PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;

	options |= flags & REGEX_ICASE ? PCRE2_CASELESS : 0;
	options |= flags & REGEX_MULTILINE ? PCRE2_MULTILINE : 0;
	options |= flags & REGEX_DOTALL ? PCRE2_DOTALL : 0;
	PCRE2_SIZE at;
	int number;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options,
					 &number, &at, NULL);
	if (!code) {
		unsigned char message[128];

		pcre2_get_error_message(number, message, sizeof(message));
		error_set(err, ERR_USAGE, "regular expression: %s at byte %zu of \"%.200s\"",
			  (char *)message, (size_t)at + 1, pattern);
	}
	return code;
}

struct regex *regex_compile(const char *pattern, unsigned flags, struct error *err)
{
	pcre2_code *code = compile(pattern, flags, err);

	return code ? prepare(code) : NULL;
}

int regex_check(const char *pattern, unsigned flags, struct error *err)
{
	pcre2_code *code = compile(pattern, flags, err);

	if (!code)
		return -1;
	pcre2_code_free(code);
	return 0;
}

void regex_free(struct regex *re)
{
	if (!re)
		return;
	pcre2_match_context_free(re->context);
	pcre2_code_free(re->code);
	free(re);
}

void regex_cleanup(struct regex **re)
{
	regex_free(*re);
	*re = NULL;
}

static int ended_early(const struct search *search, size_t len, struct error *err)
{
	if (stop_check(search->stop, err) < 0)
		return -1;
	return error_set(err, ERR_FAILED, "regular expression: over %lld ms on %zu bytes",
			 (long long)search->limit_us / 1000, len);
}

/* pcre2_match's result, but 0 for no match and -1 for every error. What was found is
 * the search's, to be freed. */
static int match(const struct regex *re, const char *subject, size_t len, size_t start,
		 struct search *search, struct error *err)
{
	pcre2_match_context *context = pcre2_match_context_copy(re->context);

	search->found = pcre2_match_data_create_from_pattern(re->code, NULL);
	if (!context || !search->found)
		mem_exhausted();
	pcre2_set_callout(context, look_at_clock, search);
	int rc = pcre2_match(re->code, (PCRE2_SPTR)subject, len, start, 0, search->found, context);
	pcre2_match_context_free(context);
	if (rc == PCRE2_ERROR_NOMATCH)
		return 0;
	if (rc == PCRE2_ERROR_CALLOUT)
		return ended_early(search, len, err);
	if (rc < 0) {
		unsigned char message[128];

		pcre2_get_error_message(rc, message, sizeof(message));
		return error_set(err, ERR_FAILED, "regular expression: %s", (char *)message);
	}
	return 1;
}

int regex_search(const struct regex *re, const char *subject, size_t len, size_t start,
		 struct regex_span *spans, size_t nspans, struct error *err)
{
	/* Most are over before anybody looks, and cost less than to ask when they began. */
	struct search search = { .start_us = -1, .limit_us = CPU_LIMIT_US };
	int rc = match(re, subject, len, start, &search, err);

	PCRE2_SIZE *ovector = pcre2_get_ovector_pointer(search.found);
	for (size_t i = 0; i < nspans && rc > 0; i++) {
		bool set =
			i < pcre2_get_ovector_count(search.found) && ovector[2 * i] != PCRE2_UNSET;

		spans[i].set = set;
		spans[i].start = set ? ovector[2 * i] : 0;
		spans[i].end = set ? ovector[2 * i + 1] : 0;
	}
	pcre2_match_data_free(search.found);
	return rc;
}

static int may_go_on(const struct regex_effort *effort, struct error *err)
{
	if (stop_check(effort->stop, err) < 0)
		return -1;
	if (effort->left_us > 0)
		return 0;
	return error_set(err, ERR_FAILED,
			 "the patterns before it took all the time there is for "
			 "patterns");
}

struct regex *regex_compile_within(const char *pattern, unsigned flags, struct regex_effort *effort,
				   struct error *err)
{
	int64_t start_us = clock_cpu_us();

	if (may_go_on(effort, err) < 0)
		return NULL;
	struct regex *re = regex_compile(pattern, flags, err);
	effort->left_us -= clock_cpu_us() - start_us;
	return re;
}

int regex_search_within(const struct regex *re, const char *subject, size_t len,
			struct regex_effort *effort, struct error *err)
{
	struct search search = { .start_us = clock_cpu_us(),
				 .limit_us = CPU_LIMIT_US,
				 .stop = effort->stop };

	if (may_go_on(effort, err) < 0)
		return -1;
	if (effort->left_us < search.limit_us)
		search.limit_us = effort->left_us;
	int rc = match(re, subject, len, 0, &search, err);
	pcre2_match_data_free(search.found);
	effort->left_us -= clock_cpu_us() - search.start_us;
	return rc;
}
