/*
 * assay log stats: how often runs succeeded, how long they took, what they used. The counts of
 * the whole log are its own; rates and times are of the runs that the filters name, or of the
 * newest ones, and of no replay.
 */
#include "agent/cli/log/log.h"

#include "agent/cli/exit_code.h"
#include "agent/cli/terminal/term.h"
#include "agent/record/render.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

/* Of how many runs rates and times are told unless a filter says which: a log of a million is
 * not read for a glance. */
#define NEWEST	     2000
#define MIB	     (1024.0 * 1024.0)
#define NAME_COLUMNS 28
#define LABEL	     "%-10s "

struct stats {
	struct audit *audit;
	struct log_filter which;
	enum audit_by by; /* AUDIT_BY_ALL: no buckets */
	bool newest_only;
	struct json *buckets;
	struct error *err;
};

/* --- numbers --- */

static struct json *some(int64_t value)
{
	return value < 0 ? json_new_null() : json_new_int(value);
}

static double rate(const struct audit_bucket *b)
{
	const int64_t ended = b->runs - b->unfinished;

	return ended > 0 ? (double)b->success / (double)ended : -1;
}

static struct json *bucket_json(const struct audit_bucket *b)
{
	struct json *o = json_object();

	json_set_string(o, "name", b->name);
	json_set_int(o, "runs", b->runs);
	json_set_int(o, "success", b->success);
	json_set_int(o, "unfinished", b->unfinished);
	json_set(o, "success_rate", rate(b) < 0 ? json_new_null() : json_new_number(rate(b)));
	json_set(o, "median_ms", some(b->median_ms));
	json_set(o, "p95_ms", some(b->p95_ms));
	json_set_int(o, "input_tokens", b->input_tokens);
	json_set_int(o, "output_tokens", b->output_tokens);
	json_set(o, "cost_usd",
		 b->cost_micro_usd < 0 ? json_new_null() :
					 json_new_number((double)b->cost_micro_usd / 1e6));
	json_set_int(o, "runs_cost_unknown", b->cost_unknown);
	json_set_int(o, "runs_tokens_unknown", b->tokens_unknown);
	return o;
}

static int keep_bucket(void *self, const struct audit_bucket *bucket)
{
	struct stats *s = self;

	json_append(s->buckets, bucket_json(bucket));
	return 0;
}

/* An array of objects as bucket_json makes them. Caller frees; NULL on failure. */
static struct json *load_buckets(struct stats *s, enum audit_by by, bool newest_only)
{
	struct audit_filter filter = s->which.filter;

	filter.limit = newest_only ? NEWEST : 0;
	s->buckets = json_array();
	if (audit_buckets(s->audit, by, &filter, keep_bucket, s, s->err) == 0)
		return s->buckets;
	json_free(s->buckets);
	return NULL;
}

/* --- for people --- */

static void add_rate(struct buf *out, const struct json *b)
{
	double share = json_get_number(b, "success_rate", -1);

	if (share < 0)
		buf_addstr(out, "-");
	else
		buf_addf(out, "%.1f%%", share * 100);
}

static void add_time(struct buf *out, const struct json *b, const char *key)
{
	int64_t ms = json_get_int(b, key, -1);

	if (ms < 0)
		buf_addstr(out, "-");
	else
		buf_addf(out, "%.1fs", (double)ms / 1000);
}

static void add_cost(struct buf *out, const struct json *b)
{
	double usd = json_get_number(b, "cost_usd", -1);

	if (usd < 0)
		buf_addstr(out, "-");
	else
		render_cost((int64_t)(usd * 1e6 + 0.5), out);
}

/* Nothing is not what was used where nobody counted. */
static void add_tokens(struct buf *out, const struct json *b, const char *key)
{
	int64_t tokens = json_get_int(b, key, 0);

	if (!tokens && json_get_int(b, "runs_tokens_unknown", 0))
		buf_addstr(out, "-");
	else
		buf_addf(out, "%" PRId64, tokens);
}

