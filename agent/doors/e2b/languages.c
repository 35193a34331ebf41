/*
 * What E2B's wire knows of a language, a row each: what its sandboxes begin with, and what a
 * command may hand to an interpreter. All else is asked of the languages' own rows.
 */
#include "agent/doors/e2b/e2b.h"

#include "agent/notebook.h"
#include "base/embed.h"
#include "base/mem.h"

#include <string.h>

#define BEGIN_JS "agent/doors/e2b/begin.js"

static char *begin_shell(const char *cwd)
{
	cleanup_free char *quoted = e2b_word(cwd);

	return mem_printf("mkdir -p /tmp/user %s && cd -- %s\n", quoted, quoted);
}

static char *begin_javascript(const char *cwd)
{
	cleanup_json struct json *text = json_new_string(cwd);
	cleanup_free char *quoted = json_print(text);

	return e2b_with_text(embed_find(BEGIN_JS)->data, "process.env.ASSAY_CWD", quoted);
}

/* Programs are handed to those whose interpreter runs what it is given and nothing else. Perl's is
 * none of them, which hands a file on to what its first line names. */
static const struct e2b_language rows[] = {
	{ "python", .is_default = true, .options = " -u -B -s -E -I -O -OO -q ", .text = "-c" },
	{ "javascript", .is_default = true, .begin = begin_javascript, .options = " --no-warnings ",
	  .text = "-e", .reads_on = true },
	{ "bash", .is_shell = true, .begin = begin_shell },
};

const struct e2b_language *e2b_language_at(size_t i)
{
	return i < ARRAY_SIZE(rows) ? &rows[i] : NULL;
}

const struct e2b_language *e2b_language(const struct language *language)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (language_find(rows[i].name) == language)
			return &rows[i];
	return NULL;
}

const struct language *e2b_shell(void)
{
	const struct e2b_language *l = rows;

	while (!l->is_shell)
		l++;
	return language_find(l->name);
}

const struct language *e2b_notebook(void)
{
	return notebook_language();
}
