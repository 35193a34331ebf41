/*
 * POST /sandbox: this server's sandbox for the jobs of another assay (`--sandbox http:URL`), which
 * has screened them and keeps the record. A server that screens what it runs cannot do so with jobs
 * that are half of a check, and refuses: only one with --profile off serves them. No limit of a job
 * may be above the server's own, but for what reading a program takes. Who comes by a socket of
 * one's own (`assay exec --socket`) could run the same here without us: nothing of that is for him.
 */
#include "agent/doors/http/http.h"

#include "base/base64.h"
#include "base/mem.h"

#include <string.h>

/* What assay itself runs to read programs takes more than most of them. */
#define TIME_LEAST_MS	   120000
#define MEMORY_LEAST_BYTES ((int64_t)1 << 30)
#define OUTPUT_LEAST_BYTES ((int64_t)64 << 20)

static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	cleanup_json struct json *data = json_object();
	cleanup_free char *text = base64_text(bytes, len);

	json_set_string(data, "stream", is_stderr ? "stderr" : "stdout");
	json_set_string(data, "base64", text);
	exchange_event(self, "output", data);
}

static int64_t at_least(int64_t value, int64_t least)
{
	return value < least ? least : value;
}

static struct sandbox_limits limits_for(const struct worker *w)
{
	struct sandbox_limits most = w->policy.limits;

	most.wall_ms = at_least(most.wall_ms, TIME_LEAST_MS);
	most.memory_bytes = at_least(most.memory_bytes, MEMORY_LEAST_BYTES);
	most.stdout_bytes = at_least(most.stdout_bytes, OUTPUT_LEAST_BYTES);
	most.stderr_bytes = at_least(most.stderr_bytes, OUTPUT_LEAST_BYTES);
	most.artifact_bytes = at_least(most.artifact_bytes, OUTPUT_LEAST_BYTES);
	most.disk_bytes = at_least(most.disk_bytes, 2 * OUTPUT_LEAST_BYTES);
	most.cpu_ms = at_least(most.cpu_ms, TIME_LEAST_MS);
	return most;
}

void http_sandbox(struct exchange *x, struct worker *w)
{
	const bool own = server_options_of(exchange_server(x))->guard->open;
	const struct sandbox_limits most = limits_for(w);
	struct sandbox_watch watch = { .self = x, .cancel_fd = exchange_cancel_fd(x) };

	if (!own && w->policy.screen_profile != SCREEN_OFF) {
		exchange_refuse(x, 403,
				"this server screens what it runs, which it cannot do with the "
				"jobs of another assay: start it with --profile off");
		return;
	}
	if (exchange_streams(x))
		watch.output = on_output;
	exchange_answer(x, 200,
			sandbox_serve(w->sandbox, exchange_json(x), own ? NULL : &most, &watch));
}
