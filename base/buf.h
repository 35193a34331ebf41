/*
 * A growable byte buffer with a ceiling given at its birth.
 *
 * Invariants: data is NUL-terminated at len (so that text can be used as a C
 * string; bytes may contain NULs too), len <= max. An append that would pass
 * the ceiling appends nothing, returns -1 and sets overflow, which stays set
 * until buf_clear: a caller may append many times and look once. The functions
 * here alone change len and cap.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data; /* owned; never NULL after buf_init */
	size_t len; /* bytes in use, without the NUL */
	size_t cap; /* bytes allocated */
	size_t max; /* ceiling for len */
	bool overflow;
};

#define BUF_MAX_DEFAULT ((size_t)256 << 20)

/* An empty buffer that may hold up to max bytes. */
#define BUF_INIT(ceiling)                           \
	{                                           \
		.data = buf_empty, .max = (ceiling) \
	}
extern char buf_empty[1];

void buf_init(struct buf *b, size_t max);
void buf_release(struct buf *b); /* frees; the buffer is empty and usable after */
void buf_clear(struct buf *b);	 /* len 0, keeps the memory */

/* 0, or -1 past the ceiling. The bytes must not lie in the buffer itself. */
int buf_add(struct buf *b, const void *bytes, size_t len);
int buf_addstr(struct buf *b, const char *s);
int buf_addch(struct buf *b, char c);
int buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Room for at least len more bytes at data + len, or NULL past the ceiling;
 * the caller fills it and says how many with buf_grew. */
char *buf_room(struct buf *b, size_t len);
void buf_grew(struct buf *b, size_t len);

/* Cuts to the first len bytes, where there are more. */
void buf_truncate(struct buf *b, size_t len);

/* Removes len bytes from the front, at most all. Moves the rest: O(rest). */
void buf_consume(struct buf *b, size_t len);

/* The bytes, NUL-terminated, now the caller's to free; the buffer is empty. */
char *buf_take(struct buf *b, size_t *ret_len);

#define cleanup_buf __attribute__((cleanup(buf_release)))

#endif
