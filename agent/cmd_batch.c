/* assay batch: hands tasks to workers, writes results as they come. */
#include "agent/command.h"

#include "agent/batch.h"
#include "agent/provider.h"
#include "agent/term.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/ulid.h"

#include <errno.h>
#include <fnmatch.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOBS_MAX 256
#define IDLE UINT32_MAX
#define STILLBORN_MAX 10

struct worker {
	pid_t pid;	/* 0: none */
	int socket;
	uint32_t task;	/* being done, or IDLE */
};

struct dispatch {
	struct batch batch;
	struct batch_results results;
	struct worker *workers;
	size_t worker_count;
	uint32_t *order;	/* owned: the tasks to do */
	size_t to_do, next;	/* the next to hand out */
	size_t max_errors;
	bool stopping;
	size_t stillborn;	/* workers that died before they had a task */
	struct error fatal;
};

/* --- workers --- */

static int start_worker(struct dispatch *d, struct worker *w, struct error *err)
{
	int pair[2];
	size_t i;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "socketpair");
	w->pid = fork();
	if (w->pid < 0)
		return error_set_errno(err, ERR_FAILED, errno, "fork");
	if (!w->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		/* Another worker's end held here would hide its death from the parent. */
		for (i = 0; i < d->worker_count; i++)
			if (d->workers[i].socket >= 0)
				close(d->workers[i].socket);
		command_signals_own();
		batch_worker(&d->batch, pair[1], w == d->workers && !d->next);
	}
	close(pair[1]);
	w->socket = pair[0];
	w->task = IDLE;
	return 0;
}

