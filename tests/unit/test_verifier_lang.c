/*
 * Each language's two rows: what they name is there, and what they match with compiles. No program
 * runs: what a row's harness does is test_verifier_harness.c's and test_verifier_cells.c's.
 */
#include "tests/unit/test_cases.h"

#include "base/embed.h"
#include "base/mem.h"
#include "base/regex.h"
#include "sandbox/probe.h"
#include "verifier/lang/lang.h"
#include "verifier/lang/lexer.h"

#include <string.h>

static void must_be_there(const struct lang *lang, const char *name)
{
	cleanup_free char *path = *name == '/' ?
					  mem_printf("verifier/lang%s", name) :
					  mem_printf("verifier/lang/%s/%s", lang->name, name);

	if (!embed_find(path))
		fail_msg("%s names %s", lang->name, path);
}

static void must_compile(const struct lang *lang, const char *pattern)
{
	cleanup_free char *whole = pattern ? mem_strdup(pattern) : NULL;
	struct error err = ERROR_INIT;

	if (!pattern)
		return;
	cleanup_regex struct regex *re = regex_compile(whole, REGEX_MULTILINE, &err);
	if (!re)
		fail_msg("%s: %s: %s", lang->name, pattern, err.message);
}

static void test_two_rows(void **state)
{
	(void)state;
	for (size_t i = 0; lang_at(i); i++) {
		const struct language *language = language_find(lang_at(i)->name);

		assert_non_null(language);
		assert_string_equal(language->name, lang_at(i)->name);
		assert_ptr_equal(lang_find(lang_at(i)->name), lang_at(i));
		assert_int_equal(lang_index(lang_at(i)), i);
		assert_string_equal(language_probe(language)->dpkg[0], lang_at(i)->package);
		assert_int_equal(*language_probe(language)->notable != NULL, lang_at(i)->libraries);
	}
	for (size_t i = 0; language_at(i); i++)
		assert_non_null(lang_find(language_at(i)->name));
	assert_null(lang_find(NULL));
	assert_null(lang_find("Python"));
}

static void look_for_reader(const struct lang *lang, const struct lang_reader *r)
{
	if (!r->runs)
		return;
	assert_non_null(language_find(r->runs));
	for (size_t i = 0; i < LANG_PARTS_MAX && r->parts[i].path; i++)
		must_be_there(lang, r->parts[i].path);
	for (size_t i = 0; i < LANG_PARTS_MAX && r->files[i]; i++) {
		cleanup_free char *path = mem_printf("reader/%s", r->files[i]);

		must_be_there(lang, path);
	}
}

static void test_files(void **state)
{
	(void)state;
	for (size_t i = 0; lang_at(i); i++) {
		const struct lang *lang = lang_at(i);
		const struct lang_entry *entries[] = { &lang->harness.program, &lang->harness.judge,
						       &lang->harness.together, &lang->harness.show,
						       &lang->harness.context };

		must_be_there(lang, lang->rules);
		if (lang->shown.source)
			must_be_there(lang, lang->shown.source);
		if (lang->refusal)
			must_be_there(lang, lang->refusal);
		look_for_reader(lang, &lang->reader);
		look_for_reader(lang, &lang->whole);
		for (size_t j = 0; j < ARRAY_SIZE(entries); j++)
			for (size_t k = 0; k < LANG_SOURCES_MAX && entries[j]->source[k]; k++)
				must_be_there(lang, entries[j]->source[k]);
	}
}

static void test_patterns(void **state)
{
	(void)state;
	for (size_t i = 0; lang_at(i); i++) {
		const struct lang *lang = lang_at(i);
		const struct lang_report *r = &lang->report;
		const char *const all[] = { lang->reply.strong, lang->reply.line, lang->reply.files,
					    r->start,		r->unstarted,	  r->error,
					    r->syntax,		r->import,	  r->memory };

		for (size_t j = 0; j < ARRAY_SIZE(all); j++)
			must_compile(lang, all[j]);
		const struct lang_forges *f = &lang->harness.forges;
		const char *const *const lists[] = { f->code, f->text, f->flat };
		for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
			for (size_t j = 0; lists[k] && lists[k][j]; j++)
				must_compile(lang, lists[k][j]);
		for (size_t j = 0; j < LANG_ADVICE_COUNT; j++)
			must_compile(lang, lang->advice[j]);
		assert_non_null(strstr(r->frame, "%s"));
	}
}

/* Nothing is stepped over, and what cannot be told apart is code. */
static void test_lexers(void **state)
{
	static const char *const codes[] = { "",    "\\", "\"", "'",	  "/",	     "<<",
					     "<<X", "q{", "s/", "=pod\n", "x = \"a", "f'{",
					     "`${", "#",  "$(", "\n" };

	(void)state;
	for (size_t i = 0; lang_at(i); i++)
		for (size_t j = 0; j < ARRAY_SIZE(codes); j++) {
			cleanup_lexed struct lexed x = { 0 };

			lex_code(lang_at(i)->name, codes[j], strlen(codes[j]), &x);
			assert_int_equal(x.len, strlen(codes[j]));
			assert_int_equal(strlen(x.code), x.len);
			assert_int_equal(strlen(x.text), x.len);
		}
}

static void test_list(void **state)
{
	cleanup_buf struct buf names = BUF_INIT(4096);
	const struct lang *last = NULL;

	(void)state;
	for (size_t i = 0; lang_at(i); i++)
		last = lang_at(i);
	lang_list(&names, ", ", " or ");
	cleanup_free char *end = mem_printf(" or %s", last->name);
	assert_non_null(strstr(names.data, end));
	assert_ptr_equal(strstr(names.data, lang_at(0)->name), names.data);
}

int main(void)
{
	const struct CMUnitTest rows[] = {
		cmocka_unit_test(test_two_rows), cmocka_unit_test(test_files),
		cmocka_unit_test(test_patterns), cmocka_unit_test(test_lexers),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests_name("languages", rows, NULL, NULL);
}
