/*
 * WatchDir of E2B's envd: what changes in a folder of a sandbox, as a stream. A program's changes
 * are its files' when it has ended, so that they are told then. It is asked again and again by the
 * worker that only looks, never waited for.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define SAID_MAX   65536
#define RECORD_MAX ((size_t)HOME_NODES_MAX * 4500)

/* What was there the last time: a line for each, in order of paths: "VERSION MODE PATH\0". One
 * piece of memory, since it is the exchange's, which frees it. */
struct seen {
	uint64_t changes;
	int64_t looked_ms;
	size_t len;
	char lines[];
};

/* What is asked for. */
struct wanted {
	char *folder; /* below home; owned */
	bool deep;
	bool entries;
};

static bool is_wanted(const struct wanted *w, const struct home_node *node)
{
	size_t depth = home_depth(w->folder, node->path);

	return depth == 1 || (depth && w->deep);
}

static struct seen *look(const struct wanted *w, const struct home *home)
{
	struct buf lines = BUF_INIT(RECORD_MAX);

	for (size_t i = 0; i < home->count; i++) {
		const struct home_node *node = &home->nodes[i];

		if (!is_wanted(w, node))
			continue;
		buf_addf(&lines, "%llu %u ", (unsigned long long)(node->folder ? 0 : node->version),
			 node->mode);
		buf_add(&lines, node->path, strlen(node->path) + 1);
	}
	struct seen *s = mem_alloc(sizeof(*s) + lines.len);
	*s = (struct seen){ .changes = home->changes, .len = lines.len };
	memcpy(s->lines, lines.len ? lines.data : "", lines.len);
	buf_release(&lines);
	return s;
}

static const char *path_of(const char *line)
{
	return strchr(strchr(line, ' ') + 1, ' ') + 1;
}

/* --- telling --- */

static void tell(struct exchange *x, const struct wanted *w, const char *type, const char *path,
		 const struct home *home)
{
	struct json *message = json_object(), *event = json_object();
	const struct home_node *node = home_find(home, path);
	size_t folder = strlen(w->folder);

	json_set_string(event, "name", path + (folder ? folder + 1 : 0));
	json_set_string(event, "type", type);
	if (w->entries && node)
		json_set(event, "entry", e2b_entry(node));
	json_set(message, "filesystem", event);
	e2b_send_frame(x, 0, message);
}

static const char *change_of(const char *before, const char *now)
{
	return strtoull(before, NULL, 10) != strtoull(now, NULL, 10) ? "EVENT_TYPE_WRITE" :
	       strtoul(strchr(before, ' '), NULL, 10) != strtoul(strchr(now, ' '), NULL, 10) ?
								       "EVENT_TYPE_CHMOD" :
								       NULL;
}

/* Both are in order of paths. */
static void tell_changes(struct exchange *x, const struct wanted *w, const struct seen *before,
			 const struct seen *now, const struct home *home)
{
	const char *a = before->lines, *b = now->lines;
	const char *a_end = a + before->len, *b_end = b + now->len;

	while (a < a_end || b < b_end) {
		int order = a == a_end ? 1 : b == b_end ? -1 : strcmp(path_of(a), path_of(b));

		const char *type = order < 0 ? "EVENT_TYPE_REMOVE" :
				   order > 0 ? "EVENT_TYPE_CREATE" :
					       change_of(a, b);
		if (type)
			tell(x, w, type, path_of(order < 0 ? a : b), home);
		if (order <= 0)
			a += strlen(a) + 1;
		if (order >= 0)
			b += strlen(b) + 1;
	}
}

/* --- one look --- */

static int read_wanted(struct exchange *x, struct wanted *ret, struct error *err)
{
	const struct buf *body = exchange_body(x);
	cleanup_json struct json *request =
		body->len <= SAID_MAX ? e2b_unframe(body->data, body->len, err) : NULL;
	const char *path = json_get_string(request, "path");

	if (body->len > SAID_MAX)
		return error_set(err, ERR_USAGE, "what is asked for is too long");
	if (!request)
		return -1;
	if (!path)
		return error_set(err, ERR_USAGE, "path is missing");
	ret->folder = home_path(path, err);
	ret->deep = json_get_bool(request, "recursive", false);
	ret->entries = json_get_bool(request, "includeEntry", false);
	return ret->folder ? 0 : -1;
}

/* With the sandbox's lock held. NULL: it is a folder. */
static const char *problem_of(const struct home *home, const char *folder, const char **ret_code)
{
	const struct home_node *node = home_find(home, folder);

	*ret_code = node ? "invalid_argument" : "not_found";
	if (!*folder || (node && node->folder))
		return NULL;
	return node ? "that is a file" : "there is no such folder";
}

static void begin(struct exchange *x)
{
	struct json *message = json_object();

	json_set(message, "start", json_object());
	e2b_send_frame(x, 0, message);
}

static void look_again(struct exchange *x, const struct wanted *w)
{
	void **memory = exchange_memory(x);
	struct seen *before = *memory;
	struct box *box = exchange_box(x);

	pthread_mutex_lock(&box->lock);
	bool gone = box->gone;
	const char *code;
	const char *problem = before ? NULL : problem_of(&box->home, w->folder, &code);
	struct seen *now = NULL;
	if (!problem && (!before || before->changes != box->home.changes))
		now = look(w, &box->home);
	if (!problem && !before)
		begin(x);
	else if (now)
		tell_changes(x, w, before, now, &box->home);
	pthread_mutex_unlock(&box->lock);
	if (problem) {
		e2b_send_last(x, code, problem);
		return;
	}
	if (now) {
		now->looked_ms = before ? before->looked_ms : 0;
		free(before);
		*memory = now;
	}
	if (gone)
		e2b_send_last(x, "unavailable", "the sandbox has ended or was paused");
	else if (http_looks_on(x, &((struct seen *)*memory)->looked_ms))
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
