/*
 * What is in a context of a client's (contexts.h): the files that its programs were given, and what
 * they left. Who has it to himself calls this.
 */
#include "agent/doors/service/contexts.h"

#include "agent/doors/service/program.h"
#include "agent/loop.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FILES_BYTES_MAX ((size_t)64 << 20) /* of all files that one has */

static struct task_file *file_of(struct held *h, const char *path)
{
	for (size_t i = 0; i < h->file_count; i++)
		if (!strcmp(h->files[i].path, path))
			return &h->files[i];
	return NULL;
}

/* Once more, for another that holds it; what stays where it is is opened again. */
static int copy_file(struct task_file *ret, const struct task_file *file, struct error *err)
{
	struct input *input = NULL;

	if (file->input && input_open_fd(&input, file->input->source.fd, file->path, err) < 0)
		return -1;
	*ret = (struct task_file){ .path = mem_strdup(file->path),
				   .bytes = input ? NULL : mem_strndup(file->bytes, file->len),
				   .len = file->len,
				   .input = input };
	return 0;
}

static int keep(struct held *h, const struct task_file *file, struct error *err)
{
	struct task_file *kept = file_of(h, file->path), copy;

	if (copy_file(&copy, file, err) < 0)
		return -1;

	if (!kept) {
		h->files = mem_one_more(h->files, h->file_count, sizeof(*h->files));
		kept = &h->files[h->file_count++];
	} else {
		task_file_release(kept);
	}
	*kept = copy;
	return 0;
}

static int add_again(struct task *task, const struct task_file *file, struct error *err)
{
	struct task_file copy;

	if (copy_file(&copy, file, err) < 0)
		return -1;
	if (copy.input)
		task_add_input(task, file->path, copy.input);
	else
		task_add_bytes(task, file->path, copy.bytes, copy.len);
	free(copy.path);
	return 0;
}

char *held_session(const struct held *h)
{
	return mem_printf("context %s", h->id);
}

int held_add_files(struct held *h, struct task *task, struct error *err)
{
	size_t own = task->file_count;

	if (h->file_count + own > HELD_FILES_MAX)
		return error_set(err, ERR_USAGE, "files: those of this context are more than %zu",
				 HELD_FILES_MAX);
	for (size_t i = 0; i < h->file_count; i++) {
		const struct task_file *file = &h->files[i];
		bool again = false;

		for (size_t n = 0; n < own && !again; n++)
			again = !strcmp(task->files[n].path, file->path);
		if (again)
			continue;
		if (program_check_clash(task, own, file->path, err) < 0)
			return -1;
		if (add_again(task, file, err) < 0)
			return -1;
	}
	size_t bytes = 0;
	for (size_t i = 0; i < task->file_count; i++)
		bytes += task->files[i].input ? 0 : task->files[i].len;
	if (bytes > FILES_BYTES_MAX)
		return error_set(err, ERR_USAGE,
				 "files: those of this context have more than %zu "
				 "bytes in all",
				 FILES_BYTES_MAX);
	for (size_t i = 0; i < own; i++)
		if (keep(h, &task->files[i], err) < 0)
			return -1;
	return 0;
}

char *held_rebuilt(const struct held *h, const struct loop_result *r)
{
	const struct sandbox_isolation *facts = &r->execution.isolation;

	if (!r->executed || r->anew || !h->kept || strcmp(sandbox_fact(facts, "state"), "rebuilt"))
		return NULL;
	const char *why =
		h->reread ? "the server that had it died" : sandbox_fact(facts, "state_lost");
	return mem_printf("what was in memory was made again by running the programs before it: %s",
			  *why ? why : "too many contexts are in use for all to be kept");
}

void held_leave(struct held *h, struct loop_result *result)
{
	h->reread = h->reread && !result->cell;
	if (result->cell)
		h->kept = !strcmp(sandbox_fact(&result->execution.isolation, "held"), "yes");
	if (result->cell)
		context_add(&h->context, TAKE_PTR(result->cell), result->anew);
	context_thin(&h->context);
	context_forget(&h->context, h->context.from);
}
