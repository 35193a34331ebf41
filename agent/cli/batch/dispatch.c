/*
 * Hands out tasks to workers and takes what they send. A worker that dies is replaced,
 * and its task tried once more. What ends a batch early is kept until its workers have
 * ended: whatever they finish is written. The dispatcher does none itself.
 */
#include "agent/cli/batch/dispatch.h"

#include "agent/cli/app.h"
#include "agent/cli/batch/pool.h"
#include "agent/cli/batch/progress.h"
#include "agent/cli/batch/results.h"
#include "agent/cli/batch/watch.h"
#include "agent/cli/batch/worker.h"
#include "agent/cli/terminal/term.h"
#include "audit/redact/redact.h"
#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STILLBORN_MAX 10
#define OUTAGE_MAX    10 /* unfinished in a row, beside one of each worker */
#define PAYLOAD_MAX   ((uint64_t)1 << 30)

struct worker {
	pid_t pid; /* 0: none */
	int socket;
	bool busy;
	size_t unit; /* being done, when busy: an index of the choice */
};

struct dispatch {
	struct terminal *term;
	struct batch_dispatch *d;
	struct worker *workers; /* owned */
	size_t next;		/* the next unit to hand out */
	bool *tried;		/* owned: units whose worker died */
	size_t *again;		/* owned: those to be tried once more */
	size_t again_count;
	size_t outages; /* results unfinished since the last one that was not */
	bool stopping, signalled;
	size_t stillborn; /* workers that died before they had a task */
	struct error *ended;
};

static const struct task_line *line_of(const struct dispatch *s, size_t unit)
{
	return &s->d->batch->tasks->lines[s->d->choice->units[unit].task];
}

/* --- workers --- */

static int start_worker(struct dispatch *s, size_t number, struct error *err)
{
	struct worker *w = &s->workers[number];
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "socketpair");
	w->pid = fork();
	if (w->pid < 0) {
		w->pid = 0;
		error_set_errno(err, ERR_FAILED, errno, "fork");
		close(pair[0]);
		close(pair[1]);
		return -1;
	}
	if (!w->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		/* Another worker's end held here would hide its death from the parent. */
		for (size_t i = 0; i < s->d->jobs; i++)
			if (s->workers[i].socket >= 0)
				close(s->workers[i].socket);
		app_forked(s->d->batch->settings->app);
		batch_worker(s->d->batch, pair[1], number, !number && !s->next);
	}
	close(pair[1]);
	w->socket = pair[0];
	w->busy = false;
	return 0;
}

/* It ends by itself, beside whatever others do. */
static void let_go(struct worker *w)
{
	if (w->socket >= 0)
		close(w->socket);
	w->socket = -1;
}

