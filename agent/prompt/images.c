/*
 * Images that a person attached, for models that see. They are files of the task, and in its record
 * as such; which were sent is in the record of the call. What is not sent is said, never dropped in
 * silence.
 */
#include "agent/prompt/images.h"

#include "agent/run.h"
#include "base/mem.h"

#include <stdlib.h>
#include <unistd.h>

struct images_memory {
	bool told; /* which of them are not sent */
};

/* Those who plan and write see; a judge has the program's output to go by. */
static bool looks_at_images(enum role role)
{
	return role == ROLE_PLAN || role == ROLE_CODE || role == ROLE_REPAIR;
}

static bool may_see(const struct run *r, const char *model)
{
	return r->policy->images == IMAGES_ALWAYS ||
	       (r->policy->images == IMAGES_AUTO && llm_sees(model));
}

static void tell(struct run *r, const char *path, const char *why)
{
	const struct progress *p = &r->loop->progress;

	if (!p->note || r->images->told)
		return;
	cleanup_free char *line = mem_printf(
		"%s is a file for the program alone, the model does not see it: %s", path, why);
	p->note(p->self, line);
}

static void tell_unseen(struct run *r, const char *path)
{
	const struct setting_names *names = r->loop->names;
	bool never = r->policy->images == IMAGES_NEVER;
	cleanup_free char *why =
		never ? setting_in_words(names, SETTING_IMAGES, "", " never",
					 "none is to be sent") :
			setting_in_words(names, SETTING_IMAGES, "it is not known to see images; ",
					 " always sends them", "it is not known to see images");

	tell(r, path, why);
}

static void tell_too_large(struct run *r, const char *path)
{
	cleanup_free char *why =
		setting_in_words(r->loop->names, SETTING_KEEP_INPUTS,
				 "what is sent must be whole in the log, and it is not (", ")",
				 "what is sent must be whole in the log, and it is not");

	tell(r, path, why);
}

const char *image_type_of(int fd)
{
	char head[16];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	return n > 0 ? llm_image_type(head, (size_t)n) : NULL;
}

/* NULL: it is none, or none that was given. */
static const char *type_of(const struct task_file *f)
{
	if (f->made)
		return NULL;
	if (f->bytes)
		return llm_image_type(f->bytes, f->len);
	return f->input && !f->input->source.folder ? image_type_of(f->input->source.fd) : NULL;
}

size_t run_images(struct run *r, enum role role, struct llm_image ret[IMAGES_MAX])
{
	const char *own = r->policy->roles[role].model, *model = own ? own : r->policy->model;

	if (!looks_at_images(role))
		return 0;
	size_t count = 0;
	for (size_t i = 0; i < r->task->file_count; i++) {
		const struct task_file *f = &r->task->files[i];
		const char *type = type_of(f);

		if (!type)
			continue;
		if (!may_see(r, model))
			tell_unseen(r, f->path);
		else if (f->len > IMAGE_BYTES_MAX || count == IMAGES_MAX)
			tell(r, f->path, "at most 8 images of 5 MiB each are sent");
		else if (!f->bytes)
			tell_too_large(r, f->path);
		else
			ret[count++] = (struct llm_image){ type, f->bytes, f->len };
	}
	r->images->told = true;
	return count;
}

void run_images_begin(struct run *r)
{
	r->images = mem_alloc(sizeof(*r->images));
}

void run_images_release(struct run *r)
{
	free(r->images);
}
