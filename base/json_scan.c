/*
 * The strict half of the parser: a text that passes is JSON by RFC 8259, and cJSON reads it as
 * what it is. Pure; it allocates nothing and recurses no deeper than JSON_DEPTH_MAX.
 */
#include "base/json_scan.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <endian.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct scan {
	const char *text;
	size_t len, at;
	int depth;
	bool allow_big, big;
	size_t keys;	  /* seen so far */
	size_t blame_key; /* the one to fail at, and why; 0 for none */
	const char *why;
	struct error *err;
};

static int fail(const struct scan *s, const char *what)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < s->at && i < s->len; i++) {
		column++;
		if (s->text[i] == '\n') {
			line++;
			column = 1;
		}
	}
	return error_set(s->err, ERR_FAILED, "JSON line %zu column %zu: %s", line, column, what);
}

static void skip_blanks(struct scan *s)
{
	while (s->at < s->len && (s->text[s->at] == ' ' || s->text[s->at] == '\n' ||
				  s->text[s->at] == '\r' || s->text[s->at] == '\t'))
		s->at++;
}

static int peek(const struct scan *s)
{
	return s->at < s->len ? (unsigned char)s->text[s->at] : -1;
}

static int hex4(struct scan *s, unsigned *ret)
{
	unsigned value = 0;

	for (int i = 0; i < 4; i++, s->at++) {
		int c = peek(s);
		if (c >= '0' && c <= '9')
			value = value * 16 + (unsigned)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			value = value * 16 + (unsigned)((c | 32) - 'a' + 10);
		else
			return fail(s, "four hex digits expected after \\u");
	}
	*ret = value;
	return 0;
}

/* After "\u": a code point, with its low surrogate where it needs one. */
static int scan_unicode(struct scan *s)
{
	unsigned high;

	if (hex4(s, &high) < 0)
		return -1;
	if (high == 0)
		return fail(s, "\\u0000 in a string cannot be represented");
	if (high >= 0xdc00 && high <= 0xdfff)
		return fail(s, "lone low surrogate");
	if (high < 0xd800 || high > 0xdbff)
		return 0;
	if (s->at + 2 > s->len || s->text[s->at] != '\\' || s->text[s->at + 1] != 'u')
		return fail(s, "lone high surrogate");
	s->at += 2;
	unsigned low;
	if (hex4(s, &low) < 0)
		return -1;
	return low >= 0xdc00 && low <= 0xdfff ? 0 : fail(s, "lone high surrogate");
}

/* Every byte of a word the same. */
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/*
 * The top bit of each byte of word below n, which is at most 0x80. Borrows may
 * set others above the lowest such byte, never below it.
 */
static uint64_t bytes_below(uint64_t word, uint64_t n)
{
	return (word - EACH(n)) & ~word & EACH(0x80);
}

/* Skips what means nothing in a string, eight bytes at a time while there are. */
static void skip_plain(struct scan *s)
{
	uint64_t word;

	for (; s->len - s->at >= sizeof(word); s->at += sizeof(word)) {
		memcpy(&word, s->text + s->at, sizeof(word));
		word = le64toh(word);
		uint64_t special = bytes_below(word ^ EACH('"'), 1) |
				   bytes_below(word ^ EACH('\\'), 1) | bytes_below(word, 0x20);
		if (special) {
			s->at += (size_t)__builtin_ctzll(special) / 8;
			return;
		}
	}
}

static int scan_escape(struct scan *s)
{
	s->at++;
	int c = peek(s);
	if (c <= 0 || !strchr("\"\\/bfnrtu", c))
		return fail(s, "unknown escape in a string");
	s->at++;
	return c == 'u' ? scan_unicode(s) : 0;
}

static int scan_string(struct scan *s)
{
	s->at++;
	for (;;) {
		skip_plain(s);
		int c = peek(s);
		if (c < 0)
			return fail(s, "string without its closing quote");
		if (c < 0x20)
			return fail(s, "control character in a string");
		if (c == '\\') {
			if (scan_escape(s) < 0)
				return -1;
			continue;
		}
		s->at++;
		if (c == '"')
			return 0;
	}
}

