/*
 * Media types by content. Magic numbers first, then what a text looks like; a name may only help to
 * tell one kind of text from another, never outweigh the bytes.
 */
#include "sandbox/filetype.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define HEAD 4096 /* bytes in which markup has to show itself */

struct magic {
	const char *bytes;
	size_t len, offset;
	const char *type;
};

static const struct magic magics[] = {
	{ "\x89PNG\r\n\x1a\n", 8, 0, "image/png" },
	{ "\xff\xd8\xff", 3, 0, "image/jpeg" },
	{ "GIF87a", 6, 0, "image/gif" },
	{ "GIF89a", 6, 0, "image/gif" },
	{ "WEBP", 4, 8, "image/webp" },
	{ "%PDF-", 5, 0, "application/pdf" },
	{ "\x1f\x8b", 2, 0, "application/gzip" },
	{ "SQLite format 3", 16, 0, "application/vnd.sqlite3" },
	{ "PK\x05\x06", 4, 0, "application/zip" },
};

#define XLSX "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
#define DOCX "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

static bool has(const char *bytes, size_t len, const char *text)
{
	return memmem(bytes, len, text, strlen(text)) != NULL;
}

static const char *zip_kind(const char *bytes, size_t len)
{
	if (has(bytes, len, "[Content_Types].xml") && has(bytes, len, "xl/workbook.xml"))
		return XLSX;
	if (has(bytes, len, "[Content_Types].xml") && has(bytes, len, "word/document.xml"))
		return DOCX;
	return "application/zip";
}

static bool has_ignoring_case(const char *bytes, size_t len, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i + n <= len; i++)
		if (!strncasecmp(bytes + i, text, n))
			return true;
	return false;
}

/* The first tag decides: an SVG inside a page makes no image of it. */
static const char *markup_kind(const char *bytes, size_t len)
{
	size_t head = len < HEAD ? len : HEAD;

	if (has_ignoring_case(bytes, head, "<!doctype html") ||
	    has_ignoring_case(bytes, head, "<html"))
		return "text/html";
	if (has_ignoring_case(bytes, head, "<svg"))
		return "image/svg+xml";
	if (head >= 5 && !strncmp(bytes, "<?xml", 5))
		return "application/xml";
	return NULL;
}

static bool is_json(const char *bytes, size_t len)
{
	struct error err = ERROR_INIT;
	cleanup_json struct json *value = json_parse(bytes, len, JSON_BIG_AS_STRING, &err);

	return value != NULL;
}

/* Separators on a line, those in quotes left out. */
static size_t commas(const char *line, size_t len)
{
	size_t count = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		if (line[i] == '"')
			quoted = !quoted;
		count += line[i] == ',' && !quoted;
	}
	return count;
}

/* At least two lines, every one with as many separators as the first. */
static bool is_csv(const char *bytes, size_t len)
{
	size_t lines = 0, wanted = 0;

	for (size_t at = 0; at < len;) {
		const char *end = memchr(bytes + at, '\n', len - at);
		size_t n = !end ? len - at : (size_t)(end - bytes) - at;
		size_t here = commas(bytes + at, n);

		if (n > 0 && lines++ == 0)
			wanted = here;
		else if (n > 0 && here != wanted)
			return false;
		at += n + 1;
	}
	return lines >= 2 && wanted > 0;
}

static bool ends_with(const char *path, const char *suffix)
{
	size_t n = strlen(path), s = strlen(suffix);

	return n >= s && !strcasecmp(path + n - s, suffix);
}

/* A name that says what the text is, and does not say CSV: commas are no table there. */
static bool says_other(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *extension = strrchr(name, '.');

	return extension && extension > name && strcasecmp(extension, ".csv") &&
	       strcasecmp(extension, ".dat") && strcasecmp(extension, ".data");
}

static const char *text_kind(const char *path, const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len && isspace((unsigned char)bytes[at]))
		at++;
	const char *markup = NULL;
	if (at < len && bytes[at] == '<')
		markup = markup_kind(bytes + at, len - at);
	if (markup)
		return markup;
	if (at < len && (bytes[at] == '{' || bytes[at] == '[') && is_json(bytes, len))
		return "application/json";
	if (ends_with(path, ".json") && is_json(bytes, len))
		return "application/json";
	if (ends_with(path, ".csv") ? is_csv(bytes, len) || commas(bytes, len) > 0 :
				      !says_other(path) && is_csv(bytes, len))
		return "text/csv";
	return "text/plain";
}

const char *filetype_guess(const char *path, const char *bytes, size_t len)
{
	if (len >= 4 && !memcmp(bytes, "PK\x03\x04", 4))
		return zip_kind(bytes, len);
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if (len >= magics[i].offset + magics[i].len &&
		    !memcmp(bytes + magics[i].offset, magics[i].bytes, magics[i].len))
			return magics[i].type;
	if (memchr(bytes, '\0', len) || !utf8_valid(bytes, len))
		return "application/octet-stream";
	return text_kind(path, bytes, len);
}
