/*
 * Files of a sandbox (home.h), bounded. Names are checked as they come in, so that none leads out
 * of the home; no file of the host has one here, and what they hold is the store's affair.
 */
#include "agent/doors/e2b/home.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES_MAX 1024
#define PARTS_MAX      64

/* --- paths --- */

static int outside(const char *path, struct error *err)
{
	return error_set(err, ERR_USAGE,
			 "\"%.200s\": the files of a sandbox are those below " HOME_PATH, path);
}

/* What is below home of an absolute path; NULL: nothing. */
static const char *below_home(const char *path)
{
	size_t len = strlen(HOME_PATH);

	path += strspn(path, "/") - 1;
	if (strncmp(path, HOME_PATH, len) || (path[len] && path[len] != '/'))
		return NULL;
	return path + len;
}

/* One part onto a path; "." and ".." are gone. -1: above home. */
static int add_part(struct buf *out, const char *part, size_t len)
{
	if (!len || (len == 1 && *part == '.'))
		return 0;
	if (len == 2 && part[0] == '.' && part[1] == '.') {
		const char *slash = strrchr(out->data, '/');

		if (!out->len)
			return -1;
		buf_truncate(out, slash ? (size_t)(slash - out->data) : 0);
		return 0;
	}
	if (out->len)
		buf_addch(out, '/');
	return len > NAME_MAX ? -1 : buf_add(out, part, len);
}

char *home_path(const char *path, struct error *err)
{
	struct buf out = BUF_INIT(PATH_BYTES_MAX);
	const char *at = path;

	if (*at == '~' && (!at[1] || at[1] == '/'))
		at++;
	else if (*at == '/')
		at = below_home(at);
	if (!at || strlen(path) >= PATH_BYTES_MAX || !utf8_valid(path, strlen(path))) {
		outside(path, err);
		return NULL;
	}
	size_t len, parts = 0;
	for (; *at; at += len) {
		at += strspn(at, "/");
		len = strcspn(at, "/");
		if (add_part(&out, at, len) < 0 || ++parts > PARTS_MAX) {
			buf_release(&out);
			outside(path, err);
			return NULL;
		}
	}
	return buf_take(&out, NULL);
}

size_t home_depth(const char *folder, const char *path)
{
	size_t len = strlen(folder);

	if (len && (strncmp(path, folder, len) || path[len] != '/'))
		return 0;
	size_t depth = 1;
	for (path += len ? len + 1 : 0; *path; path++)
		depth += *path == '/';
	return depth;
}

/* --- nodes --- */

void home_release(struct home *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->nodes[i].path);
		content_release(&t->nodes[i].content);
		free(t->nodes[i].metadata);
	}
	free(t->nodes);
	*t = (struct home){ .store = t->store, .owner = t->owner };
}

int home_copy(struct home *to, const struct home *from, struct error *err)
{
	to->nodes = mem_alloc((from->count + 1) * sizeof(*to->nodes));
	to->changes = from->changes;
	for (size_t i = 0; i < from->count; i++) {
		const struct home_node *node = &from->nodes[i];
		struct home_node *own = &to->nodes[i];

		*own = *node;
		if (content_copy(&own->content, &node->content, err) < 0) {
			home_release(to);
			return -1;
		}
		own->path = mem_strdup(node->path);
		own->metadata = mem_strdup(node->metadata);
		*own->tag = '\0';
		to->count = i + 1;
	}
	to->bytes = from->bytes;
	to->copied = from->copied;
	return 0;
}

