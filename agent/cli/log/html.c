/*
 * Pieces of a page: what is escaped, coloured and cut (agent/cli/log/html.h says what for). Nothing
 * from a log may reach a page but through here.
 */
#include "agent/cli/log/html.h"

#include "agent/cli/log/log.h"
#include "agent/cli/terminal/highlight.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>

#define TEXT_SHOWN ((size_t)128 << 10)
#define IMAGE_MAX  ((size_t)8 << 20)

static void escape(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		switch (text[i]) {
		case '&':
			buf_addstr(out, "&amp;");
			break;
		case '<':
			buf_addstr(out, "&lt;");
			break;
		case '>':
			buf_addstr(out, "&gt;");
			break;
		case '"':
			buf_addstr(out, "&quot;");
			break;
		case '\'':
			buf_addstr(out, "&#39;");
			break;
		default:
			buf_addch(out, text[i]);
		}
	}
}

void html_text(struct buf *out, const char *bytes, size_t len)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_MAX_DEFAULT);

	utf8_visible(&shown, bytes, len);
	escape(out, shown.data, shown.len);
}

void html_string(struct buf *out, const char *text)
{
	if (text)
		html_text(out, text, strlen(text));
}

void html_value(struct buf *out, const struct json *value)
{
	if (json_type(value) == JSON_STRING && json_string(value)) {
		html_string(out, json_string(value));
		return;
	}
	cleanup_free char *text = value ? json_print(value) : mem_strdup("");
	html_string(out, text);
}

/* How much of a text is shown: whole characters. */
static size_t shown_len(const char *bytes, size_t len)
{
	if (len <= TEXT_SHOWN)
		return len;
	size_t cut = TEXT_SHOWN;
	while (cut && ((unsigned char)bytes[cut] & 0xc0) == 0x80)
		cut--;
	return cut;
}

static void add_rest(struct buf *out, size_t rest)
{
	if (rest)
		buf_addf(out, "<p class=\"dim\">... %zu more bytes</p>\n", rest);
}

/* A newline right after <pre> is dropped by a browser: one more is given to it. */
void html_pre(struct buf *out, const char *bytes, size_t len)
{
	size_t shown = shown_len(bytes, len);

	buf_addstr(out, "<pre>\n");
	html_text(out, bytes, shown);
	buf_addstr(out, "</pre>\n");
	add_rest(out, len - shown);
}

static const char *style_class(enum term_style style)
{
	switch (style) {
	case TERM_DIM:
		return "comment";
	case TERM_GREEN:
		return "string";
	case TERM_BLUE:
		return "keyword";
	case TERM_YELLOW:
		return "number";
	case TERM_PLAIN:
	case TERM_BOLD:
	case TERM_RED:
	case TERM_CYAN:
		break;
	}
	return NULL;
}

void html_code(struct buf *out, const char *lang, const char *code, size_t len)
{
	size_t shown = shown_len(code, len);

	buf_addstr(out, "<pre class=\"code\">\n");
	struct highlight spans;
	highlight_start(&spans, lang, code, shown);
	size_t at = 0;
	while (at < shown) {
		size_t end;
		const char *name = style_class(highlight_next(&spans, at, &end));

		if (name)
			buf_addf(out, "<span class=\"%s\">", name);
		html_text(out, code + at, end - at);
		if (name)
			buf_addstr(out, "</span>");
		at = end;
	}
	highlight_release(&spans);
	buf_addstr(out, "</pre>\n");
	add_rest(out, len - shown);
}

/* Only these: an SVG is a document that can hold anything. */
static const struct {
	const char *magic;
	size_t len, offset;
	const char *type;
} images[] = {
	{ "\x89PNG\r\n\x1a\n", 8, 0, "image/png" },
	{ "\xff\xd8\xff", 3, 0, "image/jpeg" },
	{ "GIF87a", 6, 0, "image/gif" },
	{ "GIF89a", 6, 0, "image/gif" },
	{ "WEBP", 4, 8, "image/webp" },
};

/* NULL when it is none that is shown. */
static const char *image_type(const char *bytes, size_t len)
{
	for (size_t i = 0; len <= IMAGE_MAX && i < ARRAY_SIZE(images); i++)
		if (len >= images[i].offset + images[i].len &&
		    !memcmp(bytes + images[i].offset, images[i].magic, images[i].len))
			return images[i].type;
	return NULL;
}

