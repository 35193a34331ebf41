/*
 * The growable buffer. No append passes the ceiling, and after a failed one the bytes before it
 * stand as they were.
 */
#include "base/buf.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an empty buffer points at; never written but with its own NUL. */
char buf_empty[1];

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf)BUF_INIT(max);
}

void buf_release(struct buf *b)
{
	if (b->cap)
		free(b->data);
	buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->overflow = false;
	if (b->cap)
		b->data[0] = '\0';
}

char *buf_room(struct buf *b, size_t len)
{
	/* PTRDIFF_MAX: no object is larger, and the sums below cannot wrap. */
	if (len > b->max - b->len || len >= (size_t)PTRDIFF_MAX - b->len) {
		b->overflow = true;
		return NULL;
	}
	size_t want = b->len + len + 1;
	if (want > b->cap) {
		size_t cap = b->cap ? b->cap : 64;
		while (cap < want)
			cap += cap / 2 + 64;
		b->data = mem_realloc(b->cap ? b->data : NULL, cap);
		b->cap = cap;
		b->data[b->len] = '\0';
	}
	return b->data + b->len;
}

void buf_grew(struct buf *b, size_t len)
{
	if (!len)
		return;
	b->len += len;
	b->data[b->len] = '\0';
}

int buf_add(struct buf *b, const void *bytes, size_t len)
{
	char *room = buf_room(b, len);

	if (!room)
		return -1;
	if (len)
		memcpy(room, bytes, len);
	buf_grew(b, len);
	return 0;
}

int buf_addstr(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

int buf_addch(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	int len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0) {
		b->overflow = true;
		return -1;
	}
	return buf_add(b, text, (size_t)len);
}

void buf_truncate(struct buf *b, size_t len)
{
	if (len >= b->len)
		return;
	b->len = len;
	b->data[len] = '\0';
}

void buf_consume(struct buf *b, size_t len)
{
	if (len > b->len)
		len = b->len;
	if (!len)
		return;
	memmove(b->data, b->data + len, b->len - len);
	b->len -= len;
	b->data[b->len] = '\0';
}

char *buf_take(struct buf *b, size_t *ret_len)
{
	char *bytes = b->cap ? b->data : mem_alloc(1);

	if (ret_len)
		*ret_len = b->len;
	b->cap = 0;
	buf_init(b, b->max);
	return bytes;
}
