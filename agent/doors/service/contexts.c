/*
 * Contexts of clients (contexts.h). A list and a thread that looks who has been there too long;
 * nothing is run here. An entry that is in use when it is closed is out of the list at once, and
 * let go of by who uses it.
 */
#include "agent/doors/service/contexts.h"

#include "agent/doors/service/owner.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "verifier/tests.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define LOOK_SECONDS 1

struct entry {
	struct held held; /* first */
	const char *owner;
	char *within;		   /* owned, or NULL */
	struct kept_context *kept; /* its row; NULL: none */
	int64_t opened_ms, used_ms;
	size_t bytes; /* it has, when nobody uses it */
	bool busy, closed, clear;
	int cancel_fd; /* of the call that has it; owned; -1: none */
	struct entry *next;
};

struct contexts {
	struct contexts_options options;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct entry *first;
	size_t count, bytes;
	struct contexts_counts counts;
	bool ending, watches;
	pthread_t watch;
};

/* --- one --- */

static void held_clear(struct held *h)
{
	context_release(&h->context);
	for (size_t i = 0; i < h->file_count; i++)
		task_file_release(&h->files[i]);
	free(h->files);
	h->files = NULL;
	h->file_count = 0;
	h->runs = 0;
	h->kept = false;
}

/* With the lock held. */
static void weigh(struct contexts *c, struct entry *e)
{
	c->bytes -= e->bytes;
	e->bytes = e->closed ? 0 : context_bytes(&e->held.context);
	for (size_t i = 0; !e->closed && i < e->held.file_count; i++)
		e->bytes += e->held.files[i].input ? 0 : e->held.files[i].len;
	c->bytes += e->bytes;
}

/* Of one that is in use by nobody else. */
static void clear(const struct contexts *c, struct held *h)
{
	const struct context_cell *last = context_last(&h->context, h->language->name);

	if (last && h->kept && c->options.left)
		c->options.left(c->options.self, h->place, last->id);
	held_clear(h);
}

void contexts_let_go(struct contexts *c, struct held *held)
{
	pthread_mutex_lock(&c->lock);
	clear(c, held);
	pthread_mutex_unlock(&c->lock);
}

static void entry_free(const struct contexts *c, struct entry *e)
{
	clear(c, &e->held);
	if (e->cancel_fd >= 0)
		io_close(e->cancel_fd);
	free(e->within);
	free(e);
}

/* With the lock held, as all down to the thread. */
static struct entry *find(struct contexts *c, const char *id, const char *owner)
{
	struct entry *e = c->first;

	while (e && (strcmp(e->held.id, id) || !owner_is_same(e->owner, owner)))
		e = e->next;
	return e;
}

static void cancel(const struct entry *e)
{
	uint64_t one = 1;

	if (e->cancel_fd >= 0)
		(void)!io_write(e->cancel_fd, &one, sizeof(one));
}

static void take_out(struct contexts *c, struct entry *e)
{
	struct entry **at = &c->first;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	c->count--;
	kept_remove(TAKE_PTR(e->kept));
	e->closed = true;
	weigh(c, e);
	cancel(e);
	if (!e->busy)
		entry_free(c, e);
}

/* --- who has been there too long --- */

static bool is_over(const struct contexts *c, const struct entry *e, int64_t now)
{
	return now - e->opened_ms > c->options.life_ms;
}

static bool is_unused(const struct contexts *c, const struct entry *e, int64_t now)
{
	return !e->busy && !e->within && now - e->used_ms > c->options.idle_ms;
}

static void look_at_all(struct contexts *c)
{
	int64_t now = clock_mono_ms();
	struct entry *next;

	for (struct entry *e = c->first; e; e = next) {
		next = e->next;
		bool over = is_over(c, e, now), unused = !over && is_unused(c, e, now);

		c->counts.outlived += over;
		c->counts.unused += unused;
		if (over || unused)
			take_out(c, e);
	}
}

