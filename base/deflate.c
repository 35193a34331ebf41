/*
 * The one door to zlib: whole buffers only. It keeps nothing between two calls, and believes no
 * length that a file claims.
 */
#include "base/deflate.h"

#include "base/mem.h"

#include <limits.h>
#define ZLIB_CONST
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

static int no_gzip(struct error *err)
{
	return error_set(err, ERR_USAGE, "the bytes are no whole gzip file");
}

/* Until the end of what is given: a member follows the one before. */
static int unpack(z_stream *z, struct buf *out, struct error *err)
{
	Bytef piece[16384];
	int rc = Z_OK;

	while (rc != Z_STREAM_END || z->avail_in) {
		if (rc == Z_STREAM_END && inflateReset(z) != Z_OK)
			return no_gzip(err);
		z->next_out = piece;
		z->avail_out = sizeof(piece);
		rc = inflate(z, Z_NO_FLUSH);
		if (rc != Z_OK && rc != Z_STREAM_END)
			return no_gzip(err);
		if (buf_add(out, piece, sizeof(piece) - z->avail_out) < 0)
			return error_set(err, ERR_BUDGET, "unpacked it is more than %zu bytes",
					 out->max);
	}
	return 0;
}

int gunzip(const void *bytes, size_t len, struct buf *out, struct error *err)
{
	z_stream z = { .next_in = bytes, .avail_in = (uInt)len };

	if (len > UINT_MAX || inflateInit2(&z, MAX_WBITS + 16) != Z_OK) /* + 16: gzip alone */
		return no_gzip(err);
	int rc = unpack(&z, out, err);
	inflateEnd(&z);
	return rc;
}
