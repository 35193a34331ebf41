/*
 * The policy of choose.h, a step a function: each rules blocks out and says why. It never rules
 * out the last one; what cannot be told apart is ambiguous.
 */
#include "verifier/reply/choose.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/regex.h"
#include "sandbox/sandbox.h"
#include "verifier/lang/lang.h"
#include "verifier/reply/join.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct chooser {
	struct code_block *blocks;
	size_t count;
	bool *out;	  /* of the running, by block */
	const char *lang; /* the language that is to run */
	struct join join;
};

__attribute__((format(printf, 3, 4))) static void rule_out(struct chooser *c, size_t i,
							   const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *why = NULL;
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

	for (size_t i = 0; dot && (l = language_at(i)); i++)
		if (!strcasecmp(l->extension, dot))
			return l->name;
	return NULL;
}

static char *file_name_pattern(void)
{
	struct buf b = BUF_INIT(4096);

	buf_addstr(&b, "(?:^|[\\s\"'=:/])([\\w-]+\\.(?:");
	for (size_t i = 0; lang_at(i); i++)
		buf_addf(&b, "%s%s", i ? "|" : "", lang_at(i)->reply.files);
	buf_addstr(&b, "))(?=$|[\\s\"',;:)}])");
	return buf_take(&b, NULL);
}

/* The first word of text that looks like a file name: "main.py", "src/a.js". */
static char *file_name_in(const char *text, size_t len)
{
	const bool may = memchr(text, '.', len); /* to compile costs more than to look */
	cleanup_free char *pattern = may ? file_name_pattern() : NULL;
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *re = may ? regex_compile(pattern, REGEX_ICASE, &err) : NULL;
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

	for (const char *at = info; (at = strcasestr(at, word)); at += n) {
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
	if (!b->run_as)
		b->foreign = foreign_find(b->lang, b->code, b->code_len);
}

/* --- the rules, in order --- */

static void rule_out_roles(struct chooser *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct code_block *b = &c->blocks[i];

		if (is_blank_code(b))
			rule_out(c, i, "empty");
		else if (b->tests)
			rule_out(c, i, "holds tests, which run beside the program");
		else if (!strncmp(b->code, ">>> ", 4) || !strncmp(b->code, "$ ", 2))
			rule_out(c, i, "an interpreter session, not a program");
		else if (b->foreign)
			rule_out(c, i, "%s does not run here", b->foreign);
		else if (b->lang[0] && !b->run_as)
			rule_out(c, i, "marked `%.40s`, which is not a language that runs here",
				 b->lang);
	}
}

static const char *pick_language(const struct chooser *c, const char *want)
{
	if (want)
		return want;
	const char *shell = NULL;
	for (size_t i = 0; i < c->count; i++) {
		const char *lang = c->blocks[i].run_as;

		if (c->out[i] || !lang)
			continue;
		if (!lang_find(lang)->reply.starts_others)
			return lang;
		shell = lang;
	}
	return shell;
}