static void end_worker(struct worker *w, int *ret_status)
{
	*ret_status = 0;
	if (w->socket >= 0)
		close(w->socket);
	w->socket = -1;
	while (w->pid > 0 && waitpid(w->pid, ret_status, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
}

/* --- results --- */

static void tell(const struct json *line)
{
	const char *status = json_get_string(line, "status");
	const char *error = json_get_string(line, "error");
	bool good = status && !strcmp(status, "success");

	term_note(good ? TERM_GREEN : TERM_RED, "%-10s ", status ? status : "failed");
	term_visible(json_get_string(line, "id"), strlen(json_get_string(line, "id")));
	term_note(TERM_DIM, "  %s, %lld attempt(s), %.1f s", json_get_string(line, "level"),
		  (long long)json_get_int(line, "attempts", 0),
		  (double)json_get_int(line, "duration_ms", 0) / 1000);
	if (!good && error) {
		term_note(TERM_PLAIN, "  ");
		term_visible(error, strlen(error) < 200 ? strlen(error) : 200);
	}
	term_note(TERM_PLAIN, "\n");
}

/* text is the line as it will be written, line what it says. */
static int add_result(struct dispatch *d, const struct json *line, const char *text,
		      struct error *err)
{
	if (batch_results_add(&d->results, line, text, err) < 0)
		return -1;
	tell(line);
	if (d->max_errors && d->results.failed >= d->max_errors && !d->stopping) {
		term_note(TERM_RED, "stopping: %zu tasks without success (--max-errors)\n",
			  d->results.failed);
		d->stopping = true;
	}
	return 0;
}

/* A result for a task that no worker can give one for. */
static int add_failure(struct dispatch *d, const char *id, const char *problem, struct error *err)
{
	cleanup_json struct json *line = batch_refused(id, RUN_FAILED, problem);
	cleanup_free char *text = json_print(line);

	return add_result(d, line, text, err);
}

static int worker_died(struct dispatch *d, struct worker *w, struct error *err)
{
	cleanup_free char *problem = NULL;
	uint32_t task = w->task;
	int status;

	end_worker(w, &status);
	if (task == IDLE) {
		/* A worker is given a task at once, so this one died at its start. */
		if (++d->stillborn > STILLBORN_MAX)
			return error_set(err, ERR_FAILED, "workers die as they start (signal %d)",
					 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
		return d->stopping ? 0 : start_worker(d, w, err);
	}
	problem = WIFSIGNALED(status) ?
			  mem_printf("the worker of this task was killed by signal %d (%s)",
				     WTERMSIG(status), strsignal(WTERMSIG(status))) :
			  mem_printf("the worker of this task ended with exit code %d",
				     WEXITSTATUS(status));
	if (add_failure(d, d->batch.tasks->lines[task].id, problem, err) < 0)
		return -1;
	return d->stopping ? 0 : start_worker(d, w, err);
}

static int on_message(struct dispatch *d, struct worker *w, struct error *err)
{
	cleanup_free char *bytes = NULL;
	cleanup_json struct json *line = NULL;
	struct batch_header header;

	if (batch_receive(w->socket, &header, sizeof(header)) < 0)
		return worker_died(d, w, err);
	bytes = mem_alloc(header.len + 1);
	if (batch_receive(w->socket, bytes, header.len) < 0)
		return worker_died(d, w, err);
	if (header.kind == BATCH_FATAL) {
		memcpy(&d->fatal, bytes,
		       sizeof(d->fatal) < header.len ? sizeof(d->fatal) : header.len);
		d->stopping = true;
		w->task = IDLE;
		return 0;
	}
	w->task = IDLE;
	line = json_parse(bytes, header.len, JSON_BIG_AS_STRING | JSON_NUL_AS_FFFD, err);
	return line ? add_result(d, line, bytes, err) : -1;
}

/* --- handing out --- */

/* The next task to do, IDLE when there is none. Bad lines are dealt with here. */
static int next_task(struct dispatch *d, uint32_t *ret, struct error *err)
{
	const struct task_lines *tasks = d->batch.tasks;

	*ret = IDLE;
	while (!d->stopping && d->next < d->to_do) {
		uint32_t task = d->order[d->next++];
		const struct task_line *line = &tasks->lines[task];

		if (!line->problem) {
			*ret = task;
			return 0;
		}
		if (add_failure(d, line->id, line->problem, err) < 0)
			return -1;
	}
	return 0;
}

static int hand_out(struct dispatch *d, bool *ret_busy, struct error *err)
{
	uint32_t task;
	size_t i;

	*ret_busy = false;
	for (i = 0; i < d->worker_count; i++) {
		struct worker *w = &d->workers[i];

		if (w->task == IDLE && w->pid) {
			if (next_task(d, &task, err) < 0)
				return -1;
			if (task != IDLE && batch_send(w->socket, &task, sizeof(task)) == 0)
				w->task = task;
			else if (task != IDLE) {
				w->task = task;
				if (worker_died(d, w, err) < 0)
					return -1;
			}
		}
		*ret_busy |= w->task != IDLE;
	}
	return 0;
}

/* Interrupted: the workers cancel what they do and report it. */
static void stop(struct dispatch *d)
{
	size_t i;

	d->stopping = true;
	for (i = 0; i < d->worker_count; i++)
		if (d->workers[i].pid > 0)
			kill(d->workers[i].pid, SIGTERM);
}

static int dispatch(struct dispatch *d, struct error *err)
{
	struct pollfd fds[JOBS_MAX + 1];
	bool busy, told = false;
	size_t i;

	for (;;) {
		if (hand_out(d, &busy, err) < 0)
			return -1;
		if (!busy)
			return 0;
		for (i = 0; i < d->worker_count; i++)
			fds[i] = (struct pollfd){ d->workers[i].socket, POLLIN, 0 };
		fds[i] = (struct pollfd){ told ? -1 : command_cancel_fd(), POLLIN, 0 };
		if (poll(fds, d->worker_count + 1, -1) < 0 && errno != EINTR)
			return error_set_errno(err, ERR_FAILED, errno, "poll");
		if (fds[d->worker_count].revents) {
			stop(d);
			told = true;
		}
		for (i = 0; i < d->worker_count; i++)
			if (fds[i].revents && on_message(d, &d->workers[i], err) < 0)
				return -1;
	}
}

/* --- the command --- */

static int read_number(const struct settings *s, enum option_id id, size_t *ret, struct error *err)
{
	const char *text = settings_text(s, id, NULL);
	char *end;
	long value;

	if (!text)
		return 0;
	value = strtol(text, &end, 10);
	if (end == text || *end || value < 1)
		return error_set(err, ERR_USAGE, "--%s \"%s\": a whole number, 1 or more, expected",
				 option_table[id].name, text);
	*ret = (size_t)value;
	return 0;
}

/* Known before a model is paid, not after: whether the report will have a place. */
static int check_junit(const struct settings *s, struct error *err)
{
	const char *path = settings_text(s, OPT_JUNIT, NULL);
	cleanup_free char *copy = mem_strdup(path);
	struct stat st;

	if (!path)
		return 0;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return error_set(err, ERR_USAGE, "--junit %s: is a folder; name a file in it", path);
	if (access(dirname(copy), W_OK) < 0)
		return error_set_errno(err, ERR_USAGE, errno, "--junit %s", path);
	return 0;
}

static int summarize(const struct dispatch *d, int64_t began_ms, struct error *err)
{
	const struct settings *s = d->batch.settings;
	cleanup_json struct json *summary =
		batch_results_summary(&d->results, clock_mono_ms() - began_ms);
	cleanup_free char *text = json_print(summary);

	if (s->json)
		return term_outf(err, "%s\n", text);
	term_note(d->results.failed ? TERM_RED : TERM_GREEN, "%zu of %zu succeeded",
		  d->results.success, d->results.count);
	term_note(TERM_DIM, "%s in %.1f s\n",
		  d->results.skipped ? ", the others had a result already" : "",
		  (double)(clock_mono_ms() - began_ms) / 1000);
	if (d->results.failed_before)
		term_note(TERM_RED, "%zu of those had failed; --retry-failed runs them again\n",
			  d->results.failed_before);
	return 0;
}

static int finish(const struct dispatch *d, const char *path, int64_t began_ms, struct error *err)
{
	const char *junit = settings_text(d->batch.settings, OPT_JUNIT, NULL);

	if (summarize(d, began_ms, err) < 0)
		return -1;
	return junit ? batch_results_junit(&d->results, junit, path, err) : 0;
}

static int share_limits(const struct settings *s, size_t jobs, struct error *err)
{
	size_t requests = 0, tokens = 0;

	if (read_number(s, OPT_RPM, &requests, err) < 0 ||
	    read_number(s, OPT_TPM, &tokens, err) < 0)
		return -1;
	return provider_share_limits((int)jobs, (int64_t)requests, (int64_t)tokens, err);
}

static int start_workers(struct dispatch *d, size_t jobs, struct error *err)
{
	size_t i;

	d->workers = mem_array(NULL, jobs, sizeof(*d->workers));
	for (i = 0; i < jobs; i++)
		d->workers[i] = (struct worker){ .socket = -1, .task = IDLE };
	d->worker_count = jobs;
	for (i = 0; i < jobs; i++)
		if (start_worker(d, &d->workers[i], err) < 0)
			return -1;
	return 0;
}

/* Which tasks to do, in order: what --only names, without a result that stands,
 * at most --limit. Only their earlier results make room. */
static int choose_tasks(struct dispatch *d, struct error *err)
{
	const struct task_lines *tasks = d->batch.tasks;
	const struct settings *s = d->batch.settings;
	const char *only = settings_text(s, OPT_ONLY, NULL);
	bool retry = s->options->given[OPT_RETRY_FAILED].count;
	size_t limit = tasks->count, named = 0, i;

	if (read_number(s, OPT_LIMIT, &limit, err) < 0)
		return -1;
	d->order = mem_array(NULL, tasks->count, sizeof(*d->order));
	for (i = 0; i < tasks->count && d->to_do < limit; i++) {
		const char *id = tasks->lines[i].id;

		if (only && fnmatch(only, id, 0))
			continue;
		named++;
		if (batch_earlier_settled(&d->results.earlier, id, retry)) {
			d->results.skipped++;
			continue;
		}
		batch_earlier_drop(&d->results.earlier, id);
		d->order[d->to_do++] = (uint32_t)i;
	}
	return named ? 0 : error_set(err, ERR_USAGE, "--only \"%s\": no task has such an id", only);
}

static int run_batch(struct dispatch *d, const char *path, struct error *err)
{
	int64_t began_ms = clock_mono_ms();
	size_t jobs = 1, i;
	int rc, status;

	if (read_number(d->batch.settings, OPT_JOBS, &jobs, err) < 0 ||
	    read_number(d->batch.settings, OPT_MAX_ERRORS, &d->max_errors, err) < 0 ||
	    check_junit(d->batch.settings, err) < 0 ||
	    batch_results_begin(&d->results, d->batch.settings, err) < 0 ||
	    choose_tasks(d, err) < 0 ||
	    batch_results_open(&d->results, d->batch.settings, err) < 0)
		return -1;
	jobs = jobs < JOBS_MAX ? jobs : JOBS_MAX;
	jobs = jobs < d->to_do ? jobs : d->to_do;
	rc = share_limits(d->batch.settings, jobs, err);
	if (!rc)
		rc = start_workers(d, jobs, err);
	if (!rc)
		rc = dispatch(d, err);
	for (i = 0; i < d->worker_count; i++)
		end_worker(&d->workers[i], &status);
	if (!rc && d->fatal.kind != ERR_NONE) {
		*err = d->fatal;
		rc = -1;
	}
	return rc ? rc : finish(d, path, began_ms, err);
}

int cmd_batch(const struct settings *settings, struct error *err)
{
	struct dispatch d = { .batch = { .settings = settings } };
	struct task_lines tasks = { .lines = NULL };
	char session[ULID_LEN + 1];
	cleanup_free char *copy = NULL;
	const char *path;
	size_t failed, earlier;
	int rc;

	if (settings->options->arg_count != 1) {
		error_set(err, ERR_USAGE, "one FILE of tasks is needed: assay batch FILE");
		return exit_code_of_error(err);
	}
	path = settings->options->args[0];
	if (task_lines_read(&tasks, path, err) < 0)
		return exit_code_of_error(err);
	copy = mem_strdup(path);
	ulid_new(clock_wall_ms(), session);
	d.batch.path = path;
	d.batch.folder = dirname(copy);
	d.batch.session = session;
	d.batch.tasks = &tasks;
	d.results.fd = -1;
	rc = run_batch(&d, path, err);
	failed = d.results.failed;
	earlier = d.results.failed_before;
	if (batch_results_close(&d.results, rc ? &d.fatal : err) < 0)
		rc = -1;
	free(d.order);
	free(d.workers);
	task_lines_release(&tasks);
	if (rc)
		return exit_code_of_error(err);
	if (command_signal())
		return command_signal() == SIGTERM ? (int)EXIT_TERMINATED : (int)EXIT_INTERRUPTED;
	return failed || earlier ? EXIT_BATCH : EXIT_OK;
}
