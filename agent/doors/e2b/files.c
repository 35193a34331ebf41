/*
 * GET and POST /files of E2B's wire: the bytes of a sandbox's files, out and in. Bodies are bounded
 * by the server, what is packed unpacks to no more, files by its home.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/deflate.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define METADATA_MAX 4096

static void refuse(struct exchange *x, unsigned status, const char *message)
{
	struct json *body = json_object();

	json_set_int(body, "code", status);
	json_set_string(body, "message", message);
	exchange_answer(x, status, body);
}

static unsigned status_of(const struct error *err)
{
	return err->kind == ERR_BUDGET ? 507 : 400;
}

void e2b_file_read(struct exchange *x)
{
	const char *given = exchange_query(x, "path");
	struct error err = ERROR_INIT;
	cleanup_free char *path = given ? home_path(given, &err) : NULL;
	struct box *box = exchange_box(x);

	if (!path) {
		refuse(x, given ? 404 : 400, given ? err.message : "path is missing");
		return;
	}
	pthread_mutex_lock(&box->lock);
	const struct home_node *node = home_find(&box->home, path);
	bool found = node != NULL;
	bool folder = !found || node->folder;
	if (!folder)
		exchange_answer_bytes(x, 200, "application/octet-stream",
				      node->bytes ? node->bytes : "", node->len);
	pthread_mutex_unlock(&box->lock);
	if (!found && *path)
		refuse(x, 404, "there is no such file");
	else if (folder)
		refuse(x, 400, "that is a folder");
}

static struct json *entry(const struct home_node *node)
{
	cleanup_free char *whole = mem_printf(HOME_PATH "/%s", node->path);
	struct json *o = json_object();

	json_set_string(o, "path", whole);
	json_set_string(o, "name", strrchr(whole, '/') + 1);
	json_set_string(o, "type", "file");
	e2b_set_metadata(o, node);
	return o;
}

/* What a request's files are, beside their bytes. */
struct writing {
	struct box *box;
	char *metadata;	      /* of each; owned, or NULL */
	struct json *written; /* owned */
};

static void writing_release(struct writing *w)
{
	free(w->metadata);
	json_free(w->written);
}

/* One file of a body. */
static int put(const struct writing *w, const char *name, const char *bytes, size_t len,
	       struct error *err)
{
	cleanup_free char *path = home_path(name, err);
	struct home *home = &w->box->home;
	unsigned mode;

	if (!path)
		return -1;
	pthread_mutex_lock(&w->box->lock);
	struct home_node *node = home_find(home, path);
	mode = node && !node->folder ? node->mode : 0644;
	int rc = home_put(home, path, mem_strndup(bytes, len), len, mode, err);
	if (!rc) {
		node = home_find(home, path);
		home_note_metadata(node, w->metadata);
		json_append(w->written, entry(node));
	}
	pthread_mutex_unlock(&w->box->lock);
	return rc;
}

static int put_parts(const struct writing *w, const char *boundary, const char *path,
		     const char *bytes, size_t len, struct error *err)
{
	struct multipart m = {
		.bytes = bytes, .len = len, .boundary = boundary, .boundary_len = strlen(boundary)
	};
	size_t count = 0;
	char *name;

	for (; multipart_next(&m, &name, &bytes, &len); count++) {
		cleanup_free char *own = name;

		if (!path && !own)
			return error_set(err, ERR_USAGE, "a file without a name");
		if (path && count)
			return error_set(err, ERR_USAGE, "several files, and one path");
		if (put(w, path ? path : own, bytes, len, err) < 0)
			return -1;
	}
	return count ? 0 : error_set(err, ERR_USAGE, "the body has no file");
}

/* The body as it was meant; what is unpacked goes to room, which bounds it. */
static int unpack(struct exchange *x, struct buf *room, const char **ret, size_t *ret_len,
		  struct error *err)
{
	const char *coded = exchange_header(x, "Content-Encoding");

	*ret = exchange_body(x)->data;
	*ret_len = exchange_body(x)->len;
	if (!coded || !strcasecmp(coded, "identity"))
		return 0;
	if (strcasecmp(coded, "gzip"))
		return error_set(err, ERR_USAGE,
				 "Content-Encoding: send the file as it is, or as gzip");
	if (gunzip(*ret, *ret_len, room, err) < 0)
		return -1;
	*ret = room->data;
	*ret_len = room->len;
	return 0;
}

static int write_all(struct exchange *x, const struct writing *w, struct error *err)
{
	cleanup_free char *boundary = multipart_boundary(exchange_header(x, "Content-Type"));
	cleanup_buf struct buf room = BUF_INIT(HTTP_BODY_MAX);
	const char *path = exchange_query(x, "path"), *bytes;
	size_t len;

	path = path && *path ? path : NULL;
	if (unpack(x, &room, &bytes, &len, err) < 0)
		return -1;
	if (boundary)
		return put_parts(w, boundary, path, bytes, len, err);
	return path ? put(w, path, bytes, len, err) : error_set(err, ERR_USAGE, "path is missing");
}

void e2b_file_write(struct exchange *x)
{
	cleanup_json struct json *metadata = exchange_headers(x, "X-Metadata-", METADATA_MAX);
	struct writing w = { .box = exchange_box(x),
			     .metadata = metadata ? json_print(metadata) : NULL,
			     .written = json_array() };
	struct error err = ERROR_INIT;

	if (write_all(x, &w, &err) == 0)
		exchange_answer(x, 200, TAKE_PTR(w.written));
	else
		refuse(x, status_of(&err), err.message);
	writing_release(&w);
}
