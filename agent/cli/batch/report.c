/*
 * What a batch came to: the summary for programs and for people, and the JUnit report.
 * It counts nothing that a result's line does not say.
 */
#include "agent/cli/batch/report.h"

#include "agent/cli/batch/batch.h"
#include "agent/cli/batch/earlier.h"
#include "agent/cli/batch/outcome.h"
#include "agent/cli/batch/results.h"
#include "agent/cli/batch/tally.h"
#include "agent/cli/estimate.h"
#include "agent/cli/junit.h"
#include "agent/cli/terminal/term.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define KIND_BYTES_MAX 120 /* of an error that stands for its kind */
#define KINDS_SHOWN    10
#define ID_BYTES_MIN   16
#define DIGITS	       "0123456789"
#define LETTERS	       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define SLOWEST_SHOWN  5

/* Why results from before did not stand: in JSON, and in words. */
static const struct {
	const char *name, *words;
} standings[STANDING_COUNT] = {
	[STANDING_CANCELLED] = { "cancelled", "had been cut short" },
	[STANDING_FAILED] = { "failed", "had not succeeded" },
	[STANDING_TASK] = { "task_changed", "were asked another task" },
	[STANDING_SETTINGS] = { "settings_changed", "had another model or other settings" },
	[STANDING_UNKNOWN] = { "unknown", "do not say what they were asked" },
};

static struct json *levels_json(const struct batch_results *r)
{
	struct json *levels = json_object();

	for (int i = LEVEL_NONE; i <= LEVEL_EXPECTED; i++)
		if (r->levels[i])
			json_set_int(levels, level_name((enum level)i), (int64_t)r->levels[i]);
	return levels;
}

static struct json *usage_json(const struct batch_results *r)
{
	struct json *usage = json_object();

	json_set_int(usage, "input_tokens", r->input_tokens);
	json_set_int(usage, "cached_tokens", r->cached_tokens);
	json_set_int(usage, "output_tokens", r->output_tokens);
	json_set_int(usage, "reasoning_tokens", r->reasoning_tokens);
	return usage;
}

/* What became of the results that were there: only where there were any. */
static void set_earlier(struct json *object, const struct batch_results *r)
{
	struct json *taken = json_object(), *again = json_object();

	json_set_int(taken, "success", (int64_t)(r->skipped - r->skipped_failed));
	json_set_int(taken, "failed", (int64_t)r->skipped_failed);
	for (int i = 0; i < STANDING_COUNT; i++)
		if (standings[i].name && r->standing[i])
			json_set_int(again, standings[i].name, (int64_t)r->standing[i]);
	json_set(object, "taken_over", taken);
	json_set(object, "run_again", again);
	json_set_int(object, "of_other_tasks", (int64_t)r->others_before);
}

/* --- what went wrong, and what took long --- */

/* The length of an id or a hash at p: many letters and digits in a row; 0: there is none. */
static size_t id_at(const char *p)
{
	size_t len = strspn(p, LETTERS DIGITS);

	return len >= ID_BYTES_MIN && strcspn(p, DIGITS) < len ? len : 0;
}

/* An error as one of its kind: its first line, numbers and ids left out. */
static char *kind_of(const struct batch_outcome *o)
{
	cleanup_buf struct buf out = BUF_INIT(KIND_BYTES_MAX * 2);
	const char *p = o->error ? o->error : o->status;

	while (*p && *p != '\n' && out.len < KIND_BYTES_MAX) {
		size_t id = id_at(p);

		if (id || (*p >= '0' && *p <= '9')) {
			buf_addch(&out, 'N');
			p += id ? id : strspn(p, DIGITS ".");
		} else {
			buf_addch(&out, *p++);
		}
	}
	buf_truncate(&out, utf8_fit(out.data, out.len, KIND_BYTES_MAX));
	return mem_strndup(out.data, out.len);
}

struct bucket {
	char *kind; /* owned */
	const struct batch_outcome *first;
	size_t count;
};

static int by_kind(const void *a, const void *b)
{
	const struct bucket *x = a, *y = b;

	return strcmp(x->kind, y->kind);
}

static int by_count(const void *a, const void *b)
{
	const struct bucket *x = a, *y = b;

	return x->count == y->count ? strcmp(x->kind, y->kind) : x->count < y->count ? 1 : -1;
}

