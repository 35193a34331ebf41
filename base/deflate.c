/*
 * The one door to zlib: whole buffers only. It keeps nothing between two calls, and believes no
 * length that a file claims.
 */
#include "base/deflate.h"

#include "base/mem.h"

#include <zlib.h>

int deflate_bytes(const void *bytes, size_t len, struct buf *out)
{
	uLongf room = compressBound((uLong)len);
	cleanup_free Bytef *deflated = mem_alloc(room);

	if (compress2(deflated, &room, bytes, (uLong)len, Z_BEST_COMPRESSION) != Z_OK)
		return -1;
	return buf_add(out, deflated, room);
}

int inflate_bytes(const void *bytes, size_t len, size_t size, struct buf *out)
{
	cleanup_free Bytef *inflated = NULL;
	uLongf room = (uLongf)size;

	/* No more than deflate can make of so much: a forged size does not take all memory. */
	if (size / 1032 > len || (out->max && size > out->max))
		return -1;
	inflated = mem_alloc(size + 1);
	if (uncompress(inflated, &room, bytes, (uLong)len) != Z_OK || room != size)
		return -1;
	return buf_add(out, inflated, size);
}
