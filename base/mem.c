/*
 * Memory that is there or ends the program: no caller looks for NULL. Sizes of arrays are
 * multiplied without wrapping; what mem_alloc gives is zeroed, what grows is not.
 */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mem_exhausted(void)
{
	static const char message[] = "assay: out of memory\n";

	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		abort();
	_exit(1);
}

void *mem_alloc(size_t size)
{
	void *ptr = calloc(1, size ? size : 1);

	if (!ptr)
		mem_exhausted();
	return ptr;
}

void *mem_realloc(void *ptr, size_t size)
{
	void *grown = realloc(ptr, size ? size : 1);

	if (!grown)
		mem_exhausted();
	return grown;
}

void *mem_array(void *ptr, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		mem_exhausted();
	return mem_realloc(ptr, count * size);
}

void *mem_one_more(void *ptr, size_t count, size_t size)
{
	/* The capacity is the power of two at or above the count. */
	if (count & (count - 1))
		return ptr;
	return mem_array(ptr, count ? count * 2 : 1, size);
}

char *mem_strdup(const char *s)
{
	return s ? mem_strndup(s, strlen(s)) : NULL;
}

char *mem_strndup(const char *s, size_t len)
{
	char *copy = mem_alloc(len + 1);

	if (len)
		memcpy(copy, s, len);
	return copy;
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *text = NULL;
	if (vasprintf(&text, fmt, ap) < 0)
		mem_exhausted();
	va_end(ap);
	return text;
}

void mem_cleanup_free(void *ptr)
{
	void **owner = ptr;

	free(*owner);
	*owner = NULL;
}

void mem_cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
