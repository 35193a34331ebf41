/*
 * Sandboxes of E2B's wire made, listed, shown, given another end and killed: its control API. All
 * of it is answered by the server's own thread.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ENVD_VERSION "0.6.4"
#define SAID_MAX     65536

static struct boxes *boxes_of(const struct exchange *x)
{
	return server_options_of(exchange_server(x))->boxes;
}

/* As this API has errors. */
static void refuse(struct exchange *x, unsigned status, const char *message)
{
	struct json *body = json_object();

	json_set_int(body, "code", status);
	json_set_string(body, "message", message);
	exchange_answer(x, status, body);
}

static struct json *describe(const struct box *box)
{
	struct json *o = json_object();

	json_set_string(o, "sandboxID", box->id);
	json_set_string(o, "clientID", "assay");
	json_set_string(o, "templateID", box->template_id);
	json_set_string(o, "alias", box->template_id);
	json_set_string(o, "envdVersion", ENVD_VERSION);
	json_set_string(o, "state", box->paused ? "paused" : "running");
	json_set_int(o, "cpuCount", 1);
	json_set_int(o, "memoryMB", 512);
	json_set_int(o, "diskSizeMB", 64);
	json_set(o, "metadata", box->metadata ? json_copy(box->metadata) : json_object());
	e2b_set_time(o, "startedAt", box->started_ms);
	e2b_set_time(o, "endAt", box->ends_ms);
	return o;
}

/* With what lets in to it. */
static void answer_with_token(struct exchange *x, unsigned status, const struct box *box)
{
	struct json *o = describe(box);

	json_set_string(o, "envdAccessToken", box->token);
	json_set_string(o, "trafficAccessToken", box->token); /* contexts are asked for with it */
	exchange_answer(x, status, o);
}

static bool is_text_map(const struct json *map)
{
	const struct json *m = json_first(map);

	while (m && json_string(m))
		m = json_next(m);
	return json_type(map) == JSON_NULL || (json_type(map) == JSON_OBJECT && !m);
}

void e2b_create(struct exchange *x)
{
	const struct json *body = exchange_json(x);

	if (json_type(body) != JSON_OBJECT || !is_text_map(json_get(body, "metadata")) ||
	    !is_text_map(json_get(body, "envVars")) || json_get_int(body, "timeout", 0) < 0) {
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
	struct box *box = boxes_make(boxes_of(x), exchange_owner(x), body, &err);
	if (!box) {
		refuse(x, 429, err.message);
		return;
	}
	answer_with_token(x, 201, box);
	boxes_put_back(boxes_of(x), box);
}

struct listing {
	const char *state;	    /* those that are wanted; NULL: all */
	struct json *rows, *wanted; /* wanted: "KEY=VALUE&..." taken apart */
};

/* "%41" and "+" as they are meant; in place. */
static void unescape(char *text)
{
	char *to = text, digits[3] = "";

	for (char *at = text; *at; at++) {
		if (*at == '%' && strspn(at + 1, "0123456789abcdefABCDEF") >= 2) {
			memcpy(digits, at + 1, 2);
			*to++ = (char)strtoul(digits, NULL, 16);
			at += 2;
		} else {
			*to++ = *at == '+' ? ' ' : *at;
		}
	}
	*to = '\0';
}

/* Pairs that are escaped once more than the query around them. */
static struct json *wanted_metadata(const char *query)
{
	struct json *wanted = json_object();
	cleanup_free char *all = mem_strdup(query);

	for (char *save = NULL, *pair = all ? strtok_r(all, "&", &save) : NULL; pair;
	     pair = strtok_r(NULL, "&", &save)) {
		char *value = strchr(pair, '=');

		if (!value)
			continue;
		*value++ = '\0';
		unescape(pair);
		unescape(pair);
		unescape(value);
		unescape(value);
		json_set_bytes(wanted, pair, value, strlen(value));
	}
	return wanted;
}

static void add_row(void *self, const struct box *box)
{
	struct listing *l = self;

	for (const struct json *m = json_first(l->wanted); m; m = json_next(m)) {
		const char *has = json_get_string(box->metadata, json_key(m));

		if (!has || strcmp(has, json_string(m) ? json_string(m) : "") != 0)
			return;
	}
	if (!l->state || strstr(l->state, box->paused ? "paused" : "running"))
		json_append(l->rows, describe(box));
}

void e2b_list(struct exchange *x)
{
	struct listing l = { exchange_query(x, "state"), json_array(),
			     wanted_metadata(exchange_query(x, "metadata")) };

	boxes_each(boxes_of(x), exchange_owner(x), add_row, &l);
	json_free(l.wanted);
	exchange_answer(x, 200, l.rows);
}

/* Held; answered when there is none. */
static struct box *find(struct exchange *x)
{
	struct box *box = boxes_find(boxes_of(x), exchange_part(x), exchange_owner(x));

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
	boxes_put_back(boxes_of(x), box);
}

void e2b_kill(struct exchange *x)
{
	struct box *box = find(x);

	if (!box)
		return;
	boxes_kill(boxes_of(x), box);
	boxes_put_back(boxes_of(x), box);
	exchange_answer_text(x, 204, "application/json", "");
}

/* Another end of it; false: that is none, and it is answered. */
static bool set_end(struct exchange *x, struct box *box, bool needed)
{
	const struct json *given = json_get(exchange_json(x), "timeout");
	int64_t seconds = json_int(given, -1);

	if (!given && !needed)
		return true;
	if (seconds < 0) {
		refuse(x, 400, "timeout is a number of seconds");
		return false;
	}
	if (needed ||
	    clock_wall_ms() + seconds * 1000 > box->ends_ms) /* connecting shortens nothing */
		boxes_set_end(boxes_of(x), box, seconds);
	return true;
}

void e2b_timeout(struct exchange *x)
{
	struct box *box = find(x);

	if (!box)
		return;
	if (set_end(x, box, true))
		exchange_answer_text(x, 204, "application/json", "");
	boxes_put_back(boxes_of(x), box);
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
	if (boxes_pause(boxes_of(x), box, json_get_bool(body, "memory", true)))
		exchange_answer_text(x, 204, "application/json", "");
	else
		refuse(x, 409, "the sandbox is paused already");
	boxes_put_back(boxes_of(x), box);
}

void e2b_connect(struct exchange *x)
{
	struct box *box = find(x);

	if (!box)
		return;
	boxes_resume(boxes_of(x), box);
	if (set_end(x, box, false))
		answer_with_token(x, 200, box);
	boxes_put_back(boxes_of(x), box);
}

void e2b_no_metrics(struct exchange *x)
{
	struct box *box = find(x);

	if (!box)
		return;
	boxes_put_back(boxes_of(x), box);
	exchange_answer(x, 200, json_array()); /* nothing runs between two programs */
}

void e2b_not_here(struct exchange *x)
{
	refuse(x, 501,
	       "not here: sandboxes cannot be forked or kept as snapshots, and have no network and "
	       "no "
	       "volumes; write files, run commands and code, pause and connect");
}

void e2b_health(struct exchange *x)
{
	exchange_answer_text(x, 204, "text/plain", "");
}
