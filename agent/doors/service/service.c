/*
 * Workers and their queue. What is waited for is bounded, and of several owners each has its turn:
 * the next is the oldest work of whom fewest are worked for. What work is, is its maker's affair.
 */
#include "agent/doors/service/service.h"

#include "agent/doors/service/owner.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A state is made again by running all that led to it: who has it is waited for rather, unless it
 * has been busy for so long that nobody knows until when. */
const int64_t service_times_ms[] = { 1,	  2,   5,    10,   25,	 50,	100,
				     250, 500, 1000, 2500, 5000, 10000, 60000 };

#define WAITED_FOR_MS 1000
#define LOOK_NS	      20000000

/* What an execution left in a worker's sandbox, and nobody needs. */
struct left {
	size_t place;	 /* of the worker, and 1 */
	char *execution; /* owned */
	struct left *next;
};

/* When it was an owner's turn last, and what became of his work. */
struct turn {
	const char *owner;
	uint64_t last, done, refused;
};

struct service {
	struct service_options options;
	pthread_mutex_t lock;	 /* of all below */
	pthread_mutex_t opening; /* of a model: one at a time */
	struct work *first;	 /* that waits */
	struct left *left;
	const char **owners; /* whom each worker works for */
	bool *busy;
	int64_t *since_ms;	       /* of what each works on */
	char (*alone)[WORK_ALONE_MAX]; /* of what each works on */
	struct contexts *contexts;
	struct turn *turns; /* of whom there was work so far */
	size_t turn_count;
	uint64_t clock; /* turns so far */
	struct service_load load;
	bool ending;
	size_t started; /* threads */
	struct worker *workers;
};

/* --- the queue --- */

static size_t worked_for(const struct service *s, const char *owner)
{
	size_t n = 0;

	for (size_t i = 0; i < s->options.parallel; i++)
		n += s->busy[i] && owner_is_same(s->owners[i], owner);
	return n;
}

static struct turn *turn_of(struct service *s, const char *owner)
{
	for (size_t i = 0; i < s->turn_count; i++)
		if (owner_is_same(s->turns[i].owner, owner))
			return &s->turns[i];
	s->turns = mem_one_more(s->turns, s->turn_count, sizeof(*s->turns));
	s->turns[s->turn_count] = (struct turn){ .owner = owner };
	return &s->turns[s->turn_count++];
}

/* Whether a worker that has what the work needs will be free too late. */
static bool is_held_up(const struct service *s, size_t place)
{
	return s->busy[place] && clock_mono_ms() - s->since_ms[place] > WAITED_FOR_MS;
}

/* Of workers that are free, the first: what is ahead of its next program (a template, an
 * interpreter that waits) is of use the sooner. */
static bool is_first_free(const struct service *s, size_t place)
{
	for (size_t i = 0; i < place; i++)
		if (!s->busy[i])
			return false;
	return true;
}

/* Whether this worker may take it now. */
static bool is_for(const struct service *s, const struct work *work, size_t place)
{
	if (work->looks != (place == s->options.parallel))
		return false;
	if (work->place && work->place - 1 != place && !is_held_up(s, work->place - 1))
		return false;
	if (!work->place && !work->looks && !is_first_free(s, place))
		return false;
	for (size_t i = 0; *work->alone && i < s->options.parallel; i++)
		if (s->busy[i] && !strcmp(s->alone[i], work->alone))
			return false;
	for (const struct work *w = s->first; *work->alone && w != work; w = w->next)
		if (!strcmp(w->alone, work->alone))
			return false;
	return true;
}

/* The oldest of the owner who has least under way, and of those the longest not been served;
 * NULL when none waits. */
static struct work *next_work(struct service *s, size_t place)
{
	struct work **best = NULL;
	size_t least = SIZE_MAX;
	uint64_t last = UINT64_MAX;

	for (struct work **at = &s->first; *at; at = &(*at)->next) {
		size_t n = worked_for(s, (*at)->owner);
		uint64_t turn = turn_of(s, (*at)->owner)->last;

		if (!is_for(s, *at, place))
			continue;
		if (n > least || (n == least && turn >= last))
			continue;
		least = n;
		last = turn;
		best = at;
	}
	if (!best)
		return NULL;
	struct work *work = *best;
	*best = work->next;
	turn_of(s, work->owner)->last = ++s->clock;
	return work;
}

/* Those who can take what waits, or could when its worker has been busy for too long, and no
 * others: to wake all for each would cost more than most have to do. In the end all, who go. */
static void wake(struct service *s)
{
	for (size_t i = 0; i <= s->options.parallel; i++) {
		const struct work *w = s->busy[i] ? NULL : s->first;

		while (w && !is_for(s, w, i) && !(w->place && s->busy[w->place - 1]))
			w = w->next;
		if (w || s->ending)
			pthread_cond_signal(&s->workers[i].wake);
	}
}