static void *watch(void *self)
{
	struct contexts *c = self;

	pthread_mutex_lock(&c->lock);
	while (!c->ending) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += LOOK_SECONDS;
		pthread_cond_timedwait(&c->changed, &c->lock, &until);
		look_at_all(c);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Those of a server that died. */
static void take_survivors(struct contexts *c)
{
	struct kept_context *row = NULL;

	while ((row = kept_next(c->options.survivors, row))) {
		struct entry *e = mem_alloc(sizeof(*e));

		*e = (struct entry){ .held = { .language = language_find(row->lang),
					       .from_log = true },
				     .owner = row->owned ? row->owner : NULL,
				     .kept = row,
				     .opened_ms = row->opened_ms,
				     .used_ms = clock_mono_ms(),
				     .cancel_fd = -1 };
		memcpy(e->held.id, row->id, sizeof(e->held.id));
		memcpy(e->held.last, row->last, sizeof(e->held.last));
		e->held.context.name = mem_strdup(row->id);
		e->next = c->first;
		c->first = e;
		c->count++;
	}
}

int contexts_new(struct contexts **ret, const struct contexts_options *options, struct error *err)
{
	struct contexts *c = mem_alloc(sizeof(*c));

	*c = (struct contexts){ .options = *options };
	take_survivors(c);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	int status = pthread_create(&c->watch, NULL, watch, c);
	c->watches = !status;
	if (status) {
		contexts_free(c);
		return error_set_errno(err, ERR_FAILED, status, "start a thread");
	}
	*ret = c;
	return 0;
}

void contexts_free(struct contexts *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->ending = true;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	if (c->watches)
		pthread_join(c->watch, NULL);
	while (c->first)
		take_out(c, c->first);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->changed);
	free(c);
}

/* --- opening and closing --- */

static void make_id(char ret[CONTEXT_ID_LEN + 1])
{
	unsigned char bytes[12];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		abort();
	memcpy(ret, "ctx-", 5);
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 4 + 2 * i, 3, "%02x", bytes[i]);
}

static size_t count_of(const struct contexts *c, const char *owner)
{
	size_t n = 0;

	for (const struct entry *e = c->first; e; e = e->next)
		n += owner_is_same(e->owner, owner);
	return n;
}

/* What one keeps in memory is a program's, and may grow to what that may have. */
static int check_memory(struct contexts *c, struct error *err)
{
	int64_t has = c->options.available_bytes ? c->options.available_bytes() : -1;

	if (has < 0 || has >= c->options.needs_bytes)
		return 0;
	pthread_mutex_lock(&c->lock);
	c->counts.scarce++;
	pthread_mutex_unlock(&c->lock);
	return error_set(err, ERR_BUDGET,
			 "memory is scarce: this machine has %lld MiB for more, and a program may "
			 "take %lld (--memory): close a context that is not needed any more",
			 (long long)(has >> 20), (long long)(c->options.needs_bytes >> 20));
}

int contexts_open(struct contexts *c, const char *owner, const struct language *language,
		  const char *within, char ret_id[CONTEXT_ID_LEN + 1], struct error *err)
{
	size_t most = owner ? c->options.most / 2 : c->options.most;

	if (!tests_can_follow(language)) {
		cleanup_free char *names = tests_that_follow();

		return error_set(err, ERR_USAGE, "%s has no contexts; these have: %s",
				 language->name, names);
	}
	if (check_memory(c, err) < 0)
		return -1;
	struct entry *e = mem_alloc(sizeof(*e));
	*e = (struct entry){ .held.language = language,
			     .owner = owner,
			     .within = mem_strdup(within),
			     .opened_ms = clock_mono_ms(),
			     .cancel_fd = -1 };
	e->used_ms = e->opened_ms;
	make_id(e->held.id);
	e->held.context.name = mem_strdup(e->held.id);
	memcpy(ret_id, e->held.id, sizeof(e->held.id));
	pthread_mutex_lock(&c->lock);
	bool room = c->count < c->options.most && count_of(c, owner) < most;
	if (room) {
		e->next = c->first;
		c->first = e;
		c->count++;
		e->kept = within ? NULL :
				   kept_add(c->options.survivors, ret_id, owner, language->name,
					    e->opened_ms);
	}
	c->counts.refused += !room;
	pthread_mutex_unlock(&c->lock);
	if (room)
		return 0;
	entry_free(c, e);
	return error_set(err, ERR_BUDGET,
			 "as many contexts are open as there may be (%zu): close "
			 "one that is not needed any more",
			 most);
}

bool contexts_close(struct contexts *c, const char *id, const char *owner)
{
	pthread_mutex_lock(&c->lock);
	struct entry *e = find(c, id, owner);
	if (e)
		take_out(c, e);
	pthread_mutex_unlock(&c->lock);
	return e != NULL;
}

void contexts_close_within(struct contexts *c, const char *within)
{
	pthread_mutex_lock(&c->lock);
	struct entry *next;
	for (struct entry *e = c->first; e; e = next) {
		next = e->next;
		if (e->within && !strcmp(e->within, within))
			take_out(c, e);
	}
	pthread_mutex_unlock(&c->lock);
}

/* Cancels what is under way in it, after which it begins anew. */
static void begin_anew(struct contexts *c, struct entry *e)
{
	cancel(e);
	e->clear = e->busy;
	if (e->busy)
		return;
	clear(c, &e->held);
	weigh(c, e);
}

