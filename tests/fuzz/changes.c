/* A request to watch a folder, and what is told of it: the folder is below the home, nothing is
 * told where nothing changed, and what is told of is in the folder, in order of paths, each of a
 * kind that there is.
 *
 * An input is the request, a zero, and paths that are written meanwhile, a line each; one that
 * begins with "-" is removed. */
#include "agent/doors/e2b/changes.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
	size_t count;
	char *last; /* name; owned */
};

static void hear(void *self, struct json *event)
{
	static const char *const types[] = { "EVENT_TYPE_CREATE", "EVENT_TYPE_WRITE",
					     "EVENT_TYPE_REMOVE", "EVENT_TYPE_CHMOD" };
	const char *name = json_get_string(event, "name"), *type = json_get_string(event, "type");
	struct heard *h = self;
	size_t known = 0;

	while (known < ARRAY_SIZE(types) && type && strcmp(types[known], type))
		known++;
	if (!name || !*name || *name == '/' || !type || known == ARRAY_SIZE(types))
		abort();
	if (h->last && strcmp(h->last, name) > 0)
		abort();
	free(h->last);
	h->last = mem_strdup(name);
	h->count++;
	json_free(event);
}

static void change(struct home *home, const char *line)
{
	struct error ignored = ERROR_INIT;
	cleanup_free char *path = home_path(line + (*line == '-'), &ignored);

	if (!path || !*path)
		return;
	if (*line == '-')
		home_remove(home, path);
	else
		home_put(home, path, mem_strdup(line), strlen(line), 0644, &ignored);
}

static void change_all(struct home *home, char *text)
{
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		change(home, line);
}

static void watch(const struct wanted *wanted, char *meanwhile)
{
	struct heard heard = { .count = 0 };
	struct home home = { .nodes = NULL };

	change(&home, "a/b/c");
	change(&home, "a/d");
	cleanup_free struct seen *before = changes_look(wanted, &home);
	changes_tell(wanted, before, before, &home, hear, &heard);
	if (heard.count)
		abort();
	change_all(&home, meanwhile);
	cleanup_free struct seen *now = changes_look(wanted, &home);
	changes_tell(wanted, before, now, &home, hear, &heard);
	free(heard.last);
	home_release(&home);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = mem_strndup((const char *)data, size);
	struct error err = ERROR_INIT;
	size_t len = strlen(text);
	cleanup_json struct json *request = json_parse(text, len, 0, &err);
	struct wanted wanted = { .folder = NULL };
	int rc = changes_read(request, &wanted, &err);
	const char *folder = wanted.folder;

	if ((rc < 0) != !folder || (rc < 0 && err.kind == ERR_NONE))
		abort();
	if (folder && (*folder == '/' || !strcmp(folder, "..") || !strncmp(folder, "../", 3) ||
		       strstr(folder, "/../")))
		abort();
	if (folder)
		watch(&wanted, len < size ? text + len + 1 : text + len);
	free(wanted.folder);
	return 0;
}
