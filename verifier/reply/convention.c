/*
 * Ways to mark a program other than a fence, in the order in which they are believed. Each reads
 * the reply or declines; none may make a program of prose.
 */
#include "verifier/reply/convention.h"

#include "base/mem.h"
#include "base/regex.h"
#include "sandbox/sandbox.h"
#include "verifier/lang/lang.h"
#include "verifier/reply/call.h"
#include "verifier/reply/choose.h"
#include "verifier/reply/newline.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reading {
	const struct convention_text *text;
	struct code_block *blocks;
	size_t count, guesses;
	const char *name; /* of what was found, where it is not the convention's own */
};

struct convention {
	const char *name;
	const char *open, *close; /* what stands around the code; close NULL: up to the end */
	const char *lang;	  /* what the opening says; NULL: nothing */
	bool anywhere;		  /* not only at the start of a line: no prose has it */
	/* Whether the reply follows the convention; adds what it holds. */
	bool (*read)(struct reading *r, const struct convention *c);
};

/* Beyond these, more of the same are not looked at: a guess is dear. */
#define BLOCKS_MAX  64
#define GUESSES_MAX 256

static const char *guess(struct reading *r, const char *code, size_t len)
{
	return r->guesses++ < GUESSES_MAX ? choose_guess(code, len) : NULL;
}

static void add(struct reading *r, const char *convention, const char *lang, const char *code,
		size_t len, const char *from, const char *to, bool closed)
{
	const char *reply = r->text->reply;

	if (r->count >= BLOCKS_MAX)
		return;
	r->blocks = mem_array(r->blocks, r->count + 1, sizeof(*r->blocks));
	struct code_block *b = &r->blocks[r->count++];
	*b = (struct code_block){ .closed = closed, .convention = convention };
	b->info = mem_strdup("");
	b->lang = mem_strdup(lang ? lang : "");
	b->fence = mem_strdup("");
	b->start_byte = (size_t)(from - reply);
	b->end_byte = (size_t)(to - reply);
	b->start_line = 1 + count_newlines(reply, b->start_byte);
	b->end_line = 1 + count_newlines(reply, b->end_byte);
	/* A program ends its last line, whatever the convention cut off. */
	b->code = mem_alloc(len + 2);
	memcpy(b->code, code, len);
	if (!len || code[len - 1] != '\n')
		b->code[len++] = '\n';
	b->code_len = len;
}

static const char *answer(const struct reading *r, const char **end)
{
	*end = r->text->reply + r->text->len;
	return r->text->reply + r->text->from;
}

/* Without the blank lines around, and the blanks at the end. */
static void trim(const char **from, const char **to)
{
	const char *at;

	for (at = *from; at < *to && isspace((unsigned char)*at); at++)
		if (*at == '\n')
			*from = at + 1;
	while (*to > *from && isspace((unsigned char)(*to)[-1]))
		--*to;
	if (at >= *to)
		*from = *to;
}

static bool is_blank(const char *from, const char *to)
{
	while (from < to && isspace((unsigned char)*from))
		from++;
	return from == to;
}

/* --- tool calls --- */

/* The call in a text that stands in the reply from `from` to `to`. */
static bool add_call(struct reading *r, const struct convention *c, const char *lang,
		     const char *text, size_t len, const char *from, const char *to)
{
	cleanup_json struct json *o = call_parse(text, len);
	struct call call;

	call_find(o, &call);
	if (!call.code)
		return false;
	add(r, c->name, call.lang ? call.lang : lang, call.code, strlen(call.code), from, to, true);
	return true;
}

bool convention_is_call(const struct json *object)
{
	struct call call;

	call_find(object, &call);
	return call.code != NULL;
}

static bool read_json_call(struct reading *r, const struct convention *c)
{
	const char *end, *text = answer(r, &end);

	for (size_t i = 0; i < r->text->fenced_count; i++) {
		const struct code_block *b = &r->text->fenced[i];

		add_call(r, c, NULL, b->code, b->code_len, r->text->reply + b->start_byte,
			 r->text->reply + b->end_byte);
	}
	return r->count || add_call(r, c, NULL, text, (size_t)(end - text), text, end);
}

/* --- tags --- */