static bool waits(const struct service *s, const char *owner)
{
	const struct work *work = s->first;

	while (work && !owner_is_same(work->owner, owner))
		work = work->next;
	return work != NULL;
}

/* A quarter of the queue is for owners who have nothing in it, so that none fills it alone; the
 * user himself has no others beside him. */
static bool has_room(const struct service *s, const char *owner)
{
	size_t all = s->options.parallel + s->options.queue;
	size_t kept = owner && waits(s, owner) ? s->options.queue / 4 : 0;

	return s->load.running + s->load.waiting + kept < all;
}

bool service_submit(struct service *s, struct work *work)
{
	pthread_mutex_lock(&s->lock);
	bool taken = (work->looks || has_room(s, work->owner)) && !s->ending;
	if (taken) {
		work->since_ms = clock_mono_ms();
		work->next = NULL;
		struct work **at;
		for (at = &s->first; *at; at = &(*at)->next)
			;
		*at = work;
		s->load.waiting += !work->looks;
		wake(s);
	} else {
		s->load.refused++;
		turn_of(s, work->owner)->refused++;
	}
	pthread_mutex_unlock(&s->lock);
	return taken;
}

static void add_time(struct service_times *times, int64_t ms)
{
	size_t i = 0;

	while (i < SERVICE_TIMES - 1 && ms > service_times_ms[i])
		i++;
	times->counts[i]++;
	times->sum_ms += ms > 0 ? (uint64_t)ms : 0;
}

void service_count_lost(struct service *s)
{
	pthread_mutex_lock(&s->lock);
	s->load.lost++;
	pthread_mutex_unlock(&s->lock);
}

void service_look(struct service *s, struct service_load *ret)
{
	pthread_mutex_lock(&s->lock);
	*ret = s->load;
	pthread_mutex_unlock(&s->lock);
}

void service_look_owner(struct service *s, const char *owner, struct service_share *ret)
{
	pthread_mutex_lock(&s->lock);
	const struct turn *turn = turn_of(s, owner);
	*ret = (struct service_share){ .running = worked_for(s, owner),
				       .done = turn->done,
				       .refused = turn->refused };
	for (const struct work *w = s->first; w; w = w->next)
		ret->waiting += !w->looks && owner_is_same(w->owner, owner);
	pthread_mutex_unlock(&s->lock);
}

/* --- workers --- */

/* What waits for another worker may come to be for this one with time alone. */
static void wait_for_work(struct service *s, struct worker *w)
{
	const struct work *work = s->first;

	while (work && !work->place)
		work = work->next;
	if (!work) {
		pthread_cond_wait(&w->wake, &s->lock);
		return;
	}
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += LOOK_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_clockwait(&w->wake, &s->lock, CLOCK_MONOTONIC, &until);
}

static void forget_later(void *self, size_t place, const char *execution)
{
	struct service *s = self;
	struct left *left = mem_alloc(sizeof(*left));

	*left = (struct left){ .place = place, .execution = mem_strdup(execution) };
	pthread_mutex_lock(&s->lock);
	left->next = s->left;
	s->left = left;
	pthread_cond_signal(&s->workers[place - 1].wake);
	pthread_mutex_unlock(&s->lock);
}

static struct left *take_left(struct service *s, size_t place)
{
	struct left **at = &s->left;

	while (*at && (*at)->place != place + 1)
		at = &(*at)->next;
	struct left *left = *at;
	if (left)
		*at = left->next;
	return left;
}

static void left_free(struct left *left)
{
	free(left->execution);
	free(left);
}

/* With the lock held, but for a while, in which others take what the worker would have taken. A
 * sandbox is its worker's alone. */
static bool forget_left(struct service *s, struct worker *w)
{
	size_t place = (size_t)(w - s->workers);
	struct left *left = take_left(s, place);

	if (!left)
		return false;
	s->owners[place] = NULL;
	s->busy[place] = true;
	s->since_ms[place] = clock_mono_ms();
	*s->alone[place] = '\0';
	wake(s);
	pthread_mutex_unlock(&s->lock);
	sandbox_forget_state(w->sandbox, left->execution);
	left_free(left);
	pthread_mutex_lock(&s->lock);
	s->busy[place] = false;
	return true;
}

