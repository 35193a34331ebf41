/*
 * Looks for imports and for words in text, and knows no more of Python than that. It may miss what
 * a program imports, which costs time; it may not name what comes after anything but imports.
 */
#include "sandbox/packages.h"

#include "base/buf.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define MODULES_MAX 1024

/* What is left to read. */
struct reader {
	const char *at, *end;
};

static bool has(const struct reader *r, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(r->end - r->at) >= len && !memcmp(r->at, word, len);
}

static bool take(struct reader *r, const char *word)
{
	if (!has(r, word))
		return false;
	r->at += strlen(word);
	return true;
}

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || has(r, "\\\n")))
		r->at += *r->at == '\\' ? 2 : 1;
}

static void skip_line(struct reader *r)
{
	const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));

	r->at = !end ? r->end : end + 1;
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (c & 0x80) != 0;
}

/* True when a statement is over here; what follows it on the line may be another. */
static bool take_end(struct reader *r)
{
	skip_blanks(r);
	if (r->at < r->end && *r->at == ';') {
		r->at++;
		skip_blanks(r);
		return true;
	}
	if (r->at < r->end && *r->at != '\n' && *r->at != '#' && *r->at != '\r')
		return false;
	skip_line(r);
	return true;
}

/* --- imports --- */

static unsigned find_package(const struct language *language, const char *name, size_t len)
{
	const struct language_package *p = language_probe(language)->packages;

	for (unsigned bit = 1; p->name; p++, bit <<= 1)
		if (strlen(p->name) == len && !memcmp(p->name, name, len))
			return bit | p->needs;
	return 0;
}

/* A name with dots; the package that it is of. False: there is none. */
static bool take_name(struct reader *r, const struct language *language, unsigned *packages)
{
	const char *name = r->at;

	while (r->at < r->end && is_of_name(*r->at))
		r->at++;
	if (r->at == name)
		return false;
	*packages |= find_package(language, name, (size_t)(r->at - name));
	while (r->at < r->end && (is_of_name(*r->at) || *r->at == '.'))
		r->at++;
	skip_blanks(r);
	return true;
}

static bool take_word(struct reader *r, const char *word)
{
	const struct reader before = *r;

	if (take(r, word) && r->at < r->end && !is_of_name(*r->at)) {
		skip_blanks(r);
		return true;
	}
	*r = before;
	return false;
}

/* a.b as c, d */
static bool take_names(struct reader *r, const struct language *language, unsigned *packages)
{
	unsigned ignored = 0;

	do {
		skip_blanks(r);
		if (!take_name(r, language, packages) ||
		    (take_word(r, "as") && !take_name(r, language, &ignored)))
			return false;
	} while (take(r, ","));
	return true;
}

/* What a `from` takes of a module. */
static bool take_members(struct reader *r, const struct language *language)
{
	if (take(r, "*"))
		return true;
	unsigned ignored = 0;
	if (!take(r, "("))
		return take_names(r, language, &ignored);
	const char *end = memchr(r->at, ')', (size_t)(r->end - r->at));
	r->at = !end ? r->end : end + 1;
	return end != NULL;
}

static bool take_import(struct reader *r, const struct language *language, unsigned *packages)
{
	if (take_word(r, "import"))
		return take_names(r, language, packages);
	return take_word(r, "from") && take_name(r, language, packages) && take_word(r, "import") &&
	       take_members(r, language);
}

/* It changes nothing: our environment has the same in a variable. */
static bool take_backend(struct reader *r)
{
	return take(r, "matplotlib.use(") && (take(r, "'Agg')") || take(r, "\"Agg\")") ||
					      take(r, "'agg')") || take(r, "\"agg\")"));
}

/* Empty lines, comments, and texts that stand alone. */
static bool take_nothing(struct reader *r)
{
	const char *quotes = has(r, "\"\"\"") ? "\"\"\"" : has(r, "'''") ? "'''" : NULL;

	if (!quotes)
		return take_end(r);
	const char *end = memmem(r->at + 3, (size_t)(r->end - r->at - 3), quotes, 3);
	if (!end)
		return false;
	r->at = end + 3;
	return take_end(r);
}

unsigned packages_imported(const struct language *language, const char *code, size_t len)
{
	struct reader r = { code, code + len };

	if (!language_probe(language)->packages)
		return 0;
	take(&r, "\xef\xbb\xbf");
	unsigned packages = 0;
	while (r.at < r.end) {
		const struct reader before = r;

		if (take_nothing(&r))
			continue;
		r = before;
		unsigned more = 0;
		if (take_import(&r, language, &more) && take_end(&r)) {
			packages |= more;
			continue;
		}
		r = before;
		if (!take_backend(&r) || !take_end(&r))
			break;
	}
	return packages;
}

/* --- words --- */

/* No letter stands before it, nor, unless it is the end of a file's name, behind. */
static bool speaks_of(const char *text, size_t len, const char *word)
{
	const size_t word_len = strlen(word);

	for (size_t i = 0; i + word_len <= len; i++)
		if (!strncasecmp(text + i, word, word_len) &&
		    (i == 0 || word[0] == '.' || !isalnum((unsigned char)text[i - 1])) &&
		    (i + word_len == len || !isalnum((unsigned char)text[i + word_len]) ||
		     text[i + word_len] == 's'))
			return true;
	return false;
}

unsigned packages_spoken_of(const struct language *language, const char *text, size_t len)
{
	const struct language_package *p = language_probe(language)->packages;
	unsigned packages = 0;

	for (unsigned bit = 1; p && p->name; p++, bit <<= 1)
		for (const char *const *word = p->words; *word; word++)
			if (speaks_of(text, len, *word))
				packages |= bit | p->needs;
	return packages;
}

unsigned packages_installed(const struct language *language, unsigned packages, const char *said)
{
	const struct language_package *p = language_probe(language)->packages;
	unsigned there = 0;

	for (unsigned bit = 1; p && p->name; p++, bit <<= 1)
		if ((p->needs & ~there) == 0 && said && speaks_of(said, strlen(said), p->name))
			there |= bit;
	return packages & there;
}

char *packages_modules(const struct language *language, unsigned packages)
{
	const struct language_package *p = language_probe(language)->packages;
	struct buf modules = BUF_INIT(MODULES_MAX);

	if (packages == 0)
		return NULL;
	for (; p && p->name && packages != 0; p++, packages >>= 1)
		if (packages & 1)
			buf_addf(&modules, "%s%s", modules.len > 0 ? "," : "", p->modules);
	return buf_take(&modules, NULL);
}