void contexts_stop_within(struct contexts *c, const char *within, bool clear)
{
	pthread_mutex_lock(&c->lock);
	for (struct entry *e = c->first; e; e = e->next) {
		if (!e->within || strcmp(e->within, within))
			continue;
		if (clear)
			begin_anew(c, e);
		else
			cancel(e);
	}
	pthread_mutex_unlock(&c->lock);
}

bool contexts_interrupt(struct contexts *c, const char *id, const char *owner, bool *ret_was)
{
	pthread_mutex_lock(&c->lock);
	struct entry *e = find(c, id, owner);
	*ret_was = e && e->busy;
	if (e)
		cancel(e);
	pthread_mutex_unlock(&c->lock);
	return e != NULL;
}

bool contexts_clear(struct contexts *c, const char *id, const char *owner)
{
	pthread_mutex_lock(&c->lock);
	struct entry *e = find(c, id, owner);
	if (e)
		begin_anew(c, e);
	pthread_mutex_unlock(&c->lock);
	return e != NULL;
}

/* --- using --- */

static bool has_room(const struct contexts *c, const char *owner)
{
	size_t most = c->options.most_bytes ? c->options.most_bytes : CONTEXTS_BYTES, own = 0;

	for (const struct entry *e = c->first; owner && e; e = e->next)
		own += owner_is_same(e->owner, owner) ? e->bytes : 0;
	return c->bytes < most && own < most / 2;
}

int contexts_take(struct contexts *c, const char *id, const char *owner, int cancel_fd,
		  struct held **ret, struct error *err)
{
	pthread_mutex_lock(&c->lock);
	struct entry *e = find(c, id, owner);
	int rc = 0;
	if (!e)
		rc = error_set(err, ERR_USAGE,
			       "there is no context \"%.60s\"; it may have been closed, or have "
			       "been idle for too long",
			       id);
	else if (e->busy)
		rc = error_set(err, ERR_USAGE, "context %s is in use: wait, or interrupt it", id);
	else if (!has_room(c, owner))
		rc = error_set(err, ERR_BUDGET,
			       "contexts have as many bytes of programs and files as they may: "
			       "close one that is not needed any more");
	else
		e->cancel_fd = fcntl(cancel_fd, F_DUPFD_CLOEXEC, 0);
	if (!rc) {
		e->busy = true;
		e->held.runs++;
		*ret = &e->held;
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}

/* The run of its last cell: an id is "RUN/ATTEMPT". */
static void tell_last(struct kept_context *row, const struct context *c)
{
	const char *id = c->count > c->from ? c->cells[c->count - 1].id : "";

	snprintf(row->last, sizeof(row->last), "%.*s", ULID_LEN, id);
}

void contexts_put_back(struct contexts *c, struct held *held)
{
	struct entry *e = (struct entry *)held; /* its first member */

	pthread_mutex_lock(&c->lock);
	e->busy = false;
	e->used_ms = clock_mono_ms();
	if (e->cancel_fd >= 0)
		io_close(e->cancel_fd);
	e->cancel_fd = -1;
	if (e->clear)
		clear(c, held);
	e->clear = false;
	if (e->kept && !held->from_log)
		tell_last(e->kept, &held->context);
	weigh(c, e);
	if (e->closed)
		entry_free(c, e);
	pthread_mutex_unlock(&c->lock);
}

bool contexts_look(struct contexts *c, const char *id, const char *owner, size_t *ret_place)
{
	pthread_mutex_lock(&c->lock);
	const struct entry *e = find(c, id, owner);
	*ret_place = e ? e->held.place : 0;
	pthread_mutex_unlock(&c->lock);
	return e != NULL;
}

struct json *contexts_list(struct contexts *c, const char *owner, const char *within)
{
	struct json *list = json_array();
	int64_t now = clock_mono_ms();

	pthread_mutex_lock(&c->lock);
	for (const struct entry *e = c->first; e; e = e->next) {
		if (!owner_is_same(e->owner, owner) || !owner_is_same(e->within, within))
			continue;
		struct json *row = json_object();
		json_set_string(row, "context", e->held.id);
		json_set_string(row, "language", e->held.language->name);
		json_set_int(row, "runs", (int64_t)e->held.runs);
		json_set_int(row, "cells",
			     e->busy ? -1 :
				       (int64_t)(e->held.context.count - e->held.context.from));
		json_set_bool(row, "busy", e->busy);
		json_set_int(row, "idle_ms", e->busy ? 0 : now - e->used_ms);
		json_set_int(row, "age_ms", now - e->opened_ms);
		json_append(list, row);
	}
	pthread_mutex_unlock(&c->lock);
	return list;
}

void contexts_count(struct contexts *c, struct contexts_counts *ret)
{
	pthread_mutex_lock(&c->lock);
	*ret = c->counts;
	ret->open = c->count;
	ret->bytes = c->bytes;
	pthread_mutex_unlock(&c->lock);
}
