#include "verifier/choose.h"

#include "base/mem.h"
#include "base/regex.h"
#include "sandbox/sandbox.h"
#include "verifier/lexer.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct chooser {
	struct code_block *blocks;
	size_t count;
	bool *out;		/* of the running, by block */
	const char *lang;	/* the language that is to run */
};

__attribute__((format(printf, 3, 4)))
static void rule_out(struct chooser *c, size_t i, const char *fmt, ...)
{
	char *why = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&why, fmt, ap) < 0)
		why = NULL;
	va_end(ap);
	c->out[i] = true;
	free(c->blocks[i].why);
	c->blocks[i].why = why;
}

/* --- what a block says of itself --- */

static bool is_blank_code(const struct code_block *b)
{
	return strspn(b->code, " \t\r\n") == b->code_len;
}

static const char *extension_lang(const char *name)
{
	const struct language *l;
	const char *dot = strrchr(name, '.');
	size_t i;

	for (i = 0; dot && (l = language_at(i)); i++)
		if (!strcasecmp(l->extension, dot))
			return l->name;
	return NULL;
}

/* The first word of text that looks like a file name: "main.py", "src/a.js". */
static char *file_name_in(const char *text, size_t len)
{
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *re =
		regex_compile("(?:^|[\\s\"'=:/])([\\w-]+\\.(?:py|m?js|sh|bash))(?=$|[\\s\"',;:)}])",
			      REGEX_ICASE, &err);
	struct regex_span span[2];

	if (!re || regex_search(re, text, len, 0, span, 2, &err) != 1)
		return NULL;
	return mem_strndup(text + span[1].start, span[1].end - span[1].start);
}

/* From the info string, or from a first line that is a comment and no more. */
static char *file_name(const struct code_block *b)
{
	char *name = file_name_in(b->info, strlen(b->info));
	const char *nl = memchr(b->code, '\n', b->code_len);
	size_t len = nl ? (size_t)(nl - b->code) : b->code_len;

	if (name || len > 80 || b->code[0] == '\0')
		return name;
	if ((b->code[0] == '#' && b->code[1] != '!') || !strncmp(b->code, "//", 2))
		return file_name_in(b->code, len);
	return NULL;
}

static bool name_is_tests(const char *name)
{
	return !strncasecmp(name, "test", 4) || strcasestr(name, "_test.") ||
	       strcasestr(name, ".test.") || strcasestr(name, ".spec.");
}

static bool name_is_entry(const char *name)
{
	return !strncasecmp(name, "main.", 5) || !strncasecmp(name, "solution.", 9);
}

static bool info_has_word(const char *info, const char *word)
{
	size_t n = strlen(word);
	const char *at;

	for (at = info; (at = strcasestr(at, word)); at += n) {
		bool start = at == info || !isalnum((unsigned char)at[-1]);

		if (start && !isalnum((unsigned char)at[n]))
			return true;
	}
	return false;
}

static void classify(struct code_block *b)
{
	cleanup_free char *name = file_name(b);
	const struct language *l = language_find(b->lang);

	b->tests = info_has_word(b->info, "tests") || info_has_word(b->info, "test") ||
		   (name && name_is_tests(name));
	if (l)
		b->run_as = l->name;
	else if (name && (!b->lang[0] || strchr(b->info, '.')))
		b->run_as = extension_lang(name);
	if (!b->run_as && !b->lang[0])
		b->run_as = choose_guess(b->code, b->code_len);
}

/* --- the rules, in order --- */

static void rule_out_roles(struct chooser *c)
{
	size_t i;

	for (i = 0; i < c->count; i++) {
		struct code_block *b = &c->blocks[i];

		if (is_blank_code(b))
			rule_out(c, i, "empty");
		else if (b->tests)
			rule_out(c, i, "holds tests, which run beside the program");
		else if (!strncmp(b->code, ">>> ", 4))
			rule_out(c, i, "an interpreter session, not a program");
		else if (b->lang[0] && !b->run_as)
			rule_out(c, i, "marked `%.40s`, which is not a language that runs here",
				 b->lang);
	}
}

static const char *pick_language(const struct chooser *c, const char *want)
{
	const char *shell = NULL;
	size_t i;

	if (want)
		return want;
	for (i = 0; i < c->count; i++) {
		const char *lang = c->blocks[i].run_as;

		if (c->out[i] || !lang)
			continue;
		if (strcmp(lang, "bash") != 0)
			return lang;
		shell = lang;
	}
	return shell;
}

static void rule_out_languages(struct chooser *c, const char *want)
{
	bool named = false;
	size_t i;

	for (i = 0; i < c->count; i++)
		if (!c->out[i] && c->blocks[i].run_as && !strcmp(c->blocks[i].run_as, c->lang))
			named = true;
	for (i = 0; i < c->count; i++) {
		const char *lang = c->blocks[i].run_as;

		if (c->out[i] || (lang && !strcmp(lang, c->lang)))
			continue;
		if (lang)
			rule_out(c, i, "%s, and %s is %s", lang, c->lang,
				 want ? "wanted" : "the language of the first program");
		else if (named)
			rule_out(c, i, "names no language and another block is %s", c->lang);
	}
}

