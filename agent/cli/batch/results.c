/*
 * The results file of a batch: kept from other batches, a line as each task ends, whole or not at
 * all, and on disk a moment later. No worker may write to it.
 */
#include "agent/cli/batch/results.h"

#include "agent/cli/batch/batch.h"
#include "agent/cli/batch/outcome.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Lines wait so long for each other, so that they are synced together. */
#define SYNC_AFTER_MS 100

/* --- opening, resuming --- */

/* A record lock is the process's own: a worker does not have it, and it ends with the
 * last descriptor that is closed, so that nothing else here opens the file. */
static int lock_file(int fd, const char *path, struct error *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", path);
	if (!S_ISREG(st.st_mode) || fcntl(fd, F_SETLK, &lock) == 0)
		return 0;
	if (errno != EACCES && errno != EAGAIN)
		return error_set_errno(err, ERR_FAILED, errno, "%s: cannot be locked", path);
	if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK || lock.l_pid <= 0)
		return error_set(err, ERR_FAILED,
				 "%s: another batch writes to it: wait for its end, or name "
				 "another file with --out",
				 path);
	return error_set(err, ERR_FAILED,
			 "%s: the batch of process %ld writes to it: wait for its end, or name "
			 "another file with --out",
			 path, (long)lock.l_pid);
}

