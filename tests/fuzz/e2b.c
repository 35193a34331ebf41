/* Bodies of E2B's wire: frames, parts, paths, listings of a guest and cells of a notebook. Whatever
 * the bytes are, no path leads out of the home, and no part lies outside of the body. */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_home(const struct home *h)
{
	size_t bytes = 0;

	for (size_t i = 0; i < h->count; i++) {
		const char *path = h->nodes[i].path;

		if (!*path || *path == '/' || strstr(path, "//") || !strcmp(path, "..") ||
		    !strncmp(path, "../", 3) || strstr(path, "/../") ||
		    path[strlen(path) - 1] == '/')
			abort();
		if (i && strcmp(h->nodes[i - 1].path, path) >= 0)
			abort();
		bytes += h->nodes[i].content.len;
	}
	if (bytes != h->bytes || h->count > HOME_NODES_MAX)
		abort();
}

static const char *content(void *self, const char *path, size_t *ret_len)
{
	*ret_len = strlen(path);
	return *(int *)self ? path : NULL;
}

static void listing(const char *text, size_t size)
{
	int self = size & 1;
	cleanup_home_given struct home_given given = { .nodes = NULL };
	struct home_left left = { text, size, content, "ctx", 1, &self, &given };
	cleanup_buf struct buf lost = BUF_INIT(8192);
	struct home home = { .nodes = NULL };
	struct error err = ERROR_INIT;
	bool was;

	home_make_folder(&home, "a/b", &was, &err);
	home_give(&home, &given);
	if (size & 2)
		home_make_folder(&home, "a/c", &was, &err);
	home_take(&home, &left, &lost);
	check_home(&home);
	for (size_t i = 0; i + 1 < home.count; i += 2) {
		cleanup_free char *from = mem_strdup(home.nodes[i].path);
		cleanup_free char *to = mem_strdup(home.nodes[i + 1].path);

		home_move(&home, from, to, &err);
		check_home(&home);
	}
	size_t len;
	free(home_archive(&home, &len, &err));
	if (len % 512)
		abort();
	home_remove(&home, "");
	if (home.count)
		abort();
	home_release(&home);
}

/* What is told of a body's parts, as text. */
static void on_begin(void *self, char *name)
{
	buf_addf(self, "[%s:", name ? name : "-");
	free(name);
}

static void on_bytes(void *self, const char *bytes, size_t len)
{
	buf_add(self, bytes, len);
}

static void on_end(void *self)
{
	buf_addch(self, ']');
}

/* The same, in whatever pieces it comes. */
static void parts(const char *text, size_t size)
{
	struct buf told[2];

	for (size_t i = 0; i < 2; i++) {
		struct multipart m;

		buf_init(&told[i], 16 * size + 1000);
		if (!multipart_init(&m, "multipart/form-data; boundary=x"))
			abort();
		m.begins = on_begin;
		m.has = on_bytes;
		m.ends = on_end;
		m.self = &told[i];
		for (size_t at = 0, step; at < size; at += step) {
			step = i ? size : 1 + at % 3;
			step = step < size - at ? step : size - at;
			multipart_add(&m, text + at, step);
		}
		multipart_release(&m);
	}
	/* of one that is cut the end may be told in one go and be held back in the other */
	size_t least = told[0].len < told[1].len ? told[0].len : told[1].len;
	if (memcmp(told[0].data, told[1].data, least))
		abort();
	buf_release(&told[0]);
	buf_release(&told[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	cleanup_free char *text = mem_strndup(bytes, size), *commands = NULL;
	cleanup_free char *cell = e2b_cell(text, &commands);
	struct error err = ERROR_INIT;
	struct json *message = e2b_unframe(bytes, size, &err);
	cleanup_free char *path = home_path(text, &err);

	if (!commands && strcmp(cell, text))
		if (!strpbrk(text, "%? \t"))
			abort();
	if (path && (*path == '/' || strstr(path, "..") == path))
		if (*path == '/' || !path[2] || path[2] == '/')
			abort();
	json_free(message);
	parts(bytes, size);
	listing(bytes, size);
	return 0;
}
