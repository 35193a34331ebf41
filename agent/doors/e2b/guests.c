/*
 * Sandboxes of E2B's wire as the server sees them (struct guests): which request is for one, and
 * that its token, or what a client signed with it, lets in. No key is looked at here.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* What a Host of "PORT-ID.NAME" has before its name. */
static size_t label(const char *host)
{
	size_t port = strspn(host, "0123456789");

	if (!port || host[port] != '-')
		return 0;
	size_t id = strspn(host + port + 1, "0123456789abcdef");
	return id == BOX_ID_LEN && host[port + 1 + id] == '.' ? port + 1 + id : 0;
}

/* Whom a request is for: its id, owned; NULL: for none. */
static char *box_of(const struct head *h)
{
	const char *id = head_header(h, "E2b-Sandbox-Id"), *host = head_header(h, "Host");
	size_t len = host ? label(host) : 0;

	if (id)
		return mem_strdup(id);
	return len ? mem_strndup(host + len - BOX_ID_LEN, BOX_ID_LEN) : NULL;
}

/* Those that answer here, of all that a sandbox of E2B's has: its interpreter and its envd. */
static bool is_port_here(long port)
{
	return port == 49999 || port == 49983;
}

/* Which of its ports is meant; 0: it is not said. */
static long port_of(const struct head *h)
{
	const char *port = head_header(h, "E2b-Sandbox-Port"), *host = head_header(h, "Host");

	port = port ? port : host && label(host) ? host : NULL;
	return port ? strtol(port, NULL, 10) : 0;
}

/* As E2B's envd and its proxy say it. id may be NULL. */
static void refuse(struct entry *e, unsigned status, const char *id, const char *message)
{
	e->status = status;
	e->said = json_object();
	json_set_int(e->said, "code", status);
	json_set_string(e->said, "message", message);
	if (id)
		json_set_string(e->said, "sandboxId", id);
}

/* As their proxy says it; whether there is such a sandbox is its owner's to know. */
static void refuse_port(struct entry *e, const char *id, long port)
{
	refuse(e, 502, id,
	       e->guest ? "The sandbox is running but port is not open" : "port is not open");
	json_set_int(e->said, "port", port);
	json_set_string(e->said, "detail",
			"sandboxes of this server have no network: no port of one can be reached; "
			"use its files, commands and code instead");
}

/* The address of a file that a client may have signed. */
static bool is_signed(const struct head *h)
{
	return !strcmp(head_path(h), "/files") && *head_query(h, "signature");
}

/* An address of a file that a client made with the sandbox's token, which it need not name: held,
 * or NULL. */
static struct box *enter_signed(struct boxes *boxes, const struct head *h, const char *id,
				bool *ret_expired)
{
	const char *operation = !strcmp(head_method(h), "GET") ? "read" : "write";

	if (!is_signed(h))
		return NULL;
	struct box *box =
		boxes_enter_signed(boxes, head_query(h, "path"), operation,
				   head_query(h, "username"), head_query(h, "signature_expiration"),
				   head_query(h, "signature"), ret_expired);
	if (!box || !id || !strcmp(id, box->id))
		return box;
	boxes_put_back(boxes, box);
	return NULL;
}

/* A sandbox's token lets in, and nothing else does. */
static bool enter(void *self, const struct head *h, struct entry *ret)
{
	struct boxes *boxes = self;
	cleanup_free char *id = box_of(h);
	const char *token = head_header(h, "X-Access-Token");
	long port = port_of(h);
	bool expired = false;

	if (!id && !is_signed(h))
		return false;
	token = token ? token : head_header(h, "E2B-Traffic-Access-Token");
	struct box *box =
		token && id ? boxes_enter(boxes, id, token) : enter_signed(boxes, h, id, &expired);
	ret->guest = box;
	ret->reads_on = false;
	if (port && !is_port_here(port)) {
		refuse_port(ret, id ? id : "", port);
	} else if (box) {
		ret->owner = box->owner;
	} else if (!token && *head_query(h, "signature")) {
		/* In envd's own words, which a form that is sent from a page is to read. */
		ret->reads_on = true;
		refuse(ret, 401, NULL,
		       expired ? "signature is already expired" : "invalid signature");
	} else {
		refuse(ret, 502, id,
		       "The sandbox was not found: it has ended or is paused, or never was");
	}
	return true;
}

static void leave(void *self, void *guest)
{
	boxes_put_back(self, guest);
}

static void look(void *self)
{
	boxes_look(self);
}

/* --- how many there are --- */

static void count(void *self, struct json *health)
{
	struct boxes_counts counts;

	boxes_count(self, &counts);
	json_set_int(health, "sandboxes", (int64_t)counts.open);
}

static void measure(void *self, struct buf *out)
{
	struct boxes *boxes = self;
	struct boxes_counts counts;

	boxes_count(boxes, &counts);
	http_add_metric(out, "sandboxes", "gauge", "Of E2B's wire, open, of all keys.",
			counts.open);
	http_add_metric(out, "sandboxes_refused_total", "counter",
			"Not made: there were as many as may be.", counts.refused);
	http_add_metric(out, "sandboxes_unused_total", "counter", "Ended: not used for too long.",
			counts.unused);
	http_add_metric(out, "sandboxes_outlived_total", "counter",
			"Ended: their own time, or that of all, was over.", counts.outlived);
	http_add_metric(out, "sandboxes_kept_bytes", "gauge",
			"Of what their commands say and are told, held.", boxes_kept(boxes));
	struct store_used files;
	store_look(boxes_store(boxes), &files);
	http_add_metric(out, "sandboxes_files_memory_bytes", "gauge",
			"Of their files, in memory, with those that are being sent.", files.memory);
	http_add_metric(out, "sandboxes_files_disk_bytes", "gauge", "The same, on disk.",
			files.disk);
	http_add_metric(out, "sandboxes_files_on_disk", "gauge", "Files that are there.",
			files.files);
}

void e2b_guests(struct guests *ret, struct boxes *boxes)
{
	static const struct route *const routes[] = { e2b_routes, NULL };

	*ret = (struct guests){ routes, label, enter, leave, look, count, measure, boxes };
}