static size_t digits(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

size_t json_scan_big(const char *text, size_t len)
{
	static const char limit[] = "9007199254740992";
	size_t sign = len && text[0] == '-', n = digits(text + sign, len - sign);
	size_t end = sign + n;

	if (end < len && strchr(".eE", text[end]) && text[end])
		return 0;
	if (n < sizeof(limit) - 1)
		return 0;
	if (n == sizeof(limit) - 1 && memcmp(text + sign, limit, n) <= 0)
		return 0;
	return end;
}

/* Whether the number of len characters at text is beyond what a double can be. */
static bool infinite(const char *text, size_t len)
{
	cleanup_free char *copy = mem_strndup(text, len);

	return isinf(strtod(copy, NULL));
}

static int scan_number(struct scan *s)
{
	size_t start = s->at;

	if (peek(s) == '-')
		s->at++;
	size_t n = digits(s->text + s->at, s->len - s->at);
	if (!n)
		return fail(s,
			    s->at > start ? "digits expected after the minus" : "not a JSON value");
	if (n > 1 && peek(s) == '0')
		return fail(s, "a number may not begin with 0");
	bool can_overflow = n > 300;
	s->at += n;
	if (peek(s) == '.') {
		s->at++;
		n = digits(s->text + s->at, s->len - s->at);
		if (!n)
			return fail(s, "digits expected after the point");
		s->at += n;
	}
	if (peek(s) == 'e' || peek(s) == 'E') {
		can_overflow = true;
		s->at++;
		if (peek(s) == '+' || peek(s) == '-')
			s->at++;
		n = digits(s->text + s->at, s->len - s->at);
		if (!n)
			return fail(s, "digits expected in the exponent");
		s->at += n;
	}
	if (json_scan_big(s->text + start, s->len - start)) {
		s->big = true;
		if (!s->allow_big)
			return fail(s, "whole number too large to keep exactly");
	} else if (can_overflow && infinite(s->text + start, s->at - start)) {
		return fail(s, "number beyond the range of a double");
	}
	return 0;
}

static int scan_word(struct scan *s, const char *word)
{
	size_t len = strlen(word);

	if (s->len - s->at < len || memcmp(s->text + s->at, word, len))
		return fail(s, "not a JSON value");
	s->at += len;
	return 0;
}

static int scan_value(struct scan *s);

static int scan_member(struct scan *s, bool object)
{
	if (object) {
		if (peek(s) != '"')
			return fail(s, "a quoted key expected");
		if (++s->keys == s->blame_key)
			return fail(s, s->why);
		if (scan_string(s) < 0)
			return -1;
		skip_blanks(s);
		if (peek(s) != ':')
			return fail(s, "':' expected after a key");
		s->at++;
	}
	if (scan_value(s) < 0)
		return -1;
	skip_blanks(s);
	return 0;
}

static int scan_container(struct scan *s)
{
	bool object = peek(s) == '{';
	int close = object ? '}' : ']';

	if (++s->depth > JSON_DEPTH_MAX)
		return fail(s, "nested too deep");
	s->at++;
	skip_blanks(s);
	if (peek(s) == close) {
		s->at++;
		s->depth--;
		return 0;
	}
	for (;;) {
		if (scan_member(s, object) < 0)
			return -1;
		if (peek(s) == close)
			break;
		if (peek(s) != ',')
			return fail(s, object ? "',' or '}' expected" : "',' or ']' expected");
		s->at++;
		skip_blanks(s);
	}
	s->at++;
	s->depth--;
	return 0;
}

static int scan_value(struct scan *s)
{
	skip_blanks(s);
	switch (peek(s)) {
	case '{':
	case '[':
		return scan_container(s);
	case '"':
		return scan_string(s);
	case 't':
		return scan_word(s, "true");
	case 'f':
		return scan_word(s, "false");
	case 'n':
		return scan_word(s, "null");
	case -1:
		return fail(s, "a value expected, found the end");
	default:
		return scan_number(s);
	}
}

int json_scan(const char *text, size_t len, bool allow_big, bool *ret_big, struct error *err)
{
	struct scan s = { .text = text, .len = len, .allow_big = allow_big, .err = err };
	size_t good = utf8_valid_prefix(text, len);

	if (good != len) {
		s.at = good;
		return fail(&s, "invalid UTF-8");
	}
	if (scan_value(&s) < 0)
		return -1;
	skip_blanks(&s);
	if (s.at != len)
		return fail(&s, "text after the value");
	*ret_big = s.big;
	return 0;
}

int json_scan_blame_key(const char *text, size_t len, size_t nth, const char *why,
			struct error *err)
{
	struct scan s = { .text = text,
			  .len = len,
			  .allow_big = true,
			  .err = err,
			  .blame_key = nth,
			  .why = why };

	return scan_value(&s);
}
