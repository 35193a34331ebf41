/*
 * Base64 by its table. What is read is refused as a whole when a character of it belongs to no
 * alphabet, or when it ends in the middle of a byte.
 */
#include "base/base64.h"

#include "base/mem.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_encode(struct buf *out, const void *bytes, size_t len)
{
	const unsigned char *in = bytes;
	char *room;

	if (len > out->max || !(room = buf_room(out, (len + 2) / 3 * 4)))
		return -1;
	for (size_t i = 0; i < len; i += 3) {
		size_t have = len - i < 3 ? len - i : 3;
		unsigned int group = (unsigned int)in[i] << 16 | (have > 1 ? in[i + 1] : 0U) << 8 |
				     (have > 2 ? in[i + 2] : 0U);

		*room++ = digits[group >> 18];
		*room++ = digits[group >> 12 & 63];
		*room++ = have > 1 ? digits[group >> 6 & 63] : '=';
		*room++ = have > 2 ? digits[group & 63] : '=';
	}
	buf_grew(out, (len + 2) / 3 * 4);
	return 0;
}

char *base64_text(const void *bytes, size_t len)
{
	struct buf out = BUF_INIT((len + 2) / 3 * 4 + 1);

	base64_encode(&out, bytes, len); /* there is room */
	return buf_take(&out, NULL);
}

/* The value of a digit; -1: passed over; -2: none. */
static int value_of(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	if (at)
		return (int)(at - digits);
	return c && strchr(" \t\r\n", c) ? -1 : -2;
}

int base64_decode(struct buf *out, const char *text, size_t len)
{
	size_t before = out->len;

	while (len && strchr("= \t\r\n", text[len - 1]) && text[len - 1])
		len--;
	size_t i;
	unsigned int group = 0, bits = 0;
	for (i = 0; i < len; i++) {
		int value = value_of(text[i]);

		if (value == -1)
			continue;
		if (value < 0)
			break;
		group = group << 6 | (unsigned int)value;
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		if (buf_addch(out, (char)(group >> bits & 255)) < 0)
			break;
	}
	if (i == len && bits < 6 && !(group & ((1U << bits) - 1)))
		return 0;
	buf_truncate(out, before);
	return -1;
}
