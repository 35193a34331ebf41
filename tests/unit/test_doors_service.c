/*
 * Workers and their queue, with work that only says who did it: which worker takes what. No
 * sandbox, log or model is opened. Nothing is timed; what a stopped machine can spoil is tried
 * again.
 */
#include "agent/doors/service/contexts.h"
#include "agent/doors/service/service.h"
#include "test_service_ends.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "sandbox/backend.h"

#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define TRIES		 5
#define PATIENCE_SECONDS 60

struct job {
	struct work work; /* first */
	sem_t begun, may_end, ended;
	size_t by; /* the worker's place */
};

static const struct service_ends ends = { .open_sandbox = no_sandbox, .open_log = no_log };

static void run(struct work *work, struct worker *w)
{
	struct job *job = (struct job *)work; /* its first member */

	job->by = service_place(w);
	sem_post(&job->begun);
	sem_wait(&job->may_end);
	sem_post(&job->ended);
}

/* One that holds its worker till end is called. */
static void start(struct service *s, struct job *job, size_t place)
{
	*job = (struct job){ .work = { .run = run, .place = place } };
	sem_init(&job->begun, 0, 0);
	sem_init(&job->may_end, 0, 0);
	sem_init(&job->ended, 0, 0);
	assert_true(service_submit(s, &job->work));
}

static size_t end(struct job *job)
{
	sem_post(&job->may_end);
	sem_wait(&job->ended);
	return job->by;
}

static bool is_running(struct service *s)
{
	struct service_load load;

	service_look(s, &load);
	return load.running > 0;
}

static struct service *open_two(struct policy *policy)
{
	const struct service_options options = { .policy = policy,
						 .ends = &ends,
						 .parallel = 2,
						 .queue = 8,
						 .contexts = { 1, 1000, 1000 } };
	struct error err = ERROR_INIT;
	struct service *s;

	policy_init(policy);
	assert_int_equal(service_open(&s, &options, &err), 0);
	return s;
}

static void close_two(struct service *s, struct policy *policy)
{
	struct error err = ERROR_INIT;

	assert_int_equal(service_close(s, &err), 0);
	policy_release(policy);
}

/* The one beside has nothing to do, and takes what came later. */
static bool is_waited_for(struct service *s)
{
	struct job holds;

	start(s, &holds, 0);
	sem_wait(&holds.begun);
	size_t place = holds.by;
	struct job wants;
	start(s, &wants, place);
	sem_post(&wants.may_end);
	struct job any;
	start(s, &any, 0);
	sem_wait(&any.begun);
	size_t other = end(&any);
	end(&holds);
	size_t by = end(&wants);
	assert_int_not_equal(other, place);
	return by == place;
}

static void test_a_worker_is_waited_for(void **state)
{
	struct policy policy;
	struct service *s = open_two(&policy);
	bool waited = false;

	(void)state;
	for (int i = 0; i < TRIES && !waited; i++)
		waited = is_waited_for(s);
	close_two(s, &policy);
	assert_true(waited);
}

static void test_but_not_for_ever(void **state)
{
	struct policy policy;
	struct service *s = open_two(&policy);
	struct job holds;

	(void)state;
	start(s, &holds, 0);
	sem_wait(&holds.begun);
	struct job wants;
	start(s, &wants, holds.by);
	sem_wait(&wants.begun);
	assert_int_not_equal(end(&wants), holds.by);
	end(&holds);
	close_two(s, &policy);
}

/* One after another, they are all one worker's, which has the next interpreter ready. */
static void test_one_client_has_one_worker(void **state)
{
	struct policy policy;
	struct service *s = open_two(&policy);

	(void)state;
	for (int i = 0; i < 50; i++) {
		struct job job;

		start(s, &job, 0);
		sem_wait(&job.begun);
		assert_int_equal(job.by, 1);
		if (i % 10 == 0) {
			struct job beside;

			start(s, &beside, 0);
			sem_wait(&beside.begun);
			assert_int_equal(end(&beside), 2);
		}
		end(&job);
		while (is_running(s))
			sched_yield();
	}
	close_two(s, &policy);
}

/* --- a sandbox that takes its time to forget --- */

static sem_t forgets, may_forget;

static void forget(void *self, const char *id)
{
	(void)self;
	(void)id;
	sem_post(&forgets);
	sem_wait(&may_forget);
}

static void close_none(void *self)
{
	(void)self;
}

static int slow_sandbox(void *self, struct sandbox **ret, struct error *err)
{
	static const struct backend slow = { .forget_state = forget, .close = close_none };

	(void)self;
	(void)err;
	*ret = mem_alloc(sizeof(**ret));
	**ret = (struct sandbox){ .backend = &slow };
	return 0;
}

