/*
 * Where each control group hierarchy is mounted, and where in it we are: out of
 * /proc/self/mountinfo (proc(5)) and /proc/self/cgroup (cgroups(7)). Nothing is written.
 */
#include "sandbox/native/keeper/hierarchy.h"

#include "sandbox/native/keeper/keeper.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

bool hierarchy_list_has(const char *list, size_t len, const char *word)
{
	size_t word_len = strlen(word);

	for (const char *at = list; at < list + len;) {
		size_t n = strcspn(at, ", \n:");

		if (n == word_len && !strncmp(at, word, n))
			return true;
		at += n + 1;
	}
	return false;
}

/* The path of our group in the hierarchy ("" selects v2), out of /proc/self/cgroup. */
static bool own_path(const char *table, const char *controller, char *ret, size_t size)
{
	for (const char *line = table; *line != '\0';) {
		const char *end = strchrnul(line, '\n');
		const char *list = memchr(line, ':', (size_t)(end - line));
		const char *path = !list ? NULL : memchr(list + 1, ':', (size_t)(end - list - 1));

		if (path &&
		    (*controller == '\0' ?
			     path == list + 1 :
			     hierarchy_list_has(list + 1, (size_t)(path - list - 1), controller))) {
			int n = snprintf(ret, size, "%.*s", (int)(end - path - 1), path + 1);

			return n >= 0 && (size_t)n < size;
		}
		line = *end == '\0' ? end : end + 1;
	}
	return false;
}

/* Splits one line of mountinfo; false when it is not the hierarchy. */
static bool mount_matches(char *line, const char *controller, char **ret_root, char **ret_point)
{
	char *tail = strstr(line, " - ");

	if (!tail)
		return false;
	*tail = '\0';
	char *save = NULL;
	char *type = strtok_r(tail + 3, " ", &save);
	strtok_r(NULL, " ", &save);
	char *super = strtok_r(NULL, " ", &save);
	if (!type || !super)
		return false;
	if (*controller == '\0' ?
		    strcmp(type, "cgroup2") :
		    strcmp(type, "cgroup") || !hierarchy_list_has(super, strlen(super), controller))
		return false;
	for (int field = 0; field < 3; field++)
		if (!strtok_r(field == 0 ? line : NULL, " ",
			      field == 0 ? (save = NULL, &save) : &save))
			return false;
	*ret_root = strtok_r(NULL, " ", &save);
	*ret_point = strtok_r(NULL, " ", &save);
	return *ret_root && *ret_point;
}

bool hierarchy_read(struct hierarchy_tables *t)
{
	return file_read(AT_FDCWD, "/proc/self/mountinfo", t->mounts, sizeof(t->mounts)) >= 0 &&
	       file_read(AT_FDCWD, "/proc/self/cgroup", t->own, sizeof(t->own)) >= 0;
}

/* Our group's directory, where the hierarchy's root is mounted at point. */
static bool hierarchy_set(struct hierarchy *ret, const char *root, const char *point,
			  const char *path)
{
	const char *below = path;

	if (strcmp(root, "/")) {
		size_t len = strlen(root);

		below = !strncmp(path, root, len) && (path[len] == '/' || path[len] == '\0') ?
				path + len :
				""; /* we are outside of what is mounted */
	}
	int n = snprintf(ret->own, sizeof(ret->own), "%s%s", point, below);
	if (n < 0 || (size_t)n >= sizeof(ret->own))
		return false;
	ret->mount_len = strlen(point);
	while ((size_t)n > ret->mount_len && ret->own[n - 1] == '/')
		ret->own[--n] = '\0';
	return true;
}

bool hierarchy_find(const struct hierarchy_tables *t, const char *controller, struct hierarchy *ret)
{
	char path[HIERARCHY_PATH];

	if (!own_path(t->own, controller, path, sizeof(path)))
		return false;
	for (const char *at = t->mounts; *at != '\0';) {
		char line[HIERARCHY_PATH * 4];
		size_t len = strcspn(at, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)len, at);
		char *root, *point;
		if (len < sizeof(line) && mount_matches(line, controller, &root, &point))
			return hierarchy_set(ret, root, point, path);
		at += len + (at[len] == '\n');
	}
	return false;
}
