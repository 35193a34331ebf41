/*
 * GET and POST /files of E2B's wire: the bytes of a sandbox's files, out and in, through a store as
 * they come: nothing here holds more of a large one than a piece. What is packed is bounded by the
 * server as bodies are, and unpacks to no more, files by the store and their home.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/deflate.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define METADATA_MAX 4096
#define PARTS_MAX    1000

static void refuse(struct exchange *x, unsigned status, const char *message)
{
	struct json *body = json_object();

	json_set_int(body, "code", status);
	json_set_string(body, "message", message);
	exchange_answer(x, status, body);
}

static unsigned status_of(const struct error *err)
{
	return err->kind == ERR_BUDGET ? 507 : err->kind == ERR_USAGE ? 400 : 500;
}

/* The bytes that a request asks for of so many (RFC 9110, 14.2), the first and one behind the last:
 * one range is understood, and what is not understood means all. 200, 206, or 416: none is there.
 */
static unsigned range_of(const struct exchange *x, size_t len, size_t *ret_from, size_t *ret_end)
{
	const char *given = exchange_header(x, "Range"), *at;
	unsigned long long from = 0, to = len;

	*ret_from = 0;
	*ret_end = len;
	if (!given || strncmp(given, "bytes=", 6) || strlen(given) > 48 || strchr(given, ','))
		return 200;
	at = given + 6;
	bool is_tail = *at == '-';
	if (!strchr(at, '-') || at[strspn(at, "0123456789-")] || (is_tail && !at[1]))
		return 200;
	char *end;
	from = is_tail ? 0 : strtoull(at, &end, 10);
	at = is_tail ? at + 1 : end + 1;
	if (*at)
		to = strtoull(at, &end, 10);
	if ((*at && *end) || (!is_tail && *at && to < from))
		return 200;
	if (is_tail)
		from = to < len ? len - to : 0;
	if (from >= len || (is_tail && !to))
		return 416;
	*ret_from = (size_t)from;
	if (!is_tail && *at && to < len)
		*ret_end = (size_t)to + 1;
	return 206;
}

static int send_bytes(struct exchange *x, unsigned status, const struct content *content,
		      size_t from, size_t len, struct error *err)
{
	static const char type[] = "application/octet-stream";

	if (!content->on_disk) {
		exchange_answer_bytes(x, status, type, content->len ? content->bytes + from : "",
				      len);
		return 0;
	}
	int fd = content_open(content, err);
	if (fd < 0)
		return -1;
	exchange_answer_file(x, status, type, fd, from, len);
	return 0;
}

