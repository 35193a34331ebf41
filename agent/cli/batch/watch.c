/*
 * What a batch does, for who watches: kept for the live lines (progress.c), and written
 * as events, one JSON object a line ("stage" has its stage and attempt, too):
 *	{"event":"begin","ms":0,"session":"...","total":8,"jobs":2}
 *	{"event":"start","ms":12,"id":"a","worker":1}
 *	{"event":"result","ms":80,"id":"a","run":"...","status":"success","level":"checked",
 *	 "duration_ms":68,"done":1,"total":8}
 *	{"event":"lost","ms":90,"id":"b","worker":2,"why":"was killed by signal 9 (Killed)"}
 *	{"event":"end","ms":99,"summary":{...}}
 * ms counts from the beginning, "repeat" (--repeat) from 1. It may not write a result (results.c).
 */
#include "agent/cli/batch/watch.h"

#include "agent/cli/app.h"
#include "agent/cli/batch/batch.h"
#include "agent/cli/batch/results.h"
#include "agent/cli/terminal/term.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- events --- */

static struct json *event(const struct batch_watch *w, const char *name)
{
	if (w->events < 0)
		return NULL;
	struct json *object = json_object();
	json_set_string(object, "event", name);
	json_set_int(object, "ms", clock_mono_ms() - w->began_ms);
	return object;
}

static struct json *event_of(const struct batch_watch *w, const char *name, size_t worker)
{
	const struct batch_doing *doing = &w->doing[worker];
	struct json *object = event(w, name);

	if (!object)
		return NULL;
	json_set_string(object, "id", doing->id);
	if (w->batch->repeats)
		json_set_int(object, "repeat", (int64_t)doing->repeat + 1);
	json_set_int(object, "worker", (int64_t)worker + 1);
	return object;
}

/* Takes the event, which may be NULL. */
static int write_event(const struct batch_watch *w, struct json *object, struct error *err)
{
	cleanup_free char *text = object ? json_print(object) : NULL;
	cleanup_free char *line = text ? mem_printf("%s\n", text) : NULL;

	json_free(object);
	if (!line)
		return 0;
	if (w->events == STDOUT_FILENO)
		return term_out(&w->batch->settings->app->terminal, line, strlen(line), err);
	if (io_write_all(w->events, line, strlen(line), err) < 0)
		return error_wrap(err, "--events %s", w->events_path);
	return 0;
}

static int open_events(struct batch_watch *w, struct error *err)
{
	const struct settings *s = w->batch->settings;

	w->events_path = settings_text(s, OPT_EVENTS, NULL);
	if (!w->events_path)
		return 0;
	if (strcmp(w->events_path, "-")) {
		w->events = io_open(w->events_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		return w->events >= 0 ? 0 :
					error_set_errno(err, ERR_USAGE, errno, "--events %s",
							w->events_path);
	}
	if (!s->json && !s->options->given[OPT_OUT].count)
		return error_set(err, ERR_USAGE,
				 "--events -: standard output has the results already; name a file "
				 "for them with --out");
	w->events = STDOUT_FILENO;
	return 0;
}

/* --- what happens --- */

int batch_watch_begin(struct batch_watch *w, struct error *err)
{
	w->began_ms = clock_mono_ms();
	w->live = term_can_block(&w->batch->settings->app->terminal);
	w->doing = mem_array(NULL, w->jobs + 1, sizeof(*w->doing));
	memset(w->doing, 0, (w->jobs + 1) * sizeof(*w->doing));
	if (open_events(w, err) < 0)
		return -1;
	struct json *begin = event(w, "begin");
	if (begin) {
		json_set_string(begin, "session", w->batch->session);
		json_set_int(begin, "total", (int64_t)w->total);
		json_set_int(begin, "jobs", (int64_t)w->jobs);
	}
	return write_event(w, begin, err);
}

int batch_watch_start(struct batch_watch *w, size_t worker, struct batch_unit unit,
		      struct error *err)
{
	w->doing[worker] = (struct batch_doing){
		.id = w->batch->tasks->lines[unit.task].id,
		.repeat = unit.repeat,
		.since_ms = clock_mono_ms(),
	};
	return write_event(w, event_of(w, "start", worker), err);
}

int batch_watch_stage(struct batch_watch *w, size_t worker, const struct batch_stage *stage,
		      struct error *err)
{
	w->doing[worker].stage = *stage;
	w->doing[worker].stage.name[sizeof(stage->name) - 1] = '\0';
	w->doing[worker].since_ms = clock_mono_ms();
	struct json *object = event_of(w, "stage", worker);
	if (object) {
		json_set_string(object, "stage", w->doing[worker].stage.name);
		json_set_int(object, "attempt", stage->attempt);
	}
	return write_event(w, object, err);
}

int batch_watch_lost(struct batch_watch *w, size_t worker, const char *manner, struct error *err)
{
	struct json *object = event_of(w, "lost", worker);

	if (object)
		json_set_string(object, "why", manner);
	batch_watch_idle(w, worker);
	return write_event(w, object, err);
}

int batch_watch_result(struct batch_watch *w, const struct json *line, struct error *err)
{
	static const char *const members[] = { "id",	 "repeat", "run",
					       "status", "level",  "duration_ms" };
	struct json *object = event(w, "result");

	if (!object)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (json_get(line, members[i]))
			json_set(object, members[i], json_copy(json_get(line, members[i])));
	json_set_int(object, "done", (int64_t)w->results->count);
	json_set_int(object, "total", (int64_t)w->total);
	return write_event(w, object, err);
}

void batch_watch_idle(struct batch_watch *w, size_t worker)
{
	w->doing[worker] = (struct batch_doing){ .id = NULL };
}

int batch_watch_end(struct batch_watch *w, const struct json *summary, struct error *err)
{
	struct json *object = event(w, "end");

	term_status(&w->batch->settings->app->terminal, NULL);
	w->live = false;
	if (object)
		json_set(object, "summary", json_copy(summary));
	return write_event(w, object, err);
}

void batch_watch_release(struct batch_watch *w)
{
	if (w->events >= 0 && w->events != STDOUT_FILENO)
		io_close(w->events);
	free(w->doing);
	*w = (struct batch_watch){ .events = -1 };
}
