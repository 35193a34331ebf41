/*
 * A program to be saved, out of the record of its run. What was recorded is taken as it is; nothing
 * is run.
 */
#include "agent/cli/save_recorded.h"

#include "agent/record/recorded_cells.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static int left_nothing(const struct recording *r, struct error *err)
{
	return error_set(err, ERR_USAGE, "run %s left nothing: its program did not end well",
			 r->row.id);
}

/* What its program printed. */
static int load_output(struct save_recorded *v, struct error *err)
{
	const struct recorded_event *started, *done = context_execution(&v->recording, &started);

	if (!done)
		return left_nothing(&v->recording, err);
	return recording_blob(&v->recording, done->data, "stdout", &v->output, &v->output_len, err);
}

/* The trial needs what the program was given. */
static int check_files(const struct save_recorded *v, struct error *err)
{
	const struct task *t = &v->task.task;

	for (size_t i = 0; i < t->file_count; i++)
		if (t->files[i].was && !t->files[i].input)
			return error_set(err, ERR_USAGE,
					 "run %s cannot be saved: /in/%s is gone, which its "
					 "program was given",
					 v->recording.row.id, t->files[i].path);
	return 0;
}

/* The last cell is the run's own, or there is nothing to be saved. */
int save_recorded_load(struct save_recorded *ret, struct audit *audit, const char *run,
		       struct error *err)
{
	*ret = (struct save_recorded){ .output = NULL };
	if (recording_load(&ret->recording, audit, run, err) < 0 ||
	    context_after(&ret->recording, &ret->context, err) < 0 ||
	    recording_task(&ret->recording, &ret->task, err) < 0 || check_files(ret, err) < 0 ||
	    load_output(ret, err) < 0)
		return -1;
	const struct context *c = &ret->context;
	const char *id = ret->recording.row.id;
	if (c->count && !strncmp(c->cells[c->count - 1].id, id, strlen(id)))
		return 0;
	return left_nothing(&ret->recording, err);
}

void save_recorded_release(struct save_recorded *r)
{
	recorded_task_release(&r->task);
	context_release(&r->context);
	recording_release(&r->recording);
	free(r->output);
	*r = (struct save_recorded){ .output = NULL };
}
