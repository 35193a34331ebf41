/*
 * What a program left becomes its sandbox's (home_take), beside what others did while it ran: it is
 * told by what it was given. What it removed, and nobody changed since, is gone; what it wrote is
 * kept, unless somebody else wrote the same file after it began, which it cannot have seen. Nothing
 * is lost without a word of it.
 */
#include "agent/doors/e2b/home.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX ((size_t)16 * HOME_NODES_MAX) /* of a listing */
#define LISTING_END "."				  /* the last entry of one that is whole */
#define MEANWHILE   "others wrote to it while this ran"

/* --- what it was given --- */

void home_give(const struct home *t, struct home_given *ret)
{
	*ret = (struct home_given){ .nodes = mem_array(NULL, t->count + 1, sizeof(*ret->nodes)),
				    .changes = t->changes };
	for (; ret->count < t->count; ret->count++) {
		const struct home_node *node = &t->nodes[ret->count];

		ret->nodes[ret->count] =
			(struct home_given_node){ mem_strdup(node->path), node->folder,
						  node->version, node->mode };
	}
}

void home_given_release(struct home_given *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->nodes[i].path);
	free(g->nodes);
	*g = (struct home_given){ .nodes = NULL };
}

static int by_given_path(const void *path, const void *node)
{
	return strcmp(path, ((const struct home_given_node *)node)->path);
}

const struct home_given_node *home_given_find(const struct home_given *g, const char *path)
{
	return g->count ? bsearch(path, g->nodes, g->count, sizeof(*g->nodes), by_given_path) :
			  NULL;
}

/* Both may be NULL. */
static bool is_unchanged(const struct home_node *node, const struct home_given_node *had)
{
	return node && had && node->version == had->version;
}

static bool has_some_below(const struct home *t, const char *folder)
{
	for (size_t i = 0; i < t->count; i++)
		if (home_depth(folder, t->nodes[i].path))
			return true;
	return false;
}

/* Whether what it wrote there may be there: nothing is that it has not seen. */
static bool may_replace(const struct home *t, const struct home_left *left, const char *path)
{
	const struct home_node *node = home_find(t, path);

	return !node || (is_unchanged(node, home_given_find(left->given, path)) &&
			 (!node->folder || !has_some_below(t, path)));
}

static void add_lost(struct buf *lost, const char *path, const char *why)
{
	buf_addf(lost, "assay: what was written to %.200s is not kept: %s\n", path, why);
}

/* --- its listing --- */

/* Of a listing; the path is borrowed from it. */
struct entry {
	char kind;
	unsigned mode;
	uint64_t version; /* of what a link leads to; 0: of nothing that is shown */
	const char *path;
};

/* False: it is none, or another spelling of one: what is named a million times over would be
 * copied as often. */
static bool read_entry(const char *text, struct entry *ret)
{
	struct error ignored = ERROR_INIT;
	const char *mode = strchr(text, ' '), *name = mode ? strchr(mode + 1, ' ') : NULL;
	cleanup_free char *path = name ? home_path(name + 1, &ignored) : NULL;

	if (!path || !*path || strcmp(path, name + 1))
		return false;
	*ret = (struct entry){ *text, (unsigned)strtoul(mode + 1, NULL, 8), 0, name + 1 };
	if (*text == 'l' && !strncmp(mode + 1, HOME_SHOWN, strlen(HOME_SHOWN)))
		ret->version = strtoull(mode + 1 + strlen(HOME_SHOWN), NULL, 10);
	return true;
}

/* Whether the listing has it, as what it is. */
static bool is_listed(const struct entry *entries, size_t count, const struct home_node *node)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(entries[middle].path, node->path);

		if (!order)
			return node->folder ?
				       entries[middle].kind == 'd' :
				       entries[middle].kind == 'f' || entries[middle].version;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

/* By path, each once. *ret NULL: there is none; owned. Not whole: more may have been there. */
static size_t read_listing(const struct home_left *left, struct entry **ret, bool *ret_whole)
{
	const char *end = left->listing + left->len;
	struct entry *entries = NULL;
	size_t count = 0;

	*ret_whole = false;
	for (const char *e = left->listing;
	     !*ret_whole && e < end && count < ENTRIES_MAX && memchr(e, '\0', (size_t)(end - e));
	     e += strlen(e) + 1) {
		*ret_whole = !strcmp(e, LISTING_END);
		entries = mem_one_more(entries, count, sizeof(*entries));
		count += read_entry(e, &entries[count]);
	}
	if (count)
		qsort(entries, count, sizeof(*entries), by_name);
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (!kept || strcmp(entries[kept - 1].path, entries[i].path))
			entries[kept++] = entries[i];
	*ret = entries;
	return kept;
}

static struct home_node *shown(const struct home *t, uint64_t version)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->nodes[i].version == version && home_shows(&t->nodes[i]))
			return &t->nodes[i];
	return NULL;
}

/* Whether a file that is shown has this name from now on, and no other. */
static bool is_moved(const struct home_node *from, const struct entry *e,
		     const struct entry *entries, size_t count)
{
	for (const struct entry *next = e + 1; next < entries + count; next++)
		if (next->version == e->version)
			return false;
	return !is_listed(entries, count, from);
}

static void make_way(struct home *t, const char *path)
{
	const struct home_node *there = home_find(t, path);

	if (there && there->folder)
		home_remove(t, path);
}

