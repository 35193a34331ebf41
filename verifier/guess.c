/*
 * Telling code from prose, and one language from another, for blocks without
 * a name and for replies that are code and nothing else.
 *
 * Conservative on purpose: to take prose for code costs a wasted run and a
 * misleading repair, to take code for prose costs one more question. So every
 * line at the left margin outside strings, comments and brackets must be a
 * statement, and one at least must be unmistakable.
 */
#include "verifier/choose.h"

#include "base/mem.h"
#include "base/regex.h"
#include "verifier/lexer.h"

#include <string.h>

struct dialect {
	const char *lang;
	const char *strong;	/* no prose starts a line like this */
	const char *line;	/* every other line at the margin */
};

#define PY_ASSIGN "[A-Za-z_][\\w.]*(?:\\[[^\\]]*\\])?(?:\\s*,\\s*[A-Za-z_]\\w*)*\\s*(?::[^=]*)?" \
		  "(?:[-+*/%|&]|//|\\*\\*)?=(?!=)"
#define CALL "[A-Za-z_$][\\w.$]*\\(.*"

static const struct dialect dialects[] = {
	{ "python",
	  "^(?:import [a-zA-Z_][\\w.]*(?: as \\w+)?(?:\\s*,.*)?\\s*$|from [\\w.]+ import \\S|"
	  "(?:async )?def \\w+\\s*\\(|class \\w+\\s*[:(]|#!.*python|print\\(.*\\)\\s*$|"
	  "(?:if|for|while|with|try|elif) ?.*:\\s*$|" PY_ASSIGN "\\s*\\S)",
	  "^(?:" PY_ASSIGN "|" CALL "|@\\w|(?:else|try|finally|except.*):|assert\\b|return\\b|del |"
	  "raise\\b|global |pass$|[)\\]}\"'])" },
	{ "javascript",
	  "^(?:const |let |var |function\\s*\\*?\\s*\\w*\\s*\\(|async function|console\\.\\w+\\(|"
	  "import .* from |class \\w+ (?:extends \\w+ )?\\{|'use strict'|\"use strict\"|"
	  "(?:if|for|while) \\(.*\\{\\s*$)",
	  "^(?:" CALL "|[\\w.$]+\\s*=|[})\\]]|module\\.|export |return\\b|throw |try \\{)" },
	{ "bash",
	  "^(?:#!.*sh\\b|(?:if|while|until) \\[|for \\w+ in .*; *do|\\w+\\(\\)\\s*\\{|set -[a-z]|"
	  "(?:echo|printf|awk|sed|grep|sort|cut|head|tail|cat|find|seq) (?:[-\"'$]|.*[|>]))",
	  "^(?:[A-Za-z_]\\w*=|(?:fi|done|esac|then|else|do)\\b|[}]|\\w+ "
	  "(?:[-\"'$/]|\\w+\\s*$)|\\w+$)" },
};

/* How far a line opens (or, below zero, closes) brackets. */
static long bracket_balance(const char *code, size_t len)
{
	long depth = 0;
	size_t i;

	for (i = 0; i < len; i++)
		depth += (code[i] == '(' || code[i] == '[' || code[i] == '{') -
			 (code[i] == ')' || code[i] == ']' || code[i] == '}');
	return depth;
}

/* A line that starts a statement at the left margin: not blank, not indented,
 * not inside a string that goes on over its start. */
static bool at_margin(const struct lexed *x, size_t start, size_t end)
{
	char c = x->text[start];

	if (start == end || c == ' ' || c == '\t' || c == '\r')
		return false;
	return !start || x->kinds[start - 1] != LEX_STRING;
}

static bool is_dialect(const struct lexed *x, const struct regex *strong,
		       const struct regex *plain)
{
	struct error err = ERROR_INIT;
	size_t start, end, found = 0;
	long depth = 0;
	const char *nl;

	for (start = 0; start < x->len; start = end + 1) {
		const char *line = x->text + start;
		bool statement = depth <= 0;

		nl = memchr(line, '\n', x->len - start);
		end = nl ? (size_t)(nl - x->text) : x->len;
		depth += bracket_balance(x->code + start, end - start);
		if (!statement || !at_margin(x, start, end))
			continue;
		if (regex_search(strong, line, end - start, 0, NULL, 0, &err) == 1)
			found++;
		else if (regex_search(plain, line, end - start, 0, NULL, 0, &err) != 1)
			return false;
	}
	return found > 0;
}

static bool speaks(const struct dialect *d, const char *code, size_t len)
{
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *strong = regex_compile(d->strong, 0, &err);
	cleanup_regex struct regex *plain = regex_compile(d->line, 0, &err);
	cleanup_lexed struct lexed x = { 0 };

	if (!strong || !plain)
		return false;
	lex_code(d->lang, code, len, &x);
	return is_dialect(&x, strong, plain);
}

const char *choose_guess(const char *code, size_t len)
{
	size_t i;

	/* A program longer than this without a name is not worth guessing at. */
	if (!len || len > (size_t)256 << 10)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(dialects); i++)
		if (speaks(&dialects[i], code, len))
			return dialects[i].lang;
	return NULL;
}
