/*
 * Text from outside as it stands in a prompt: between the run's marks, cut with its true size said,
 * paths and lines so that they are nothing else. It fills no prompt and asks nobody.
 */
#include "agent/prompt/quote.h"

#include "agent/run.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

#define PATH_BYTES_MAX ((size_t)4 << 20)

void context_cut(struct buf *out, const char *bytes, size_t len, uint64_t total, size_t keep)
{
	size_t head = keep * 2 / 3, tail = keep - head;

	if (len <= keep && total == len) {
		utf8_repair(out, bytes, len);
	} else if (len <= keep) {
		utf8_repair(out, bytes, len);
		buf_addf(out, "\n[... cut; %" PRIu64 " bytes in all]", total);
	} else {
		utf8_repair(out, bytes, head);
		buf_addf(out, "\n[... %" PRIu64 " of %" PRIu64 " bytes left out ...]\n",
			 total - head - tail, total);
		utf8_repair(out, bytes + len - tail, tail);
	}
}

char *context_excerpt(const char *code, size_t len, long line, long column)
{
	struct buf out = BUF_INIT((size_t)64 << 10);
	const char *at = code, *end = code + len, *stop;

	for (long n = 1; at < end && n <= line + 2; n++, at = stop + 1) {
		stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		if (n < line - 2)
			continue;
		size_t shown = (size_t)(stop - at) < 500 ? (size_t)(stop - at) : 500;
		buf_addf(&out, "%s%4ld | ", n == line ? ">" : " ", n);
		utf8_repair(&out, at, shown);
		buf_addch(&out, '\n');
		if (n == line && column > 0 && (size_t)column <= shown + 1)
			buf_addf(&out, "       %*s^\n", (int)column, "");
	}
	return buf_take(&out, NULL);
}

char *context_fence(const struct run *r, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (!len)
		return mem_strdup("");
	return mem_printf("<<%s\n%s%s%s>>", r->mark, text, text[len - 1] == '\n' ? "" : "\n",
			  r->mark);
}

void context_add_path(struct buf *out, const char *path)
{
	cleanup_buf struct buf escaped = BUF_INIT(PATH_BYTES_MAX);

	utf8_escape(&escaped, path, strlen(path));
	bool is_odd = strcmp(escaped.data, path) || strpbrk(path, "\n\t");
	if (is_odd)
		buf_addch(out, '"');
	for (const char *p = escaped.data; *p; p++)
		if (*p == '\n' || *p == '\t')
			buf_addstr(out, *p == '\n' ? "\\n" : "\\t");
		else
			buf_addch(out, *p);
	if (is_odd)
		buf_addch(out, '"');
}
