/*
 * Asks RestrictedPython, in the sandbox, what of a program it would refuse. Its answer is text from
 * inside: it is parsed strictly, and none is no permission.
 */
#include "verifier/screen/restricted.h"

#include "base/embed.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FACTS_MAX 100
#define WALL_MS	  20000
#define PROGRAM	  "main.guest"

const struct embed *restricted_source(const char *lang)
{
	const struct lang *row = lang_find(lang);

	return row && row->restricted ? embed_find(row->restricted) : NULL;
}

static void failed(struct tree *tree, const char *why)
{
	tree_release(tree);
	tree->state = TREE_FAILED;
	tree->message = mem_strdup(why);
}

static bool add_fact(struct tree *tree, const struct json *one)
{
	const struct json *line = json_first(one), *column = json_next(line);
	const char *why = json_string(json_next(column));
	int64_t l = json_int(line, 0), c = json_int(column, 0);

	if (json_count(one) != 3 || !why || l < 1 || c < 1)
		return false;
	tree->facts = mem_array(tree->facts, tree->count + 1, sizeof(*tree->facts));
	tree->facts[tree->count++] = (struct tree_fact){
		.text = mem_printf(RESTRICTED_FACT "%.300s", why),
		.line = (size_t)l,
		.column = (size_t)c,
	};
	return true;
}

static bool take(struct tree *tree, const struct sandbox_result *r)
{
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *list = json_parse(r->out.bytes, r->out.len, 0, &ignored);

	if (json_type(list) != JSON_ARRAY || json_count(list) > FACTS_MAX)
		return false;
	for (const struct json *one = json_first(list); one; one = json_next(one))
		if (!add_fact(tree, one))
			return false;
	return true;
}

int restricted_read(struct sandbox *sandbox, int cancel_fd, const char *lang, const char *code,
		    size_t len, struct tree *tree, struct error *err)
{
	static const char *const argv[] = { "--screen", PROGRAM, NULL };
	const struct embed *source = restricted_source(lang);
	const struct sandbox_file program = { .path = PROGRAM, .bytes = code, .len = len };
	const struct sandbox_watch watch = { .cancel_fd = cancel_fd };
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct sandbox_job job = {
		.language = language_find(lang),
		.argv = argv,
		.extras = &program,
		.extra_count = 1,
		.ours = true,
	};

	if (!source || tree->state != TREE_READ)
		return 0;
	job.code = source->data;
	job.code_len = embed_len(source);
	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = WALL_MS;
	if (sandbox_run(sandbox, &job, &watch, &r, err) < 0)
		return -1;
	if (r.outcome == SANDBOX_CANCELLED)
		return error_set(err, ERR_CANCELLED, "cancelled");
	if (r.outcome == SANDBOX_EXIT && r.exit_code == 70)
		failed(tree,
		       "RestrictedPython is not installed: install the Debian package "
		       "python3-restrictedpython, or RestrictedPython into the environment of "
		       "--python");
	else if (r.outcome != SANDBOX_EXIT || r.exit_code != 0 || !take(tree, &r))
		failed(tree, "RestrictedPython did not look at it");
	return 0;
}
