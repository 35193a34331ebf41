/*
 * POST /execute and /run_python: a program in, and what came of it out, whole or as events while
 * it runs. What a guest printed is passed on as data in JSON, never as a page.
 */
#include "agent/doors/http/http.h"

#include "agent/doors/service/program.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>

#define ARTIFACTS_MAX ((size_t)64 << 20)

/* --- while it runs --- */

/* What is told of a run, and of each stream the bytes of a character whose rest is to come. */
struct stream {
	struct exchange *x;
	const struct worker *worker;
	struct utf8_begun begun[2];
};

static void on_stage(void *self, const char *stage, int attempt)
{
	const struct stream *s = self;
	cleanup_json struct json *data = json_object();

	json_set_string(data, "stage", stage);
	json_set_int(data, "attempt", attempt);
	exchange_event(s->x, "stage", data);
}

static void on_code(void *self, int attempt, const char *lang, const char *code, size_t len)
{
	(void)lang;
	(void)code;
	(void)len;
	on_stage(self, stage_name(STAGE_SCREEN), attempt);
}

static void tell_output(const struct stream *s, bool is_stderr, const char *bytes, size_t len)
{
	cleanup_json struct json *data = json_object();
	cleanup_buf struct buf room = BUF_INIT(BUF_MAX_DEFAULT);

	if (!len)
		return;
	bytes = call_redact(s->worker, bytes, &len, &room);
	json_set_string(data, "stream", is_stderr ? "stderr" : "stdout");
	json_set_bytes(data, "text", bytes, len);
	exchange_event(s->x, "output", data);
}

/* A read may end within a character. */
static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	struct stream *s = self;
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);

	if (utf8_join(&s->begun[is_stderr], &text, bytes, len) == 0)
		tell_output(s, is_stderr, text.data, text.len);
}

/* What was begun and never finished. */
static void end_output(const struct stream *s)
{
	for (int i = 0; i < 2; i++)
		tell_output(s, i, s->begun[i].bytes, s->begun[i].len);
}

void exchange_call(struct exchange *x, struct call *ret, const char **tags, int64_t wall_ms)
{
	tags[0] = "serve";
	tags[1] = exchange_owner(x);
	tags[2] = NULL;
	*ret = (struct call){ .cancel_fd = exchange_cancel_fd(x),
			      .tags = tags,
			      .owner = exchange_owner(x),
			      .wall_ms = wall_ms };
}

/* --- the result --- */

/* What is kept comes along. */
static void add_contents(struct json *document, const struct loop_result *r)
{
	struct json *artifacts = json_copy(json_get(document, "artifacts"));
	struct buf text = BUF_INIT(ARTIFACTS_MAX);
	size_t i = 0;

	for (struct json *a = json_first(artifacts); a && r->executed; a = json_next(a), i++) {
		const struct sandbox_artifact *from = &r->execution.artifacts[i];

		buf_clear(&text);
		if (!from->kept || !from->bytes ||
		    base64_encode(&text, from->bytes, (size_t)from->size) < 0)
			continue;
		json_set_string(a, "base64", text.data);
	}
	buf_release(&text);
	if (artifacts)
		json_set(document, "artifacts", artifacts);
}

/* A context has one program at a time; the others wait, and no worker with them. */
bool http_execute_check(struct exchange *x)
{
	const char *id = json_get_string(exchange_json(x), "context");

	if (!id)
		return true;
	size_t place;
	if (contexts_look(exchange_contexts(x), id, exchange_owner(x), &place)) {
		exchange_is_alone(x, id, place);
		return true;
	}
	exchange_refuse(x, 404,
			"there is no such context; it may have been closed, or have been "
			"idle for too long");
	return false;
}

/* The document of what came of it; NULL: nothing ran, and err says why. */
static struct json *run(const struct exchange *x, struct worker *w, const struct call *call,
			struct program *program, struct loop_result *result, unsigned *ret_status,
			struct error *err)
{
	*ret_status = 200;
	struct json *document = NULL;
	if (program->context) {
		int rc = call_run_in(w, call, program->context, exchange_owner(x), &program->task,
				     result, &document, err);
		if (rc < 0)
			*ret_status = err->kind == ERR_BUDGET ? 429 : 400;
	} else {
		int rc = call_run(w, call, &program->task, result, err);
		if (rc < 0)
			*ret_status = 500;
		document = call_program_json(w, result, rc < 0 ? err : NULL);
	}
	return document;
}

void http_execute(struct exchange *x, struct worker *w)
{
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	cleanup_program struct program program = { .code = NULL };
	struct stream stream = { .x = x, .worker = w };
	struct error err = ERROR_INIT;

	if (program_read(&program, exchange_json(x), language_at(0)->name, NULL, "serve /execute",
			 &err) < 0) {
		exchange_refuse(x, 400, err.message);
		return;
	}
	struct call call;
	const char *tags[3];
	exchange_call(x, &call, tags, program.wall_ms);
	if (exchange_streams(x))
		call.progress = (struct progress){
			.stage = on_stage, .code = on_code, .output = on_output, .self = &stream
		};
	unsigned status;
	struct json *document = run(x, w, &call, &program, &result, &status, &err);
	end_output(&stream);
	if (!document) {
		exchange_refuse(x, status, err.message);
		return;
	}
	add_contents(document, &result);
	exchange_answer(x, status, document);
}