/* Where it is, or would be. */
static size_t place_of(const struct home *t, const char *path)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(t->nodes[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct home_node *home_find(const struct home *t, const char *path)
{
	size_t i = place_of(t, path);

	return i < t->count && !strcmp(t->nodes[i].path, path) ? &t->nodes[i] : NULL;
}

static struct home_node *insert(struct home *t, const char *path, struct error *err)
{
	size_t i = place_of(t, path);

	if (t->count >= HOME_NODES_MAX) {
		error_set(err, ERR_BUDGET, "more than %d files and folders", HOME_NODES_MAX);
		return NULL;
	}
	t->nodes = mem_one_more(t->nodes, t->count, sizeof(*t->nodes));
	memmove(t->nodes + i + 1, t->nodes + i, (t->count - i) * sizeof(*t->nodes));
	t->count++;
	t->nodes[i] = (struct home_node){ .path = mem_strdup(path),
					  .content = { .store = t->store, .owner = t->owner } };
	return &t->nodes[i];
}

static void touch(struct home *t, struct home_node *node)
{
	node->version = ++t->changes;
	node->modified_ms = clock_wall_ms();
	*node->tag = '\0';
}

/* Every folder above it; with itself also that. */
static int make_folders(struct home *t, const char *path, bool itself, struct error *err)
{
	for (const char *end = path; *path; end++) {
		if (*end && *end != '/')
			continue;
		if (!*end && !itself)
			return 0;
		cleanup_free char *folder = mem_strndup(path, (size_t)(end - path));
		struct home_node *node = home_find(t, folder);
		if (node && !node->folder)
			return error_set(err, ERR_USAGE, "%s is a file", folder);
		if (!node) {
			node = insert(t, folder, err);
			if (!node)
				return -1;
			node->folder = true;
			node->mode = 0755;
			touch(t, node);
		}
		if (!*end)
			return 0;
	}
	return 0;
}

bool home_shows(const struct home_node *node)
{
	return node->content.len > HOME_COPY_MAX;
}

static size_t copied(size_t len)
{
	return len > HOME_COPY_MAX ? 0 : len;
}

static struct home_node *put_node(struct home *t, const char *path, size_t len, struct error *err)
{
	struct home_node *node = home_find(t, path);

	if (!*path || (node && node->folder)) {
		error_set(err, ERR_USAGE, "%s is a folder", *path ? path : HOME_PATH);
		return NULL;
	}
	if (t->copied - (node ? copied(node->content.len) : 0) + copied(len) > HOME_BYTES_MAX) {
		error_set(err, ERR_BUDGET,
			  "the files of a sandbox have at most %zu bytes, those above %zu apart",
			  HOME_BYTES_MAX, HOME_COPY_MAX);
		return NULL;
	}
	if (node)
		return node;
	return make_folders(t, path, false, err) < 0 ? NULL : insert(t, path, err);
}

int home_put_content(struct home *t, const char *path, struct content *content, unsigned mode,
		     struct error *err)
{
	struct home_node *node = put_node(t, path, content->len, err);

	if (!node)
		return -1;
	t->bytes += content->len - node->content.len;
	t->copied += copied(content->len) - copied(node->content.len);
	content_release(&node->content);
	node->content = *content;
	*content = (struct content){ .store = t->store, .owner = t->owner };
	node->mode = mode & 0777;
	touch(t, node);
	return 0;
}

int home_put(struct home *t, const char *path, char *bytes, size_t len, unsigned mode,
	     struct error *err)
{
	struct content content = { .store = t->store, .owner = t->owner };
	int rc = content_set(&content, bytes, len, err);

	if (!rc)
		rc = home_put_content(t, path, &content, mode, err);
	content_release(&content);
	return rc;
}

void home_note_metadata(struct home_node *node, const char *metadata)
{
	free(node->metadata);
	node->metadata = mem_strdup(metadata);
}

int home_make_folder(struct home *t, const char *path, bool *ret_was, struct error *err)
{
	const struct home_node *node = home_find(t, path);

	*ret_was = !*path || (node && node->folder);
	return *ret_was ? 0 : make_folders(t, path, true, err);
}

void home_drop(struct home *t, size_t i)
{
	t->bytes -= t->nodes[i].content.len;
	t->copied -= copied(t->nodes[i].content.len);
	free(t->nodes[i].path);
	content_release(&t->nodes[i].content);
	free(t->nodes[i].metadata);
	memmove(t->nodes + i, t->nodes + i + 1, (t->count - i - 1) * sizeof(*t->nodes));
	t->count--;
	t->changes++;
}

bool home_remove(struct home *t, const char *path)
{
	bool was = !*path || home_find(t, path);

	for (size_t i = t->count; was && i > 0; i--)
		if (!strcmp(t->nodes[i - 1].path, path) || home_depth(path, t->nodes[i - 1].path))
			home_drop(t, i - 1);
	return was;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct home_node *)a)->path, ((const struct home_node *)b)->path);
}

/* No path becomes one that could not be given: moved once more and again, they would grow. */
static int check_moved(const struct home *t, const char *from, const char *to, struct error *err)
{
	size_t less = strlen(from), more = strlen(to), parts = home_depth("", to);

	for (size_t i = 0; i < t->count; i++) {
		const char *path = t->nodes[i].path;
		size_t below = home_depth(from, path);

		if (below &&
		    (strlen(path) - less + more >= PATH_BYTES_MAX || below + parts > PARTS_MAX))
			return error_set(err, ERR_USAGE,
					 "\"%.200s\": its path would be too long there", path);
	}
	return 0;
}

