/*
 * GET /runs and /runs/ID: the log, as far as it is the asker's; /health and /metrics: how the
 * service does. Nothing here changes anything.
 */
#include "agent/doors/http/http.h"

#include "agent/doors/service/owned.h"
#include "base/host.h"
#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

#define LIST_LIMIT  100
#define METRICS_MAX 65536

void http_runs(struct exchange *x, struct worker *w)
{
	const struct audit_filter filter = { .tag = exchange_owner(x), .limit = LIST_LIMIT };
	struct json *document = json_object(), *rows = json_array();

	json_set(document, "runs", rows);
	struct error err = ERROR_INIT;
	if (owned_list(w, &filter, rows, &err) == 0) {
		exchange_answer(x, 200, document);
		return;
	}
	json_free(document);
	exchange_refuse(x, 500, err.message);
}

void http_run(struct exchange *x, struct worker *w)
{
	struct audit_row row = { .kind = NULL };
	struct error err = ERROR_INIT;

	if (owned_run(w->audit, exchange_part(x), exchange_owner(x), &row, &err) < 0) {
		exchange_refuse(x, err.kind == ERR_USAGE ? 404 : 500, err.message);
		return;
	}
	struct json *document = service_ends(w->service)->record(w->audit, &row, &err);
	audit_row_release(&row);
	if (document)
		exchange_answer(x, 200, document);
	else
		exchange_refuse(x, 500, err.message);
}

void http_health(struct exchange *x)
{
	struct json *document = json_object();
	struct service_load load;

	service_look(server_options_of(exchange_server(x))->service, &load);
	struct server_load http;
	server_look(exchange_server(x), &http);
	json_set_string(document, "status", http.draining ? "draining" : "ok");
	json_set_string(document, "version", ASSAY_VERSION);
	json_set_int(document, "workers", (int64_t)load.parallel);
	json_set_int(document, "running", (int64_t)load.running);
	json_set_int(document, "queue", (int64_t)load.queue);
	json_set_int(document, "waiting", (int64_t)load.waiting);
	struct contexts_counts contexts;
	contexts_count(exchange_contexts(x), &contexts);
	json_set_int(document, "contexts", (int64_t)contexts.open);
	const struct guests *guests = server_options_of(exchange_server(x))->guests;
	if (guests)
		guests->count(guests->self, document);
	exchange_answer(x, 200, document);
}

void http_add_metric(struct buf *out, const char *name, const char *type, const char *help,
		     uint64_t value)
{
	buf_addf(out, "# HELP assay_%s %s\n# TYPE assay_%s %s\nassay_%s %" PRIu64 "\n", name, help,
		 name, type, name, value);
}

static void add_own(struct buf *out, const char *owner, const char *name, const char *type,
		    const char *help, uint64_t value)
{
	static const char mark[] = "key:";

	if (!strncmp(owner, mark, strlen(mark)))
		owner += strlen(mark);
	buf_addf(out, "# HELP assay_key_%s %s\n# TYPE assay_key_%s %s\n", name, help, name, type);
	buf_addf(out, "assay_key_%s{key=\"%s\"} %" PRIu64 "\n", name, owner, value);
}

/* What is another key's is not told. */
static void add_share(struct buf *out, struct service *service, const char *owner)
{
	struct service_share own;

	service_look_owner(service, owner, &own);
	add_own(out, owner, "running", "gauge", "Of the key that asks, under way.", own.running);
	add_own(out, owner, "waiting", "gauge", "Of that, waiting for a worker.", own.waiting);
	add_own(out, owner, "done_total", "counter", "Of that, ended.", own.done);
	add_own(out, owner, "refused_total", "counter",
		"Of that, not taken: its part of the queue was full.", own.refused);
}

