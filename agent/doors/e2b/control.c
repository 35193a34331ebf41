/*
 * Sandboxes of E2B's wire made, shown, given another end and killed: its control API. All
 * of it is answered by the server's own thread. Nothing is run here.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ENVD_VERSION "0.6.4"
#define SAID_MAX     65536
#define FORKS_MAX    16 /* at once */
#define CPUS	     1
#define MEMORY_MIB   512
#define DISK_MIB     64

/* As this API has errors. */
static void refuse(struct exchange *x, unsigned status, const char *message)
{
	struct json *body = json_object();

	json_set_int(body, "code", status);
	json_set_string(body, "message", message);
	exchange_answer(x, status, body);
}

static void set_lifecycle(struct json *o, const struct box *box)
{
	struct json *lifecycle = json_object();

	json_set_string(lifecycle, "onTimeout", box->pauses ? "pause" : "kill");
	json_set_bool(lifecycle, "autoResume", box->resumes);
	json_set(o, "lifecycle", lifecycle);
}

struct json *e2b_describe(const struct box *box)
{
	struct json *o = json_object();

	json_set_string(o, "sandboxID", box->id);
	json_set_string(o, "clientID", "assay");
	json_set_string(o, "templateID", box->template_id);
	json_set_string(o, "alias", box->template_id);
	json_set_string(o, "envdVersion", ENVD_VERSION);
	json_set_string(o, "state", box->paused ? "paused" : "running");
	json_set_int(o, "cpuCount", CPUS);
	json_set_int(o, "memoryMB", MEMORY_MIB);
	json_set_int(o, "diskSizeMB", DISK_MIB);
	json_set(o, "metadata", box->metadata ? json_copy(box->metadata) : json_object());
	e2b_set_time(o, "startedAt", box->started_ms);
	e2b_set_time(o, "endAt", box->ends_ms);
	set_lifecycle(o, box);
	json_set_bool(o, "allowInternetAccess", false);
	return o;
}

/* With what lets in to it. Caller frees. */
static struct json *with_token(const struct box *box)
{
	struct json *o = e2b_describe(box);

	json_set_string(o, "envdAccessToken", box->token);
	json_set_string(o, "trafficAccessToken", box->token); /* contexts are asked for with it */
	return o;
}

static void answer_with_token(struct exchange *x, unsigned status, const struct box *box)
{
	exchange_answer(x, status, with_token(box));
}

bool e2b_is_text_map(const struct json *map)
{
	const struct json *m = json_first(map);

	while (m && json_string(m))
		m = json_next(m);
	return json_type(map) == JSON_NULL || (json_type(map) == JSON_OBJECT && !m);
}

void e2b_create(struct exchange *x)
{
	const struct json *body = exchange_json(x);

	if (json_type(body) != JSON_OBJECT || !e2b_is_text_map(json_get(body, "metadata")) ||
	    !e2b_is_text_map(json_get(body, "envVars")) || json_get_int(body, "timeout", 0) < 0) {
		refuse(x, 400,
		       "templateID, timeout (seconds), metadata and envVars (objects of "
		       "texts) are wanted");
		return;
	}
	if (exchange_body(x)->len > SAID_MAX) { /* it is kept, and told in each list */
		refuse(x, 400, "what is said of a sandbox has at most 64 KiB");
		return;
	}
	if (json_get(body, "volumeMounts")) {
		refuse(x, 400, "volumeMounts: there are no volumes here");
		return;
	}
	struct error err = ERROR_INIT;
	struct box *box = boxes_make(e2b_boxes(x), exchange_owner(x), body, &err);
	if (!box) {
		refuse(x, 429, err.message);
		return;
	}
	answer_with_token(x, 201, box);
	boxes_put_back(e2b_boxes(x), box);
}

/* Held; answered when there is none. */
static struct box *find(struct exchange *x)
{
	struct box *box = boxes_find(e2b_boxes(x), exchange_part(x), exchange_owner(x));

	if (!box)
		refuse(x, 404, "there is no such sandbox");
	return box;
}

void e2b_show(struct exchange *x)
{
	struct box *box = find(x);

	if (!box)
		return;
	answer_with_token(x, 200, box);
	boxes_put_back(e2b_boxes(x), box);
}

void e2b_kill(struct exchange *x)
{
	struct box *box = find(x);

	if (!box)
		return;
	boxes_kill(e2b_boxes(x), box);
	boxes_put_back(e2b_boxes(x), box);
	exchange_answer_text(x, 204, "application/json", "");
}

/* Its new end, so many seconds from now; false: that is none, and it is answered. */
static bool read_end(struct exchange *x, int64_t *ret)
{
	*ret = json_get_int(exchange_json(x), "timeout", -1);
	if (*ret >= 0)
		return true;
	refuse(x, 400, "timeout is a number of seconds");
	return false;
}

