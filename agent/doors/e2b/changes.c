/*
 * Two looks at a folder compared (changes.h). A file that is new was made and written, as who
 * watches a real folder is told. Nothing is kept, and no file is touched.
 */
#include "agent/doors/e2b/e2b.h"

#include "agent/doors/e2b/changes.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define RECORD_MAX ((size_t)HOME_NODES_MAX * 4500)

int changes_read(const struct json *request, struct wanted *ret, struct error *err)
{
	const char *path = json_get_string(request, "path");

	if (!request)
		return -1;
	if (!path)
		return error_set(err, ERR_USAGE, "path is missing");
	ret->folder = home_path(path, err);
	ret->deep = json_get_bool(request, "recursive", false);
	ret->entries = json_get_bool(request, "includeEntry", false);
	return ret->folder ? 0 : -1;
}

const char *changes_problem(const struct home *home, const char *folder, const char **ret_code)
{
	const struct home_node *node = home_find(home, folder);

	*ret_code = node ? "invalid_argument" : "not_found";
	if (!*folder || (node && node->folder))
		return NULL;
	return node ? "that is a file" : "there is no such folder";
}

static bool is_wanted(const struct wanted *w, const struct home_node *node)
{
	size_t depth = home_depth(w->folder, node->path);

	return depth == 1 || (depth && w->deep);
}

struct seen *changes_look(const struct wanted *w, const struct home *home)
{
	struct buf lines = BUF_INIT(RECORD_MAX);
	struct seen *s;

	for (size_t i = 0; i < home->count; i++) {
		const struct home_node *node = &home->nodes[i];

		if (!is_wanted(w, node))
			continue;
		buf_addf(&lines, "%llu %u ", (unsigned long long)(node->folder ? 0 : node->version),
			 node->mode);
		buf_add(&lines, node->path, strlen(node->path) + 1);
	}
	s = mem_alloc(sizeof(*s) + lines.len);
	*s = (struct seen){ .changes = home->changes, .len = lines.len };
	memcpy(s->lines, lines.len ? lines.data : "", lines.len);
	buf_release(&lines);
	return s;
}

/* --- telling --- */

static const char *path_of(const char *line)
{
	return strchr(strchr(line, ' ') + 1, ' ') + 1;
}

static struct json *event_of(const struct wanted *w, const char *type, const char *path,
			     const struct home *home)
{
	struct json *event = json_object();
	const struct home_node *node = home_find(home, path);
	size_t folder = strlen(w->folder);

	json_set_string(event, "name", path + (folder ? folder + 1 : 0));
	json_set_string(event, "type", type);
	if (w->entries && node)
		json_set(event, "entry", e2b_entry(node));
	return event;
}

static bool is_file(const char *line)
{
	return strtoull(line, NULL, 10) != 0;
}

static const char *change_of(const char *before, const char *now)
{
	return strtoull(before, NULL, 10) != strtoull(now, NULL, 10) ? "EVENT_TYPE_WRITE" :
	       strtoul(strchr(before, ' '), NULL, 10) != strtoul(strchr(now, ' '), NULL, 10) ?
								       "EVENT_TYPE_CHMOD" :
								       NULL;
}

void changes_tell(const struct wanted *w, const struct seen *before, const struct seen *now,
		  const struct home *home, void (*tell)(void *self, struct json *event), void *self)
{
	const char *a = before->lines, *b = now->lines;
	const char *a_end = a + before->len, *b_end = b + now->len, *type;

	while (a < a_end || b < b_end) {
		int order = a == a_end ? 1 : b == b_end ? -1 : strcmp(path_of(a), path_of(b));

		type = order < 0 ? "EVENT_TYPE_REMOVE" :
		       order > 0 ? "EVENT_TYPE_CREATE" :
				   change_of(a, b);
		if (type)
			tell(self, event_of(w, type, path_of(order < 0 ? a : b), home));
		if (order > 0 && is_file(b))
			tell(self, event_of(w, "EVENT_TYPE_WRITE", path_of(b), home));
		if (order <= 0)
			a += strlen(a) + 1;
		if (order >= 0)
			b += strlen(b) + 1;
	}
}
