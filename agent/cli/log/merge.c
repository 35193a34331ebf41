/*
 * assay log merge: the logs of a batch's parts into one. All of them are looked at before anything
 * is written. A task that two logs answered differently is refused, since a summary could count
 * only one of them; where one log has the other's run too, its newer one is no second answer. Parts
 * that are not there, or not done, are named.
 */
#include "agent/cli/log/carry.h"

#include "agent/cli/exit_code.h"
#include "agent/cli/log/parts.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A run that answered a task. */
struct result {
	char *item, *status, *answer; /* owned */
	char id[ULID_LEN + 1];
	size_t log;
};

struct merge {
	const struct log *log;
	struct audit *into;
	struct audit **from;
	struct carry_runs *runs; /* of each */
	size_t count;
	struct result *results;
	size_t result_count, reading; /* reading: which log */
	struct carried done;
	struct log_parts parts;
};

static void merge_release(struct merge *m)
{
	for (size_t i = 0; i < m->count; i++) {
		audit_close(m->from[i]);
		carry_runs_release(&m->runs[i]);
	}
	for (size_t i = 0; i < m->result_count; i++) {
		free(m->results[i].item);
		free(m->results[i].status);
		free(m->results[i].answer);
	}
	free(m->from);
	free(m->runs);
	free(m->results);
	log_parts_release(&m->parts);
	audit_close(m->into);
}

/* --- one task, two results --- */

static int keep_result(void *self, const struct audit_row *row)
{
	struct merge *m = self;

	if (!row->item || !row->ended_ms || row->replay_of)
		return 0;
	m->results = mem_one_more(m->results, m->result_count, sizeof(*m->results));
	struct result *r = &m->results[m->result_count++];
	*r = (struct result){
		.item = mem_strdup(row->item),
		.status = mem_strdup(row->status ? row->status : ""),
		.answer = mem_strndup(row->answer ? row->answer : "", row->answer_len),
		.log = m->reading,
	};
	memcpy(r->id, row->id, sizeof(r->id));
	return 0;
}

/* By task, then by log, the newest first. */
static int by_task(const void *a, const void *b)
{
	const struct result *x = a, *y = b;
	int order = strcmp(x->item, y->item);

	if (order)
		return order;
	if (x->log != y->log)
		return x->log < y->log ? -1 : 1;
	return strcmp(y->id, x->id);
}

/* Whether one of `count` results of a task is that run, in that log. */
static bool has_run(const struct result *task, size_t count, size_t log, const char *id)
{
	for (size_t i = 0; i < count; i++)
		if (task[i].log == log && !strcmp(task[i].id, id))
			return true;
	return false;
}

/* The newest of two logs. */
static bool conflict(const struct result *task, size_t count, const struct result *a,
		     const struct result *b)
{
	if (!strcmp(a->status, b->status) && !strcmp(a->answer, b->answer))
		return false;
	return !has_run(task, count, a->log, b->id) && !has_run(task, count, b->log, a->id);
}

static bool is_newest(const struct result *task, size_t i)
{
	return !i || task[i - 1].log != task[i].log;
}

/* All results of one task. */
static int check_task(const struct result *task, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; is_newest(task, i) && j < count; j++)
			if (is_newest(task, j) && conflict(task, count, &task[i], &task[j]))
				return error_set(err, ERR_FAILED,
						 "task \"%.100s\" has two results: run %s (%s) and "
						 "run %s (%s) differ; --keep-both takes both",
						 task[i].item, task[i].id, task[i].status,
						 task[j].id, task[j].status);
	return 0;
}

