/*
 * Where an HTML block of Markdown begins and ends (CommonMark 0.31, section 4.6), since a fence
 * inside one is text. It reads tags by their names and no HTML.
 */
#include "verifier/reply/html.h"

#include "base/mem.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *const raw_tags[] = { "script", "pre", "textarea", "style" };

static const char *const block_tags[] = {
	"address", "article",  "aside",	  "base",     "basefont", "blockquote", "body",
	"caption", "center",   "col",	  "colgroup", "dd",	  "details",	"dialog",
	"dir",	   "div",      "dl",	  "dt",	      "fieldset", "figcaption", "figure",
	"footer",  "form",     "frame",	  "frameset", "h1",	  "h2",		"h3",
	"h4",	   "h5",       "h6",	  "head",     "header",	  "hr",		"html",
	"iframe",  "legend",   "li",	  "link",     "main",	  "menu",	"menuitem",
	"nav",	   "noframes", "ol",	  "optgroup", "option",	  "p",		"param",
	"search",  "section",  "summary", "table",    "tbody",	  "td",		"tfoot",
	"th",	   "thead",    "title",	  "tr",	      "track",	  "ul",
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t tag_name_len(const char *s, size_t len)
{
	if (!len || !isalpha((unsigned char)s[0]))
		return 0;
	size_t n = 0;
	while (n < len && (isalnum((unsigned char)s[n]) || s[n] == '-'))
		n++;
	return n;
}

static bool in_list(const char *name, size_t len, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == len && !strncasecmp(list[i], name, len))
			return true;
	return false;
}

static size_t skip_blanks(const char *s, size_t len, size_t at)
{
	while (at < len && is_blank(s[at]))
		at++;
	return at;
}

/* One attribute with the blanks before it; returns the offset after it, or at. */
static size_t skip_attribute(const char *s, size_t len, size_t at)
{
	size_t i = skip_blanks(s, len, at);

	if (i == at || i >= len || !(isalpha((unsigned char)s[i]) || s[i] == '_' || s[i] == ':'))
		return at;
	while (i < len && (isalnum((unsigned char)s[i]) || strchr("_.:-", s[i])) && s[i])
		i++;
	size_t value = skip_blanks(s, len, i);
	if (value >= len || s[value] != '=')
		return i;
	value = skip_blanks(s, len, value + 1);
	if (value >= len)
		return at;
	if (s[value] == '"' || s[value] == '\'') {
		const char *end = memchr(s + value + 1, s[value], len - value - 1);
		return end ? (size_t)(end - s) + 1 : at;
	}
	i = value;
	while (i < len && s[i] && !strchr(" \t\"'=<>`", s[i]))
		i++;
	return i > value ? i : at;
}

/* Type 7: one complete open or closing tag and nothing else on the line. */
static bool is_lone_tag(const char *s, size_t len)
{
	bool closing = len > 1 && s[1] == '/';
	size_t at = closing ? 2 : 1;
	size_t name = at < len ? tag_name_len(s + at, len - at) : 0;

	if (!name || (!closing && in_list(s + at, name, raw_tags, ARRAY_SIZE(raw_tags))))
		return false;
	at += name;
	size_t next;
	while (!closing && (next = skip_attribute(s, len, at)) != at)
		at = next;
	at = skip_blanks(s, len, at);
	if (!closing && at < len && s[at] == '/')
		at++;
	if (at >= len || s[at] != '>')
		return false;
	return skip_blanks(s, len, at + 1) == len;
}

static int named_block_start(const char *s, size_t len)
{
	size_t at = len > 1 && s[1] == '/' ? 2 : 1;
	size_t name = at < len ? tag_name_len(s + at, len - at) : 0;
	size_t end = at + name;
	bool ends = end == len || is_blank(s[end]) || s[end] == '>';

	if (!name)
		return 0;
	if (at == 1 && ends && in_list(s + at, name, raw_tags, ARRAY_SIZE(raw_tags)))
		return 1;
	if (!ends && !(end + 1 < len && s[end] == '/' && s[end + 1] == '>'))
		return 0;
	return in_list(s + at, name, block_tags, ARRAY_SIZE(block_tags)) ? 6 : 0;
}

int html_block_start(const char *line, size_t len)
{
	if (len < 2 || line[0] != '<')
		return 0;
	if (len >= 4 && !memcmp(line, "<!--", 4))
		return 2;
	if (line[1] == '?')
		return 3;
	if (len >= 9 && !memcmp(line, "<![CDATA[", 9))
		return 5;
	if (line[1] == '!')
		return len >= 3 && isalpha((unsigned char)line[2]) ? 4 : 0;
	int type = named_block_start(line, len);
	if (type)
		return type;
	return is_lone_tag(line, len) ? 7 : 0;
}

static bool has_raw_end(const char *line, size_t len)
{
	const char *at = line, *end = line + len;

	while ((at = memmem(at, (size_t)(end - at), "</", 2))) {
		at += 2;
		for (size_t i = 0; i < ARRAY_SIZE(raw_tags); i++) {
			size_t n = strlen(raw_tags[i]);
			if ((size_t)(end - at) > n && !strncasecmp(at, raw_tags[i], n) &&
			    at[n] == '>')
				return true;
		}
	}
	return false;
}

bool html_block_ends(int type, const char *line, size_t len)
{
	switch (type) {
	case 1:
		return has_raw_end(line, len);
	case 2:
		return memmem(line, len, "-->", 3) != NULL;
	case 3:
		return memmem(line, len, "?>", 2) != NULL;
	case 4:
		return memchr(line, '>', len) != NULL;
	case 5:
		return memmem(line, len, "]]>", 3) != NULL;
	default:
		return false;
	}
}
