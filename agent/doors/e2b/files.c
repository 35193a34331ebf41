/*
 * GET and POST /files of E2B's wire: the bytes of a sandbox's files, out and in. Bodies are bounded
 * by the server, files by its home.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static struct json *entry(const char *path)
{
	cleanup_free char *whole = mem_printf(HOME_PATH "/%s", path);
	struct json *o = json_object();

	json_set_string(o, "path", whole);
	json_set_string(o, "name", strrchr(whole, '/') + 1);
	json_set_string(o, "type", "file");
	return o;
}

/* One file of a body. */
static int put(struct box *box, const char *name, const char *bytes, size_t len,
	       struct json *written, struct error *err)
{
	cleanup_free char *path = home_path(name, err);

	if (!path)
		return -1;
	pthread_mutex_lock(&box->lock);
	const struct home_node *node = home_find(&box->home, path);
	unsigned mode = node && !node->folder ? node->mode : 0644;
	int rc = home_put(&box->home, path, mem_strndup(bytes, len), len, mode, err);
	pthread_mutex_unlock(&box->lock);
	if (!rc)
		json_append(written, entry(path));
	return rc;
}

static int put_parts(struct exchange *x, const char *boundary, const char *path,
		     struct json *written, struct error *err)
{
	const struct buf *body = exchange_body(x);
	struct multipart m = { .bytes = body->data,
			       .len = body->len,
			       .boundary = boundary,
			       .boundary_len = strlen(boundary) };
	const char *bytes;
	size_t len, count = 0;
	char *name;

	for (; multipart_next(&m, &name, &bytes, &len); count++) {
		cleanup_free char *own = name;

		if (!path && !own)
			return error_set(err, ERR_USAGE, "a file without a name");
		if (path && count)
			return error_set(err, ERR_USAGE, "several files, and one path");
		if (put(exchange_box(x), path ? path : own, bytes, len, written, err) < 0)
			return -1;
	}
	return count ? 0 : error_set(err, ERR_USAGE, "the body has no file");
}

void e2b_file_write(struct exchange *x)
{
	cleanup_free char *boundary = multipart_boundary(exchange_header(x, "Content-Type"));
	const char *path = exchange_query(x, "path");
	struct json *written = json_array();

	const char *coded = exchange_header(x, "Content-Encoding");
	path = path && *path ? path : NULL;
	struct error err = ERROR_INIT;
	int rc;
	if (coded && strcasecmp(coded, "identity") != 0)
		rc = error_set(&err, ERR_USAGE, "Content-Encoding: send the file as it is");
	else if (boundary)
		rc = put_parts(x, boundary, path, written, &err);
	else if (path)
		rc = put(exchange_box(x), path, exchange_body(x)->data, exchange_body(x)->len,
			 written, &err);
	else
		rc = error_set(&err, ERR_USAGE, "path is missing");
	if (!rc) {
		exchange_answer(x, 200, written);
		return;
	}
	json_free(written);
	refuse(x, status_of(&err), err.message);
}
