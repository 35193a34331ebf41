/*
 * Finds the beginning and end of a private key in text. Which bytes stand between its marks
 * does not matter when both are there; when one was cut off, lines belong to the key as long as
 * the last word of each could be base64. No key is longer than KEY_MAX.
 */
#include "audit/redact/pem.h"

#include "audit/redact/encode.h"
#include "base/mem.h"

#include <string.h>

#define KEY_MAX	     ((size_t)64 << 10)
#define LABEL_MAX    64
#define LINE_MAX_LEN 512 /* of a line before an end mark */
#define WORD_MIN     16	 /* of base64 in a line within a key; its last line may be shorter */

static const char dashes[] = "-----";
#define DASHES_LEN (sizeof(dashes) - 1)

/* "RSA PRIVATE KEY-----" at label: behind it, else 0. Anything else is public. */
static size_t private_label_end(const char *text, size_t len, size_t label)
{
	static const char word[] = "PRIVATE KEY";
	const size_t room = len - label < LABEL_MAX ? len - label : LABEL_MAX;
	const char *end = memmem(text + label, room, dashes, DASHES_LEN);

	if (!end || !memmem(text + label, (size_t)(end - text) - label, word, sizeof(word) - 1))
		return 0;
	return (size_t)(end - text) + DASHES_LEN;
}

/* A line ends at a newline, or where one is written as an escape. */
static size_t line_end(const char *text, size_t len, size_t at)
{
	while (at < len && text[at] != '\n' &&
	       !(text[at] == '\\' && at + 1 < len && text[at + 1] == 'n'))
		at++;
	return at;
}

static size_t next_line(const char *text, size_t len, size_t end)
{
	return end == len ? len : end + (text[end] == '\n' ? 1 : 2);
}

static bool is_header(const char *text, size_t len)
{
	static const char *const names[] = { "Proc-Type:", "DEK-Info:", "Version:", "Comment:" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (memmem(text, len, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Whether a line may be one of a key: how long its last word of base64 is. */
static bool is_key_line(const char *text, size_t start, size_t end, bool last)
{
	while (end > start && strchr(" \t\r\"',+\\|;)", text[end - 1]))
		end--;
	size_t at;
	for (at = end; at > start && (encode_base64_digit(text[at - 1]) || text[at - 1] == '=');)
		at--;
	if (end - at >= WORD_MIN || (end > at && (last || text[end - 1] == '=')))
		return true;
	return is_header(text + start, end - start);
}

/* Lines without a word of base64 may stand between headers and key. */
static bool is_blank_line(const char *text, size_t start, size_t end)
{
	while (start < end && strchr(" \t\r>#|*\"',+\\/;", text[start]))
		start++;
	return start == end;
}

static size_t cut_key_end(const char *text, size_t limit, size_t at)
{
	size_t last = at;

	while (at < limit) {
		const size_t end = line_end(text, limit, at);

		if (is_key_line(text, at, end, end == limit))
			last = end;
		else if (!is_blank_line(text, at, end))
			break;
		at = next_line(text, limit, end);
	}
	return last;
}

bool pem_match(const char *text, size_t len, size_t body, struct shape_work *work, size_t *ret_end)
{
	static const char close[] = "-----END ", open[] = "-----BEGIN ";
	const size_t label_end = private_label_end(text, len, body);
	size_t limit = len - body > KEY_MAX ? body + KEY_MAX : len;

	if (!label_end)
		return false;
	for (size_t at = label_end; at < limit;) {
		const char *mark = memmem(text + at, limit - at, dashes, DASHES_LEN);

		work->walked += (mark ? (size_t)(mark - text) : limit) - at;
		if (!mark)
			break;
		at = (size_t)(mark - text);
		if (len - at >= sizeof(close) - 1 && !memcmp(mark, close, sizeof(close) - 1)) {
			const size_t end = private_label_end(text, len, at + sizeof(close) - 1);

			*ret_end = end ? end : at;
			return true;
		}
		if (len - at >= sizeof(open) - 1 && !memcmp(mark, open, sizeof(open) - 1)) {
			limit = at;
			break;
		}
		at += DASHES_LEN;
	}
	*ret_end = cut_key_end(text, limit, label_end);
	work->walked += *ret_end - label_end + LINE_MAX_LEN;
	return true;
}

/* The line that ends at `end`, where a newline is or its escape. */
static size_t line_start(const char *text, size_t from, size_t end)
{
	if (end - from > LINE_MAX_LEN)
		from = end - LINE_MAX_LEN;
	while (end > from && text[end - 1] != '\n' &&
	       !(text[end - 1] == 'n' && end - 1 > from && text[end - 2] == '\\'))
		end--;
	return end;
}

bool pem_match_tail(const char *text, size_t len, size_t body, size_t from, struct shape_work *work,
		    size_t *ret_start, size_t *ret_end)
{
	const size_t mark = body - strlen("-----END ");
	const size_t own = line_start(text, from, mark);
	size_t at = own;

	*ret_end = private_label_end(text, len, body);
	if (!*ret_end)
		return false;
	if (mark - from > KEY_MAX)
		from = mark - KEY_MAX;
	while (at > from && (text[at - 1] == '\n' || text[at - 1] == 'n')) {
		const size_t end = at - 1 - (text[at - 1] != '\n');
		const size_t start = line_start(text, from, end);

		if (!is_key_line(text, start, end, false))
			break;
		at = start;
	}
	work->walked += own - at + LINE_MAX_LEN;
	*ret_start = at;
	return at < own;
}
