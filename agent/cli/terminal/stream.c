/*
 * What a person sees of a text while it comes. It is drawn on lines that are erased again: what is
 * to stay is printed by others, once it is whole. Of a plan the approach is shown, not its JSON.
 */
#include "agent/cli/terminal/stream.h"

#include "agent/cli/terminal/term.h"
#include "agent/plan.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_KEPT     ((size_t)1 << 20)
#define OUTPUT_KEPT   ((size_t)16 << 10) /* of a program: its end */
#define TAIL_SEEN     ((size_t)8 << 10)	 /* of a text its last lines are looked for in */
#define PLAN_SEEN     ((size_t)64 << 10) /* and a plan in its beginning */
#define LINES_SHOWN   8
#define WINDOW_MS     200 /* in which it is drawn so often at most: */
#define WINDOW_DRAWS  40
#define TOKEN_BYTES   4 /* of a reply, about: who counts them counts at its end */
#define RATE_AFTER_MS 500
#define MIB	      (1024.0 * 1024.0)

void stream_begin(struct stream *s, bool is_reply)
{
	stream_release(s);
	*s = (struct stream){ .text = BUF_INIT(TEXT_KEPT),
			      .is_reply = is_reply,
			      .began_ms = clock_mono_ms() };
}

void stream_release(struct stream *s)
{
	buf_release(&s->text);
	free(s->approach);
	s->approach = NULL;
}

const char *stream_approach(struct stream *s)
{
	if (s->approach || !s->is_reply || !s->text.len || s->text.len > PLAN_SEEN)
		return s->approach;
	cleanup_free char *copy = mem_strndup(s->text.data, s->text.len);
	struct plan plan;
	plan_take(&plan, copy, s->text.len);
	if (plan.usable && plan.approach && *plan.approach) {
		s->approach = mem_strdup(plan.approach);
		/* The plan is blank in the copy: what is left is the program. */
		memcpy(s->text.data, copy, s->text.len);
	}
	plan_release(&plan);
	return s->approach;
}

static bool is_blank(const char *line, size_t len)
{
	while (len && strchr(" \t\r", line[len - 1]))
		len--;
	return !len;
}

/* JSON is for us: a plan that is not whole, a verdict. */
static bool is_json(const struct stream *s)
{
	const char *text = s->text.data;
	size_t len = s->text.len < PLAN_SEEN ? s->text.len : PLAN_SEEN;

	return text[strspn(text, " \t\r\n")] == '{' ||
	       (!s->approach && memmem(text, len, "```json", strlen("```json")));
}

/* Where in a line what is to be seen of it begins: a bar of progress writes it again and again. */
static size_t last_written(const char *line, size_t len)
{
	while (len && line[len - 1] == '\r')
		len--;
	const char *cr = len ? memrchr(line, '\r', len) : NULL;

	return cr ? (size_t)(cr - line) + 1 : 0;
}

/* The last lines, oldest first, each copied: how many. */
static size_t last_lines(const struct stream *s, char *ret[LINES_SHOWN], size_t most)
{
	const char *text = s->text.data;
	size_t len = s->text.len, end = len;
	size_t begin = len > TAIL_SEEN ? len - TAIL_SEEN : 0;

	if (s->is_reply && is_json(s))
		return 0;
	size_t count = 0;
	while (end > begin && count < most) {
		const char *nl = memrchr(text + begin, '\n', end - begin);
		size_t from = nl ? (size_t)(nl - text) + 1 : begin;
		size_t seen = from + last_written(text + from, end - from);
		size_t until = end;

		while (until > seen && text[until - 1] == '\r')
			until--;
		if (!is_blank(text + seen, until - seen) && strncmp(text + seen, "```", 3))
			ret[count++] = mem_strndup(text + seen, until - seen);
		end = nl ? from - 1 : 0;
	}
	for (size_t i = 0; i < count / 2; i++) {
		char *other = ret[i];

		ret[i] = ret[count - 1 - i];
		ret[count - 1 - i] = other;
	}
	return count;
}

static char *program_status(const struct stream *s, const char *what)
{
	cleanup_free char *bytes = s->bytes ? mem_printf(" %zu bytes,", s->bytes) : mem_strdup("");
	cleanup_free char *memory =
		s->memory_bytes ? mem_printf(" %.0f MiB,", (double)s->memory_bytes / MIB) :
				  mem_strdup("");

	return mem_printf("%s ...%s%s", what, bytes, memory);
}

static char *status_of(const struct stream *s, const char *what)
{
	int64_t took = s->drawn_ms - s->first_ms;

	if (!s->is_reply)
		return program_status(s, what);
	if (took < RATE_AFTER_MS)
		return mem_printf("%s ... ~%zu tokens,", what, s->bytes / TOKEN_BYTES + 1);
	return mem_printf("%s ... ~%zu tokens, ~%.0f a second,", what, s->bytes / TOKEN_BYTES + 1,
			  (double)s->bytes / TOKEN_BYTES * 1000 / (double)took);
}

static void draw(struct terminal *term, struct stream *s, const char *what)
{
	size_t rows = term_rows(), most = rows / 3 < LINES_SHOWN ? rows / 3 : LINES_SHOWN, n = 0;
	cleanup_free char *status = status_of(s, what);
	char *lines[LINES_SHOWN + 1];

	if (s->approach)
		lines[n++] = mem_printf("approach: %s", s->approach);
	n += last_lines(s, lines + n, most);
	term_live(term, (const char *const *)lines, n, status, s->began_ms);
	while (n)
		free(lines[--n]);
}

void stream_add(struct terminal *term, struct stream *s, const char *what, const char *bytes,
		size_t len)
{
	int64_t now = clock_mono_ms();

	s->bytes += len;
	s->first_ms = s->first_ms ? s->first_ms : now;
	if (!s->is_reply && s->text.len + len > OUTPUT_KEPT)
		buf_consume(&s->text, s->text.len);
	buf_add(&s->text, bytes, len);
	if (memchr(bytes, '`', len) || memchr(bytes, '}', len))
		stream_approach(s);
	if (now - s->window_ms > WINDOW_MS) {
		s->window_ms = now;
		s->draws = 0;
	}
	if (++s->draws > WINDOW_DRAWS)
		return;
	s->drawn_ms = now;
	draw(term, s, what);
}

void stream_used(struct terminal *term, struct stream *s, const char *what, int64_t memory_bytes)
{
	if (s->is_reply)
		return;
	s->memory_bytes = memory_bytes;
	s->drawn_ms = clock_mono_ms();
	draw(term, s, what);
}
