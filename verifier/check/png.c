/*
 * Whether a file is a whole PNG: chunks, checksums, the size of its rows. It decodes no picture,
 * and an image of any promised size costs no more memory than a small one.
 */
#include "verifier/check/png.h"

#include "base/buf.h"
#include "verifier/check/inflate.h"

#include <stdint.h>
#include <string.h>

#define CHUNK_OVERHEAD 12      /* length, kind, checksum */
#define SIDE_MAX       1000000 /* pixels: keeps every product below within 64 bits */

struct header {
	int64_t width, height;
	int depth, colour, interlace;
};

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t crc(const unsigned char *p, size_t len)
{
	uint32_t c = 0xffffffff;

	while (len--) {
		c ^= *p++;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
	}
	return ~c;
}

/* Samples of one pixel; 0 for a colour type that is none. */
static int channels(int colour)
{
	static const int counts[] = { 1, 0, 3, 1, 2, 0, 4 };

	return colour >= 0 && colour <= 6 ? counts[colour] : 0;
}

/* Filter byte and samples of all rows of an image, or of one pass over it. */
static int64_t rows_size(const struct header *h, int64_t width, int64_t height)
{
	int64_t bits = width * channels(h->colour) * h->depth;

	return width && height ? height * (1 + (bits + 7) / 8) : 0;
}

static int64_t decoded_size(const struct header *h)
{
	static const struct {
		int x, y, dx, dy;
	} passes[7] = { { 0, 0, 8, 8 }, { 4, 0, 8, 8 }, { 0, 4, 4, 8 }, { 2, 0, 4, 4 },
			{ 0, 2, 2, 4 }, { 1, 0, 2, 2 }, { 0, 1, 1, 2 } };

	if (!h->interlace)
		return rows_size(h, h->width, h->height);
	int64_t size = 0;
	for (int i = 0; i < 7; i++)
		size += rows_size(h, (h->width - passes[i].x + passes[i].dx - 1) / passes[i].dx,
				  (h->height - passes[i].y + passes[i].dy - 1) / passes[i].dy);
	return size;
}

static const char *read_header(const unsigned char *p, size_t len, struct header *ret)
{
	static const unsigned char magic[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

	if (len < 33 || memcmp(p, magic, 8) || memcmp(p + 8, "\0\0\0\rIHDR", 8))
		return "has no PNG header";
	*ret = (struct header){ be32(p + 16), be32(p + 20), p[24], p[25], p[28] };
	if (!ret->width || !ret->height)
		return "is a PNG of no size";
	if (ret->width > SIDE_MAX || ret->height > SIDE_MAX || !channels(ret->colour) ||
	    !ret->depth || ret->depth > 16 || (ret->depth & (ret->depth - 1)) || ret->interlace > 1)
		return "has a PNG header that states no possible image";
	return NULL;
}

/* The image data out of its chunks (RFC 2083), which run from IHDR to IEND. */
static const char *read_chunks(const unsigned char *p, size_t len, struct buf *data)
{
	size_t at = 8;

	while (len - at >= CHUNK_OVERHEAD) {
		size_t n = be32(p + at);
		if (n > len - at - CHUNK_OVERHEAD)
			break;
		if (crc(p + at + 4, n + 4) != be32(p + at + 8 + n))
			return "is a PNG with a wrong checksum";
		if (!memcmp(p + at + 4, "IDAT", 4))
			buf_add(data, p + at + 8, n);
		if (!memcmp(p + at + 4, "IEND", 4))
			return data->len ? NULL : "is a PNG without image data";
		at += CHUNK_OVERHEAD + n;
	}
	return "is a PNG that was cut short";
}

const char *png_fault(const unsigned char *bytes, size_t len)
{
	cleanup_buf struct buf data = BUF_INIT(len + 1);
	struct header h;
	const char *fault = read_header(bytes, len, &h);

	fault = fault ? fault : read_chunks(bytes, len, &data);
	if (fault)
		return fault;
	int64_t want = decoded_size(&h);
	int64_t is = inflate_length((const unsigned char *)data.data, data.len, want);
	if (is < 0)
		return "is a PNG whose image data cannot be decoded";
	return is == want ? NULL : "is a PNG that does not decode to its stated size";
}