static void end_worker(struct worker *w, int *ret_status)
{
	*ret_status = 0;
	let_go(w);
	while (w->pid > 0 && waitpid(w->pid, ret_status, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
}

/* The workers cancel what they do and report it. */
static void cancel_workers(struct dispatch *s)
{
	s->stopping = true;
	for (size_t i = 0; i < s->d->jobs; i++)
		if (s->workers[i].pid > 0)
			kill(s->workers[i].pid, SIGTERM);
}

/* --- results --- */

static void tell(struct terminal *term, const struct json *line)
{
	const char *status = json_get_string(line, "status");
	const char *error = json_get_string(line, "error");
	bool good = status && !strcmp(status, run_status_name(RUN_SUCCESS));
	long long attempts = json_get_int(line, "attempts", 0);
	size_t first = error ? strcspn(error, "\n") : 0;

	term_note(term, good ? TERM_GREEN : TERM_RED, "%-10s ",
		  status ? status : run_status_name(RUN_FAILED));
	term_visible(term, json_get_string(line, "id"), strlen(json_get_string(line, "id")));
	term_note(term, TERM_DIM, "  %s, %lld %s%s, %.1f s", json_get_string(line, "level"),
		  attempts, attempts && !json_get_string(line, "code") ? "attempt" : "program",
		  attempts == 1 ? "" : "s", (double)json_get_int(line, "duration_ms", 0) / 1000);
	if (!good && error) {
		term_note(term, TERM_PLAIN, "  ");
		term_visible(term, error, first < 200 ? first : 200);
	}
	term_note(term, TERM_PLAIN, "\n");
}

/* A provider that is away does not fail the tasks one by one for hours. */
static void notice_outage(struct dispatch *s, const struct json *line)
{
	const struct batch_results *r = s->d->results;
	const char *error = json_get_string(line, "error");

	s->outages = json_get_bool(line, "unfinished", false) ? s->outages + 1 : 0;
	if (s->outages < OUTAGE_MAX + s->d->jobs || s->stopping)
		return;
	error_set(s->ended, r->cause, "%zu tasks in a row were left unfinished: %s", s->outages,
		  error ? error : json_get_string(line, "status"));
	s->stopping = true;
}

/* text is the line as it will be written, line what it says. */
static int add_result(struct dispatch *s, const struct json *line, const char *text,
		      struct error *err)
{
	const struct batch_results *r = s->d->results;

	if (batch_results_add(s->d->results, line, text, err) < 0)
		return -1;
	batch_progress_draw(s->d->watch, false);
	if (batch_watch_result(s->d->watch, line, err) < 0)
		return -1;
	/* The table will say it, and the live lines do. */
	if (!s->d->watch->live || !r->table)
		tell(s->term, line);
	if (s->d->max_errors && r->failed >= s->d->max_errors && !s->stopping) {
		term_note(s->term, TERM_RED, "stopping: %zu task%s without success (%s)\n",
			  r->failed, r->failed == 1 ? "" : "s",
			  s->d->batch->settings->options->given[OPT_FAIL_FAST].count ?
				  "--fail-fast" :
				  "--max-errors");
		s->stopping = true;
	}
	notice_outage(s, line);
	return 0;
}

/* A result for a task that no worker can give one for. */
static int add_failure(struct dispatch *s, size_t unit, const char *problem, struct error *err)
{
	cleanup_json struct json *refused =
		batch_refused(s->d->batch, s->d->choice->units[unit], RUN_FAILED, problem);
	cleanup_free char *text = redact_print(s->d->redactor, refused);
	cleanup_json struct json *line = json_parse(text, strlen(text), JSON_NUL_AS_FFFD, err);

	return line ? add_result(s, line, text, err) : -1;
}

/* --- death --- */

static char *manner_of(int status)
{
	return WIFSIGNALED(status) ? mem_printf("was killed by signal %d (%s)", WTERMSIG(status),
						strsignal(WTERMSIG(status))) :
				     mem_printf("ended with exit code %d", WEXITSTATUS(status));
}

/* The first time, the machine may have been at fault; the second time it is the task. */
static int task_lost(struct dispatch *s, size_t number, int status, struct error *err)
{
	cleanup_free char *manner = manner_of(status);
	size_t unit = s->workers[number].unit;

	if (batch_watch_lost(s->d->watch, number, manner, err) < 0)
		return -1;
	if (!s->tried[unit] && !s->stopping) {
		s->tried[unit] = true;
		s->again[s->again_count++] = unit;
		s->d->results->died++;
		term_note(s->term, TERM_YELLOW, "%s: its worker %s; it is tried once more\n",
			  line_of(s, unit)->id, manner);
		return 0;
	}
	cleanup_free char *problem = mem_printf("the worker of this task %s%s", manner,
						s->tried[unit] ? ", the second time" : "");
	return add_failure(s, unit, problem, err);
}

static int worker_died(struct dispatch *s, size_t number, struct error *err)
{
	struct worker *w = &s->workers[number];
	bool busy = w->busy;
	int status;

	end_worker(w, &status);
	w->busy = false;
	batch_pool_lost(s->d->batch->pool, number);
	/* A worker is given a task at once, so one without died at its start. */
	if (!busy && ++s->stillborn > STILLBORN_MAX)
		return error_set(err, ERR_FAILED, "workers die as they start (signal %d)",
				 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	if (busy && task_lost(s, number, status, err) < 0)
		return -1;
	return s->stopping ? 0 : start_worker(s, number, err);
}

/* --- messages --- */

static void end_with(struct dispatch *s, const char *bytes, size_t len)
{
	s->stopping = true;
	struct error why;
	if (s->ended->kind != ERR_NONE || len != sizeof(why))
		return;
	memcpy(&why, bytes, sizeof(why));
	*s->ended = why;
}

static int on_result(struct dispatch *s, struct worker *w, const struct batch_header *header,
		     const char *text, struct error *err)
{
	cleanup_json struct json *line =
		json_parse(text, header->len, JSON_BIG_AS_STRING | JSON_NUL_AS_FFFD, err);

	w->busy = false;
	batch_watch_idle(s->d->watch, (size_t)(w - s->workers));
	s->d->results->retries += header->retries;
	return line ? add_result(s, line, text, err) : -1;
}

static int on_message(struct dispatch *s, size_t number, struct error *err)
{
	struct worker *w = &s->workers[number];
	struct batch_header header;

	if (batch_receive(w->socket, &header, sizeof(header)) < 0 || header.len > PAYLOAD_MAX)
		return worker_died(s, number, err);
	cleanup_free char *bytes = mem_alloc(header.len + 1);
	if (batch_receive(w->socket, bytes, header.len) < 0)
		return worker_died(s, number, err);
	switch (header.kind) {
	case BATCH_RESULT:
		return on_result(s, w, &header, bytes, err);
	case BATCH_STAGE:
		return header.len != sizeof(struct batch_stage) ?
			       0 :
			       batch_watch_stage(s->d->watch, number,
						 (const struct batch_stage *)(const void *)bytes,
						 err);
	case BATCH_CAPPED:
	case BATCH_FATAL:
		w->busy = false;
		batch_watch_idle(s->d->watch, number);
		end_with(s, bytes, header.len);
		/* Others may yet end well below a cap; nothing ends well without a key. */
		if (header.kind == BATCH_FATAL)
			cancel_workers(s);
		return 0;
	default:
		return 0;
	}
}

/* --- handing out --- */

/* The next unit to do; false when there is none. Bad lines are dealt with here. */
static int next_unit(struct dispatch *s, bool *ret_any, size_t *ret, struct error *err)
{
	*ret_any = !s->stopping && s->again_count;
	if (*ret_any) {
		*ret = s->again[--s->again_count];
		return 0;
	}
	while (!s->stopping && s->next < s->d->choice->count) {
		size_t unit = s->next++;
		const struct task_line *line = line_of(s, unit);

		if (!line->problem) {
			*ret = unit;
			*ret_any = true;
			return 0;
		}
		if (add_failure(s, unit, line->problem, err) < 0)
			return -1;
	}
	return 0;
}

static int hand_out_to(struct dispatch *s, size_t number, struct error *err)
{
	struct worker *w = &s->workers[number];
	const struct batch_unit *units = s->d->choice->units;
	bool any;

	if (next_unit(s, &any, &w->unit, err) < 0)
		return -1;
	if (!any) {
		let_go(w); /* a task to be tried again has a new one */
		return 0;
	}
	w->busy = true;
	if (batch_watch_start(s->d->watch, number, units[w->unit], err) < 0)
		return -1;
	batch_progress_draw(s->d->watch, false);
	if (batch_send(w->socket, &units[w->unit], sizeof(*units)) < 0)
		return worker_died(s, number, err);
	return 0;
}

static int hand_out(struct dispatch *s, bool *ret_busy, struct error *err)
{
	*ret_busy = false;
	for (size_t i = 0; i < s->d->jobs; i++) {
		if (!s->workers[i].busy && s->workers[i].socket >= 0 && hand_out_to(s, i, err) < 0)
			return -1;
		*ret_busy |= s->workers[i].busy;
	}
	return 0;
}

/* --- waiting --- */

static int sooner(int a, int64_t b)
{
	b = b > INT32_MAX ? INT32_MAX : b;
	return a < 0 || b < a ? (int)b : a;
}

static int wait_ms(const struct dispatch *s)
{
	int64_t now_ms = clock_mono_ms();
	int wait = batch_results_sync_in(s->d->results, now_ms);

	if (batch_progress_in(s->d->watch, now_ms) >= 0)
		wait = sooner(wait, batch_progress_in(s->d->watch, now_ms));
	if (s->d->deadline_ms && !s->signalled)
		wait = sooner(wait, s->d->deadline_ms > now_ms ? s->d->deadline_ms - now_ms : 0);
	return wait;
}

/* What is due by the clock, and a signal. */
static int look_around(struct dispatch *s, bool cancelled, struct error *err)
{
	int64_t now_ms = clock_mono_ms();
	bool late = s->d->deadline_ms && now_ms >= s->d->deadline_ms;

	if (batch_results_sync_in(s->d->results, now_ms) == 0 &&
	    batch_results_sync(s->d->results, err) < 0)
		return -1;
	batch_progress_draw(s->d->watch, false);
	if (s->signalled || (!cancelled && !late))
		return 0;
	if (!cancelled && s->ended->kind == ERR_NONE)
		error_set(s->ended, ERR_DEADLINE,
			  "the time of the whole batch is over (--total-time)");
	s->signalled = true;
	cancel_workers(s);
	return 0;
}

static int attend(struct dispatch *s, struct pollfd *fds, struct error *err)
{
	const size_t jobs = s->d->jobs;

	for (size_t i = 0; i < jobs; i++)
		fds[i] = (struct pollfd){ s->workers[i].socket, POLLIN, 0 };
	fds[jobs] = (struct pollfd){ s->signalled ? -1 : s->d->batch->settings->app->cancel_fd,
				     POLLIN, 0 };
	if (poll(fds, jobs + 1, wait_ms(s)) < 0) {
		if (errno != EINTR)
			return error_set_errno(err, ERR_FAILED, errno, "poll");
		return 0;
	}
	if (look_around(s, fds[jobs].revents != 0, err) < 0)
		return -1;
	for (size_t i = 0; i < jobs; i++)
		if (fds[i].revents && on_message(s, i, err) < 0)
			return -1;
	return 0;
}

static int run(struct dispatch *s, struct error *err)
{
	cleanup_free struct pollfd *fds = mem_array(NULL, s->d->jobs + 1, sizeof(*fds));

	for (size_t i = 0; i < s->d->jobs; i++)
		if (start_worker(s, i, err) < 0)
			return -1;
	bool none;
	size_t unit;
	if (!s->d->jobs)
		return next_unit(s, &none, &unit, err);
	bool busy = true;
	while (busy) {
		if (hand_out(s, &busy, err) < 0 || (busy && attend(s, fds, err) < 0))
			return -1;
	}
	return 0;
}

int batch_dispatch(struct batch_dispatch *d, struct error *ended, struct error *err)
{
	struct dispatch s = { .term = &d->batch->settings->app->terminal, .d = d, .ended = ended };

	s.workers = mem_array(NULL, d->jobs + 1, sizeof(*s.workers));
	for (size_t i = 0; i < d->jobs; i++)
		s.workers[i] = (struct worker){ .socket = -1 };
	s.tried = mem_alloc((d->choice->count + 1) * sizeof(*s.tried));
	s.again = mem_array(NULL, d->choice->count + 1, sizeof(*s.again));
	int rc = run(&s, err);
	int status;
	for (size_t i = 0; i < d->jobs; i++)
		let_go(&s.workers[i]);
	for (size_t i = 0; i < d->jobs; i++)
		end_worker(&s.workers[i], &status);
	free(s.workers);
	free(s.tried);
	free(s.again);
	return rc;
}
