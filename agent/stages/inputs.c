/*
 * The inputs over the time of a run: the digests of those that stay where they are, computed beside
 * it, and of all that were named whether they are at its end what they were. It says what it finds
 * and decides nothing.
 */
#include "agent/stages/inputs.h"

#include "agent/input/input.h"
#include "agent/run.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct inputs_memory {
	int64_t begun_ms;    /* wall clock: what is older was read as it is */
	struct input **kept; /* the task's; owned, not what is in it */
	size_t count;
	struct input_digests *digests; /* of those, being computed; NULL: not */
};

/* What was read was read no longer before the run began. */
#define READ_BEFORE_MS 10000

void run_inputs_begin(struct run *r)
{
	r->inputs = mem_alloc(sizeof(*r->inputs));
	r->inputs->begun_ms = clock_wall_ms();
	r->inputs->kept = task_kept_inputs(r->task, &r->inputs->count);
	r->inputs->digests =
		input_digests_start(r->inputs->kept, r->inputs->count, r->loop->cache_dir);
}

static void tell(const struct run *r, const char *line)
{
	const struct progress *p = &r->loop->progress;

	if (p->note && *line)
		p->note(p->self, line);
}

static void note_change(struct run *r, const struct task_file *f)
{
	cleanup_free char *line =
		f->bytes ? mem_printf("/in/%s was read, and is another or gone since: the answer "
				      "is about what was read",
				      f->path) :
			   mem_printf("/in/%s changed while the run went on: what it was read as "
				      "may be neither the old nor the new",
				      f->path);

	if (!r->result.changed_inputs)
		r->result.changed_inputs = json_array();
	json_append(r->result.changed_inputs, json_new_string(f->path));
	tell(r, line);
}

/* Of a file that was read, whether its place has other bytes now. One that nobody touched is not
 * read again. */
static bool is_other_now(const struct run *r, const struct task_file *f)
{
	cleanup_close int fd = io_open(f->from, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	cleanup_buf struct buf now = BUF_INIT(f->len + 1);
	struct error ignored = ERROR_INIT;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size != f->len)
		return true;
	if ((int64_t)st.st_ctim.tv_sec * 1000 < r->inputs->begun_ms - READ_BEFORE_MS)
		return false;
	return io_read_open_file(fd, f->from, &now, &ignored) < 0 || now.len != f->len ||
	       (f->len && memcmp(now.data, f->bytes, f->len));
}

/* One that is only played back is what it was. */
static const char *digest_of(const struct task_file *f)
{
	if (!f->input)
		return json_get_string(f->was, "digest");
	return *f->input->digest ? f->input->digest : NULL;
}

static bool has_changed(const struct run *r, const struct task_file *f)
{
	if (f->bytes)
		return f->from ? is_other_now(r, f) : f->changed;
	if (!f->input)
		return json_get_bool(f->was, "changed", false);
	input_look_again(f->input);
	return f->input->changed;
}

/* Of those that the log has whole, what changed. */
static struct json *describe(struct run *r)
{
	struct json *list = json_array();

	for (size_t i = 0; i < r->task->file_count; i++) {
		const struct task_file *f = &r->task->files[i];
		bool stays = f->input || f->was;

		if (!stays && !f->bytes)
			continue;
		bool changed = has_changed(r, f);
		if (!stays && !changed)
			continue;
		struct json *one = json_object();
		json_set_string(one, "name", f->path);
		if (stays)
			json_set_string(one, "digest", digest_of(f));
		json_append(list, one);
		if (changed) {
			json_set_bool(one, "changed", true);
			note_change(r, f);
		}
	}
	return list;
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

	input_digests_finish(TAKE_PTR(r->inputs->digests), r->loop->cancel_fd, time_left(r), &told);
	tell(r, told.data);
	struct json *list = describe(r);
	bool any = json_first(list);
	json_set(data, "inputs", list);
	if (!any)
		return 0;
	return journal_queue(&r->journal, stage_name(STAGE_INPUTS), 0, "done", data, NULL, 0, err);
}

void run_inputs_release(struct run *r)
{
	if (!r->inputs)
		return;
	/* Whatever ended the run did not wait for them. */
	input_digests_abandon(TAKE_PTR(r->inputs->digests));
	free(r->inputs->kept);
	free(r->inputs);
}