static const char *find_open(const struct convention *c, const char *at, const char *end)
{
	const char *start = at, *line;
	size_t n = strlen(c->open);

	for (; at < end && (at = memchr(at, c->open[0], (size_t)(end - at))); at++) {
		if ((size_t)(end - at) < n || strncasecmp(at, c->open, n))
			continue;
		for (line = at; line > start && (line[-1] == ' ' || line[-1] == '\t'); line--)
			;
		if (c->anywhere || line == start || line[-1] == '\n')
			return at;
	}
	return NULL;
}

static const char *find_close(const char *close, const char *at, const char *end)
{
	size_t n = close ? strlen(close) : 0;

	for (; n && at < end && (at = memchr(at, *close, (size_t)(end - at))); at++)
		if ((size_t)(end - at) >= n && !strncasecmp(at, close, n))
			return at;
	return NULL;
}

/* The language that what stands in an opening tag names: "=python", lang="js". */
static const char *named_lang(const char *from, const char *to)
{
	while (from < to) {
		char word[24];
		size_t n;

		for (n = 0; from < to && isalnum((unsigned char)*from); from++)
			if (n + 1 < sizeof(word))
				word[n++] = *from;
		word[n] = '\0';
		if (n && language_find(word))
			return language_find(word)->name;
		from += from < to;
	}
	return NULL;
}

/* <parameter=code>...</parameter>, <parameter name="code">...</parameter>; what
 * stands before it may name the language. */
static bool find_parameter(const char **from, const char **to, const char **lang)
{
	static const char open[] = "<parameter", close[] = "</parameter>";
	static const char *const names[] = { "code", "source", "script", "command", "program" };
	const char *at = memmem(*from, (size_t)(*to - *from), open, sizeof(open) - 1);
	const char *tag = at ? memchr(at, '>', (size_t)(*to - at)) : NULL;
	size_t i;

	for (i = 0; tag && i < ARRAY_SIZE(names); i++)
		if (memmem(at, (size_t)(tag - at), names[i], strlen(names[i])))
			break;
	if (!tag || i == ARRAY_SIZE(names))
		return false;
	if (!*lang)
		*lang = named_lang(*from, at);
	const char *end = find_close(close, tag + 1, *to);
	*from = tag + 1;
	*to = end ? end : *to;
	return true;
}

/* What stands inside a tag: a call, a parameter of one, or the code itself. */
static void add_content(struct reading *r, const struct convention *c, const char *lang,
			const char *from, const char *to, bool closed)
{
	bool parameter = find_parameter(&from, &to, &lang);

	while (from < to && *from == ' ') /* behind the tag, on its line */
		from++;
	trim(&from, &to);
	if (from == to || (!parameter && (*from == '{' || *from == '[') &&
			   add_call(r, c, lang, from, (size_t)(to - from), from, to)))
		return;
	if (lang || guess(r, from, (size_t)(to - from)))
		add(r, c->name, lang, from, (size_t)(to - from), from, to, closed);
}

static bool read_tag(struct reading *r, const struct convention *c)
{
	const char *end, *at = answer(r, &end);

	while ((at = find_open(c, at, end)) && r->count < BLOCKS_MAX) {
		const char *from = at + strlen(c->open);
		bool whole = from[-1] == '>' || from[-1] == ']';
		const char *tag = whole ? from - 1 : memchr(from, '>', (size_t)(end - from));

		if (!tag)
			break;
		/* "<codex" is another tag. */
		if (!whole && isalnum((unsigned char)*from) && from[-1] != '=') {
			at = from;
			continue;
		}
		const char *lang = NULL;
		if (!whole)
			lang = named_lang(from, tag);
		const char *to = find_close(c->close, tag + 1, end);
		add_content(r, c, lang ? lang : c->lang, tag + 1, to ? to : end, to || !c->close);
		at = to ? to : end;
	}
	return r->count > 0;
}

/* The tags of a language's row; the first that the reply has gives the name. */
static bool read_lang_tags(struct reading *r, const struct lang *lang, const struct lang_tag *tag,
			   bool anywhere)
{
	for (; tag && tag->name; tag++) {
		struct convention c = { tag->name,  tag->open, tag->close,
					lang->name, anywhere,  read_tag };

		if (read_tag(r, &c)) {
			r->name = tag->name;
			return true;
		}
	}
	return false;
}

static bool read_marks(struct reading *r, const struct convention *c)
{
	for (size_t i = 0; lang_at(i); i++)
		if (read_lang_tags(r, lang_at(i), lang_at(i)->reply.marks, c->anywhere))
			return true;
	return false;
}