/* As Prometheus has it: each count has those of shorter times in it. */
static void add_times(struct buf *out, const char *name, const char *help,
		      const struct service_times *times)
{
	uint64_t all = 0;

	buf_addf(out, "# HELP assay_%s_seconds %s\n# TYPE assay_%s_seconds histogram\n", name, help,
		 name);
	for (size_t i = 0; i < SERVICE_TIMES - 1; i++) {
		all += times->counts[i];
		buf_addf(out, "assay_%s_seconds_bucket{le=\"%g\"} %" PRIu64 "\n", name,
			 (double)service_times_ms[i] / 1000, all);
	}
	all += times->counts[SERVICE_TIMES - 1];
	buf_addf(out, "assay_%s_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, all);
	buf_addf(out, "assay_%s_seconds_sum %g\nassay_%s_seconds_count %" PRIu64 "\n", name,
		 (double)times->sum_ms / 1000, name, all);
}

static void add_work(struct buf *out, const struct service_load *load)
{
	int64_t available = host_memory_available();

	http_add_metric(out, "workers", "gauge",
			"Programs and questions worked on at once, at most.", load->parallel);
	http_add_metric(out, "memory_limit_bytes", "gauge",
			"That their programs may have together, at most.",
			(uint64_t)load->memory_bytes);
	if (available >= 0)
		http_add_metric(out, "memory_available_bytes", "gauge",
				"That this machine has for more.", (uint64_t)available);
	http_add_metric(out, "running", "gauge", "Of them, under way.", load->running);
	http_add_metric(out, "waiting", "gauge", "That wait for a worker.", load->waiting);
	http_add_metric(out, "queue", "gauge", "That may wait, at most.", load->queue);
	http_add_metric(out, "done_total", "counter", "Ended.", load->done);
	http_add_metric(out, "refused_total", "counter", "Not taken: the queue was full.",
			load->refused);
	http_add_metric(out, "lost_total", "counter",
			"Programs whose sandbox could not be made, or died under them.",
			load->lost);
	add_times(out, "wait", "For a worker.", &load->waited);
	add_times(out, "work", "In a worker.", &load->worked);
}

static void add_contexts(struct buf *out, struct contexts *contexts)
{
	struct contexts_counts counts;

	contexts_count(contexts, &counts);
	http_add_metric(out, "contexts", "gauge", "Open, of all keys.", counts.open);
	http_add_metric(out, "contexts_bytes", "gauge", "Of programs and files that they have.",
			counts.bytes);
	http_add_metric(out, "contexts_refused_total", "counter",
			"Not opened: there were as many as may be.", counts.refused);
	http_add_metric(out, "contexts_scarce_total", "counter",
			"Not opened: the machine had less memory left than a program may take.",
			counts.scarce);
	http_add_metric(out, "contexts_unused_total", "counter", "Closed: not used for too long.",
			counts.unused);
	http_add_metric(out, "contexts_outlived_total", "counter", "Closed: there for too long.",
			counts.outlived);
}

void http_metrics(struct exchange *x)
{
	cleanup_buf struct buf out = BUF_INIT(METRICS_MAX);
	struct server *server = exchange_server(x);
	const struct server_options *options = server_options_of(server);
	struct service_load load;

	service_look(options->service, &load);
	struct server_load http;
	server_look(server, &http);
	add_work(&out, &load);
	if (exchange_owner(x))
		add_share(&out, options->service, exchange_owner(x));
	add_contexts(&out, exchange_contexts(x));
	if (options->guests)
		options->guests->measure(options->guests->self, &out);
	http_add_metric(&out, "draining", "gauge", "1: it is about to end.", http.draining);
	http_add_metric(&out, "restarts_total", "counter",
			"Servers that died, each followed by another.", options->restarts);
	http_add_metric(&out, "connections", "gauge", "Open.", http.connections);
	http_add_metric(&out, "body_bytes", "gauge", "Of requests under way, held.",
			http.held_bytes[HELD_REQUEST]);
	http_add_metric(&out, "answer_bytes", "gauge", "Of answers that are not taken yet, held.",
			http.held_bytes[HELD_ANSWER]);
	http_add_metric(&out, "requests_total", "counter", "Answered.", http.requests);
	buf_addstr(&out, "# HELP assay_responses_total By the class of their status.\n"
			 "# TYPE assay_responses_total counter\n");
	for (unsigned i = 2; i < ARRAY_SIZE(http.by_class); i++)
		buf_addf(&out, "assay_responses_total{class=\"%uxx\"} %" PRIu64 "\n", i,
			 http.by_class[i]);
	exchange_answer_text(x, 200, "text/plain; version=0.0.4", out.data);
}
