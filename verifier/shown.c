/*
 * Figures that are only shown: a module of the language's row beside a program that
 * names a library that draws. It may change what a program's own run leaves behind,
 * never what is decided about it: it is no part of a run with tests.
 */
#include "verifier/shown.h"

#include "base/embed.h"
#include "base/mem.h"
#include "verifier/lang/lang.h"

#include <stdlib.h>
#include <string.h>

static bool draws(const struct lang_shown *row, const struct sandbox_job *job)
{
	for (const char *const *word = row->words; *word; word++)
		if (memmem(job->code, job->code_len, *word, strlen(*word)))
			return true;
	return false;
}

static size_t count_env(const struct lang_shown *row, const struct sandbox_job *job,
			bool *ret_has_paths)
{
	size_t len = strlen(row->variable);

	*ret_has_paths = false;
	size_t n;
	for (n = 0; job->env && job->env[n]; n++)
		*ret_has_paths |=
			!strncmp(job->env[n], row->variable, len) && job->env[n][len] == '=';
	return n;
}

static void put_beside(struct shown *ret, const struct lang *lang, size_t n,
		       struct sandbox_job *job)
{
	cleanup_free char *path = mem_printf("verifier/lang/%s/%s", lang->name, lang->shown.source);
	const struct embed *source = embed_find(path);

	ret->module = (struct sandbox_file){ lang->shown.file, source->data, embed_len(source) };
	job->extras = &ret->module;
	job->extra_count = 1;
	ret->paths = mem_printf("%s=/work", lang->shown.variable);
	ret->env = mem_array(NULL, n + 2, sizeof(*ret->env));
	if (n)
		memcpy(ret->env, job->env, n * sizeof(*ret->env));
	ret->env[n] = ret->paths;
	ret->env[n + 1] = NULL;
	job->env = ret->env;
}

void shown_prepare(struct shown *ret, struct sandbox_job *job)
{
	const struct lang *lang = lang_find(job->language->name);

	*ret = (struct shown){ .env = NULL };
	if (!lang || !lang->shown.source)
		return;
	bool has_paths;
	size_t n = count_env(&lang->shown, job, &has_paths);
	if (!has_paths && draws(&lang->shown, job))
		put_beside(ret, lang, n, job);
}

void shown_release(struct shown *s)
{
	free(s->env);
	free(s->paths);
	s->env = NULL;
	s->paths = NULL;
}