void e2b_timeout(struct exchange *x)
{
	struct box *box = find(x);
	int64_t seconds;

	if (!box)
		return;
	if (read_end(x, &seconds)) {
		boxes_set_end(e2b_boxes(x), box, seconds);
		exchange_answer_text(x, 204, "application/json", "");
	}
	boxes_put_back(e2b_boxes(x), box);
}

/* With `memory: false` only its files stay. */
void e2b_pause(struct exchange *x)
{
	const struct buf *said = exchange_body(x); /* older clients say nothing */
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *body =
		said->len <= SAID_MAX ? json_parse(said->data, said->len, 0, &ignored) : NULL;
	struct box *box = find(x);

	if (!box)
		return;
	if (boxes_pause(e2b_boxes(x), box, json_get_bool(body, "memory", true)))
		exchange_answer_text(x, 204, "application/json", "");
	else
		refuse(x, 409, "the sandbox is paused already");
	boxes_put_back(e2b_boxes(x), box);
}

/* It shortens nothing. */
void e2b_connect(struct exchange *x)
{
	bool given = json_get(exchange_json(x), "timeout");
	struct box *box = find(x);
	int64_t seconds;

	if (!box)
		return;
	if (!given || read_end(x, &seconds)) {
		boxes_resume(e2b_boxes(x), box);
		if (given && seconds > (box->ends_ms - clock_wall_ms()) / 1000)
			boxes_set_end(e2b_boxes(x), box, seconds);
		answer_with_token(x, 200, box);
	}
	boxes_put_back(e2b_boxes(x), box);
}

/* One of them: each is made, or is not, for itself. */
static struct json *fork_one(struct exchange *x, struct box *box, int64_t seconds)
{
	struct json *row = json_object();
	struct error err = ERROR_INIT;
	struct box *fork = boxes_fork(e2b_boxes(x), box, seconds, &err);

	if (fork) {
		json_set(row, "sandbox", with_token(fork));
		boxes_put_back(e2b_boxes(x), fork);
		return row;
	}
	struct json *error = json_object();
	json_set_int(error, "code", 429);
	json_set_string(error, "message", err.message);
	json_set(row, "error", error);
	return row;
}

void e2b_fork(struct exchange *x)
{
	const struct json *body = exchange_json(x);
	int64_t count = json_get_int(body, "count", 1);
	int64_t seconds = json_get_int(body, "timeout", BOX_SECONDS);
	struct box *box = find(x);

	if (!box)
		return;
	if (json_type(body) == JSON_OBJECT && seconds >= 0 && count >= 1 && count <= FORKS_MAX) {
		struct json *rows = json_array();

		while (count-- > 0)
			json_append(rows, fork_one(x, box, seconds));
		exchange_answer(x, 201, rows);
	} else {
		refuse(x, 400, "count (1 to 16) and timeout (seconds) are wanted");
	}
	boxes_put_back(e2b_boxes(x), box);
}

/* One row, of now: what its files take. Nothing runs between two programs, and what one used is in
 * its record. */
void e2b_metrics(struct exchange *x)
{
	struct json *rows = json_array(), *row = json_object();
	struct box *box = find(x);

	if (!box) {
		json_free(rows);
		json_free(row);
		return;
	}
	e2b_set_time(row, "timestamp", clock_wall_ms());
	json_set_int(row, "timestampUnix", clock_wall_ms() / 1000);
	json_set_int(row, "cpuCount", CPUS);
	json_set_int(row, "cpuUsedPct", 0);
	json_set_int(row, "memUsed", 0);
	json_set_int(row, "memCache", 0);
	json_set_int(row, "memTotal", (int64_t)MEMORY_MIB << 20);
	pthread_mutex_lock(&box->lock);
	json_set_int(row, "diskUsed", (int64_t)box->home.bytes);
	pthread_mutex_unlock(&box->lock);
	json_set_int(row, "diskTotal", (int64_t)DISK_MIB << 20);
	boxes_put_back(e2b_boxes(x), box);
	json_append(rows, row);
	exchange_answer(x, 200, rows);
}

void e2b_not_here(struct exchange *x)
{
	struct box *box = *exchange_part(x) ? find(x) : NULL;

	if (*exchange_part(x) && !box)
		return;
	boxes_put_back(e2b_boxes(x), box);
	refuse(x, 501,
	       "not here: sandboxes cannot be kept as snapshots, and have no network and no "
	       "volumes; write files, run commands and code, fork, pause and connect");
}

void e2b_health(struct exchange *x)
{
	exchange_answer_text(x, 204, "text/plain", "");
}
