/*
 * What was seen in inputs (inspections.h). Only what was looked at to its end is kept, in memory
 * and for one sandbox; nothing of it is ever written.
 */
#include "agent/prompt/inspections.h"

#include "agent/input/input.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* One that was changed later may be as old, by the kernel's clock for files. */
#define SETTLED_MS 1000

void inspections_release(struct inspections *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->list[i].text);
	*c = (struct inspections){ .count = 0 };
}

/* False: it cannot be known again. */
static bool identify(struct sandbox *sandbox, const struct sandbox_file *file,
		     char ret[HASH_HEX_LEN + 1])
{
	const struct input *input = file->source ? input_of(file->source) : NULL;
	struct sandbox_environment python;
	struct error ignored = ERROR_INIT; /* then it is looked into, and fails by itself */

	if (sandbox_describe(sandbox, inspect_language(), &python, &ignored) < 0 ||
	    (input && clock_wall_ms() - input->mtime_ms < SETTLED_MS))
		return false;
	char content[HASH_HEX_LEN + 1];
	if (!input)
		hash_sha256(file->bytes ? file->bytes : "", file->bytes ? file->len : 0, content);
	cleanup_free char *text = mem_printf("%s\n%s\n%s\n%s\n%s", input ? input->stamp : content,
					     file->path, python.sandbox ? python.sandbox : "",
					     python.interpreter ? python.interpreter : "",
					     python.digest ? python.digest : "");
	hash_sha256(text, strlen(text), ret);
	return true;
}

static const char *find(const struct inspections *c, const char *key)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->list[i].key, key))
			return c->list[i].text;
	return NULL;
}

static void keep(struct inspections *c, const char *key, const char *text)
{
	struct inspection_kept *to = &c->list[c->next];

	if (c->count < INSPECTIONS_MAX)
		c->count++;
	else
		free(to->text);
	memcpy(to->key, key, sizeof(to->key));
	to->text = mem_strdup(text);
	c->next = (c->next + 1) % INSPECTIONS_MAX;
}

int inspections_look(struct inspections *c, struct sandbox *sandbox,
		     const struct sandbox_file *file, int64_t wall_ms, int cancel_fd,
		     struct inspection *ret, struct error *err)
{
	char key[HASH_HEX_LEN + 1];
	bool known = identify(sandbox, file, key);
	const char *text = known ? find(c, key) : NULL;

	if (text) {
		*ret = (struct inspection){ .text = mem_strdup(text), .whole = true };
		return 0;
	}
	if (inspect_file(sandbox, file, wall_ms, cancel_fd, ret, err) < 0)
		return -1;
	if (known && ret->whole)
		keep(c, key, ret->text);
	return 0;
}
