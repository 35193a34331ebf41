/*
 * Characters that a server cut in two escapes, of which each event has one: put together again. A
 * half that stays alone becomes U+FFFD, never a byte that is no UTF-8.
 */
#include "llm/wire/surrogate.h"

#include <stdlib.h>
#include <string.h>

#define CARRIER_BASE 0x10f800u /* + half - 0xd800: up to U+10FFFF */
#define CARRIER_LEN  4

static void add_char(struct buf *out, uint32_t c)
{
	const char bytes[] = { (char)(0xf0 | c >> 18), (char)(0x80 | (c >> 12 & 0x3f)),
			       (char)(0x80 | (c >> 6 & 0x3f)), (char)(0x80 | (c & 0x3f)) };

	buf_add(out, bytes, sizeof(bytes));
}

static void add_lost(struct buf *out)
{
	buf_add(out, "\xef\xbf\xbd", 3);
}

static bool is_first(uint32_t unit)
{
	return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_second(uint32_t unit)
{
	return unit >= 0xdc00 && unit <= 0xdfff;
}

/* The unit of an escape \uXXXX at text, or UINT32_MAX. */
static uint32_t escaped(const char *text, size_t len)
{
	char hex[5] = { 0 };

	if (len < 6 || text[0] != '\\' || text[1] != 'u')
		return UINT32_MAX;
	memcpy(hex, text + 2, 4);
	if (strspn(hex, "0123456789abcdefABCDEF") != 4)
		return UINT32_MAX;
	char *end;
	unsigned long unit = strtoul(hex, &end, 16);
	return (uint32_t)unit;
}

bool surrogate_carry(struct buf *out, const char *json, size_t len)
{
	size_t i = 0, start = 0;
	bool any = false;

	while (i < len) {
		const char *slash = memchr(json + i, '\\', len - i);

		if (!slash)
			break;
		i = (size_t)(slash - json);
		uint32_t unit = escaped(slash, len - i);
		uint32_t next = is_first(unit) ? escaped(slash + 6, len - i - 6) : UINT32_MAX;
		if (is_second(next)) {
			i += 12;
		} else if (is_first(unit) || is_second(unit) || unit == 0) {
			buf_add(out, json + start, i - start);
			if (unit == 0)
				add_lost(out);
			else
				add_char(out, CARRIER_BASE + unit - 0xd800);
			any = any || unit != 0;
			i += 6;
			start = i;
		} else {
			i += unit == UINT32_MAX ? 2 : 6;
		}
	}
	buf_add(out, json + start, len - start);
	return any;
}

/* The half that a carrier at text stands for, or 0. */
static uint32_t carried(const char *text, size_t len)
{
	const unsigned char *b = (const unsigned char *)text;

	if (len < CARRIER_LEN || b[0] != 0xf4)
		return 0;
	uint32_t c = (uint32_t)(b[0] & 7) << 18 | (uint32_t)(b[1] & 0x3f) << 12 |
		     (uint32_t)(b[2] & 0x3f) << 6 | (uint32_t)(b[3] & 0x3f);
	return c >= CARRIER_BASE ? c - CARRIER_BASE + 0xd800 : 0;
}

static void give_up(struct buf *out, uint32_t *pending)
{
	if (*pending)
		add_lost(out);
	*pending = 0;
}

static void take_half(struct buf *out, uint32_t *pending, uint32_t half)
{
	if (*pending && is_second(half)) {
		add_char(out, 0x10000 + ((*pending - 0xd800) << 10) + (half - 0xdc00));
		*pending = 0;
		return;
	}
	give_up(out, pending);
	if (is_first(half))
		*pending = half;
	else
		add_lost(out);
}

void surrogate_join(struct buf *out, uint32_t *pending, const char *text, size_t len, bool last)
{
	size_t i = 0;

	while (i < len) {
		const char *at = memchr(text + i, 0xf4, len - i);
		size_t plain = at ? (size_t)(at - text) - i : len - i;

		if (plain > 0)
			give_up(out, pending);
		buf_add(out, text + i, plain);
		i += plain;
		if (!at)
			break;
		uint32_t half = carried(text + i, len - i);
		if (half) {
			take_half(out, pending, half);
			i += CARRIER_LEN;
		} else {
			give_up(out, pending);
			buf_add(out, text + i, 1);
			i++;
		}
	}
	if (last)
		give_up(out, pending);
}
