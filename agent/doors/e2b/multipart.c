/*
 * A body of several parts (RFC 7578), read as it comes: boundaries are looked for, headers of a
 * part only for its file name. Whatever the bytes are, no more of them is held than a header may
 * have.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BOUNDARY_MAX 200
#define HEADERS_MAX  8192 /* of one line */
#define PIECE_MAX    65536

/* The bytes before the first boundary of a type, with a line end before all others. */
static char *boundary_of(const char *type)
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
	return len && len <= BOUNDARY_MAX ? mem_printf("\r\n--%.*s", (int)len, at) : NULL;
}

bool multipart_init(struct multipart *m, const char *type)
{
	*m = (struct multipart){ .boundary = boundary_of(type),
				 .held = BUF_INIT(HEADERS_MAX + PIECE_MAX + 16) };
	return m->boundary != NULL;
}

void multipart_release(struct multipart *m)
{
	free(TAKE_PTR(m->boundary));
	free(TAKE_PTR(m->name));
	buf_release(&m->held);
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

/* Each of these reads what it can of what is held; false: more has to come first. */

/* A boundary is held back until all of it is there. */
static bool read_until(struct multipart *m, const char *boundary, bool is_body)
{
	size_t len = strlen(boundary), all = m->held.len;
	const char *found = memmem(m->held.data, all, boundary, len);
	size_t before = found ? (size_t)(found - m->held.data) : all < len ? 0 : all - len + 1;

	if (is_body && before)
		m->has(m->self, m->held.data, before);
	buf_consume(&m->held, found ? before + len : before);
	if (found && is_body)
		m->ends(m->self);
	if (found)
		m->at = MULTIPART_BEHIND;
	return found != NULL;
}

/* "--": it was the last one. */
static bool read_behind(struct multipart *m)
{
	if (m->held.len < 2)
		return false;
	m->at = memcmp(m->held.data, "\r\n", 2) ? MULTIPART_OVER : MULTIPART_HEADERS;
	buf_consume(&m->held, 2);
	return true;
}

static bool read_header(struct multipart *m)
{
	const char *end = memmem(m->held.data, m->held.len, "\r\n", 2);
	size_t len = end ? (size_t)(end - m->held.data) : m->held.len;

	if (len > HEADERS_MAX + !end) { /* half of a line's end may be there */
		m->at = MULTIPART_OVER;
		return true;
	}
	if (!end)
		return false;
	if (len) {
		char *name = file_name(m->held.data, len);

		if (name) {
			free(m->name);
			m->name = name;
		}
	} else {
		m->begins(m->self, TAKE_PTR(m->name));
		m->at = MULTIPART_BODY;
	}
	buf_consume(&m->held, len + 2);
	return true;
}

static bool step(struct multipart *m)
{
	switch (m->at) {
	case MULTIPART_BEFORE:
		return read_until(m, m->boundary + 2, false);
	case MULTIPART_BEHIND:
		return read_behind(m);
	case MULTIPART_HEADERS:
		return read_header(m);
	case MULTIPART_BODY:
		return read_until(m, m->boundary, true);
	case MULTIPART_OVER:
	default:
		return false;
	}
}

void multipart_add(struct multipart *m, const char *bytes, size_t len)
{
	while (len && m->at != MULTIPART_OVER) {
		size_t piece = len < PIECE_MAX ? len : PIECE_MAX;

		buf_add(&m->held, bytes, piece);
		bytes += piece;
		len -= piece;
		while (step(m))
			;
	}
}