void html_content(struct buf *out, const char *bytes, size_t len)
{
	const char *type = image_type(bytes, len);

	if (!type) {
		html_pre(out, bytes, len);
		return;
	}
	cleanup_free char *text = base64_text(bytes, len);
	buf_addf(out, "<img alt=\"%s, %zu bytes\" src=\"data:%s;base64,", type, len, type);
	buf_addstr(out, text);
	buf_addstr(out, "\">\n");
}

void html_pair(struct buf *out, const char *name, const struct json *value)
{
	buf_addstr(out, "<tr><th>");
	html_string(out, name);
	buf_addstr(out, "</th><td>");
	html_value(out, value);
	buf_addstr(out, "</td></tr>\n");
}

/* The columns are the first row's members. */
static void add_rows(struct buf *out, const struct json *array)
{
	const struct json *columns = json_first(array);

	buf_addstr(out, "<tr>");
	for (const struct json *c = json_first(columns); c; c = json_next(c)) {
		buf_addstr(out, "<th>");
		html_string(out, json_key(c));
		buf_addstr(out, "</th>");
	}
	buf_addstr(out, "</tr>\n");
	for (const struct json *row = columns; row; row = json_next(row)) {
		const char *verdict = json_get_string(row, "verdict");
		bool bad = verdict && (!strcmp(verdict, "fail") || !strcmp(verdict, "error"));

		buf_addf(out, "<tr%s>", bad ? " class=\"bad\"" : "");
		for (const struct json *c = json_first(columns); c; c = json_next(c)) {
			const struct json *value = json_get(row, json_key(c));

			buf_addstr(out, "<td>");
			if (json_type(value) != JSON_NULL)
				html_value(out, value);
			buf_addstr(out, "</td>");
		}
		buf_addstr(out, "</tr>\n");
	}
}

void html_table(struct buf *out, const struct json *value)
{
	buf_addstr(out, "<table>\n");
	if (json_type(value) == JSON_ARRAY)
		add_rows(out, value);
	else
		for (const struct json *m = json_first(value); m; m = json_next(m))
			if (json_type(m) != JSON_NULL)
				html_pair(out, json_key(m), m);
	buf_addstr(out, "</table>\n");
}

static const char style[] =
	":root{color-scheme:light dark;--line:#8884;--dim:#777;--bar:#4a7fb5;--bad:#c0392b;"
	"--good:#2e8b57}"
	"body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
	"h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin-top:2rem}"
	"h3{font-size:.95rem;margin:.8rem 0 .2rem}"
	"pre{background:#8881;padding:.6rem .8rem;overflow:auto;max-height:40rem;"
	"font:13px/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}"
	"table{border-collapse:collapse;margin:.3rem 0;font-size:.9rem}"
	"th,td{text-align:left;vertical-align:top;padding:.15rem .8rem .15rem 0;"
	"border-bottom:1px solid "
	"var(--line);overflow-wrap:break-word;max-width:50rem}th{color:var(--dim);"
	"font-weight:500;white-space:nowrap}"
	"details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.3rem .8rem}"
	"summary{cursor:pointer;font-weight:600}.dim{color:var(--dim);font-weight:400}"
	".good{color:var(--good)}.bad,.bad td{color:var(--bad)}"
	".row{display:flex;gap:.8rem;font-size:.85rem}.row a{flex:0 0 11rem;color:inherit}"
	".row .lane{flex:1;position:relative;height:1.2rem;border-left:1px solid var(--line)}"
	".row i{position:absolute;top:.25rem;height:.7rem;min-width:3px;background:var(--bar);"
	"border-radius:2px}.row .took{flex:0 0 6rem;text-align:right;color:var(--dim)}"
	".comment{color:#888}.string{color:#2e8b57}.keyword{color:#3b6fc4}.number{color:#b7791f}"
	"img{max-width:100%;background:#fff;border:1px solid var(--line)}";

void html_begin(struct buf *out, const char *title)
{
	buf_addstr(out,
		   "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		   "img-src data:; style-src 'unsafe-inline'\">\n"
		   "<meta name=\"referrer\" content=\"no-referrer\">\n"
		   "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	html_string(out, title);
	buf_addstr(out, "</title>\n<style>");
	buf_addstr(out, style);
	buf_addstr(out, "</style></head>\n<body>\n");
}
