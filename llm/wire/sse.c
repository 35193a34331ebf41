/*
 * Server-sent events and JSON lines cut out of a stream, whatever pieces it comes in. A line past
 * the ceiling ends it; what an event means is not known here.
 */
#include "llm/wire/sse.h"

#include <string.h>

static const char bom[] = "\xef\xbb\xbf";

void sse_init(struct sse *s, enum sse_framing framing, size_t ceiling_bytes,
	      void (*event)(void *self, const char *data, size_t len, bool tail), void *self)
{
	*s = (struct sse){ .framing = framing, .event = event, .self = self };
	buf_init(&s->line, ceiling_bytes);
	buf_init(&s->data, ceiling_bytes);
}

void sse_release(struct sse *s)
{
	buf_release(&s->line);
	buf_release(&s->data);
}

/* Delivers without the LF that follows the last data line. */
static void dispatch(struct sse *s, bool tail)
{
	size_t len = s->data.len;

	if (len == 0)
		return;
	s->event(s->self, s->data.data, len - 1, tail);
	buf_clear(&s->data);
}

static bool is_data_field(const char *line, size_t len, size_t *ret_value)
{
	static const char name[] = "data";
	const size_t n = sizeof(name) - 1;

	if (len < n || memcmp(line, name, n))
		return false;
	if (len == n) {
		*ret_value = n;
		return true;
	}
	if (line[n] != ':')
		return false;
	*ret_value = n + 1;
	if (len > n + 1 && line[n + 1] == ' ')
		*ret_value = n + 2;
	return true;
}

static int take_event_line(struct sse *s, const char *line, size_t len)
{
	if (len == 0) {
		dispatch(s, false);
		return 0;
	}
	size_t value;
	if (!is_data_field(line, len, &value))
		return 0;
	if (buf_add(&s->data, line + value, len - value) < 0)
		return -1;
	return buf_addch(&s->data, '\n');
}

static int take_line(struct sse *s, const char *line, size_t len, bool tail)
{
	if (!s->past_bom) {
		s->past_bom = true;
		if (len >= 3 && !memcmp(line, bom, 3)) {
			line += 3;
			len -= 3;
		}
	}
	if (s->framing == SSE_EVENTS)
		return take_event_line(s, line, len);
	if (len == 0)
		return 0;
	s->event(s->self, line, len, tail);
	return 0;
}

/* The first line end from bytes to end, or end. *lf is the first LF at or after
 * bytes (or end), kept between calls: lines that end in CR alone would have the
 * rest of the chunk searched for each. */
static const char *line_end(const char *bytes, const char *end, const char **lf)
{
	if (!*lf || *lf < bytes)
		*lf = memchr(bytes, '\n', (size_t)(end - bytes));
	if (!*lf)
		*lf = end;
	const char *cr = memchr(bytes, '\r', (size_t)(*lf - bytes));
	return cr ? cr : *lf;
}

static int end_line(struct sse *s, const char *bytes, size_t len)
{
	if (s->line.len == 0) /* a whole line needs no copy, but has the same ceiling */
		return len > s->line.max ? -1 : take_line(s, bytes, len, false);
	if (buf_add(&s->line, bytes, len) < 0)
		return -1;
	int rc = take_line(s, s->line.data, s->line.len, false);
	buf_clear(&s->line);
	return rc;
}

int sse_feed(struct sse *s, const char *bytes, size_t len)
{
	const char *end = bytes + len, *lf = NULL;

	while (bytes < end) {
		if (s->after_cr && *bytes == '\n') {
			s->after_cr = false;
			bytes++;
			continue;
		}
		s->after_cr = false;
		const char *stop = line_end(bytes, end, &lf);
		if (stop == end)
			return buf_add(&s->line, bytes, (size_t)(end - bytes));
		if (end_line(s, bytes, (size_t)(stop - bytes)) < 0)
			return -1;
		s->after_cr = *stop == '\r';
		bytes = stop + 1;
	}
	return 0;
}

int sse_finish(struct sse *s)
{
	if (s->line.len > 0 && take_line(s, s->line.data, s->line.len, true) < 0)
		return -1;
	buf_clear(&s->line);
	dispatch(s, true);
	return 0;
}
