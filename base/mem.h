/*
 * Allocation that does not fail, and owners that clean up.
 *
 * Running out of memory for our own small structures ends the program with a
 * message (bounded data goes through struct buf, whose ceiling is an ordinary
 * error). The cleanup attribute frees on every path out of a scope; TAKE_PTR
 * and TAKE_FD hand ownership on in the last statement.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

_Noreturn void mem_exhausted(void); /* what happens then; exit status 1 */
void *mem_alloc(size_t size);	    /* zeroed */
void *mem_realloc(void *ptr, size_t size);
void *mem_array(void *ptr, size_t count, size_t size); /* overflow-checked realloc */
/*
 * Room for one more than `count`, doubling, so that n elements cost n; only for an array that grew
 * by this function alone, from NULL.
 */
void *mem_one_more(void *ptr, size_t count, size_t size);
char *mem_strdup(const char *s);	      /* NULL gives NULL */
char *mem_strndup(const char *s, size_t len); /* copies len bytes, adds NUL */
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

void mem_cleanup_free(void *ptr);      /* for char *p: frees *(void **)ptr */
void mem_cleanup_close(const int *fd); /* closes *fd when >= 0 */

#define cleanup_free  __attribute__((cleanup(mem_cleanup_free)))
#define cleanup_close __attribute__((cleanup(mem_cleanup_close)))

#define TAKE_PTR(p)                         \
	__extension__({                     \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})
#define TAKE_FD(fd)                \
	__extension__({            \
		int taken_ = (fd); \
		(fd) = -1;         \
		taken_;            \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