static void *work_on(void *self)
{
	struct worker *w = self;
	struct service *s = w->service;
	size_t place = (size_t)(w - s->workers);

	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (forget_left(s, w))
			;
		struct work *work = next_work(s, place);
		if (!work && s->ending && !s->first)
			break;
		if (!work) {
			wait_for_work(s, w);
			continue;
		}
		s->owners[place] = work->owner;
		s->busy[place] = true;
		s->since_ms[place] = clock_mono_ms();
		memcpy(s->alone[place], work->alone, sizeof(work->alone));
		s->load.waiting -= !work->looks;
		if (!work->looks)
			add_time(&s->load.waited, s->since_ms[place] - work->since_ms);
		s->load.running += place < s->options.parallel;
		wake(s); /* it may be another's turn now */
		pthread_mutex_unlock(&s->lock);
		work->run(work, w);
		pthread_mutex_lock(&s->lock);
		turn_of(s, s->owners[place])->done += place < s->options.parallel;
		s->busy[place] = false;
		if (place < s->options.parallel)
			add_time(&s->load.worked, clock_mono_ms() - s->since_ms[place]);
		s->load.running -= place < s->options.parallel;
		s->load.done += place < s->options.parallel;
		wake(s); /* for what waited for this one to end */
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int service_need_model(struct worker *w, struct error *err)
{
	const struct service_ends *ends = w->service->options.ends;

	if (w->has_model)
		return 0;
	if (!ends->open_model)
		return error_set(err, ERR_CONFIG, "no model is configured");
	pthread_mutex_lock(&w->service->opening);
	int rc = ends->open_model(ends->self, &w->llm, &w->policy, err);
	pthread_mutex_unlock(&w->service->opening);
	w->has_model = !rc;
	return rc;
}

struct worker *service_first(struct service *s)
{
	return &s->workers[0];
}

struct contexts *service_contexts(struct service *s)
{
	return s->contexts;
}

size_t service_place(const struct worker *w)
{
	return (size_t)(w - w->service->workers) + 1;
}

const struct service_ends *service_ends(const struct service *s)
{
	return s->options.ends;
}

/* --- beginning and end --- */

static struct service *service_new(const struct service_options *options)
{
	struct service *s = mem_alloc(sizeof(*s));

	s->options = *options;
	s->load = (struct service_load){ .parallel = options->parallel, .queue = options->queue };
	s->load.memory_bytes = (int64_t)options->parallel * options->policy->limits.memory_bytes;
	s->workers = mem_array(NULL, options->parallel + 1, sizeof(*s->workers));
	s->owners = mem_array(NULL, options->parallel + 1, sizeof(*s->owners));
	s->busy = mem_array(NULL, options->parallel + 1, sizeof(*s->busy));
	s->since_ms = mem_array(NULL, options->parallel + 1, sizeof(*s->since_ms));
	s->alone = mem_array(NULL, options->parallel + 1, sizeof(*s->alone));
	for (size_t i = 0; i <= options->parallel; i++) {
		s->workers[i] = (struct worker){ .service = s, .means = options->means };
		policy_copy(&s->workers[i].policy, options->policy);
		pthread_cond_init(&s->workers[i].wake, NULL);
		s->owners[i] = NULL;
		s->busy[i] = false;
		s->since_ms[i] = 0;
		*s->alone[i] = '\0';
	}
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->opening, NULL);
	return s;
}

static int open_all(struct service *s, struct error *err)
{
	const struct service_ends *ends = s->options.ends;

	for (size_t i = 0; i < s->options.parallel; i++)
		if (ends->open_sandbox(ends->self, &s->workers[i].sandbox, err) < 0)
			return -1;
	for (size_t i = 0; i <= s->options.parallel; i++)
		if (ends->open_log(ends->self, &s->workers[i].audit, err) < 0)
			return -1;
	s->options.contexts.left = forget_later;
	s->options.contexts.self = s;
	if (contexts_new(&s->contexts, &s->options.contexts, err) < 0)
		return -1;
	for (size_t i = 0; i <= s->options.parallel; i++, s->started++) {
		int status = pthread_create(&s->workers[i].thread, NULL, work_on, &s->workers[i]);

		if (status)
			return error_set_errno(err, ERR_FAILED, status, "start a thread");
	}
	return 0;
}

int service_open(struct service **ret, const struct service_options *options, struct error *err)
{
	struct service *s = service_new(options);
	struct error ignored = ERROR_INIT;

	if (open_all(s, err) < 0) {
		service_close(s, &ignored);
		return -1;
	}
	*ret = s;
	return 0;
}

static int close_worker(struct worker *w, struct error *err)
{
	int rc = w->audit ? audit_finish(w->audit, err) : 0;

	llm_close(&w->llm);
	audit_close(w->audit);
	sandbox_close(w->sandbox);
	policy_release(&w->policy);
	pthread_cond_destroy(&w->wake);
	return rc;
}

int service_close(struct service *s, struct error *err)
{
	if (!s)
		return 0;
	pthread_mutex_lock(&s->lock);
	s->ending = true;
	wake(s);
	pthread_mutex_unlock(&s->lock);
	for (size_t i = 0; i < s->started; i++)
		pthread_join(s->workers[i].thread, NULL);
	contexts_free(s->contexts);
	while (s->left) {
		struct left *left = s->left;

		s->left = left->next;
		left_free(left);
	}
	int rc = 0;
	for (size_t i = 0; i <= s->options.parallel; i++)
		if (close_worker(&s->workers[i], err) < 0)
			rc = -1;
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->opening);
	free(s->workers);
	free(s->owners);
	free(s->busy);
	free(s->since_ms);
	free(s->alone);
	free(s->turns);
	free(s);
	return rc;
}