static bool read_tags(struct reading *r, const struct convention *c)
{
	for (size_t i = 0; lang_at(i); i++)
		if (read_lang_tags(r, lang_at(i), lang_at(i)->reply.tags, c->anywhere))
			return true;
	return false;
}

/* The end of the line at `at`. */
static const char *line_end(const char *at, const char *end)
{
	const char *nl = memchr(at, '\n', (size_t)(end - at));

	return nl ? nl : end;
}

/* --- a fence that is none by the letter --- */

/* Whether only a reader of CommonMark would see no fence here: text stands before
 * it on its line, or all of it is on one line. */
static bool is_inline(const char *start, const char *open, const char *close)
{
	const char *at = open;

	while (at > start && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return (at > start && at[-1] != '\n') || !memchr(open, '\n', (size_t)(close - open));
}

static bool read_inline_fence(struct reading *r, const struct convention *c)
{
	const char *end, *start = answer(r, &end), *open = start, *close;
	size_t n = strlen(c->open);

	for (; (open = memmem(open, (size_t)(end - open), c->open, n)); open = close + n) {
		const char *from = open + n;

		close = memmem(from, (size_t)(end - from), c->close, n);
		if (!close)
			break;
		if (!is_inline(start, open, close))
			continue;
		while (from < close && (isalnum((unsigned char)*from) || strchr("+#-", *from)))
			from++;
		const char *lang =
			isspace((unsigned char)*from) ? named_lang(open + n, from) : NULL;
		if (!lang)
			from = open + n;
		while (from < close && *from == ' ')
			from++;
		const char *to = close;
		trim(&from, &to);
		if (from < to && (lang || guess(r, from, (size_t)(to - from))))
			add(r, c->name, lang, from, (size_t)(to - from), from, to, true);
	}
	return r->count > 0;
}

/* "``` That is it." closes no fence by the letter. */
static bool read_fence_with_tail(struct reading *r, const struct convention *c)
{
	const struct code_block *b =
		r->text->fenced_count ? &r->text->fenced[r->text->fenced_count - 1] : NULL;
	if (!b || b->closed || !b->lang[0] || !language_find(b->lang))
		return false;
	const char *end = b->code + b->code_len;
	for (const char *line = b->code; line < end; line = line_end(line, end) + 1)
		if (!strncmp(line, b->fence, strlen(b->fence)) && line > b->code) {
			add(r, c->name, b->lang, b->code, (size_t)(line - b->code),
			    r->text->reply + b->start_byte, r->text->reply + b->end_byte, true);
			return true;
		}
	return false;
}

/* --- no mark at all --- */

static bool add_guessed(struct reading *r, const char *name, const char *from, const char *to)
{
	trim(&from, &to);
	const char *lang = from < to ? guess(r, from, (size_t)(to - from)) : NULL;
	if (lang)
		add(r, name, lang, from, (size_t)(to - from), from, to, true);
	return lang != NULL;
}

static bool read_bare(struct reading *r, const struct convention *c)
{
	const char *end, *at = answer(r, &end);

	if (r->text->fenced_count)
		return false;
	while (at < end && isspace((unsigned char)*at))
		at++;
	if (add_guessed(r, c->name, at, end))
		return true;
	const char *next;
	/* One line that announces it, by a colon or a blank line behind it, and then nothing
	 * but the program. */
	const char *stop = next = line_end(at, end);
	while (stop > at && isspace((unsigned char)stop[-1]))
		stop--;
	if (stop == at || next == end)
		return false;
	return (stop[-1] == ':' || is_blank(next, line_end(next + 1, end))) &&
	       add_guessed(r, c->name, next, end);
}

static bool is_indented(const char *line, const char *end)
{
	return line < end && (*line == '\t' || (end - line > 4 && !memcmp(line, "    ", 4)));
}

static void add_indented(struct reading *r, const char *name, struct buf *code, const char *from,
			 const char *to)
{
	const char *start = code->data, *stop = code->data + code->len;

	trim(&start, &stop);
	const char *lang = guess(r, start, (size_t)(stop - start));
	if (lang)
		add(r, name, lang, start, (size_t)(stop - start), from, to, true);
	buf_clear(code);
}

/* Indented code after a blank line, without its four columns. */
static bool read_indented(struct reading *r, const struct convention *c)
{
	const char *end, *line = answer(r, &end), *next, *start = NULL;
	cleanup_buf struct buf code = BUF_INIT(r->text->len + 1);
	bool after_blank = true;

	for (; line < end && !r->text->fenced_count; line = next) {
		const char *stop = line_end(line, end);
		bool blank = is_blank(line, stop);

		next = stop < end ? stop + 1 : end;
		if (blank) {
			buf_addch(&code, '\n');
		} else if (is_indented(line, end) && (start || after_blank)) {
			start = start ? start : line;
			line += *line == '\t' ? 1 : 4;
			buf_add(&code, line, (size_t)(next - line));
		} else {
			if (start)
				add_indented(r, c->name, &code, start, line);
			start = NULL;
		}
		after_blank = blank;
	}
	if (start)
		add_indented(r, c->name, &code, start, end);
	return r->count > 0;
}

/* --- nothing to read --- */

static bool is_thinking(struct reading *r, const struct convention *c)
{
	(void)c;
	return r->text->thinking_open;
}

static bool is_empty(struct reading *r, const struct convention *c)
{
	const char *end, *at = answer(r, &end);

	(void)c;
	return is_blank(at, end);
}

static bool is_refusal(struct reading *r, const struct convention *c)
{
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *re = regex_compile(c->open, REGEX_ICASE, &err);
	const char *end, *at = answer(r, &end);
	size_t len = (size_t)(end - at);

	return re && regex_search(re, at, len < 400 ? len : 400, 0, NULL, 0, &err) == 1;
}

#define REFUSAL                                                                       \
	"^\\W*(?:(?:i['’]?m|i am) (?:very |really |so )?(?:sorry|unable|not able)|" \
	"sorry\\b|(?:unfortunately,? )?i (?:can(?:no|['’])t|can not|won['’]?t|"   \
	"will not)\\b|as an ai\\b)"

/* In the order in which they are tried. */
static const struct convention conventions[] = {
	{ CONVENTION_THINKING, NULL, NULL, NULL, false, is_thinking },
	{ CONVENTION_EMPTY, NULL, NULL, NULL, false, is_empty },
	{ "fence with text behind it", NULL, NULL, NULL, false, read_fence_with_tail },
	{ "fence inside a line", "```", "```", NULL, true, read_inline_fence },
	{ "tool call <tool_call>", "<tool_call>", "</tool_call>", NULL, true, read_tag },
	{ "tool call <|tool_call|>", "<|tool_call|>", "<|", NULL, true, read_tag },
	{ "tool call <function_call>", "<function_call>", "</function_call>", NULL, true,
	  read_tag },
	{ "tool call <function=>", "<function=", "</function>", NULL, true, read_tag },
	{ "tool call <invoke>", "<invoke name=", "</invoke>", NULL, true, read_tag },
	{ "tool call [TOOL_CALLS]", "[TOOL_CALLS]", NULL, NULL, true, read_tag },
	{ "control token of a language", NULL, NULL, NULL, true, read_marks },
	{ "tool call", NULL, NULL, NULL, false, read_json_call },
	{ "tag of a language", NULL, NULL, NULL, false, read_tags },
	{ "<code>", "<code", "</code>", NULL, false, read_tag },
	{ "<program>", "<program", "</program>", NULL, false, read_tag },
	{ "<script>", "<script", "</script>", NULL, false, read_tag },
	{ "<solution>", "<solution", "</solution>", NULL, false, read_tag },
	{ "<answer>", "<answer", "</answer>", NULL, false, read_tag },
	{ "<pre>", "<pre", "</pre>", NULL, false, read_tag },
	{ "no fence", NULL, NULL, NULL, false, read_bare },
	{ "indented code", NULL, NULL, NULL, false, read_indented },
	{ CONVENTION_REFUSAL, REFUSAL, NULL, NULL, false, is_refusal },
};

const char *convention_read(const struct convention_text *text, struct code_block **ret,
			    size_t *ret_count)
{
	struct reading r = { .text = text };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(conventions); i++) {
		const struct convention *c = &conventions[i];

		if (text->has_program && strncmp(c->name, CONVENTION_FENCE, 5))
			continue;
		if (c->read(&r, c))
			break;
	}
	*ret = r.blocks;
	*ret_count = r.count;
	if (i == ARRAY_SIZE(conventions))
		return NULL;
	return r.name ? r.name : conventions[i].name;
}
