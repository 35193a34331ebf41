/*
 * A body of several parts (RFC 7578), read in place: boundaries are looked for, headers of a part
 * only for its file name. Whatever the bytes are, nothing is read beyond them.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BOUNDARY_MAX 200
#define HEADERS_MAX  8192

char *multipart_boundary(const char *type)
{
	static const char kind[] = "multipart/form-data";
	const char *at = type;

	if (!type || strncasecmp(type, kind, strlen(kind)))
		return NULL;
	at = strcasestr(type, "boundary=");
	if (!at)
		return NULL;
	at += strlen("boundary=");
	size_t len = *at == '"' ? strcspn(++at, "\"") : strcspn(at, "; \t");
	return len && len <= BOUNDARY_MAX ? mem_printf("--%.*s", (int)len, at) : NULL;
}

/* The value of filename="..." within a header's line; owned, or NULL. */
static char *file_name(const char *line, size_t len)
{
	cleanup_free char *text = mem_strndup(line, len);
	char *at = strcasestr(text, "filename=\"");

	if (!at || strncasecmp(text, "content-disposition:", 20))
		return NULL;
	at += strlen("filename=\"");
	char *to = at;
	for (const char *from = at; *from && *from != '"'; from++) {
		if (!strncmp(from, "%22", 3)) { /* as pages write what would end it */
			*to++ = '"';
			from += 2;
		} else {
			*to++ = *from;
		}
	}
	return mem_strndup(at, (size_t)(to - at));
}

/* Behind the blank line; NULL: there is none. */
static const char *read_headers(const char *at, const char *end, char **ret_name)
{
	while (at < end) {
		const char *line_end = memmem(at, (size_t)(end - at), "\r\n", 2);

		if (!line_end || line_end - at > HEADERS_MAX)
			return NULL;
		if (line_end == at)
			return at + 2;
		char *name = file_name(at, (size_t)(line_end - at));
		if (name) {
			free(*ret_name);
			*ret_name = name;
		}
		at = line_end + 2;
	}
	return NULL;
}

/* Where the next boundary begins, with the line end before it. */
static const char *find_end(const struct multipart *m, const char *body)
{
	const char *end = m->bytes + m->len, *at = body;

	for (; at < end; at++) {
		at = memmem(at, (size_t)(end - at), m->boundary, m->boundary_len);
		if (!at)
			return NULL;
		if (at - body >= 2 && at[-1] == '\n' && at[-2] == '\r')
			return at - 2;
	}
	return NULL;
}

bool multipart_next(struct multipart *m, char **ret_name, const char **ret_bytes, size_t *ret_len)
{
	const char *end = m->bytes + m->len, *at = m->at;

	*ret_name = NULL;
	if (!at) {
		at = m->len ? memmem(m->bytes, m->len, m->boundary, m->boundary_len) : NULL;
		at = at ? at + m->boundary_len : NULL;
	}
	if (!at || end - at < 2 || at[0] != '\r' || at[1] != '\n') /* "--": the last one */
		return false;
	const char *body = read_headers(at + 2, end, ret_name);
	const char *stop = body ? find_end(m, body) : NULL;
	if (!stop) {
		free(TAKE_PTR(*ret_name));
		return false;
	}
	*ret_bytes = body;
	*ret_len = (size_t)(stop - body);
	m->at = stop + 2 + m->boundary_len;
	return true;
}
