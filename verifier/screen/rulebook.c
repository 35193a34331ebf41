/*
 * Rules as a whole (rulebook.h). It decides nothing about a program, and it does not
 * change the built-in rules: a book stands beside them.
 */
#include "verifier/screen/rulebook.h"

#include "base/embed.h"
#include "base/mem.h"
#include "verifier/lang/lang.h"
#include "verifier/screen/tree.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct rulebook {
	struct ruleset sets[LANGS_MAX]; /* by lang_index; without a text: not in the book */
	struct json *texts;		/* owned, as is name */
	char *name;
};

struct json *rulebook_texts(void)
{
	struct json *texts = json_object();
	const struct lang *lang;

	for (size_t i = 0; (lang = lang_at(i)); i++) {
		cleanup_free char *path =
			mem_printf("verifier/lang/%s/%s", lang->name, lang->rules);
		const struct embed *file = embed_find(path);

		if (file)
			json_set_bytes(texts, lang->name, file->data, embed_len(file));
	}
	return texts;
}

static char *printed;

static void print_texts(void)
{
	cleanup_json struct json *texts = rulebook_texts();

	printed = json_print(texts);
}

const char *rulebook_print(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, print_texts);
	return printed;
}

static char digest[HASH_HEX_LEN + 1];

static void make_digest(void)
{
	cleanup_json struct json *all = rulebook_texts(), *readers = json_object();
	const struct lang *lang;

	for (size_t i = 0; (lang = lang_at(i)); i++)
		json_set_string(readers, lang->name, tree_reader_digest(lang->name));
	json_set(all, "", TAKE_PTR(readers));
	cleanup_free char *text = json_print(all);
	hash_sha256(text, strlen(text), digest);
}

const char *rulebook_digest(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_digest);
	return digest;
}

int rulebook_parse(struct rulebook **ret, const struct json *texts, const char *name,
		   struct error *err)
{
	struct rulebook *book = mem_alloc(sizeof(*book));

	*book = (struct rulebook){ .texts = json_copy(texts), .name = mem_strdup(name) };
	for (const struct json *member = json_first(texts); member; member = json_next(member)) {
		const struct lang *lang = lang_find(json_key(member));
		const char *text = json_string(member);

		if (!lang || !text)
			continue;
		if (ruleset_parse(text, strlen(text), &book->sets[lang_index(lang)], err) < 0) {
			rulebook_free(book);
			return error_wrap(err, "rules of %s", lang->name);
		}
	}
	*ret = book;
	return 0;
}

void rulebook_free(struct rulebook *book)
{
	for (size_t i = 0; book && i < LANGS_MAX; i++)
		ruleset_release(&book->sets[i]);
	if (book) {
		json_free(book->texts);
		free(book->name);
	}
	free(book);
}

struct json *rulebook_copy(const struct rulebook *book)
{
	return json_copy(book->texts);
}

const char *rulebook_name(const struct rulebook *book)
{
	return book->name;
}

const struct ruleset *rulebook_find(const struct rulebook *book, const char *name,
				    struct error *err)
{
	const struct lang *lang = book ? lang_find(name) : NULL;

	if (lang && book->sets[lang_index(lang)].text)
		return &book->sets[lang_index(lang)];
	return ruleset_builtin(name, err);
}