static int check_tasks(struct merge *m, struct error *err)
{
	const struct audit_filter batch = { .kind = "batch" };

	if (m->log->settings->flags->given[OPT_KEEP_BOTH].count)
		return 0;
	for (m->reading = 0; m->reading <= m->count; m->reading++)
		if (audit_list(m->reading < m->count ? m->from[m->reading] : m->into, &batch,
			       keep_result, m, err) < 0)
			return -1;
	if (m->result_count)
		qsort(m->results, m->result_count, sizeof(*m->results), by_task);
	size_t from = 0, to;
	for (; from < m->result_count; from = to) {
		for (to = from + 1; to < m->result_count; to++)
			if (strcmp(m->results[to].item, m->results[from].item))
				break;
		if (check_task(&m->results[from], to - from, err) < 0)
			return -1;
	}
	return 0;
}

/* --- parts --- */

static void tell_parts(struct terminal *term, const struct json *parts, const char *what)
{
	cleanup_free char *text = json_print(parts);

	if (json_count(parts))
		term_note(term, TERM_YELLOW, "shards %s: %s\n", what, text);
}

/* --- the command --- */

/* To add a log to itself would wait for itself. */
static int check_files(const struct log *log, const char *into, struct error *err)
{
	struct stat to;

	if (stat(into, &to) < 0)
		return 0;
	struct stat from;
	for (size_t i = 0; i < log->count; i++)
		if (stat(log->args[i], &from) == 0 && from.st_dev == to.st_dev &&
		    from.st_ino == to.st_ino)
			return error_set(err, ERR_USAGE, "log merge: %s is --into itself",
					 log->args[i]);
	return 0;
}

static int open_all(struct merge *m, const char *into, struct error *err)
{
	const struct audit_filter all = { .limit = 0 };
	const struct log *log = m->log;

	m->from = mem_alloc(log->count * sizeof(*m->from));
	m->runs = mem_alloc(log->count * sizeof(*m->runs));
	for (size_t i = 0; i < log->count; i++) {
		if (carry_open(&m->from[i], log->settings, log->args[i], LOG_CARRY, err) < 0)
			return -1;
		m->count++;
		if (carry_list(m->from[i], &all, &m->runs[i], err) < 0)
			return -1;
	}
	return carry_open(&m->into, log->settings, into, LOG_RECORD, err);
}

static int merge_all(struct merge *m, struct error *err)
{
	if (log_parts_read(&m->parts, m->log, err) < 0)
		return -1;
	for (size_t i = 0; i < m->count; i++)
		if (carry_check(m->into, m->from[i], &m->runs[i], err) < 0)
			return -1;
	if (check_tasks(m, err) < 0)
		return -1;
	for (size_t i = 0; i < m->count; i++)
		if (carry_all(m->into, m->from[i], &m->runs[i], &m->done, err) < 0)
			return -1;
	return 0;
}

static int tell(struct merge *m, const char *into, struct error *err)
{
	carry_tell(m->log->term, &m->done, into);
	tell_parts(m->log->term, m->parts.missing, "missing");
	tell_parts(m->log->term, m->parts.incomplete, "that have not ended");
	if (!m->log->settings->json)
		return 0;
	struct json *object = json_object();
	carry_json(object, &m->done);
	json_set(object, "missing", json_copy(m->parts.missing));
	json_set(object, "incomplete", json_copy(m->parts.incomplete));
	return log_print(m->log->term, object, err);
}

int log_merge(const struct log *log, struct error *err)
{
	__attribute__((cleanup(merge_release))) struct merge m = { .log = log };
	const char *into = settings_text(log->settings, OPT_INTO, NULL);
	bool is_new = into && access(into, F_OK) < 0;

	if (!log->count || !into)
		error_set(err, ERR_USAGE, "log merge needs LOG... --into LOG");
	else if (check_files(log, into, err) == 0 && open_all(&m, into, err) == 0 &&
		 merge_all(&m, err) == 0)
		tell(&m, into, err);
	if (err->kind != ERR_NONE) {
		audit_cleanup(&m.into);
		if (is_new)
			carry_unlink(into);
		return exit_code_of_error(err);
	}
	return json_count(m.parts.missing) + json_count(m.parts.incomplete) ? EXIT_FAILED : EXIT_OK;
}
