/*
 * The inputs that a record has not whole, before a replay runs with them: whether they are there,
 * and hold what they held. One that is gone ends it, one that is another is told and is a change
 * beside those of the surroundings. Nothing is run here.
 */
#include "agent/cli/replay/replay.h"

#include "agent/cli/app.h"
#include "agent/input/input.h"
#include "base/clock.h"
#include "base/mem.h"
#include "sandbox/sandbox.h"

#include <stdlib.h>
#include <string.h>

static int refuse_gone(const struct replay *p, const struct task_file *f, struct error *err)
{
	const char *path = json_get_string(f->was, "path");

	error_set(err, ERR_USAGE,
		  "run %s: its input /in/%s is gone: %s; the log has its digest only (class %s); "
		  "--tier pipeline replays without running anything",
		  p->before.row.id, f->path, path ? path : "", divergence_name(DIVERGED_BY_INPUT));
	return -1;
}

/* What is known of it without its digest, when that run did not come to one. */
static bool is_as_it_was(const struct task_file *f)
{
	const char *digest = json_get_string(f->was, "digest");
	const char *stamp = json_get_string(f->was, "stamp");

	if (digest && *f->input->digest)
		return !strcmp(digest, f->input->digest);
	return stamp && !strcmp(stamp, f->input->stamp);
}

/* From then on it counts as what it is. */
static void note_change(struct replay *p, struct task_file *f)
{
	const char *digest = json_get_string(f->was, "digest");
	struct json *change = json_object();
	cleanup_free char *name = mem_printf(DIVERGENCE_INPUT "%s", f->path);

	json_set_string(change, "name", name);
	json_set_string(change, "before", digest);
	json_set_string(change, "after", *f->input->digest ? f->input->digest : NULL);
	p->inputs = p->inputs ? p->inputs : json_array();
	json_append(p->inputs, change);
	term_note(p->console.term, TERM_YELLOW,
		  "the input /in/%s is not what it was: %s has changed since\n", f->path,
		  f->input->source.path);
	json_free(TAKE_PTR(f->was));
}

static int64_t time_left(const struct replay *p)
{
	if (p->stop.deadline_ms == INT64_MAX)
		return -1;
	int64_t left = p->stop.deadline_ms - clock_mono_ms();
	return left > 0 ? left : 0;
}

static void leave_alone(struct task *task)
{
	for (size_t i = 0; i < task->file_count; i++)
		input_close(TAKE_PTR(task->files[i].input));
}

int replay_check_inputs(struct replay *p, struct task *task, struct error *err)
{
	cleanup_buf struct buf told = BUF_INIT(4096);

	if (p->tier == TIER_PIPELINE) {
		leave_alone(task);
		return 0;
	}
	size_t count;
	cleanup_free struct input **inputs = task_kept_inputs(task, &count);
	for (size_t i = 0; i < task->file_count; i++)
		if (task->files[i].was && !task->files[i].input)
			return refuse_gone(p, &task->files[i], err);
	input_digests_finish(input_digests_start(inputs, count, sandbox_cache_dir(p->sandbox)),
			     p->given->app->cancel_fd, time_left(p), &told);
	if (told.len)
		term_note(p->console.term, TERM_DIM, "%s\n", told.data);
	if (stop_check(&p->stop, err) < 0)
		return -1;
	for (size_t i = 0; i < task->file_count; i++)
		if (task->files[i].input && !is_as_it_was(&task->files[i]))
			note_change(p, &task->files[i]);
	return 0;
}
