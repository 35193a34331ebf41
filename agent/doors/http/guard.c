/*
 * Keys and names (guard.h): the file of keys, and what a request's head says. Nothing here keeps
 * a key, and no comparison of one ends early.
 */
#include "agent/doors/http/guard.h"

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX   ((size_t)1 << 20)
#define KEYS_MAX   1000
#define KEY_BYTES  32
#define FIRST_NAME "first"

/* --- the file --- */

static char *new_key(void)
{
	unsigned char bytes[KEY_BYTES];
	struct buf text = BUF_INIT(KEY_BYTES * 2 + 8);

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		abort();
	buf_addstr(&text, "assay-");
	for (size_t i = 0; i < sizeof(bytes); i++)
		buf_addf(&text, "%02x", bytes[i]);
	return buf_take(&text, NULL);
}

/* Another start may make it at the same time: then that one's counts. */
static int make_file(const char *path, char **ret_made, struct error *err)
{
	cleanup_free char *folder = mem_strdup(path), *key = NULL, *line = NULL;
	char *slash = strrchr(folder, '/');

	if (slash && slash != folder) {
		*slash = '\0';
		if (io_make_dirs(folder, 0700, err) < 0)
			return -1;
	}
	int fd = io_open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd < 0 && errno == EEXIST)
		return 0;
	if (fd < 0)
		return error_set_errno(err, ERR_CONFIG, errno, "%s: the keys cannot be kept", path);
	key = new_key();
	line = mem_printf(FIRST_NAME " %s\n", key);
	int rc = io_write_all(fd, line, strlen(line), err);
	if (!rc && io_fsync(fd) < 0)
		rc = error_set_errno(err, ERR_CONFIG, errno, "%s", path);
	io_close(fd);
	if (rc < 0)
		io_unlink(path); /* half a key is none */
	else
		*ret_made = TAKE_PTR(key);
	return rc;
}

static int read_file(const char *path, struct buf *text, struct error *err)
{
	int fd = io_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);

	if (fd < 0)
		return error_set_errno(err, ERR_CONFIG, errno, "%s", path);
	int rc = -1;
	struct stat st;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (st.st_mode & 077) ||
	    st.st_uid != geteuid())
		error_set(err, ERR_CONFIG,
			  "%s: keys must be a file of yours that nobody else can read or change: "
			  "chmod 600 %s",
			  path, path);
	else
		rc = io_read_open_file(fd, path, text, err);
	io_close(fd);
	if (rc < 0)
		err->kind = ERR_CONFIG;
	return rc;
}

static bool is_name(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	return len && len <= GUARD_NAME_MAX;
}

static int add_line(struct guard *g, const char *line, size_t len, const char *path, size_t number,
		    struct error *err)
{
	size_t name = strcspn(line, " \t\r\n"), at = name + strspn(line + name, " \t");

	while (len && isspace((unsigned char)line[len - 1]))
		len--;
	if (!len || *line == '#')
		return 0;
	size_t key = len > at ? len - at : 0;
	if (!is_name(line, name) || key < GUARD_KEY_MIN || memchr(line + at, ' ', key) ||
	    g->count >= KEYS_MAX)
		return error_set(err, ERR_CONFIG,
				 "%s:%zu: a line is NAME KEY, the name of letters and digits, the "
				 "key of %d characters or more without blanks",
				 path, number, GUARD_KEY_MIN);
	g->keys = mem_array(g->keys, g->count + 1, sizeof(*g->keys));
	struct guard_key *k = &g->keys[g->count++];
	snprintf(k->owner, sizeof(k->owner), "key:%.*s", (int)name, line);
	hash_sha256(line + at, key, k->digest);
	for (size_t i = 0; i + 1 < g->count; i++)
		if (!strcmp(g->keys[i].digest, k->digest))
			return error_set(err, ERR_CONFIG, "%s:%zu: a key stands there twice", path,
					 number);
	return 0;
}

static int read_lines(struct guard *g, const struct buf *text, const char *path, struct error *err)
{
	const char *line = text->data, *end = text->data + text->len;
	size_t number = 1;

	for (; line < end; number++) {
		size_t len = strcspn(line, "\n");

		if (add_line(g, line, len, path, number, err) < 0)
			return -1;
		line += len + 1;
	}
	if (!g->count)
		return error_set(err, ERR_CONFIG,
				 "%s: there is no key in it; remove it, and the "
				 "next start makes one",
				 path);
	return 0;
}

int guard_load(struct guard *g, const char *path, char **ret_made, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(FILE_MAX);

	*ret_made = NULL;
	if (access(path, F_OK) < 0 && make_file(path, ret_made, err) < 0)
		return -1;
	if (read_file(path, &text, err) < 0 || read_lines(g, &text, path, err) < 0) {
		free(TAKE_PTR(*ret_made));
		return -1;
	}
	explicit_bzero(text.data, text.len);
	return 0;
}

void guard_release(struct guard *g)
{
	free(g->keys);
	*g = (struct guard){ .keys = NULL };
}

/* --- at the door --- */

static bool same_digest(const char *a, const char *b)
{
	volatile unsigned char differs = 0;

	for (size_t i = 0; i < HASH_HEX_LEN; i++)
		differs = (unsigned char)(differs | (a[i] ^ b[i]));
	return !differs;
}

const struct guard_key *guard_find(const struct guard *g, const char *key, size_t len)
{
	char digest[HASH_HEX_LEN + 1];

	hash_sha256(key, len, digest);
	const struct guard_key *found = NULL;
	for (size_t i = 0; i < g->count; i++)
		if (same_digest(digest, g->keys[i].digest))
			found = &g->keys[i];
	return found;
}

/* The name without its port: "[::1]:80" -> "[::1]". */
static size_t name_len(const char *host)
{
	const char *bracket = *host == '[' ? strchr(host, ']') : NULL;
	size_t len = bracket ? (size_t)(bracket + 1 - host) : strcspn(host, ":/");
	const char *port = host + len;

	if (*port == ':')
		port += 1 + strspn(port + 1, "0123456789");
	return *port ? 0 : len;
}

bool guard_host(const struct guard *g, const char *host)
{
	static const char *const own[] = { "localhost", "127.0.0.1", "[::1]" };
	size_t len = name_len(host);

	for (size_t i = 0; len && i < ARRAY_SIZE(own); i++)
		if (strlen(own[i]) == len && !strncasecmp(own[i], host, len))
			return true;
	for (const char *const *h = g->hosts; len && h && *h; h++)
		if (strlen(*h) == len && !strncasecmp(*h, host, len))
			return true;
	return false;
}

bool guard_origin(const struct guard *g, const char *origin)
{
	const char *host = !strncasecmp(origin, "http://", 7)  ? origin + 7 :
			   !strncasecmp(origin, "https://", 8) ? origin + 8 :
								 NULL;

	return host && guard_host(g, host);
}