/* The kinds of errors, most frequent first; the caller frees them and each kind. */
static struct bucket *buckets_of(const struct batch_results *r, size_t *ret_count)
{
	struct bucket *all = mem_array(NULL, r->failed + 1, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		if (strcmp(r->outcomes[i].status, run_status_name(RUN_SUCCESS)))
			all[n++] = (struct bucket){ kind_of(&r->outcomes[i]), &r->outcomes[i], 1 };
	qsort(all, n, sizeof(*all), by_kind);
	size_t kinds = 0;
	for (size_t i = 0; i < n; i++) {
		if (kinds && !strcmp(all[kinds - 1].kind, all[i].kind)) {
			all[kinds - 1].count++;
			free(all[i].kind);
		} else {
			all[kinds++] = all[i];
		}
	}
	qsort(all, kinds, sizeof(*all), by_count);
	*ret_count = kinds;
	return all;
}

static void free_buckets(struct bucket *buckets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(buckets[i].kind);
	free(buckets);
}

static int by_duration(const void *a, const void *b)
{
	const struct batch_outcome *const *x = a, *const *y = b;

	return ((*x)->duration_ms < (*y)->duration_ms) - ((*x)->duration_ms > (*y)->duration_ms);
}

/* The slowest first; the caller frees. */
static const struct batch_outcome **slowest_of(const struct batch_results *r)
{
	const struct batch_outcome **list = mem_array(NULL, r->count + 1, sizeof(*list));

	for (size_t i = 0; i < r->count; i++)
		list[i] = &r->outcomes[i];
	qsort(list, r->count, sizeof(*list), by_duration);
	return list;
}

static void set_errors(struct json *object, const struct batch_results *r)
{
	struct json *errors = json_array();
	size_t kinds;
	struct bucket *buckets = buckets_of(r, &kinds);

	for (size_t i = 0; i < kinds && i < KINDS_SHOWN; i++) {
		struct json *one = json_object();

		json_set_string(one, "error", buckets[i].kind);
		json_set_int(one, "count", (int64_t)buckets[i].count);
		json_set_string(one, "id", buckets[i].first->id);
		json_append(errors, one);
	}
	free_buckets(buckets, kinds);
	json_set(object, "errors", errors);
}

static void set_slowest(struct json *object, const struct batch_results *r)
{
	cleanup_free const struct batch_outcome **list = slowest_of(r);
	struct json *slowest = json_array();

	for (size_t i = 0; i < r->count && i < SLOWEST_SHOWN; i++) {
		struct json *one = json_object();

		json_set_string(one, "id", list[i]->id);
		json_set_int(one, "duration_ms", list[i]->duration_ms);
		json_append(slowest, one);
	}
	json_set(object, "slowest", slowest);
}

static void tell_errors(struct terminal *term, const struct batch_results *r)
{
	size_t kinds;
	struct bucket *buckets = buckets_of(r, &kinds);

	for (size_t i = 0; r->failed > 1 && i < kinds && i < KINDS_SHOWN; i++)
		term_note(term, TERM_DIM, "%6zu  %s (%s%s)\n", buckets[i].count, buckets[i].kind,
			  buckets[i].first->id, buckets[i].count > 1 ? ", ..." : "");
	free_buckets(buckets, kinds);
}

static void tell_slowest(struct terminal *term, const struct batch_results *r)
{
	cleanup_free const struct batch_outcome **list = slowest_of(r);

	if (r->count <= SLOWEST_SHOWN)
		return;
	term_note(term, TERM_DIM, "slowest:");
	for (size_t i = 0; i < SLOWEST_SHOWN; i++)
		term_note(term, TERM_DIM, " %s (%.1f s)", list[i]->id,
			  (double)list[i]->duration_ms / 1000);
	term_note(term, TERM_DIM, "\n");
}

/* --- the summary --- */

struct json *batch_report_summary(const struct batch_results *r, int64_t duration_ms)
{
	struct json *object = json_object();