static void rule_out_languages(struct chooser *c, const char *want)
{
	bool named = false;

	for (size_t i = 0; i < c->count; i++)
		if (!c->out[i] && c->blocks[i].run_as && !strcmp(c->blocks[i].run_as, c->lang))
			named = true;
	for (size_t i = 0; i < c->count; i++) {
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

/* Of the blocks left, those that cannot be the program give way to one that can. */
static void rule_out_unless(struct chooser *c, bool (*is_poor)(const struct outline *o),
			    const char *why)
{
	bool better = false;

	for (size_t i = 0; i < c->count; i++)
		if (!c->out[i] && c->blocks[i].closed && !is_poor(&c->join.outlines[i]))
			better = true;
	for (size_t i = 0; better && i < c->count; i++) {
		const struct outline *o = &c->join.outlines[i];

		/* One that never closes may have been cut: settle() knows. */
		if (!c->out[i] && c->blocks[i].closed && is_poor(o))
			rule_out(c, i, "%s", o->fault ? o->fault : why);
	}
}

static bool is_faulty(const struct outline *o)
{
	return o->fault != NULL;
}

static bool is_values(const struct outline *o)
{
	return o->known && o->values_only;
}

static bool is_tests(const struct outline *o)
{
	return o->known && o->tests;
}

/* Pairs are compared only in replies of ordinary size: the work is a product. */
#define BLOCKS_MAX 40

/* What only uses an earlier block runs with it, unless that shows something
 * by itself, or neither does. */
static void rule_out_usage(struct chooser *c)
{
	const struct outline *all = c->join.outlines;

	for (size_t i = 0; i < c->count; i++) {
		for (size_t j = 0; j < i && !c->out[i]; j++) {
			if (c->out[j] || all[i].defines || (all[i].visible && !all[j].visible) ||
			    outline_missing(all, NULL, i, j, NAME_ASSIGNED))
				continue;
			const struct outline_name *name =
				outline_missing(all, NULL, i, j, NAME_DEFINED);
			if (name)
				rule_out(c, i,
					 "an example of use: `%.*s` is defined in the block "
					 "at line %zu",
					 name->len > 60 ? 60 : (int)name->len, name->s,
					 c->blocks[j].start_line);
		}
	}
}

static void read_outlines(struct chooser *c)
{
	for (size_t i = 0; i < c->count; i++) {
		c->join.usable[i] = !c->out[i] && c->blocks[i].closed;
		if (!c->out[i] && c->count <= BLOCKS_MAX)
			outline_read(c->lang, c->blocks[i].code, c->blocks[i].code_len,
				     &c->join.outlines[i]);
	}
	c->join.lang = c->lang;
	join_continuations(&c->join);
	for (size_t i = 0; i < c->count; i++)
		if (c->join.outlines[i].fault)
			c->join.usable[i] = false;
}

static void prefer_entry(struct chooser *c)
{
	bool found = false;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < c->count; i++) {
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
	for (size_t i = c->count; i-- > 0;)
		if (!c->out[i] && (c->blocks[i].closed || !closed_only))
			return &c->blocks[i];
	return NULL;
}

static size_t count_left(const struct chooser *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++)
		n += !c->out[i];
	return n;
}

/* A program in a language that does not run here, and nothing but shell beside
 * it: how to build or start it. NULL when there is none. */
static const char *foreign_language(const struct chooser *c)
{
	const char *found = NULL;

	for (size_t i = 0; i < c->count; i++) {
		const struct code_block *b = &c->blocks[i];

		if (!c->out[i] && b->run_as && !lang_find(b->run_as)->reply.starts_others)
			return NULL;
		if (b->foreign && !b->tests)
			found = b->foreign;
	}
	return found;
}

static void keep_foreign(struct chooser *c, const char *lang)
{
	for (size_t i = 0; i < c->count; i++) {
		struct code_block *b = &c->blocks[i];

		if (b->foreign == lang && !b->tests)
			c->out[i] = false;
		else if (!c->out[i])
			rule_out(c, i, "beside a program in %s: how to build or start it", lang);
	}
	c->lang = lang;
}

static const char *praise(const struct code_block *b, size_t left)
{
	if (b->foreign)
		return "the program; its language does not run here";
	return left > 1 ? "the last complete program of the language" :
			  "the only program of the language";
}

static enum extract_status settle(struct chooser *c, const struct extract_options *options,
				  size_t left, struct program *ret)
{
	struct code_block *last = last_left(c, false), *chosen = last;

	if (!last)
		return EXTRACT_AMBIGUOUS;
	if (!last->closed && !options->truncated && last_left(c, true))
		chosen = last_left(c, true);
	for (size_t i = 0; i < c->count; i++)
		if (!c->out[i] && &c->blocks[i] != chosen)
			rule_out(c, i,
				 c->blocks[i].closed ? "a later block of %s replaces it" :
						       "its fence never closes and an earlier "
						       "block of %s is complete",
				 c->lang);
	free(chosen->why);
	chosen->why = mem_strdup(praise(chosen, left));
	if (!chosen->run_as && !chosen->foreign)
		chosen->run_as = c->lang;
	ret->run_as = chosen->run_as;
	ret->lang = c->lang;
	join_program(&c->join, (size_t)(chosen - c->blocks), ret);
	if (chosen->closed)
		return EXTRACT_OK;
	return options->truncated ? EXTRACT_TRUNCATED : EXTRACT_UNCLOSED;
}

static enum extract_status choose(struct chooser *c, const struct extract_options *options,
				  struct program *ret)
{
	const struct language *want = options->want_lang ? language_find(options->want_lang) : NULL;

	for (size_t i = 0; i < c->count; i++)
		classify(&c->blocks[i]);
	rule_out_roles(c);
	const char *foreign = options->want_lang ? NULL : foreign_language(c);
	if (foreign)
		keep_foreign(c, foreign);
	else
		c->lang = pick_language(c, want ? want->name : options->want_lang);
	for (size_t i = 0; !c->lang && i < c->count; i++)
		if (!c->out[i])
			rule_out(c, i, "names no language, and its code does not tell one");
	if (!c->lang)
		return EXTRACT_AMBIGUOUS;
	if (!foreign)
		rule_out_languages(c, options->want_lang);
	size_t left = count_left(c);
	read_outlines(c);
	rule_out_unless(c, is_tests, "holds tests, which run beside the program");
	rule_out_unless(c, is_faulty, NULL);
	rule_out_unless(c, is_values, "values only: what a program prints, or its data");
	rule_out_usage(c);
	prefer_entry(c);
	return settle(c, options, left, ret);
}

enum extract_status choose_block(struct code_block *blocks, size_t count,
				 const struct extract_options *options, struct program *ret)
{
	cleanup_free bool *out = mem_alloc(count * sizeof(*out));
	cleanup_free bool *usable = mem_alloc(count * sizeof(*usable));
	cleanup_free struct outline *outlines = mem_alloc(count * sizeof(*outlines));
	cleanup_free size_t *head = mem_alloc(count * sizeof(*head));
	struct chooser c = {
		.blocks = blocks,
		.count = count,
		.out = out,
		.join = { .blocks = blocks,
			  .count = count,
			  .outlines = outlines,
			  .usable = usable,
			  .head = head },
	};
	enum extract_status status = EXTRACT_NONE;

	if (count)
		status = choose(&c, options, ret);
	for (size_t i = 0; i < count; i++)
		outline_release(&outlines[i]);
	return status;
}
