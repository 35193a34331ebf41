/*
 * A call of the HTTP client to the server of test_llm_server.h, and what came of
 * it. Include after cmocka.h.
 */
#ifndef TEST_LLM_CALL_H
#define TEST_LLM_CALL_H

#include "base/mem.h"
#include "llm/llm.h"
#include "tests/unit/test_llm_server.h"

#include <math.h>

#define KEY "sk-test-0123456789"
#define OK_HEAD                                                                       \
	"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n" \
	"x-request-id: req-7\r\n\r\n"
#define TEXT(t) "data: {\"choices\":[{\"delta\":{\"content\":\"" t "\"}}]}\n\n"
#define FINISH                                                                               \
	"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"                \
	"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n" \
	"data: [DONE]\n\n"
#define GOOD                                         \
	{                                            \
		.head = OK_HEAD TEXT("hello") FINISH \
	}
#define STATUS(line, headers, body)                                                      \
	{                                                                                \
		.head = "HTTP/1.1 " line "\r\nConnection: close\r\n" headers "\r\n" body \
	}

/* What a test looks at after a call. */
static struct {
	struct llm_reply reply;
	struct error err;
	int rc;
	char notes[512];
	char seen[512];
} got;

static int cancel_by = -1; /* a byte written here cancels; -1: nothing is to */

static void cancel(void)
{
	if (cancel_by >= 0)
		assert_int_equal(write(cancel_by, "x", 1), 1);
}

static void on_text(void *self, const char *bytes, size_t len)
{
	(void)self;
	strncat(got.seen, bytes, len);
	cancel();
}

static void on_note(void *self, const char *line)
{
	(void)self;
	strcat(strcat(got.notes, line), "\n");
	cancel();
}

struct setting {
	enum llm_wire wire;
	int retries;
	int64_t timeout_ms, idle_ms, first_byte_ms, connect_ms;
	int cancel_fd; /* 0: none */
	double temperature;
	bool whole; /* not streamed */
	int billed_max;
	const char *options; /* JSON, or NULL */
	const char *model;
	unsigned quirks;
	const char *prompt;
};

static void open_client(struct llm *ret, const struct setting *s)
{
	const struct llm_http_options options = {
		.wire = s->wire,
		.provider = "test",
		.base_url = base_url,
		.key = KEY,
		.model = s->model ? s->model : "m",
		.quirks = s->quirks,
		.retries = s->retries,
		.idle_timeout_ms = s->idle_ms,
		.first_byte_timeout_ms = s->first_byte_ms,
		.connect_timeout_ms = s->connect_ms,
	};
	struct error err = ERROR_INIT;

	assert_int_equal(llm_http_open(ret, &options, &err), 0);
}

static void call_client(const struct llm *llm, const struct setting *s)
{
	const struct llm_message message = { "user", s->prompt ? s->prompt : "hi" };
	struct error bad = ERROR_INIT;
	cleanup_json struct json *extra =
		s->options ? json_parse(s->options, strlen(s->options), 0, &bad) : NULL;
	const struct llm_request request = {
		.stage = "complete",
		.messages = &message,
		.message_count = 1,
		.max_tokens = 9,
		.temperature = s->temperature > 0 ? s->temperature : NAN,
		.stream = !s->whole,
		.timeout_ms = s->timeout_ms,
		.cancel_fd = s->cancel_fd ? s->cancel_fd : -1,
		.billed_max = s->billed_max,
		.options = extra,
	};
	const struct llm_sink sink = { .text = on_text, .note = on_note };

	memset(&got, 0, sizeof(got));
	got.rc = llm_call(llm, &request, &sink, &got.reply, &got.err);
	assert_null(strstr(got.err.message, KEY));
}

static void call(const struct setting *s)
{
	struct llm llm;

	open_client(&llm, s);
	call_client(&llm, s);
	llm_close(&llm);
}

static void run(const struct answer *answers, size_t count, const struct setting *s)
{
	start_server(answers, count);
	call(s);
	stop_server();
}

#define RUN(how, ...)                                                            \
	do {                                                                     \
		static const struct answer answers_[] = { __VA_ARGS__ };         \
		run(answers_, ARRAY_SIZE(answers_), &(const struct setting)how); \
	} while (0)
#define ONCE(...)                         \
	{                                 \
		.retries = 0, __VA_ARGS__ \
	}
#define WITH(...)                         \
	{                                 \
		.retries = 2, __VA_ARGS__ \
	}

static void done(void)
{
	llm_reply_release(&got.reply);
}

static int group_setup(void **state)
{
	(void)state;
	unsetenv("http_proxy");
	unsetenv("HTTP_PROXY");
	unsetenv("ALL_PROXY");
	unsetenv("all_proxy");
	return share_memory();
}

#endif
