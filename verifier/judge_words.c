/*
 * A verdict in words: "PASS", "**Verdict:** pass", "It is right. Verdict: pass".
 *
 * What a judge repeats from the output must not count as its own. So words in
 * quotation marks or quoted lines decide nothing, though they do contradict,
 * and the caller asks for none of this where the output speaks of verdicts.
 */
#include "verifier/judge.h"

#include "base/regex.h"

#include <ctype.h>
#include <string.h>

/* No choice ("pass or fail") and no condition ("pass if"), in the same sentence. */
#define VERDICT_WORD                                           \
	"(?:(pass)(?:ed|es)?|(fail)(?:ed|s|ure)?)(?![a-z0-9])" \
	"(?![^\\w\\n.]{0,3}\\b(?:or|if|unless|only|except|once|when)\\b|\\s*[/|?])"
#define LABEL "(?<![a-z0-9])verdict[\\W_]{1,8}(?:(?:is|would be)[\\W_]{1,4})?" VERDICT_WORD
#define ALONE "^[\\W_]*" VERDICT_WORD "[\\W_]*$"

struct tally {
	bool pass, fail;	     /* said by the judge */
	bool other_pass, other_fail; /* said anywhere */
};

static void count(struct tally *t, const struct regex_span *span, bool quoted)
{
	bool pass = span[1].set && span[1].end > span[1].start;

	t->other_pass = t->other_pass || pass;
	t->other_fail = t->other_fail || !pass;
	t->pass = t->pass || (pass && !quoted);
	t->fail = t->fail || (!pass && !quoted);
}

/* In quotation marks, or on a line that is quoted or code. */
static bool is_quoted(const char *text, size_t at)
{
	size_t line = at;

	if (at && strchr("\"'`", text[at - 1]) && text[at - 1])
		return true;
	if (at > 2 && (unsigned char)text[at - 3] == 0xe2) /* typographic ones */
		return true;
	while (line && text[line - 1] != '\n')
		line--;
	while (text[line] == ' ' || text[line] == '\t')
		line++;
	return text[line] == '>' || (line < at && text[line] == '`');
}

static void count_labels(struct tally *t, const char *text, size_t len)
{
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *re = regex_compile(LABEL, REGEX_ICASE, &err);
	struct regex_span span[3];
	size_t at = 0;

	while (re && regex_search(re, text, len, at, span, 3, &err) == 1) {
		count(t, span, is_quoted(text, span[0].start));
		at = span[0].end;
	}
}

/* A reply that is the word and its decoration, a fence perhaps. */
#define ALONE_BYTES_MAX 64

/* The word alone, on the first or the last line. */
static void count_alone(struct tally *t, const char *text, size_t len)
{
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *re = regex_compile(ALONE, REGEX_ICASE, &err);

	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	while (len && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	struct regex_span span[3];
	if (re && len <= ALONE_BYTES_MAX && regex_search(re, text, len, 0, span, 3, &err) == 1) {
		count(t, span, false);
		return;
	}
	const char *first = memchr(text, '\n', len);
	const char *last = memrchr(text, '\n', len);
	if (re &&
	    regex_search(re, text, first ? (size_t)(first - text) : len, 0, span, 3, &err) == 1)
		count(t, span, *text == '>');
	size_t tail = last ? (size_t)(text + len - last) - 1 : 0;
	if (re && tail && regex_search(re, last + 1, tail, 0, span, 3, &err) == 1)
		count(t, span, last[1] == '>');
}

enum verdict judge_words(const char *text, size_t len, bool *ret_several)
{
	struct tally t = { .pass = false };

	count_labels(&t, text, len);
	count_alone(&t, text, len);
	*ret_several = t.other_pass && t.other_fail;
	if (*ret_several || t.pass == t.fail)
		return VERDICT_ERROR;
	return t.pass ? VERDICT_PASS : VERDICT_FAIL;
}

bool judge_is_quotable(const char *output, size_t len)
{
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *re = regex_compile(
		"\\bverdict\\b|\\bpass(?:ed|es)?\\b|\\bfail(?:ed|s|ure)?\\b", REGEX_ICASE, &err);

	/* What cannot be looked through may hold anything. */
	return !re || regex_search(re, output, len, 0, NULL, 0, &err) != 0;
}
