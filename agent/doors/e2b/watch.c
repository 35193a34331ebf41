/*
 * WatchDir of E2B's envd: what changes in a folder of a sandbox, as a stream, or, for clients that
 * ask again and again (CreateWatcher), as a list of what changed since. A program's changes are its
 * files' when it has ended, so that they are told then. A stream is asked again and again by the
 * worker that only looks, never waited for.
 */
#include "agent/doors/e2b/e2b.h"

#include "agent/doors/e2b/changes.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define SAID_MAX 65536

static int read_wanted(struct exchange *x, struct wanted *ret, struct error *err)
{
	const struct buf *body = exchange_body(x);
	cleanup_json struct json *request =
		body->len <= SAID_MAX ? e2b_unframe(body->data, body->len, err) : NULL;

	if (body->len > SAID_MAX)
		return error_set(err, ERR_USAGE, "what is asked for is too long");
	return changes_read(request, ret, err);
}

static void begin(struct exchange *x)
{
	struct json *message = json_object();

	json_set(message, "start", json_object());
	e2b_send_frame(x, 0, message);
}

static void send_event(void *self, struct json *event)
{
	struct json *message = json_object();

	json_set(message, "filesystem", event);
	e2b_send_frame(self, 0, message);
}

static void keep_alive(struct exchange *x, struct pulse *pulse)
{
	if (!pulse_is_due(pulse))
		return;
	struct json *message = json_object();
	json_set(message, "keepalive", json_object());
	e2b_send_frame(x, 0, message);
	pulse_said(pulse);
}

static void look_again(struct exchange *x, const struct wanted *w)
{
	void **memory = exchange_memory(x);
	struct seen *before = *memory;
	struct box *box = exchange_box(x);

	pthread_mutex_lock(&box->lock);
	bool gone = box->gone;
	const char *code;
	const char *problem = before ? NULL : changes_problem(&box->home, w->folder, &code);
	struct seen *now = NULL;
	if (!problem && (!before || before->changes != box->home.changes))
		now = changes_look(w, &box->home);
	if (!problem && !before)
		begin(x);
	else if (now)
		changes_tell(w, before, now, &box->home, send_event, x);
	pthread_mutex_unlock(&box->lock);
	if (problem) {
		e2b_send_last(x, code, problem);
		return;
	}
	if (now) {
		if (before)
			now->pulse = before->pulse;
		else
			pulse_begin(&now->pulse, x);
		now->looked_ms = before ? before->looked_ms : 0;
		free(before);
		*memory = now;
	}
	struct seen *seen = *memory;
	keep_alive(x, &seen->pulse);
	if (gone)
		e2b_send_last(x, "unavailable", "the sandbox has ended or was paused");
	else if (pulse_is_over(&seen->pulse))
		e2b_send_last(x, PULSE_OVER, PULSE_OVER_TEXT);
	else if (http_looks_on(x, &seen->looked_ms))
		exchange_again(x);
	else
		e2b_send_last(x, "unavailable", "the server is about to end");
}

void e2b_watch(struct exchange *x, struct worker *w)
{
	struct wanted wanted = { .folder = NULL };

	(void)w;
	struct error err = ERROR_INIT;
	if (read_wanted(x, &wanted, &err) < 0)
		e2b_send_last(x, "invalid_argument", err.message);
	else
		look_again(x, &wanted);
	free(wanted.folder);
}

/* --- watchers that are asked --- */

static void watcher_release(struct box_watcher *w)
{
	if (w->wanted)
		free(w->wanted->folder);
	free(TAKE_PTR(w->wanted));
	free(TAKE_PTR(w->seen));
	w->id = 0;
}

void box_watchers_release(struct box *box)
{
	for (size_t i = 0; i < BOX_WATCHERS_MAX; i++)
		watcher_release(&box->watchers[i]);
}

/* A free place; with the sandbox's lock held. */
static struct box_watcher *place_of(struct box *box, int64_t id)
{
	for (size_t i = 0; i < BOX_WATCHERS_MAX; i++)
		if (box->watchers[i].id == id)
			return &box->watchers[i];
	return NULL;
}

/* The one that a request names; with the sandbox's lock held. */
static struct box_watcher *find(struct exchange *x)
{
	const char *id = json_get_string(exchange_json(x), "watcherId");
	int64_t number = id && *id == 'w' ? strtoll(id + 1, NULL, 10) : 0;

	return number > 0 ? place_of(exchange_box(x), number) : NULL;
}

static void refuse_absent(struct exchange *x)
{
	e2b_refuse(x, 404, "not_found", "there is no such watcher");
}

/* With the sandbox's lock held; takes wanted's folder. */
static int64_t make(struct box *box, struct wanted *wanted)
{
	struct box_watcher *w = place_of(box, 0);

	if (!w)
		return 0;
	w->wanted = mem_alloc(sizeof(*w->wanted));
	*w->wanted = *wanted;
	wanted->folder = NULL;
	w->seen = changes_look(w->wanted, &box->home);
	w->id = ++box->last_watcher;
	return w->id;
}

void e2b_watcher_make(struct exchange *x)
{
	struct wanted wanted = { .folder = NULL };
	const char *code = "invalid_argument", *problem = NULL;
	struct box *box = exchange_box(x);
	struct error err = ERROR_INIT;
	int64_t id = 0;

	if (changes_read(exchange_json(x), &wanted, &err) < 0) {
		problem = err.message;
	} else {
		pthread_mutex_lock(&box->lock);
		problem = changes_problem(&box->home, wanted.folder, &code);
		id = problem ? 0 : make(box, &wanted);
		pthread_mutex_unlock(&box->lock);
	}
	free(wanted.folder);
	if (id) {
		cleanup_free char *name = mem_printf("w%lld", (long long)id);
		struct json *o = json_object();

		json_set_string(o, "watcherId", name);
		exchange_answer(x, 200, o);
	} else if (problem) {
		e2b_refuse(x, !strcmp(code, "not_found") ? 404 : 400, code, problem);
	} else {
		e2b_refuse(x, 429, "resource_exhausted", "a sandbox has no more watchers at once");
	}
}

static void add_event(void *self, struct json *event)
{
	json_append(self, event);
}

void e2b_watcher_ask(struct exchange *x)
{
	struct json *o = json_object(), *events = json_array();
	struct box *box = exchange_box(x);

	pthread_mutex_lock(&box->lock);
	struct box_watcher *w = find(x);
	if (w && w->seen->changes != box->home.changes) {
		struct seen *now = changes_look(w->wanted, &box->home);

		changes_tell(w->wanted, w->seen, now, &box->home, add_event, events);
		free(w->seen);
		w->seen = now;
	}
	pthread_mutex_unlock(&box->lock);
	json_set(o, "events", events);
	if (w) {
		exchange_answer(x, 200, o);
		return;
	}
	json_free(o);
	refuse_absent(x);
}

void e2b_watcher_remove(struct exchange *x)
{
	struct box *box = exchange_box(x);

	pthread_mutex_lock(&box->lock);
	struct box_watcher *w = find(x);
	if (w)
		watcher_release(w);
	pthread_mutex_unlock(&box->lock);
	if (w)
		exchange_answer(x, 200, json_object());
	else
		refuse_absent(x);
}
