/*
 * Sandboxes of E2B's wire listed: those of one key that are wanted, a page at a time. It changes
 * nothing, and is answered by the server's own thread.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct listing {
	const char *state, *template_id, *after; /* those that are wanted; NULL: all */
	struct json *rows, *wanted;		 /* wanted: "KEY=VALUE&..." taken apart */
	uint64_t from;				 /* a page: those made before, or since, that one */
	bool upwards;				 /* the oldest first */
	size_t most;
	uint64_t next; /* the next page's from; 0: there is none */
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

static bool is_wanted(const struct listing *l, const struct box *box)
{
	cleanup_json struct json *time = json_object();

	for (const struct json *m = json_first(l->wanted); m; m = json_next(m)) {
		const char *has = json_get_string(box->metadata, json_key(m));

		if (!has || strcmp(has, json_string(m) ? json_string(m) : ""))
			return false;
	}
	if (l->state && !strstr(l->state, box->paused ? "paused" : "running"))
		return false;
	if (l->template_id && strcmp(l->template_id, box->template_id))
		return false;
	e2b_set_time(time, "at", box->started_ms);
	return !l->after || strcmp(json_get_string(time, "at"), l->after) > 0;
}

/* The newest come first, so that a page of the oldest is cut from behind. */
static void add_row(void *self, const struct box *box)
{
	struct listing *l = self;

	if (l->from && (l->upwards ? box->number < l->from : box->number > l->from))
		return;
	if (!is_wanted(l, box))
		return;
	if (l->upwards || json_count(l->rows) < l->most)
		json_append(l->rows, e2b_describe(box));
	else if (!l->next)
		l->next = box->number;
}

static uint64_t number_of(struct exchange *x, const char *id)
{
	struct box *box = boxes_find(e2b_boxes(x), id, exchange_owner(x));
	uint64_t number = box ? box->number : 0;

	boxes_put_back(e2b_boxes(x), box);
	return number;
}

static void turn_round(struct exchange *x, struct listing *l)
{
	size_t count = json_count(l->rows), n = count;
	const struct json **rows = mem_alloc((count + 1) * sizeof(*rows));
	struct json *page = json_array();

	for (const struct json *row = json_first(l->rows); row; row = json_next(row))
		rows[--n] = row;
	for (; n < count && n < l->most; n++)
		json_append(page, json_copy(rows[n]));
	if (n < count)
		l->next = number_of(x, json_get_string(rows[n], "sandboxID"));
	free(rows);
	json_free(l->rows);
	l->rows = page;
}

/* Without a limit all of them are told. */
void e2b_list(struct exchange *x)
{
	const char *limit = exchange_query(x, "limit"), *order = exchange_query(x, "order");
	const char *token = exchange_query(x, "nextToken");
	struct listing l = {
		.state = exchange_query(x, "state"),
		.template_id = exchange_query(x, "template"),
		.after = exchange_query(x, "startedAfter"),
		.rows = json_array(),
		.wanted = wanted_metadata(exchange_query(x, "metadata")),
		.from = token ? strtoull(token, NULL, 10) : 0,
		.upwards = order && !strcmp(order, "asc"),
		.most = limit && atol(limit) > 0 ? (size_t)atol(limit) : SIZE_MAX,
	};

	boxes_each(e2b_boxes(x), exchange_owner(x), add_row, &l);
	if (l.upwards)
		turn_round(x, &l);
	json_free(l.wanted);
	if (l.next) {
		cleanup_free char *next = mem_printf("%llu", (unsigned long long)l.next);

		exchange_answer_header(x, "X-Next-Token", next);
	}
	exchange_answer(x, 200, l.rows);
}
