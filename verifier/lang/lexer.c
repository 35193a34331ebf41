/*
 * Two views of a program, made of what its language's lexer says of each byte. Lines and columns
 * stay where they are in both. No language is known here.
 */
#include "verifier/lang/lexer.h"

#include "base/mem.h"
#include "verifier/lang/lang.h"
#include "verifier/lang/lexing.h"

#include <stdlib.h>
#include <string.h>

static void make_views(struct lexed *x, const char *code)
{
	x->code = mem_strndup(code, x->len);
	x->text = mem_strndup(code, x->len);
	size_t depth = 0;
	for (size_t i = 0; i < x->len; i++) {
		if (x->kinds[i] == LEX_CODE) {
			if (strchr("([{", code[i]) && code[i] && ++depth > x->depth)
				x->depth = depth;
			else if (depth && strchr(")]}", code[i]) && code[i])
				depth--;
			continue;
		}
		if (code[i] == '\n')
			continue;
		x->code[i] = ' ';
		if (x->kinds[i] == LEX_COMMENT)
			x->text[i] = ' ';
	}
}

/* Its kinds are owned by who asks. */
static struct lexer lexer_of(const char *code, size_t len)
{
	return (struct lexer){ .s = code, .len = len, .kinds = mem_alloc(len) };
}

void lex_code(const char *lang, const char *code, size_t len, struct lexed *ret)
{
	struct lexer l = lexer_of(code, len);
	struct lexed x = { .len = len, .kinds = l.kinds };
	const struct lang *row = lang_find(lang);

	if (row)
		row->lex(&l, '\0');
	make_views(&x, code);
	*ret = x;
}

bool lex_sure(const char *lang, const char *code, size_t len, struct lexed *ret)
{
	struct lexer l = lexer_of(code, len);
	struct lexed x = { .len = len, .kinds = l.kinds };
	const struct lang *row = lang_find(lang);

	bool is_sure = row && row->sure && row->sure(&l);
	if (!is_sure)
		memset(x.kinds, LEX_CODE, len);
	make_views(&x, code);
	*ret = x;
	return is_sure;
}

void lexed_release(struct lexed *x)
{
	free(x->kinds);
	free(x->code);
	free(x->text);
	*x = (struct lexed){ 0 };
}
