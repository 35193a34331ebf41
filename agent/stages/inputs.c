/*
 * The inputs that stay where they are, over the time of a run: their digests, computed beside it,
 * and whether they are at its end what they were. It says what it finds and decides nothing.
 */
#include "agent/run.h"

#include "agent/input/input.h"
#include "base/mem.h"

#include <stdlib.h>

void run_inputs_begin(struct run *r)
{
	r->inputs.kept = task_kept_inputs(r->task, &r->inputs.count);
	r->inputs.digests =
		input_digests_start(r->inputs.kept, r->inputs.count, r->loop->cache_dir);
}

static void tell(const struct run *r, const char *line)
{
	const struct progress *p = &r->loop->progress;

	if (p->note && *line)
		p->note(p->self, line);
}

static void note_change(struct run *r, const struct task_file *f)
{
	cleanup_free char *line = mem_printf("/in/%s changed while the run went on: what it was "
					     "read as may be neither the old nor the new",
					     f->path);

	if (!r->result.changed_inputs)
		r->result.changed_inputs = json_array();
	json_append(r->result.changed_inputs, json_new_string(f->path));
	tell(r, line);
}

/* One that is only played back is what it was. */
static const char *digest_of(const struct task_file *f)
{
	if (!f->input)
		return json_get_string(f->was, "digest");
	return *f->input->digest ? f->input->digest : NULL;
}

static bool has_changed(const struct task_file *f)
{
	if (!f->input)
		return json_get_bool(f->was, "changed", false);
	input_look_again(f->input);
	return f->input->changed;
}

static struct json *describe(struct run *r)
{
	struct json *list = json_array();

	for (size_t i = 0; i < r->task->file_count; i++) {
		const struct task_file *f = &r->task->files[i];

		if (!f->input && !f->was)
			continue;
		struct json *one = json_object();
		json_set_string(one, "name", f->path);
		json_set_string(one, "digest", digest_of(f));
		json_append(list, one);
		if (has_changed(f)) {
			json_set_bool(one, "changed", true);
			note_change(r, f);
		}
	}
	return list;
}

static bool has_any(const struct task *task)
{
	for (size_t i = 0; i < task->file_count; i++)
		if (task->files[i].input || task->files[i].was)
			return true;
	return false;
}

/* Of the deadline; -1: there is none. */
static int64_t time_left(const struct run *r)
{
	const struct clock_ops *clock = &r->loop->clock;
	struct error passed = ERROR_INIT;
	int64_t left;

	if (budget_deadline(&r->budget, clock->elapsed_ms(clock->self, stage_name(STAGE_END), 0),
			    &left, &passed) < 0)
		return 0;
	return left == INT64_MAX ? -1 : left;
}

int run_inputs_end(struct run *r, struct error *err)
{
	cleanup_json struct json *data = json_object();
	cleanup_buf struct buf told = BUF_INIT(4096);

	if (!has_any(r->task))
		return 0;
	input_digests_finish(TAKE_PTR(r->inputs.digests), r->loop->cancel_fd, time_left(r), &told);
	tell(r, told.data);
	json_set(data, "inputs", describe(r));
	return journal_queue(&r->journal, stage_name(STAGE_INPUTS), 0, "done", data, NULL, 0, err);
}

void run_inputs_release(struct run *r)
{
	/* Whatever ended the run did not wait for them. */
	input_digests_abandon(TAKE_PTR(r->inputs.digests));
	free(r->inputs.kept);
}