/* Whether code calls name outside strings and comments. */
static bool code_uses(const struct lexed *x, const char *name, size_t len)
{
	const char *at = x->code, *end = x->code + x->len;

	while ((at = memmem(at, (size_t)(end - at), name, len))) {
		bool starts = at == x->code || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' ||
						 at[-1] == '.');

		at += len;
		if (starts && at < end && *at == '(')
			return true;
	}
	return false;
}

#define DEFINITION "^(?:(?:async )?def|class|(?:async )?function\\*?|const|let|var)\\s+" \
		   "([A-Za-z_$][\\w$]*)"

static bool defines(const struct regex *re, const struct code_block *b, const char *name,
		    size_t len)
{
	struct error err = ERROR_INIT;
	struct regex_span span[2];
	size_t at = 0;

	while (regex_search(re, b->code, b->code_len, at, span, 2, &err) == 1) {
		if (span[1].end - span[1].start == len &&
		    !memcmp(b->code + span[1].start, name, len))
			return true;
		at = span[0].end;
	}
	return false;
}

/* The first name that `earlier` defines and `later` uses without defining it. */
static char *borrowed_name(const struct regex *re, const struct code_block *earlier,
			   const struct code_block *later, const char *lang)
{
	struct error err = ERROR_INIT;
	cleanup_lexed struct lexed x = { 0 };
	struct regex_span span[2];
	size_t at = 0, len;

	lex_code(lang, later->code, later->code_len, &x);
	while (regex_search(re, earlier->code, earlier->code_len, at, span, 2, &err) == 1) {
		const char *name = earlier->code + span[1].start;

		len = span[1].end - span[1].start;
		if (code_uses(&x, name, len) && !defines(re, later, name, len))
			return mem_strndup(name, len);
		at = span[0].end;
	}
	return NULL;
}

/* Pairs are compared only in replies of ordinary size: the work is a product. */
#define BORROW_BLOCKS_MAX 40

static void rule_out_usage(struct chooser *c)
{
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *re = regex_compile(DEFINITION, REGEX_MULTILINE, &err);
	size_t i, j;

	if (!re || c->count > BORROW_BLOCKS_MAX)
		return;
	for (i = 0; i < c->count; i++) {
		for (j = 0; j < i && !c->out[i]; j++) {
			cleanup_free char *name = NULL;

			if (c->out[j])
				continue;
			name = borrowed_name(re, &c->blocks[j], &c->blocks[i], c->lang);
			if (name)
				rule_out(c, i, "an example of use: `%.60s` is defined in the block "
					 "at line %zu", name, c->blocks[j].start_line);
		}
	}
}

static void prefer_entry(struct chooser *c)
{
	bool found = false;
	size_t i;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < c->count; i++) {
			cleanup_free char *name = c->out[i] ? NULL : file_name(&c->blocks[i]);
			bool entry = name && name_is_entry(name);

			if (!pass)
				found = found || entry;
			else if (found && !c->out[i] && !entry)
				rule_out(c, i, "another block is named as the entry file");
		}
	}
}

/* --- the choice --- */

static struct code_block *last_left(const struct chooser *c, bool closed_only)
{
	size_t i;

	for (i = c->count; i-- > 0;)
		if (!c->out[i] && (c->blocks[i].closed || !closed_only))
			return &c->blocks[i];
	return NULL;
}

static size_t count_left(const struct chooser *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->count; i++)
		n += !c->out[i];
	return n;
}

static enum extract_status settle(struct chooser *c, const struct extract_options *options)
{
	struct code_block *last = last_left(c, false), *chosen = last;
	size_t i;

	if (!last)
		return EXTRACT_AMBIGUOUS;
	if (!last->closed && !options->truncated && last_left(c, true))
		chosen = last_left(c, true);
	for (i = 0; i < c->count; i++)
		if (!c->out[i] && &c->blocks[i] != chosen)
			rule_out(c, i, c->blocks[i].closed ?
				 "a later block of %s replaces it" :
				 "its fence never closes and an earlier block of %s is complete",
				 c->lang);
	chosen->chosen = true;
	if (!chosen->run_as)
		chosen->run_as = c->lang;
	if (chosen->closed)
		return EXTRACT_OK;
	return options->truncated ? EXTRACT_TRUNCATED : EXTRACT_UNCLOSED;
}

enum extract_status choose_block(struct code_block *blocks, size_t count,
				 const struct extract_options *options)
{
	cleanup_free bool *out = mem_alloc(count * sizeof(*out));
	struct chooser c = { blocks, count, out, NULL };
	const struct language *want = options->want_lang ? language_find(options->want_lang) : NULL;
	enum extract_status status;
	size_t i, left;

	if (!count)
		return EXTRACT_NONE;
	for (i = 0; i < count; i++)
		classify(&blocks[i]);
	rule_out_roles(&c);
	c.lang = pick_language(&c, want ? want->name : options->want_lang);
	if (!c.lang) {
		for (i = 0; i < count; i++)
			if (!out[i])
				rule_out(&c, i,
					 "names no language, and its code does not tell one");
		return EXTRACT_AMBIGUOUS;
	}
	rule_out_languages(&c, options->want_lang);
	left = count_left(&c);
	rule_out_usage(&c);
	prefer_entry(&c);
	status = settle(&c, options);
	for (i = 0; i < count; i++)
		if (blocks[i].chosen)
			blocks[i].why =
				mem_strdup(left > 1 ? "the last complete program of the language" :
						      "the only program of the language");
	return status;
}