	json_set_int(object, "total", (int64_t)(r->count + r->skipped));
	json_set_int(object, "success", (int64_t)r->success);
	json_set_int(object, "failed", (int64_t)r->failed);
	json_set_int(object, "unfinished", (int64_t)r->unfinished);
	json_set_int(object, "skipped", (int64_t)r->skipped);
	json_set_int(object, "not_run", (int64_t)r->not_run);
	if (r->count + r->skipped)
		json_set(object, "success_rate",
			 estimate_share((double)(r->success + r->skipped - r->skipped_failed) /
						(double)(r->count + r->skipped),
					r->count + r->skipped));
	json_set(object, "levels", levels_json(r));
	json_set(object, "usage", usage_json(r));
	json_set_int(object, "duration_ms", duration_ms);
	if (r->cost_known)
		json_set_number(object, "cost_usd", r->cost_usd);
	else
		json_set_null(object, "cost_usd");
	json_set_int(object, "retries", (int64_t)r->retries);
	json_set_int(object, "workers_died", (int64_t)r->died);
	set_errors(object, r);
	set_slowest(object, r);
	if (r->repeats)
		json_set(object, "repeats", batch_tally_repeats(r));
	if (r->vote)
		json_set(object, "votes", batch_tally_votes(r));
	if (r->earlier.count)
		set_earlier(object, r);
	return object;
}

static void tell_skipped(struct terminal *term, const struct batch_results *r)
{
	bool all = !r->count && !r->not_run;

	if (r->skipped)
		term_note(term, r->skipped_failed ? TERM_RED : TERM_DIM,
			  "%s%zu %s a result already: %zu succeeded, %zu failed\n",
			  all ? "nothing to do: all " : "", r->skipped,
			  r->skipped == 1 ? "has" : "have", r->skipped - r->skipped_failed,
			  r->skipped_failed);
	else if (all)
		term_note(term, TERM_DIM, "nothing to do: no task is left\n");
	for (int i = 0; i < STANDING_COUNT; i++)
		if (standings[i].words && r->standing[i])
			term_note(term, TERM_DIM, "%zu run again: their results %s\n",
				  r->standing[i], standings[i].words);
	if (r->others_before)
		term_note(term, TERM_DIM, "%zu more in %s are not of the tasks chosen here\n",
			  r->others_before, r->path);
	if (r->failed_before)
		term_note(term, TERM_RED,
			  "%zu of those had failed; --retry-failed runs them again\n",
			  r->failed_before);
}

static void tell_share(struct terminal *term, const char *name, const struct json *share)
{
	term_note(term, TERM_PLAIN, "%s %.1f %% (%.1f to %.1f)", name,
		  json_get_number(share, "value", 0) * 100, json_get_number(share, "low", 0) * 100,
		  json_get_number(share, "high", 0) * 100);
}

/* The first and the last of pass@k, and the last of pass^k. */
static void tell_repeats(struct terminal *term, const struct batch_results *r)
{
	cleanup_json struct json *repeats = r->repeats ? batch_tally_repeats(r) : NULL;
	cleanup_json struct json *votes = r->vote ? batch_tally_votes(r) : NULL;
	cleanup_free char *any = mem_printf("pass@%zu", r->repeats);
	cleanup_free char *all = mem_printf("pass^%zu", r->repeats);

	if (json_get(repeats, "pass@1")) {
		tell_share(term, "pass@1", json_get(repeats, "pass@1"));
		for (int i = 0; i < 2 && r->repeats > 1 && json_get(repeats, any); i++) {
			term_note(term, TERM_PLAIN, ", ");
			tell_share(term, i ? all : any, json_get(repeats, i ? all : any));
		}
		term_note(term, TERM_PLAIN, "\n");
	}
	if (votes)
		term_note(term, TERM_PLAIN, "by vote, %lld of %lld succeeded\n",
			  (long long)json_get_int(votes, "success", 0),
			  (long long)json_get_int(votes, "tasks", 0));
}

void batch_report_tell(struct terminal *term, const struct batch_results *r, int64_t duration_ms)
{
	int64_t tokens = r->input_tokens + r->output_tokens;

	if (r->count)
		term_note(term, r->failed ? TERM_RED : TERM_GREEN, "%zu of %zu succeeded in %.1f s",
			  r->success, r->count, (double)duration_ms / 1000);
	if (r->count && tokens)
		term_note(term, TERM_DIM, ", %lld tokens", (long long)tokens);
	if (r->count && tokens && r->cost_known)
		term_note(term, TERM_DIM, ", $%.4f", r->cost_usd);
	term_note(term, TERM_PLAIN, r->count ? "\n" : "");
	if (r->not_run)
		term_note(term, TERM_RED, "%zu not run: the batch ended before%s\n", r->not_run,
			  r->path ? "; --resume runs them" : "");
	if (r->unfinished)
		term_note(term, TERM_RED, "%zu unfinished: the %s failed them%s\n", r->unfinished,
			  r->cause == ERR_SANDBOX ? "sandbox" : "provider",
			  r->path ? "; --resume runs them again" : "");
	tell_errors(term, r);
	tell_slowest(term, r);
	tell_repeats(term, r);
	tell_skipped(term, r);
}

/* XML 1.0 text: what it cannot hold is made visible first. */
/* The answer was wrong, or there was none. */
static enum junit_fault junit_fault_of(const struct batch_outcome *o)
{
	int status = run_status_parse(o->status);

	if (status == RUN_SUCCESS)
		return JUNIT_NONE;
	return status == RUN_FAILED || status == RUN_UNVERIFIED ? JUNIT_FAILURE : JUNIT_ERROR;
}

static void add_case(struct junit *j, const struct batch_outcome *o)
{
	cleanup_free char *class_name = mem_printf("assay.%s", o->level);
	cleanup_free char *name =
		o->repeat ? mem_printf("%s [%u]", o->id, o->repeat + 1) : mem_strdup(o->id);
	const struct junit_case c = {
		.name = name,
		.class_name = class_name,
		.duration_ms = o->duration_ms,
		.fault = junit_fault_of(o),
		.type = o->status,
		.message = o->error ? o->error : o->status,
	};

	junit_add(j, &c);
}

int batch_report_junit(const struct batch_results *r, const char *path, const char *suite,
		       struct error *err)
{
	struct junit j;

	junit_init(&j);
	for (size_t i = 0; i < r->earlier.count; i++)
		if (!r->earlier.lines[i].dropped)
			add_case(&j, &r->earlier.lines[i]);
	for (size_t i = 0; i < r->count; i++)
		add_case(&j, &r->outcomes[i]);
	return junit_write(&j, path, suite, err);
}
