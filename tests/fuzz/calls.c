/* Frames of a program's calls: any bytes are some of the kinds; a call has a name that stands on
 * one line and an object of arguments, what is cut is so at every shorter length, too, and what is
 * read and written again is the same. */
#include "agent/call_frame.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *tool)
{
	for (; *tool; tool++)
		if ((unsigned char)*tool < ' ' || *tool == 0x7f)
			abort();
}

static void check_again(const struct call_frame *f)
{
	cleanup_call_frame struct call_frame again = { .kind = CALL_FRAME_CUT };
	struct buf text = BUF_INIT((size_t)64 << 20);

	calls_frame(&text, f->value);
	call_frame_read(&again, text.data, text.len);
	if (text.len <= CALLS_ARGUMENTS_MAX &&
	    (again.kind != f->kind || !json_equal(again.value, f->value)))
		abort();
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	size_t at = 0;

	for (;;) {
		cleanup_call_frame struct call_frame f = { .kind = CALL_FRAME_CUT }, cut = f;

		call_frame_read(&f, bytes + at, size - at);
		if (f.size > size - at || (f.kind == CALL_FRAME_BAD && !*f.why))
			abort();
		if (f.kind == CALL_FRAME_CUT || f.kind == CALL_FRAME_BAD)
			return 0;
		call_frame_read(&cut, bytes + at, f.size - 1);
		if (cut.kind != CALL_FRAME_CUT)
			abort();
		if (f.kind == CALL_FRAME_CALL) {
			check_name(f.tool);
			if (json_type(f.arguments) != JSON_OBJECT)
				abort();
		}
		check_again(&f);
		at += f.size;
	}
}
