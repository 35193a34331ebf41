/*
 * Server-sent events of another assay, cut out of what came so far. What they say is read here and
 * believed nowhere: the result is wire_read.c's affair.
 */
#include "sandbox/http/events.h"

#include "base/base64.h"
#include "base/mem.h"
#include "sandbox/remote/call.h"

#include <string.h>

void events_release(struct events *e)
{
	json_free(e->answer);
	e->answer = NULL;
	buf_release(&e->text);
}

static void tell(struct events *e, bool is_stderr, const char *bytes, size_t len)
{
	if (!e->watch || !e->watch->output || !len)
		return;
	e->heard[is_stderr] += len;
	e->watch->output(e->watch->self, is_stderr, bytes, len);
}

static void hear_output(struct events *e, const struct json *data)
{
	const char *text = json_get_string(data, "base64"), *name = json_get_string(data, "stream");
	cleanup_buf struct buf bytes = BUF_INIT((size_t)16 << 20);

	if (text && name && base64_decode(&bytes, text, strlen(text)) == 0)
		tell(e, !strcmp(name, "stderr"), bytes.data, bytes.len);
}

/* "event: NAME\ndata: JSON", which is how the server writes one. */
static void take_event(struct events *e, char *text, size_t len)
{
	static const char event[] = "event: ", data[] = "\ndata: ";
	const char *at = memmem(text, len, data, strlen(data));

	if (e->headers)
		call_hide(e->headers, text, len);
	if (!at || strncmp(text, event, strlen(event)))
		return;
	at += strlen(data);
	struct error ignored = ERROR_INIT;
	struct json *json = call_json(at, len - (size_t)(at - text), &ignored);
	if (!strncmp(text + strlen(event), "output\n", 7))
		hear_output(e, json);
	else if (json && !e->answer)
		e->answer = TAKE_PTR(json);
	json_free(json);
}

bool events_take(void *self, const char *bytes, size_t len)
{
	struct events *e = self;
	size_t from = e->text.len;

	if (buf_add(&e->text, bytes, len) < 0)
		return false;
	from = from > 0 ? from - 1 : 0; /* the end may have come in two pieces */
	const char *end;
	size_t done = 0;
	while ((end = memmem(e->text.data + from, e->text.len - from, "\n\n", 2))) {
		take_event(e, e->text.data + done, (size_t)(end - e->text.data) - done);
		done = (size_t)(end - e->text.data) + 2;
		from = done;
	}
	buf_consume(&e->text, done);
	return true;
}

void events_forget(void *self)
{
	struct events *e = self;

	buf_clear(&e->text);
	json_free(e->answer);
	e->answer = NULL;
}

void events_tell_rest(struct events *e, const struct sandbox_result *result)
{
	const struct sandbox_stream *streams[] = { &result->out, &result->err };

	for (size_t i = 0; i < 2; i++)
		if (e->heard[i] < streams[i]->len)
			tell(e, i == 1, streams[i]->bytes + e->heard[i],
			     streams[i]->len - (size_t)e->heard[i]);
}