/* Which takes no room. Where it cannot be, it keeps its name, as if somebody had written it. */
static int move_shown(struct home *t, struct home_node *from, const char *to, struct error *err)
{
	uint64_t version = from->version;
	cleanup_free char *path = mem_strdup(from->path);

	make_way(t, to);
	if (home_move(t, path, to, err) == 0)
		return 0;
	from = shown(t, version);
	if (from)
		from->version = ++t->changes;
	return -1;
}

static int copy_shown(struct home *t, const struct home_node *from, const char *to,
		      struct error *err)
{
	unsigned mode = from->mode;
	struct content content;

	if (content_copy(&content, &from->content, err) < 0)
		return -1;
	make_way(t, to);
	int rc = home_put_content(t, to, &content, mode, err);
	content_release(&content);
	return rc;
}

/* A link that has another name, or one more: so has its file. One that leads to none of this
 * home's is none of it. */
static void take_link(struct home *t, const struct home_left *left, struct entry *e,
		      const struct entry *entries, size_t count, struct buf *lost)
{
	struct home_node *from = e->version ? shown(t, e->version) : NULL;
	const struct home_given_node *had = from ? home_given_find(left->given, from->path) : NULL;
	struct error err = ERROR_INIT;

	if (!is_unchanged(from, had)) /* nothing that it was given */
		from = NULL;
	if (!from) {
		e->version = 0;
		return;
	}
	if (!strcmp(from->path, e->path))
		return;
	int rc = 0;
	if (!may_replace(t, left, e->path))
		rc = error_set(&err, ERR_FAILED, MEANWHILE);
	else if (is_moved(from, e, entries, count))
		rc = move_shown(t, from, e->path, &err);
	else
		rc = copy_shown(t, from, e->path, &err);
	if (rc < 0)
		add_lost(lost, e->path, err.message);
}

/* --- taking it --- */

static bool is_same(const struct home_node *node, const char *bytes, size_t len)
{
	struct error ignored = ERROR_INIT;

	if (!node || node->folder || node->content.len != len)
		return false;
	cleanup_free char *own = mem_alloc(len + 1);
	return content_read(&node->content, 0, own, len, &ignored) == 0 && !memcmp(own, bytes, len);
}

static void take_bytes(struct home *t, const struct home_left *left, const char *path,
		       unsigned mode, const char *bytes, size_t len, struct buf *lost)
{
	struct home_node *node = home_find(t, path);
	struct error err = ERROR_INIT;

	if (!may_replace(t, left, path)) {
		if (!is_same(node, bytes, len))
			add_lost(lost, path, MEANWHILE);
		return;
	}
	if (node && node->folder)
		home_remove(t, path);
	if (home_put(t, path, mem_strndup(bytes, len), len, mode, &err) < 0) {
		add_lost(lost, path, err.message);
		return;
	}
	node = home_find(t, path);
	if (left->context)
		snprintf(node->tag, sizeof(node->tag), "%s %zu", left->context, left->cell);
}

static void take_file(struct home *t, const struct home_left *left, const struct entry *e,
		      struct buf *lost)
{
	const struct home_given_node *had = home_given_find(left->given, e->path);
	struct home_node *node = home_find(t, e->path);
	unsigned mode = e->mode & 0777;
	size_t len = 0;
	const char *bytes = left->content(left->self, e->path, &len);

	if (bytes) {
		take_bytes(t, left, e->path, mode, bytes, len, lost);
	} else if (is_unchanged(node, had) && !node->folder && mode != had->mode &&
		   node->mode != mode) {
		node->mode = mode;
		t->changes++;
	}
}

/* A folder that others removed meanwhile is made again only by what is written in it. */
static void take_entry(struct home *t, const struct home_left *left, const struct entry *e,
		       struct buf *lost)
{
	struct error err = ERROR_INIT;
	const struct home_given_node *had = home_given_find(left->given, e->path);
	bool was;

	if (e->kind == 'f')
		take_file(t, left, e, lost);
	else if (e->kind == 'd' && !(had && had->folder) &&
		 home_make_folder(t, e->path, &was, &err) < 0)
		add_lost(lost, e->path, err.message);
}

/* What it removed, the deepest first; a folder in which others wrote meanwhile stays. */
static void take_removed(struct home *t, const struct home_left *left, const struct entry *entries,
			 size_t count)
{
	for (size_t i = t->count; i > 0; i--) {
		const struct home_node *node = &t->nodes[i - 1];

		if (is_unchanged(node, home_given_find(left->given, node->path)) &&
		    !is_listed(entries, count, node) &&
		    (!node->folder || !has_some_below(t, node->path)))
			home_drop(t, i - 1);
	}
}

void home_take(struct home *t, const struct home_left *left, struct buf *lost)
{
	struct entry *entries;
	bool whole;
	size_t count = read_listing(left, &entries, &whole);

	for (size_t i = 0; i < count; i++)
		if (entries[i].kind == 'l')
			take_link(t, left, &entries[i], entries, count, lost);
	if (whole)
		take_removed(t, left, entries, count);
	else
		buf_addstr(lost, "assay: the list of what this left is cut off: no file counts as "
				 "removed\n");
	for (size_t i = 0; i < count; i++)
		take_entry(t, left, &entries[i], lost);
	free(entries);
}
