/*
 * Frames of a program's calls (call_frame.h). Nothing is decided here but whether they are some:
 * whatever the bytes are, it is one of the kinds, and no more is read than there is.
 */
#include "agent/call_frame.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define TOOL_NAME_MAX 200 /* bytes */

static size_t frame_len(const char *head)
{
	size_t len = 0;

	for (size_t i = 0; i < CALLS_HEAD; i++)
		len = len << 8 | (unsigned char)head[i];
	return len;
}

/* No line of a log that looks like another. */
static bool is_name(const char *tool)
{
	size_t len = tool ? strlen(tool) : 0;

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)tool[i] < ' ' || tool[i] == 0x7f)
			return false;
	return len > 0 && len <= TOOL_NAME_MAX;
}

static void refuse(struct call_frame *f, const char *why)
{
	f->kind = CALL_FRAME_BAD;
	snprintf(f->why, sizeof(f->why), "%s", why);
}

void call_frame_read(struct call_frame *ret, const char *bytes, size_t len)
{
	struct error why = ERROR_INIT;
	struct call_frame *f = ret;

	*f = (struct call_frame){ .kind = CALL_FRAME_CUT, .cell = -1 };
	if (len < CALLS_HEAD)
		return;
	size_t size = frame_len(bytes);
	if (size > CALLS_ARGUMENTS_MAX) {
		refuse(f, "a call has 1 MiB at most");
		return;
	}
	if (len - CALLS_HEAD < size)
		return;
	f->size = CALLS_HEAD + size;
	f->value = json_parse(bytes + CALLS_HEAD, size, 0, &why);
	f->tool = json_get_string(f->value, "tool");
	f->arguments = json_get(f->value, "arguments");
	f->cell = json_get_int(f->value, "cell", -1);
	if (!f->value)
		refuse(f, why.message);
	else if (json_get(f->value, "cell"))
		f->kind = CALL_FRAME_TURN;
	else if (is_name(f->tool) && json_type(f->arguments) == JSON_OBJECT)
		f->kind = CALL_FRAME_CALL;
	else
		refuse(f, "a call has a tool, by its name, and an object of arguments");
}

void call_frame_release(struct call_frame *f)
{
	json_free(f->value);
	*f = (struct call_frame){ .kind = CALL_FRAME_CUT };
}

void calls_frame(struct buf *out, const struct json *value)
{
	cleanup_free char *text = json_print(value);
	size_t len = strlen(text);
	const char head[CALLS_HEAD] = { (char)(len >> 24), (char)(len >> 16), (char)(len >> 8),
					(char)len };

	buf_add(out, head, sizeof(head));
	buf_add(out, text, len);
}
