/*
 * Pieces of a page out of what a log holds. Text from outside comes in by the functions below
 * alone: control characters made visible, then every character that HTML reads as its own
 * escaped; it is never part of a name, of an attribute or of a style. Internal to agent/cli/log.
 */
#ifndef AGENT_LOG_HTML_H
#define AGENT_LOG_HTML_H

#include "base/buf.h"
#include "base/json.h"

#include <stddef.h>

/* Between tags. */
void html_text(struct buf *out, const char *bytes, size_t len);
void html_string(struct buf *out, const char *text); /* NULL: nothing */
/* A value as it is read: strings as they are, everything else as JSON. */
void html_value(struct buf *out, const struct json *value);

/* <pre>, the first bytes of a long text, and how many more there are. */
void html_pre(struct buf *out, const char *bytes, size_t len);
/* The same for code, coloured by language. */
void html_code(struct buf *out, const char *lang, const char *code, size_t len);
/* An image where the bytes are one of the types a browser shows and cannot run; else as
 * html_pre. */
void html_content(struct buf *out, const char *bytes, size_t len);

/* <tr><th>name<td>value */
void html_pair(struct buf *out, const char *name, const struct json *value);
/* A table: of an object its members, of an array of objects a row for each. */
void html_table(struct buf *out, const struct json *value);

/* The page's head, with its policy (nothing is loaded, nothing runs) and style, to <body>. */
void html_begin(struct buf *out, const char *title);

#endif
