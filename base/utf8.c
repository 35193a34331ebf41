/*
 * UTF-8 as text from outside comes: checked, repaired, normalised, measured, and made harmless
 * for a terminal. No byte that acts on one passes utf8_visible or utf8_escape.
 */
#include "base/utf8.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* Combining marks in a row that utf8_normalise sorts. */
#define MARKS_MAX 128

/* Continuation bytes and the smallest code point of each lead byte's length. */
static int sequence_len(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if ((lead & 0xf0) == 0xe0)
		return 3;
	return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

const char *utf8_other(const char *bytes, size_t len)
{
	static const struct {
		const char *begin; /* of so many bytes: x is any but NUL */
		size_t len;
		const char *name;
	} known[] = {
		{ "\xff\xfe\0\0", 4, "UTF-32" }, { "\0\0\xfe\xff", 4, "UTF-32" },
		{ "\xff\xfe", 2, "UTF-16" },	 { "\xfe\xff", 2, "UTF-16" },
		{ "x\0\0\0", 4, "UTF-32LE" },	 { "\0\0\0x", 4, "UTF-32BE" },
		{ "x\0x\0", 4, "UTF-16LE" },	 { "\0x\0x", 4, "UTF-16BE" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t n = 0;

		while (n < known[i].len && n < len &&
		       (known[i].begin[n] == 'x' ? bytes[n] != '\0' :
						   bytes[n] == known[i].begin[n]))
			n++;
		if (n == known[i].len)
			return known[i].name;
	}
	return NULL;
}

/* Length of the valid sequence at bytes, 0 when invalid; *ret_point is its value. */
static int decode(const unsigned char *bytes, size_t len, uint32_t *ret_point)
{
	int need = sequence_len(bytes[0]);

	if (!need || (size_t)need > len)
		return 0;
	uint32_t point = need == 1 ? bytes[0] : bytes[0] & (0x7fu >> need);
	for (int i = 1; i < need; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		point = (point << 6) | (bytes[i] & 0x3f);
	}
	if ((need == 3 && point < 0x800) || (need == 4 && point < 0x10000) || point > 0x10ffff ||
	    (point >= 0xd800 && point <= 0xdfff))
		return 0;
	*ret_point = point;
	return need;
}

size_t utf8_valid_prefix(const char *bytes, size_t len)
{
	const unsigned char *p = (const unsigned char *)bytes;
	size_t at = 0;

	while (at < len) {
		uint64_t word;
		uint32_t point;

		/* Eight ASCII bytes at a time: most text is that. */
		while (len - at >= sizeof(word)) {
			memcpy(&word, p + at, sizeof(word));
			if (word & UINT64_C(0x8080808080808080))
				break;
			at += sizeof(word);
		}
		if (at == len)
			break;
		int n = decode(p + at, len - at, &point);
		if (!n)
			break;
		at += (size_t)n;
	}
	return at;
}

bool utf8_valid(const char *bytes, size_t len)
{
	return utf8_valid_prefix(bytes, len) == len;
}

/*
 * Bytes of the invalid sequence at bytes that one U+FFFD stands for: the longest
 * beginning of some valid sequence, else one byte (Unicode 3.9, table 3-8).
 */
static size_t invalid_len(const unsigned char *bytes, size_t len)
{
	int need = sequence_len(bytes[0]);
	unsigned char low = 0x80, high = 0xbf;

	if (need < 2 || len < 2)
		return 1;
	low = bytes[0] == 0xe0 ? 0xa0 : bytes[0] == 0xf0 ? 0x90 : low;
	high = bytes[0] == 0xed ? 0x9f : bytes[0] == 0xf4 ? 0x8f : high;
	if (bytes[1] < low || bytes[1] > high)
		return 1;
	size_t n;
	for (n = 2; n < len && n < (size_t)need && (bytes[n] & 0xc0) == 0x80; n++)
		;
	return n;
}

size_t utf8_unfinished(const char *bytes, size_t len)
{
	const unsigned char *p = (const unsigned char *)bytes;
	size_t n = 0;

	/* Back to the lead byte, if one is as near as it must be. */
	do
		n++;
	while (n <= 3 && n <= len && (p[len - n] & 0xc0) == 0x80);
	if (n > 3 || n > len || (size_t)sequence_len(p[len - n]) <= n)
		return 0;
	return n == 1 || invalid_len(p + len - n, n) == n ? n : 0;
}

int utf8_join(struct utf8_begun *begun, struct buf *out, const char *bytes, size_t len)
{
	if (buf_add(out, begun->bytes, begun->len) < 0 || buf_add(out, bytes, len) < 0)
		return -1;
	size_t rest = utf8_unfinished(out->data, out->len);
	begun->len = rest;
	memcpy(begun->bytes, out->data + out->len - rest, rest);
	buf_truncate(out, out->len - rest);
	return 0;
}

int utf8_repair(struct buf *out, const char *bytes, size_t len)
{
	while (len) {
		size_t good = utf8_valid_prefix(bytes, len);
		if (buf_add(out, bytes, good) < 0)
			return -1;
		bytes += good;
		len -= good;
		if (!len)
			break;
		if (buf_addstr(out, "\xef\xbf\xbd") < 0)
			return -1;
		size_t bad = invalid_len((const unsigned char *)bytes, len);
		bytes += bad;
		len -= bad;
	}
	return 0;
}

/*
 * Code points a terminal obeys, that reorder what a person reads, or that hide
 * text from the reader but not from a program. Joiners (U+200C, U+200D) stay:
 * honest scripts and emoji need them. Noncharacters (U+FFFE, U+FFFF of each plane, and
 * U+FDD0 to U+FDEF) belong into no text that programs exchange.
 */
static bool is_control(uint32_t point)
{
	static const uint32_t ranges[][2] = {
		{ 0x00, 0x1f },	    { 0x7f, 0x9f },	{ 0x061c, 0x061c },   { 0x200b, 0x200b },
		{ 0x200e, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },   { 0xfdd0, 0xfdef },
		{ 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
	};

	if ((point & 0xfffe) == 0xfffe)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(ranges) && point >= ranges[i][0]; i++)
		if (point <= ranges[i][1])
			return true;
	return false;
}

/* Each character, the harmful ones as `show` writes them; 0 for an invalid byte. */
static int copy_shown(struct buf *out, const char *bytes, size_t len,
		      int (*show)(struct buf *out, uint32_t point, unsigned char byte))
{
	const unsigned char *p = (const unsigned char *)bytes;
	size_t at = 0, start = 0;
	uint32_t point = 0;
	int rc = 0;

	while (at < len && !rc) {
		int n = decode(p + at, len - at, &point);
		if (n && (point == '\n' || point == '\t' || !is_control(point))) {
			at += (size_t)n;
			continue;
		}
		rc = buf_add(out, bytes + start, at - start);
		if (!rc)
			rc = show(out, n ? point : 0, n ? 0 : p[at]);
		at += n ? (size_t)n : 1;
		start = at;
	}
	return rc ? rc : buf_add(out, bytes + start, at - start);
}

static int put_in_brackets(struct buf *out, uint32_t point, unsigned char byte)
{
	return buf_addf(out, byte || point < 0x100 ? "<%02X>" : "<U+%04X>", byte ? byte : point);
}

int utf8_visible(struct buf *out, const char *bytes, size_t len)
{
	return copy_shown(out, bytes, len, put_in_brackets);
}

static int put_as_escape(struct buf *out, uint32_t point, unsigned char byte)
{
	if (byte)
		return buf_addstr(out, "\\ufffd");
	if (point < 0x10000)
		return buf_addf(out, "\\u%04x", point);
	point -= 0x10000;
	return buf_addf(out, "\\u%04x\\u%04x", 0xd800 + (point >> 10), 0xdc00 + (point & 0x3ff));
}

int utf8_escape(struct buf *out, const char *bytes, size_t len)
{
	return copy_shown(out, bytes, len, put_as_escape);
}

/*
 * utf8proc sorts combining marks by insertion: a long run of them takes its
 * square in time. Honest text has a handful (UAX #15 calls 30 stream-safe).
 */
static bool sorts_quickly(const char *bytes, size_t len)
{
	size_t at = 0, run = 0;
	int last = 0;

	while (at < len && run <= MARKS_MAX) {
		utf8proc_int32_t point;

		utf8proc_ssize_t got = utf8proc_iterate((const utf8proc_uint8_t *)bytes + at,
							(utf8proc_ssize_t)(len - at), &point);
		if (got <= 0)
			return false;
		at += (size_t)got;
		if (point < 0x300) { /* no marks below */
			run = 0;
			continue;
		}
		utf8proc_int32_t parts[16];
		utf8proc_ssize_t n =
			utf8proc_decompose_char(point, parts, ARRAY_SIZE(parts),
						UTF8PROC_STABLE | UTF8PROC_DECOMPOSE, &last);
		for (utf8proc_ssize_t i = 0; i < n && i < (utf8proc_ssize_t)ARRAY_SIZE(parts); i++)
			run = utf8proc_get_property(parts[i])->combining_class ? run + 1 : 0;
	}
	return run <= MARKS_MAX;
}

int utf8_normalise(struct buf *out, const char *bytes, size_t len)
{
	if (!sorts_quickly(bytes, len))
		return buf_add(out, bytes, len);
	utf8proc_uint8_t *mapped = NULL;
	utf8proc_ssize_t got = utf8proc_map((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)len,
					    &mapped, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
	if (got < 0)
		return buf_add(out, bytes, len);
	int rc = buf_add(out, mapped, (size_t)got);
	free(mapped);
	return rc;
}

/* Bytes of the character at bytes, and its columns. */
static size_t measure(const char *bytes, size_t len, size_t *ret_columns)
{
	uint32_t point;
	int n = decode((const unsigned char *)bytes, len, &point);
	int width = n ? utf8proc_charwidth((utf8proc_int32_t)point) : 1;

	*ret_columns = width > 0 ? (size_t)width : 0;
	return n ? (size_t)n : 1;
}

size_t utf8_fit(const char *bytes, size_t len, size_t columns)
{
	size_t at = 0, used = 0;

	while (at < len) {
		size_t width;
		size_t n = measure(bytes + at, len - at, &width);
		if (used + width > columns)
			break;
		used += width;
		at += n;
	}
	return at;
}

size_t utf8_width(const char *bytes, size_t len)
{
	size_t at = 0, columns = 0, width;

	for (; at < len; columns += width)
		at += measure(bytes + at, len - at, &width);
	return columns;
}
