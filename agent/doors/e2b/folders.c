/*
 * filesystem.Filesystem of E2B's envd, as Connect's unary JSON: listing, looking, making, moving
 * and removing what is in a sandbox's home. No file of the host is touched.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse(struct exchange *x, const struct error *err)
{
	if (err->kind == ERR_BUDGET)
		e2b_refuse(x, 429, "resource_exhausted", err->message);
	else if (err->kind == ERR_FAILED)
		e2b_refuse(x, 404, "not_found", err->message);
	else
		e2b_refuse(x, 400, "invalid_argument", err->message);
}

static void refuse_absent(struct exchange *x)
{
	e2b_refuse(x, 404, "not_found", "there is no such file or folder");
}

/* The path of a member; NULL: it is answered. */
static char *path_of(struct exchange *x, const char *member)
{
	const char *given = json_get_string(exchange_json(x), member);
	struct error err = ERROR_INIT;
	char *path = NULL;

	if (given)
		path = home_path(given, &err);
	else
		error_set(&err, ERR_USAGE, "%s is missing", member);
	if (!path)
		refuse(x, &err);
	return path;
}

static void set_permissions(struct json *o, bool folder, unsigned mode)
{
	static const char letters[] = "rwxrwxrwx";
	char text[11] = "-";

	*text = folder ? 'd' : '-';
	for (int i = 0; i < 9; i++)
		text[i + 1] = mode & (0400U >> i) ? letters[i] : '-';
	json_set_string(o, "permissions", text);
	json_set_int(o, "mode", mode);
}

void e2b_set_metadata(struct json *o, const struct home_node *node)
{
	struct error ignored = ERROR_INIT;

	if (node && node->metadata)
		json_set(o, "metadata",
			 json_parse(node->metadata, strlen(node->metadata), 0, &ignored));
}

/* node NULL: home itself. */
struct json *e2b_entry(const struct home_node *node)
{
	cleanup_free char *path =
		node ? mem_printf(HOME_PATH "/%s", node->path) : mem_strdup(HOME_PATH);
	bool folder = !node || node->folder;
	struct json *o = json_object();
	char size[32];

	snprintf(size, sizeof(size), "%zu", node ? node->content.len : 0);
	json_set_string(o, "name", strrchr(path, '/') + 1);
	json_set_string(o, "type", folder ? "FILE_TYPE_DIRECTORY" : "FILE_TYPE_FILE");
	json_set_string(o, "path", path);
	json_set_string(o, "size", size); /* 64 bits are a text in this JSON */
	set_permissions(o, folder, node ? node->mode : 0755);
	json_set_string(o, "owner", "user");
	json_set_string(o, "group", "user");
	e2b_set_time(o, "modifiedTime", node ? node->modified_ms : 0);
	e2b_set_metadata(o, node);
	return o;
}

static void answer_entry(struct exchange *x, struct json *one)
{
	struct json *o = json_object();

	json_set(o, "entry", one);
	exchange_answer(x, 200, o);
}

void e2b_dir_list(struct exchange *x)
{
	int64_t depth = json_get_int(exchange_json(x), "depth", 1);
	cleanup_free char *path = path_of(x, "path");
	struct box *box = exchange_box(x);

	if (!path)
		return;
	struct json *o = json_object();
	struct json *list = json_array();
	pthread_mutex_lock(&box->lock);
	const struct home_node *node = home_find(&box->home, path);
	bool found = node != NULL;
	bool folder = !*path || (found && node->folder);
	for (size_t i = 0; i < box->home.count; i++) {
		size_t deep = home_depth(path, box->home.nodes[i].path);

		if (deep && deep <= (size_t)(depth > 0 ? depth : 1))
			json_append(list, e2b_entry(&box->home.nodes[i]));
	}
	pthread_mutex_unlock(&box->lock);
	json_set(o, "entries", list);
	if (folder) {
		exchange_answer(x, 200, o);
		return;
	}
	json_free(o);
	if (found)
		e2b_refuse(x, 400, "invalid_argument", "path is not a directory: it is a file");
	else
		refuse_absent(x);
}

void e2b_stat(struct exchange *x)
{
	cleanup_free char *path = path_of(x, "path");
	struct box *box = exchange_box(x);

	if (!path)
		return;
	pthread_mutex_lock(&box->lock);
	const struct home_node *node = home_find(&box->home, path);
	struct json *one = NULL;
	if (node || !*path)
		one = e2b_entry(node);
	pthread_mutex_unlock(&box->lock);
	if (one)
		answer_entry(x, one);
	else
		refuse_absent(x);
}

void e2b_dir_make(struct exchange *x)
{
	cleanup_free char *path = path_of(x, "path");
	struct box *box = exchange_box(x);

	if (!path)
		return;
	pthread_mutex_lock(&box->lock);
	struct error err = ERROR_INIT;
	struct json *one = NULL;
	bool was = false;
	if (home_make_folder(&box->home, path, &was, &err) == 0 && !was)
		one = e2b_entry(home_find(&box->home, path));
	pthread_mutex_unlock(&box->lock);
	if (one)
		answer_entry(x, one);
	else if (was)
		e2b_refuse(x, 409, "already_exists", "the folder is there already");
	else
		refuse(x, &err);
}

void e2b_move(struct exchange *x)
{
	cleanup_free char *from = path_of(x, "source"), *to = NULL;
	struct box *box = exchange_box(x);

	if (!from)
		return;
	to = path_of(x, "destination");
	if (!to)
		return;
	pthread_mutex_lock(&box->lock);
	struct error err = ERROR_INIT;
	struct json *one = NULL;
	if (home_move(&box->home, from, to, &err) == 0)
		one = e2b_entry(home_find(&box->home, to));
	pthread_mutex_unlock(&box->lock);
	if (one)
		answer_entry(x, one);
	else
		refuse(x, &err);
}

void e2b_remove(struct exchange *x)
{
	cleanup_free char *path = path_of(x, "path");
	struct box *box = exchange_box(x);

	if (!path)
		return;
	pthread_mutex_lock(&box->lock);
	home_remove(&box->home, path); /* what is not there is gone, as rm -rf has it */
	pthread_mutex_unlock(&box->lock);
	exchange_answer(x, 200, json_object());
}