int home_move(struct home *t, const char *from, const char *to, struct error *err)
{
	const struct home_node *node = home_find(t, from), *there = home_find(t, to);
	size_t len = strlen(from);

	if (!node)
		return error_set(err, ERR_FAILED, "%s is not there", from);
	if (!strcmp(from, to))
		return 0;
	if (!*to || home_depth(from, to) || (there && there->folder))
		return error_set(err, ERR_USAGE, "%s cannot be moved to %s", from, to);
	if (check_moved(t, from, to, err) < 0)
		return -1;
	if (make_folders(t, to, false, err) < 0)
		return -1;
	home_remove(t, to);
	for (size_t i = 0; i < t->count; i++) {
		char *path = t->nodes[i].path;

		if (strcmp(path, from) && !home_depth(from, path))
			continue;
		t->nodes[i].path = mem_printf("%s%s", to, path + len);
		free(path);
		*t->nodes[i].tag = '\0';
		t->nodes[i].version = ++t->changes;
	}
	qsort(t->nodes, t->count, sizeof(*t->nodes), by_path);
	return 0;
}

/* --- as an archive --- */

#define BLOCK	  512
#define NAME_ROOM 100

/* Zeros up to the next block. */
static void add_padding(struct buf *out, size_t len)
{
	static const char zeros[BLOCK];

	buf_add(out, zeros, (BLOCK - len % BLOCK) % BLOCK);
}

/* A header (ustar); the name is cut to what there is room for. */
static void add_header(struct buf *out, const char *name, char kind, const char *link,
		       unsigned mode, size_t len, int64_t modified_ms)
{
	char block[BLOCK] = { 0 };

	memcpy(block, name, strnlen(name, NAME_ROOM));
	memcpy(block + 157, link, strnlen(link, NAME_ROOM));
	snprintf(block + 100, 8, "%07o", mode);
	memcpy(block + 108, "0000000\0000000000", 16);
	snprintf(block + 124, 12, "%011lo", (unsigned long)len);
	snprintf(block + 136, 12, "%011lo", (unsigned long)(modified_ms / 1000));
	memset(block + 148, ' ', 8);
	block[156] = kind;
	memcpy(block + 257, "ustar\00000", 8);
	unsigned sum = 0;
	for (size_t i = 0; i < sizeof(block); i++)
		sum += (unsigned char)block[i];
	char number[16];
	snprintf(number, sizeof(number), "%06o", sum);
	memcpy(block + 148, number, 7);
	buf_add(out, block, sizeof(block));
}

/* A long name stands before its header, as GNU's and others' have it. */
static int add_node(struct buf *out, const struct home_node *node, struct error *err)
{
	const struct content *content = &node->content;
	size_t len = strlen(node->path);

	if (len > NAME_ROOM) {
		add_header(out, "././@LongLink", 'L', "", 0, len + 1, 0);
		buf_add(out, node->path, len + 1);
		add_padding(out, len + 1);
	}
	if (home_shows(node)) {
		char link[NAME_ROOM];

		snprintf(link, sizeof(link), HOME_SHOWN "%llu", (unsigned long long)node->version);
		add_header(out, node->path, '2', link, 0777, 0, node->modified_ms);
		return 0;
	}
	add_header(out, node->path, node->folder ? '5' : '0', "", node->mode, content->len,
		   node->modified_ms);
	if (!content->len)
		return 0;
	if (content_read(content, 0, buf_room(out, content->len), content->len, err) < 0)
		return -1;
	buf_grew(out, content->len);
	add_padding(out, content->len);
	return 0;
}

char *home_archive(const struct home *t, size_t *ret_len, struct error *err)
{
	static const char zeros[2 * BLOCK];
	struct buf out =
		BUF_INIT(HOME_BYTES_MAX + (size_t)HOME_NODES_MAX * 6 * BLOCK + sizeof(zeros));

	for (size_t i = 0; i < t->count; i++)
		if (add_node(&out, &t->nodes[i], err) < 0) {
			buf_release(&out);
			return NULL;
		}
	buf_add(&out, zeros, sizeof(zeros));
	return buf_take(&out, ret_len);
}
