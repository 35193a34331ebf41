/*
 * The spellings a secret can take in text: JSON escapes, percent signs, base64, and back. Pure
 * functions over bytes; what is a secret is not known here.
 */
#include "audit/redact/encode.h"

#include <stdint.h>
#include <string.h>

enum form {
	FORM_JSON,
	FORM_JSON_TWICE,
	FORM_JSON_SLASH,
	FORM_PERCENT_UPPER,
	FORM_PERCENT_LOWER,
	FORM_HEX_LOWER,
	FORM_HEX_UPPER,
	FORM_BASE64, /* then 5 more: alignment + 3 for the URL-safe alphabet */
};

static const char upper_hex[] = "0123456789ABCDEF";
static const char lower_hex[] = "0123456789abcdef";

static void add_hex(struct buf *out, unsigned char byte, const char *digits)
{
	buf_addch(out, digits[byte >> 4]);
	buf_addch(out, digits[byte & 15]);
}

void encode_json(const char *text, size_t len, struct buf *out)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";

	for (size_t i = 0; i < len; i++) {
		const char *p = text[i] ? strchr(plain, text[i]) : NULL;

		if (p) {
			buf_addch(out, '\\');
			buf_addch(out, letter[p - plain]);
		} else if ((unsigned char)text[i] < 0x20) {
			buf_addstr(out, "\\u00");
			add_hex(out, (unsigned char)text[i], lower_hex);
		} else {
			buf_addch(out, text[i]);
		}
	}
}

static void add_utf8(struct buf *out, uint32_t c)
{
	if (c < 0x80) {
		buf_addch(out, (char)c);
		return;
	}
	if (c < 0x800) {
		buf_addch(out, (char)(0xC0 | c >> 6));
	} else {
		if (c < 0x10000) {
			buf_addch(out, (char)(0xE0 | c >> 12));
		} else {
			buf_addch(out, (char)(0xF0 | c >> 18));
			buf_addch(out, (char)(0x80 | (c >> 12 & 63)));
		}
		buf_addch(out, (char)(0x80 | (c >> 6 & 63)));
	}
	buf_addch(out, (char)(0x80 | (c & 63)));
}

static bool hex4(const char *text, size_t len, uint32_t *ret)
{
	if (len < 4)
		return false;
	uint32_t value = 0;
	for (size_t i = 0; i < 4; i++) {
		const char c = (char)(text[i] >= 'A' ? text[i] | 32 : text[i]);
		const char *p = c ? strchr(lower_hex, c) : NULL;

		if (!p)
			return false;
		value = value << 4 | (uint32_t)(p - lower_hex);
	}
	*ret = value;
	return true;
}

/* "uXXXX" at text, a surrogate pair taken together; the bytes used, 0 when it is none. */
static size_t decode_unicode(const char *text, size_t len, struct buf *out)
{
	uint32_t c;

	if (!len || text[0] != 'u' || !hex4(text + 1, len - 1, &c))
		return 0;
	uint32_t low;
	if (c >= 0xD800 && c < 0xDC00 && len >= 11 && text[5] == '\\' && text[6] == 'u' &&
	    hex4(text + 7, len - 7, &low) && low >= 0xDC00 && low < 0xE000) {
		add_utf8(out, 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00));
		return 11;
	}
	add_utf8(out, c);
	return 5;
}

void decode_json(const char *text, size_t len, struct buf *out)
{
	static const char letter[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
	size_t i = 0;

	while (i < len) {
		if (text[i] != '\\' || i + 1 == len) {
			buf_addch(out, text[i++]);
			continue;
		}
		i++;
		const char *p = text[i] ? strchr(letter, text[i]) : NULL;
		if (p) {
			buf_addch(out, plain[p - letter]);
			i++;
			continue;
		}
		size_t used = decode_unicode(text + i, len - i, out);
		if (!used)
			buf_addch(out, '\\');
		i += used;
	}
}

static bool is_unreserved(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("-_.~", c));
}

/* RFC 3986: everything but unreserved characters. */
static void encode_percent(const char *value, size_t len, const char *digits, struct buf *out)
{
	for (size_t i = 0; i < len; i++) {
		if (is_unreserved(value[i])) {
			buf_addch(out, value[i]);
			continue;
		}
		buf_addch(out, '%');
		add_hex(out, (unsigned char)value[i], digits);
	}
}

/* RFC 4648. lead unknown bytes stand before value in its group of three. */
static void encode_base64(const char *value, size_t len, size_t lead, const char *digits,
			  struct buf *out)
{
	const size_t first = (lead * 8 + 5) / 6, count = (lead + len) * 8 / 6;

	for (size_t i = first; i < count; i++) {
		unsigned six = 0;

		for (size_t bit = i * 6; bit < i * 6 + 6; bit++) {
			unsigned char byte = (unsigned char)value[bit / 8 - lead];

			six = six << 1 | ((unsigned)byte >> (7 - bit % 8) & 1);
		}
		buf_addch(out, digits[six]);
	}
}

/* "\/": needless, but some encoders do it. */
static void escape_slashes(const struct buf *json, struct buf *out)
{
	for (size_t i = 0; i < json->len; i++) {
		if (json->data[i] == '/')
			buf_addch(out, '\\');
		buf_addch(out, json->data[i]);
	}
}

bool encode_is_base64(unsigned form)
{
	return form >= FORM_BASE64;
}

bool encode_base64_digit(char c)
{
	return (is_unreserved(c) && c != '.' && c != '~') || c == '+' || c == '/';
}

void encode_form(unsigned form, const char *value, size_t len, struct buf *out)
{
	static const char *const digits[] = {
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
	};
	cleanup_buf struct buf once = BUF_INIT(BUF_MAX_DEFAULT);

	if (form >= FORM_BASE64) {
		form -= FORM_BASE64;
		encode_base64(value, len, form % 3, digits[form / 3], out);
	} else if (form == FORM_JSON) {
		encode_json(value, len, out);
	} else if (form == FORM_JSON_TWICE) {
		encode_json(value, len, &once);
		encode_json(once.data, once.len, out);
	} else if (form == FORM_JSON_SLASH) {
		encode_json(value, len, &once);
		escape_slashes(&once, out);
	} else if (form == FORM_HEX_LOWER || form == FORM_HEX_UPPER) {
		for (size_t i = 0; i < len; i++)
			add_hex(out, (unsigned char)value[i],
				form == FORM_HEX_LOWER ? lower_hex : upper_hex);
	} else {
		encode_percent(value, len, form == FORM_PERCENT_UPPER ? upper_hex : lower_hex, out);
	}
}
