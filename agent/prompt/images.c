/*
 * Images that a person attached, for models that see. They are files of the task, and in its record
 * as such; which were sent is in the record of the call. What is not sent is said, never dropped in
 * silence.
 */
#include "agent/prompt/images.h"

#include "agent/run.h"
#include "base/mem.h"

#include <stdlib.h>

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

	if (!p->note || r->images.told)
		return;
	cleanup_free char *line = mem_printf(
		"%s is a file for the program alone, the model does not see it: %s", path, why);
	p->note(p->self, line);
}

size_t run_images(struct run *r, enum role role, struct llm_image ret[IMAGES_MAX])
{
	const char *own = r->policy->roles[role].model, *model = own ? own : r->policy->model;

	if (!looks_at_images(role))
		return 0;
	size_t count = 0;
	for (size_t i = 0; i < r->task->file_count; i++) {
		const struct task_file *f = &r->task->files[i];
		const char *type = f->bytes && !f->made ? llm_image_type(f->bytes, f->len) : NULL;

		if (!type)
			continue;
		if (!may_see(r, model))
			tell(r, f->path,
			     r->policy->images == IMAGES_NEVER ?
				     "--images never" :
				     "it is not known to see images; --images always sends them");
		else if (f->len > IMAGE_BYTES_MAX || count == IMAGES_MAX)
			tell(r, f->path, "at most 8 images of 5 MiB each are sent");
		else
			ret[count++] = (struct llm_image){ type, f->bytes, f->len };
	}
	r->images.told = true;
	return count;
}