/* A context that was left in a worker's sandbox is closed. */
static void leave_one(struct contexts *contexts, size_t place)
{
	struct context_cell *cell = mem_alloc(sizeof(*cell));
	struct error err = ERROR_INIT;
	char id[CONTEXT_ID_LEN + 1];
	struct held *held;

	assert_int_equal(contexts_open(contexts, NULL, language_find("py"), NULL, id, &err), 0);
	assert_int_equal(contexts_take(contexts, id, NULL, 0, &held, &err), 0);
	*cell = (struct context_cell){ .id = mem_strdup("RUN/1"),
				       .lang = held->language->name,
				       .code = mem_strdup("x = 1") };
	context_add(&held->context, cell, false);
	held->kept = true;
	held->place = place;
	contexts_put_back(contexts, held);
	contexts_close(contexts, id, NULL);
}

/* What the first worker would have taken, was it free, is not left to wait for it. */
static void test_forgetting_is_work(void **state)
{
	static const struct service_ends slow = { .open_sandbox = slow_sandbox,
						  .open_log = no_log };
	struct policy policy;
	const struct service_options options = { .policy = &policy,
						 .ends = &slow,
						 .parallel = 2,
						 .queue = 8,
						 .contexts = { 1, 100000, 100000 } };
	struct error err = ERROR_INIT;

	(void)state;
	sem_init(&forgets, 0, 0);
	sem_init(&may_forget, 0, 0);
	policy_init(&policy);
	struct service *s;
	assert_int_equal(service_open(&s, &options, &err), 0);
	leave_one(service_contexts(s), 1);
	sem_wait(&forgets);
	struct job job;
	start(s, &job, 0);
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_SECONDS;
	assert_int_equal(sem_timedwait(&job.begun, &until), 0);
	assert_int_equal(end(&job), 2);
	sem_post(&may_forget);
	close_two(s, &policy);
}

/* --- nobody is left asleep --- */

#define MANY 2000

static void only_run(struct work *work, struct worker *w)
{
	struct job *job = (struct job *)work; /* its first member */

	job->by = service_place(w);
	sem_post(&job->ended);
}

static void submit(struct service *s, struct job *job, size_t place, const char *alone)
{
	*job = (struct job){ .work = { .run = only_run, .place = place } };
	strcpy(job->work.alone, alone);
	sem_init(&job->ended, 0, 0);
	assert_true(service_submit(s, &job->work));
}

static void must_end(struct job *job)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_SECONDS;
	assert_int_equal(sem_timedwait(&job->ended, &until), 0);
}

/* Of any worker, of one of the two, and of what waits for another of its name. */
static void test_all_are_taken(void **state)
{
	struct policy policy;
	struct service *s = open_two(&policy);

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		struct job jobs[3];

		submit(s, &jobs[0], i % 3, "");
		submit(s, &jobs[1], 0, i % 2 ? "a" : "");
		submit(s, &jobs[2], 0, i % 4 ? "a" : "");
		for (size_t k = 0; k < 3; k++)
			must_end(&jobs[k]);
	}
	close_two(s, &policy);
}

/* A worker that waits while there is something that it cannot take ends with the others. */
static void test_all_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < MANY / 20; i++) {
		struct policy policy;
		struct service *s = open_two(&policy);
		struct job jobs[4];

		for (size_t k = 0; k < 4; k++)
			submit(s, &jobs[k], 0, "a");
		close_two(s, &policy);
		for (size_t k = 0; k < 4; k++)
			must_end(&jobs[k]);
	}
}

static void note_left(void *self, size_t place, const char *execution)
{
	struct buf *seen = self;

	buf_addf(seen, "%zu %s;", place, execution);
}

/* Who forgets a context lets go of what it left in a worker's sandbox, once. */
static void test_forgotten(void **state)
{
	struct buf seen = BUF_INIT(1000);
	const struct contexts_options options = {
		.most = 4, .idle_ms = 100000, .life_ms = 100000, .left = note_left, .self = &seen
	};
	struct context_cell *cell = mem_alloc(sizeof(*cell));
	struct error err = ERROR_INIT;
	char id[CONTEXT_ID_LEN + 1];
	struct contexts *c;

	(void)state;
	assert_int_equal(contexts_new(&c, &options, &err), 0);
	assert_int_equal(contexts_open(c, NULL, language_find("py"), NULL, id, &err), 0);
	struct held *held;
	assert_int_equal(contexts_take(c, id, NULL, 0, &held, &err), 0);
	*cell = (struct context_cell){ .id = mem_strdup("RUN/1"),
				       .lang = held->language->name,
				       .code = mem_strdup("x = 1") };
	context_add(&held->context, cell, false);
	held->kept = true;
	held->place = 2;
	contexts_let_go(c, held);
	assert_string_equal(seen.data, "2 RUN/1;");
	assert_int_equal(held->context.count, 0);
	contexts_put_back(c, held);
	contexts_close(c, id, NULL);
	assert_string_equal(seen.data, "2 RUN/1;");
	contexts_free(c);
	buf_release(&seen);
}