static int print_bucket(struct terminal *term, const struct json *b, struct error *err)
{
	cleanup_buf struct buf in = BUF_INIT(64), from = BUF_INIT(64);
	cleanup_buf struct buf share = BUF_INIT(64), median = BUF_INIT(64), p95 = BUF_INIT(64);
	cleanup_buf struct buf cost = BUF_INIT(64), name = BUF_INIT(1 << 20);
	const char *text = json_get_string(b, "name");

	text = text ? text : "(none)";
	utf8_visible(&name, text, strlen(text));
	buf_truncate(&name, utf8_fit(name.data, name.len, NAME_COLUMNS));
	for (size_t width = utf8_width(name.data, name.len); width < NAME_COLUMNS; width++)
		buf_addch(&name, ' ');
	add_rate(&share, b);
	add_time(&median, b, "median_ms");
	add_time(&p95, b, "p95_ms");
	add_cost(&cost, b);
	add_tokens(&in, b, "input_tokens");
	add_tokens(&from, b, "output_tokens");
	return term_outf(term, err, "%s %7" PRId64 " %7s %8s %8s %12s %11s %10s\n", name.data,
			 json_get_int(b, "runs", 0), share.data, median.data, p95.data, in.data,
			 from.data, cost.data);
}

static int print_buckets(struct terminal *term, const struct json *buckets, enum audit_by by,
			 struct error *err)
{
	if (term_out_style(term, TERM_BOLD, err, "\n%-*s %7s %7s %8s %8s %12s %11s %10s\n",
			   NAME_COLUMNS, audit_by_name(by), "runs", "success", "median", "p95",
			   "tokens in", "out", "cost") < 0)
		return -1;
	for (const struct json *b = json_first(buckets); b; b = json_next(b))
		if (print_bucket(term, b, err) < 0)
			return -1;
	return 0;
}

/* "success 9, failed 2" */
static void add_counts(struct buf *out, const struct json *counts)
{
	for (const struct json *c = json_first(counts); c; c = json_next(c))
		buf_addf(out, "%s%s %" PRId64, out->len ? ", " : "", json_key(c), json_int(c, 0));
}

static int print_log(struct terminal *term, const struct json *stats, struct error *err)
{
	cleanup_buf struct buf status = BUF_INIT(1 << 20), level = BUF_INIT(1 << 20);
	cleanup_buf struct buf kind = BUF_INIT(1 << 20);
	const int64_t runs = json_get_int(stats, "runs", 0);

	add_counts(&status, json_get(stats, "by_status"));
	add_counts(&level, json_get(stats, "by_level"));
	add_counts(&kind, json_get(stats, "by_kind"));
	char oldest[LOG_WHEN_SIZE];
	log_when(json_get_int(stats, "oldest_ms", INT64_MAX), true, oldest);
	char newest[LOG_WHEN_SIZE];
	log_when(json_get_int(stats, "newest_ms", INT64_MAX), true, newest);
	if (term_outf(term, err, LABEL "%s, %.1f MiB\n", "log", json_get_string(stats, "path"),
		      json_get_number(stats, "file_bytes", 0) / MIB) < 0 ||
	    term_outf(term, err,
		      LABEL "%" PRId64 " events, %" PRId64 " contents of %.1f MiB, %" PRId64
			    " redactions\n",
		      "holds", json_get_int(stats, "events", 0), json_get_int(stats, "blobs", 0),
		      json_get_number(stats, "blob_bytes", 0) / MIB,
		      json_get_int(stats, "redactions", 0)) < 0 ||
	    term_outf(term, err, LABEL "%" PRId64 "%s%s\n", "runs", runs, kind.len ? ": " : "",
		      kind.data) < 0)
		return -1;
	if (!runs)
		return 0;
	return term_outf(term, err, LABEL "%s to %s\n" LABEL "%s\n" LABEL "%s\n", "from", oldest,
			 newest, "status", status.data, "level", level.data);
}

static void add_used(struct buf *out, const struct json *b)
{
	int64_t in = json_get_int(b, "input_tokens", 0), from = json_get_int(b, "output_tokens", 0);
	int64_t unknown = json_get_int(b, "runs_tokens_unknown", 0);

	if (!in && !from && unknown)
		buf_addstr(out, "unknown: no model reported them");
	else
		buf_addf(out, "%" PRId64 " in, %" PRId64 " out", in, from);
	if (unknown && (in || from))
		buf_addf(out, " (%" PRId64 " run%s of unknown tokens)", unknown,
			 unknown == 1 ? "" : "s");
}