/* Opened and locked; what was opened is still what path names. */
static int open_locked(const char *path, int flags, struct error *err)
{
	for (;;) {
		cleanup_close int fd = io_open(path, flags, 0644);

		if (fd < 0)
			return error_set_errno(err, ERR_FAILED, errno, "%s", path);
		if (lock_file(fd, path, err) < 0)
			return -1;
		struct stat opened;
		struct stat named;
		if (fstat(fd, &opened) == 0 && stat(path, &named) == 0 &&
		    opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
			return TAKE_FD(fd);
	}
}

int batch_results_begin(struct batch_results *r, const struct settings *settings, struct error *err)
{
	const struct option_values *given = settings->options->given;
	bool again = given[OPT_RETRY_FAILED].count || given[OPT_RESUME].count;

	*r = (struct batch_results){ .fd = -1, .cost_known = true };
	r->table = !given[OPT_OUT].count && !settings->json && isatty(STDOUT_FILENO);
	r->vote = given[OPT_VOTE].count;
	r->answers = r->table || r->vote || given[OPT_CSV].count;
	if (!given[OPT_OUT].count)
		return again ? error_set(err, ERR_USAGE,
					 "--resume and --retry-failed need --out FILE") :
			       0;
	r->path = given[OPT_OUT].values[0];
	struct stat st;
	if (stat(r->path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	r->fd = open_locked(r->path, O_RDWR | O_APPEND, err);
	if (r->fd < 0)
		return -1;
	if (!st.st_size)
		return 0;
	if (!again)
		return error_set(err, ERR_USAGE,
				 "%s: exists already; --resume goes on with it, "
				 "--retry-failed repeats what did not succeed",
				 r->path);
	return batch_earlier_read(&r->earlier, r->fd, r->path, r->answers, err);
}

static void count_earlier(struct batch_results *r)
{
	for (size_t i = 0; i < r->earlier.count; i++) {
		const struct batch_outcome *o = &r->earlier.lines[i];

		if (o->dropped)
			continue;
		r->failed_before += !!strcmp(o->status, run_status_name(RUN_SUCCESS));
		r->others_before += !o->named;
	}
}

int batch_results_open(struct batch_results *r, const struct settings *settings, struct error *err)
{
	if (!r->path) {
		r->fd = settings->json || r->table ? -1 : dup(STDOUT_FILENO);
		return 0;
	}
	count_earlier(r);
	if (batch_earlier_write(&r->earlier, r->path, err) < 0)
		return -1;
	/* What was written is another file, to be locked before the old one is let go. */
	int fd = open_locked(r->path, O_WRONLY | O_CREAT | O_APPEND, err);
	if (fd < 0)
		return -1;
	struct stat st;
	if (fstat(fd, &st) < 0) {
		error_set_errno(err, ERR_FAILED, errno, "%s", r->path);
		io_close(fd);
		return -1;
	}
	if (r->fd >= 0)
		close(r->fd); /* nothing was written through it: what this says changes nothing */
	r->fd = fd;
	r->good_len = st.st_size;
	return 0;
}

/* --- adding --- */

static void count(struct batch_results *r, const struct json *line)
{
	const struct json *usage = json_get(line, "usage");

	r->outcomes = mem_one_more(r->outcomes, r->count, sizeof(*r->outcomes));
	struct batch_outcome *o = &r->outcomes[r->count++];
	batch_outcome_read(o, line, r->answers);
	int rank = level_parse(o->level);
	r->unfinished += o->unfinished;
	if (o->unfinished && r->cause != ERR_SANDBOX)
		r->cause = run_status_parse(o->status) == RUN_SANDBOX_ERROR ? ERR_SANDBOX :
									      ERR_PROVIDER;
	if (strcmp(o->status, run_status_name(RUN_SUCCESS)))
		r->failed++;
	else
		r->success++;
	r->levels[rank >= 0 ? rank : LEVEL_NONE]++;
	r->input_tokens += json_get_int(usage, "input_tokens", 0);
	r->cached_tokens += json_get_int(usage, "cached_tokens", 0);
	r->output_tokens += json_get_int(usage, "output_tokens", 0);
	r->reasoning_tokens += json_get_int(usage, "reasoning_tokens", 0);
	if (json_type(json_get(line, "cost_usd")) == JSON_NUMBER)
		r->cost_usd += json_get_number(line, "cost_usd", 0);
	else if (json_get_int(usage, "input_tokens", 0) || json_get_string(line, "run"))
		r->cost_known = false;
}

int batch_results_add(struct batch_results *r, const struct json *line, const char *text,
		      struct error *err)
{
	cleanup_buf struct buf whole = BUF_INIT(SIZE_MAX / 2);

	buf_addstr(&whole, text);
	buf_addch(&whole, '\n');
	if (r->fd >= 0 && io_write_all(r->fd, whole.data, whole.len, err) < 0) {
		/* Half a line would spoil a resume; a file can be put back. */
		if (r->path && ftruncate(r->fd, r->good_len) < 0)
			return error_wrap(err, "%s: and its last line is torn", r->path);
		return error_wrap(err, "%s", r->path ? r->path : "standard output");
	}
	r->good_len += (off_t)whole.len;
	if (r->path && !r->unsynced_ms)
		r->unsynced_ms = clock_mono_ms();
	count(r, line);
	return 0;
}

int batch_results_sync_in(const struct batch_results *r, int64_t now_ms)
{
	int64_t left_ms = r->unsynced_ms + SYNC_AFTER_MS - now_ms;

	if (!r->unsynced_ms)
		return -1;
	return left_ms > 0 ? (int)left_ms : 0;
}

int batch_results_sync(struct batch_results *r, struct error *err)
{
	r->unsynced_ms = 0;
	/* First the runs that the results name. */
	if (r->log && audit_group_sync(r->log, r->log_path, err) < 0)
		return -1;
	/* EINVAL: a pipe or a device, which has nothing to be flushed to. */
	if (io_fsync(r->fd) < 0 && errno != EINVAL)
		return error_set_errno(err, ERR_FAILED, errno, "%s", r->path);
	return 0;
}

int batch_results_close(struct batch_results *r, struct error *err)
{
	int rc = 0;

	if (r->unsynced_ms)
		rc = batch_results_sync(r, err);
	if (r->fd >= 0 && io_close(r->fd) < 0 && !rc)
		rc = error_set_errno(err, ERR_FAILED, errno, "%s",
				     r->path ? r->path : "standard output");
	for (size_t i = 0; i < r->count; i++)
		batch_outcome_release(&r->outcomes[i]);
	free(r->outcomes);
	batch_earlier_release(&r->earlier);
	*r = (struct batch_results){ .fd = -1 };
	return rc;
}