/* A program in a context of an owner's, which is given so many bytes; whether it may begin. */
static bool give(struct contexts *c, const char *id, const char *owner, size_t len)
{
	struct error err = ERROR_INIT;
	struct held *held;

	if (contexts_take(c, id, owner, 0, &held, &err) < 0) {
		assert_int_equal(err.kind, ERR_BUDGET);
		return false;
	}
	struct task task = { .prompt = NULL };
	task_add_bytes(&task, "a", mem_alloc(len + 1), len);
	assert_int_equal(held_add_files(held, &task, &err), 0);
	contexts_put_back(c, held);
	task_release(&task);
	return true;
}

/* What contexts have been given has a bound over all of them, half of which is one owner's. */
static void test_bytes_of_all(void **state)
{
	const struct contexts_options options = {
		.most = 8, .idle_ms = 100000, .life_ms = 100000, .most_bytes = 1000
	};
	static const char *const owners[] = { "one", "one", "two", "three" };
	struct error err = ERROR_INIT;
	struct contexts *c;

	(void)state;
	assert_int_equal(contexts_new(&c, &options, &err), 0);
	char ids[ARRAY_SIZE(owners)][CONTEXT_ID_LEN + 1];
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++)
		assert_int_equal(
			contexts_open(c, owners[i], language_find("py"), NULL, ids[i], &err), 0);
	assert_true(give(c, ids[0], "one", 300));
	assert_true(give(c, ids[0], "one", 300)); /* the same file again */
	assert_true(give(c, ids[1], "one", 300));
	assert_false(give(c, ids[0], "one", 1));
	assert_true(give(c, ids[2], "two", 400));
	assert_false(give(c, ids[3], "three", 1)); /* 1000 in all */
	struct contexts_counts counts;
	contexts_count(c, &counts);
	assert_int_equal(counts.bytes, 1000);
	assert_true(contexts_clear(c, ids[1], "one"));
	assert_true(give(c, ids[3], "three", 1));
	assert_true(contexts_close(c, ids[0], "one"));
	contexts_count(c, &counts);
	assert_int_equal(counts.bytes, 401);
	contexts_free(c);
}

/* What a server that died has left is taken by the next one, but for what is not whole. */
static void test_survivors(void **state)
{
	static const char id[] = "ctx-0123456789abcdef01234567";
	static const char other[] = "ctx-0123456789abcdef0123456x";
	struct contexts_options options = { .most = 8, .idle_ms = 100000, .life_ms = 100000 };
	struct kept_contexts *kept = kept_new();
	struct error err = ERROR_INIT;

	(void)state;
	options.survivors = kept;
	assert_non_null(kept_add(kept, id, "one", "python", clock_mono_ms()));
	assert_non_null(kept_add(kept, other, "one", "python", clock_mono_ms()));
	assert_non_null(kept_add(kept, id, NULL, "no language", clock_mono_ms()));
	struct kept_context *row = kept_add(kept, id, "two", "python", clock_mono_ms());
	memset(row->owner, 'x', sizeof(row->owner));
	row = kept_add(kept, id, "three", "python", clock_mono_ms());
	row->owned = false;
	assert_null(kept_add(kept, "ctx-0123456789abcdef0123456789", "one", "python", 0));
	struct contexts *c;
	assert_int_equal(contexts_new(&c, &options, &err), 0);
	struct contexts_counts counts;
	contexts_count(c, &counts);
	assert_int_equal(counts.open, 1);
	size_t place;
	assert_true(contexts_look(c, id, "one", &place));
	assert_int_equal(place, 0);
	assert_false(contexts_look(c, id, "two", &place));
	assert_false(contexts_look(c, id, NULL, &place));
	assert_true(contexts_close(c, id, "one"));
	assert_null(kept_next(kept, NULL));
	char own[CONTEXT_ID_LEN + 1], within[CONTEXT_ID_LEN + 1];
	assert_int_equal(contexts_open(c, "one", language_find("py"), NULL, own, &err), 0);
	assert_int_equal(contexts_open(c, "one", language_find("py"), "box", within, &err), 0);
	row = kept_next(kept, NULL);
	assert_string_equal(row->id, own);
	assert_null(kept_next(kept, row));
	contexts_free(c);
	assert_null(kept_next(kept, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_survivors),
		cmocka_unit_test(test_bytes_of_all),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_all_are_taken),
		cmocka_unit_test(test_all_end),
		cmocka_unit_test(test_forgetting_is_work),
		cmocka_unit_test(test_a_worker_is_waited_for),
		cmocka_unit_test(test_but_not_for_ever),
		cmocka_unit_test(test_one_client_has_one_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
