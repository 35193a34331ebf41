/*
 * Frames of Connect's streams: a flag byte, the length in four, and JSON. What is in them is their
 * sender's affair.
 */
#include "agent/doors/e2b/e2b.h"

#include "agent/doors/service/weight.h"
#include "base/mem.h"

#include <string.h>

#define FRAME_HEAD 5

struct json *e2b_unframe(const char *bytes, size_t len, struct error *err)
{
	const unsigned char *head = (const unsigned char *)bytes;
	size_t size = 0;

	if (len >= FRAME_HEAD)
		size = (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 |
		       head[4];
	if (len < FRAME_HEAD || *head != 0 || size > len - FRAME_HEAD) {
		error_set(err, ERR_USAGE,
			  "the body is no frame of JSON: a zero byte, the length "
			  "in four, and a message");
		return NULL;
	}
	if (weight_is_too_much(bytes + FRAME_HEAD, size)) {
		error_set(err, ERR_USAGE, "the message has more values than are taken");
		return NULL;
	}
	return json_parse(bytes + FRAME_HEAD, size, 0, err);
}

void e2b_frame(struct buf *out, unsigned flag, struct json *message)
{
	cleanup_free char *text = json_print(message);
	size_t len = strlen(text);
	char head[FRAME_HEAD] = { (char)flag, (char)(len >> 24), (char)(len >> 16),
				  (char)(len >> 8), (char)len };

	buf_add(out, head, sizeof(head));
	buf_add(out, text, len);
	json_free(message);
}

void e2b_send_frame(struct exchange *x, unsigned flag, struct json *message)
{
	cleanup_buf struct buf whole = BUF_INIT(BUF_MAX_DEFAULT);

	e2b_frame(&whole, flag, message);
	exchange_send(x, whole.data, whole.len);
}

struct json *e2b_last_message(const char *code, const char *problem)
{
	struct json *message = json_object();

	if (code) {
		struct json *error = json_object();
		json_set_string(error, "code", code);
		json_set_string(error, "message", problem);
		json_set(message, "error", error);
	}
	return message;
}

void e2b_send_last(struct exchange *x, const char *code, const char *problem)
{
	e2b_send_frame(x, E2B_FRAME_END, e2b_last_message(code, problem));
}