/* b: the one bucket of all. */
static int print_rates(struct terminal *term, const struct stats *s, const struct json *b,
		       struct error *err)
{
	cleanup_buf struct buf share = BUF_INIT(64), median = BUF_INIT(64), p95 = BUF_INIT(64);
	cleanup_buf struct buf cost = BUF_INIT(64), used = BUF_INIT(256);
	const int64_t runs = json_get_int(b, "runs", 0);
	const int64_t unknown = json_get_int(b, "runs_cost_unknown", 0);

	if (!b)
		return term_out_style(term, TERM_DIM, err, "\nno such run but replays\n");
	add_rate(&share, b);
	add_time(&median, b, "median_ms");
	add_time(&p95, b, "p95_ms");
	add_cost(&cost, b);
	add_used(&used, b);
	if (term_out_style(term, TERM_BOLD, err, "\n%s%" PRId64 " run%s, without replays\n",
			   s->newest_only && runs == NEWEST ? "the newest " : "", runs,
			   runs == 1 ? "" : "s") < 0)
		return -1;
	return term_outf(term, err,
			 LABEL "%s\n" LABEL "median %s, p95 %s\n" LABEL "%s\n" LABEL "%s (%" PRId64
			       " run%s of unknown cost)\n",
			 "success", share.data, "time", median.data, p95.data, "tokens", used.data,
			 "cost", cost.data, unknown, unknown == 1 ? "" : "s");
}

/* --- the command --- */

static int read_by(const struct settings *settings, enum audit_by *ret, struct error *err)
{
	const char *name = settings_text(settings, OPT_BY, NULL);
	int by = name ? audit_by_parse(name) : AUDIT_BY_ALL;

	if (by < 0)
		return error_set(err, ERR_USAGE,
				 "--by \"%.60s\": model, day, tag, status, level or kind", name);
	*ret = (enum audit_by)by;
	return 0;
}

static int read_stats(const struct log *log, struct stats *s, struct error *err)
{
	struct audit_filter *f = &s->which.filter;

	if (read_by(log->settings, &s->by, err) < 0 ||
	    log_filter_read(log->settings, &s->which, err) < 0 ||
	    log_since(log->settings, &f->since_ms, err) < 0)
		return -1;
	s->newest_only = !f->status && !f->level && !f->model && !f->tag && !f->since_ms &&
			 !f->cost_above_micro_usd;
	return 0;
}

/* What the whole log has, what the named runs come to, and, with --by, each bucket of them. */
static int print_all(const struct log *log, const struct stats *s, struct json *stats,
		     const struct json *rates, const struct json *buckets, struct error *err)
{
	if (log->settings->json) {
		json_set(stats, "rates",
			 json_first(rates) ? json_copy(json_first(rates)) : json_new_null());
		if (buckets) {
			json_set_string(stats, "by", audit_by_name(s->by));
			json_set(stats, "buckets", json_copy(buckets));
		}
		return log_print(log->term, json_copy(stats), err);
	}
	if (print_log(log->term, stats, err) < 0 ||
	    print_rates(log->term, s, json_first(rates), err) < 0)
		return -1;
	return buckets ? print_buckets(log->term, buckets, s->by, err) : 0;
}

int log_stats(const struct log *log, struct error *err)
{
	struct stats s = { .audit = log->audit, .err = err };
	cleanup_json struct json *stats = NULL, *buckets = NULL;

	if (read_stats(log, &s, err) < 0 || audit_stats(log->audit, &stats, err) < 0)
		return exit_code_of_error(err);
	cleanup_json struct json *rates = load_buckets(&s, AUDIT_BY_ALL, s.newest_only);
	if (rates && s.by != AUDIT_BY_ALL)
		buckets = load_buckets(&s, s.by, false);
	if (err->kind == ERR_NONE)
		print_all(log, &s, stats, rates, buckets, err);
	return exit_code_of_error(err);
}