/* With the sandbox's lock held. */
static int answer_file(struct exchange *x, const struct content *content, struct error *err)
{
	size_t from, end;
	unsigned status = range_of(x, content->len, &from, &end);
	cleanup_free char *range = status == 416 ? mem_printf("bytes */%zu", content->len) :
						   mem_printf("bytes %zu-%zu/%zu", from,
							      end ? end - 1 : 0, content->len);

	if (status != 200)
		exchange_answer_header(x, "Content-Range", range);
	if (status == 416) {
		refuse(x, status, "the file has no such bytes");
		return 0;
	}
	return send_bytes(x, status, content, from, end - from, err);
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
	bool sent = folder || answer_file(x, &node->content, &err) == 0;
	pthread_mutex_unlock(&box->lock);
	if (!found && *path)
		refuse(x, 404, "there is no such file");
	else if (folder)
		refuse(x, 400, "that is a folder");
	else if (!sent)
		refuse(x, 500, err.message);
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

/* --- in --- */

/* One file of a body. */
struct part {
	char *name; /* as it is called there; owned, or NULL */
	struct content content;
	bool whole;
};

/* What has come of a body so far. */
struct upload {
	struct box *box;
	struct multipart multipart;
	bool has_parts, packed;
	struct part *parts;
	size_t count;
	struct error err; /* what is wrong with it: the rest is not kept */
};

static void upload_free(void *self)
{
	struct upload *u = self;

	for (size_t i = 0; i < u->count; i++) {
		free(u->parts[i].name);
		content_release(&u->parts[i].content);
	}
	free(u->parts);
	multipart_release(&u->multipart);
	free(u);
}

static void on_part(void *self, char *name)
{
	struct upload *u = self;

	if (u->count == PARTS_MAX && u->err.kind == ERR_NONE)
		error_set(&u->err, ERR_USAGE, "more than %d files", PARTS_MAX);
	if (u->err.kind != ERR_NONE) {
		free(name);
		return;
	}
	u->parts = mem_one_more(u->parts, u->count, sizeof(*u->parts));
	u->parts[u->count++] = (struct part){
		.name = name,
		.content = { .store = u->box->home.store, .owner = u->box->owner },
	};
}

static void on_bytes(void *self, const char *bytes, size_t len)
{
	struct upload *u = self;

	if (u->err.kind == ERR_NONE)
		content_add(&u->parts[u->count - 1].content, bytes, len, &u->err);
}

static void on_part_end(void *self)
{
	struct upload *u = self;

	if (u->err.kind == ERR_NONE)
		u->parts[u->count - 1].whole = true;
}

/* One that is no multipart is one part, which is whole when the request is. */
static struct upload *upload_of(struct exchange *x)
{
	struct upload *u = exchange_memory_of(x);
	const char *coded = exchange_header(x, "Content-Encoding");

	if (u)
		return u;
	u = mem_alloc(sizeof(*u));
	*u = (struct upload){ .box = exchange_box(x),
			      .packed = coded && strcasecmp(coded, "identity") };
	u->has_parts = multipart_init(&u->multipart, exchange_header(x, "Content-Type"));
	u->multipart.begins = on_part;
	u->multipart.has = on_bytes;
	u->multipart.ends = on_part_end;
	u->multipart.self = u;
	if (!u->has_parts) {
		on_part(u, NULL);
		on_part_end(u);
	}
	if (u->packed && strcasecmp(coded, "gzip"))
		error_set(&u->err, ERR_USAGE,
			  "Content-Encoding: send the file as it is, or as gzip");
	exchange_memory_is(x, u, upload_free);
	return u;
}

static void take(struct upload *u, const char *bytes, size_t len)
{
	if (u->has_parts)
		multipart_add(&u->multipart, bytes, len);
	else
		on_bytes(u, bytes, len);
}

bool e2b_file_take(struct exchange *x, const char *bytes, size_t len)
{
	struct upload *u = upload_of(x);

	if (u->packed)
		return false;
	take(u, bytes, len);
	return true;
}

/* A packed one, which was kept as it came; room bounds what it becomes. */
static int unpack(struct exchange *x, struct upload *u)
{
	cleanup_buf struct buf room = BUF_INIT(HTTP_BODY_MAX);
	const struct buf *body = exchange_body(x);

	if (gunzip(body->data, body->len, &room, &u->err) < 0)
		return -1;
	take(u, room.data, room.len);
	return 0;
}

/* One file of a body. */
static int put(struct upload *u, struct part *part, const char *name, const char *metadata,
	       struct json *written)
{
	cleanup_free char *path = home_path(name, &u->err);
	struct home *home = &u->box->home;

	if (!path)
		return -1;
	pthread_mutex_lock(&u->box->lock);
	struct home_node *node = home_find(home, path);
	unsigned mode = node && !node->folder ? node->mode : 0644;
	int rc = home_put_content(home, path, &part->content, mode, &u->err);
	if (!rc) {
		node = home_find(home, path);
		home_note_metadata(node, metadata);
		json_append(written, entry(node));
	}
	pthread_mutex_unlock(&u->box->lock);
	return rc;
}

static int put_all(struct upload *u, const char *path, const char *metadata, struct json *written)
{
	size_t count = 0;

	for (size_t i = 0; i < u->count && u->parts[i].whole; i++, count++) {
		const char *name = path ? path : u->parts[i].name;

		if (!name)
			return error_set(&u->err, ERR_USAGE,
					 u->has_parts ? "a file without a name" :
							"path is missing");
		if (path && count)
			return error_set(&u->err, ERR_USAGE, "several files, and one path");
		if (put(u, &u->parts[i], name, metadata, written) < 0)
			return -1;
	}
	return count ? 0 : error_set(&u->err, ERR_USAGE, "the body has no file");
}

void e2b_file_write(struct exchange *x)
{
	cleanup_json struct json *metadata = exchange_headers(x, "X-Metadata-", METADATA_MAX);
	cleanup_free char *said = metadata ? json_print(metadata) : NULL;
	const char *path = exchange_query(x, "path");
	struct json *written = json_array();
	struct upload *u = upload_of(x);

	if (u->err.kind == ERR_NONE && u->packed)
		unpack(x, u);
	if (u->err.kind == ERR_NONE)
		put_all(u, path && *path ? path : NULL, said, written);
	if (u->err.kind == ERR_NONE) {
		exchange_answer(x, 200, written);
		return;
	}
	json_free(written);
	refuse(x, status_of(&u->err), u->err.message);
}
