/*
 * Which cells a last one needs (cells.h). The parser runs in the sandbox on texts alone; what it
 * says is tried by whoever asked, so a wrong word costs a run and proves nothing.
 */
#include "verifier/cells.h"

#include "base/buf.h"
#include "base/embed.h"
#include "base/mem.h"
#include "verifier/lang/lang.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE_MAX ((size_t)1 << 20)

void slice_release(struct slice *s)
{
	free(s->used);
	free(s->program);
	free(s->why_all);
	*s = (struct slice){ .count = 0 };
}

static char *question(const struct language *language, const struct cell *list, size_t count,
		      bool all)
{
	cleanup_json struct json *object = json_object();
	struct json *cells = json_array(), *after = json_array();

	for (size_t i = 0; i < count; i++) {
		cleanup_free char *lines = cells_after(language, list, count, i);

		json_append(cells, json_new_bytes(list[i].code, list[i].len));
		json_append(after, json_new_string(lines));
	}
	json_set(object, "cells", cells);
	json_set(object, "after", after);
	json_set_bool(object, "all", all);
	return json_print(object);
}

/* What the parser says; NULL when it said nothing that can be read. */
static struct json *ask(struct sandbox *sandbox, int cancel_fd, const struct lang *runs,
			const struct buf *source, const char *text)
{
	const struct sandbox_watch watch = { .cancel_fd = cancel_fd };
	cleanup_sandbox_result struct sandbox_result x = { .exit_code = -1 };
	struct sandbox_job job = {
		.language = language_find(runs->name),
		.flags = runs->harness.context.flags,
		.code = source->data,
		.code_len = source->len,
		.stdin_bytes = text,
		.stdin_len = strlen(text),
	};

	sandbox_limits_default(&job.limits);
	job.limits.stdout_bytes = (int64_t)64 << 20;
	struct error ignored = ERROR_INIT;
	if (sandbox_run(sandbox, &job, &watch, &x, &ignored) < 0 || x.outcome != SANDBOX_EXIT ||
	    x.exit_code != 0)
		return NULL;
	return json_parse(x.out.bytes, x.out.len, 0, &ignored);
}

static bool read_answer(const struct json *answer, size_t count, struct slice *ret)
{
	const struct json *number = json_first(json_get(answer, "used"));
	const char *program = json_get_string(answer, "program");

	if (!program)
		return false;
	for (; number; number = json_next(number)) {
		int64_t n = json_int(number, -1);

		if (n < 0 || (size_t)n >= count)
			return false;
		ret->used[n] = true;
	}
	ret->program = mem_strdup(program);
	ret->len = strlen(program);
	ret->why_all = mem_strdup(json_get_string(answer, "why"));
	return true;
}

static void use_all(const struct language *language, const struct cell *list, size_t count,
		    struct slice *ret)
{
	const struct cell *last = &list[count - 1];

	memset(ret->used, true, count);
	ret->why_all = mem_printf("what a program in %s needs of those before it is not looked for",
				  language->name);
	ret->program = cells_join(language, list, count - 1, last->code, last->len, &ret->len);
}

static void add_source(struct buf *out, const struct lang *lang, const char *name)
{
	cleanup_free char *path = mem_printf("verifier/lang/%s/%s", lang->name, name);
	const struct embed *source = embed_find(path);

	if (source)
		buf_add(out, source->data, embed_len(source));
}

void cells_slice(struct sandbox *sandbox, int cancel_fd, const struct language *language,
		 const struct cell *list, size_t count, bool all, struct slice *ret)
{
	const struct lang *lang = lang_find(language->name);
	cleanup_buf struct buf source = BUF_INIT(SOURCE_MAX);
	cleanup_json struct json *answer = NULL;

	*ret = (struct slice){ .used = mem_alloc(count * sizeof(bool)), .count = count };
	for (size_t i = 0; lang && lang->harness.slice[i]; i++)
		add_source(&source, lang, lang->harness.slice[i]);
	if (source.len) {
		const char *runs = lang->harness.slice_runs;

		cleanup_free char *text = question(language, list, count, all);
		answer = ask(sandbox, cancel_fd, runs ? lang_find(runs) : lang, &source, text);
	}
	if (!answer || !read_answer(answer, count, ret))
		use_all(language, list, count, ret);
}
