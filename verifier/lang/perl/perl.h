/* What the files of this folder have of each other. */
#ifndef VERIFIER_LANG_PERL_H
#define VERIFIER_LANG_PERL_H

#include "verifier/lang/lang.h"
#include "verifier/lang/lexing.h"

extern const struct lang lang_perl;
extern const struct outline_row perl_outline;
void lex_perl(struct lexer *l, char until);

/* Of the outline's tokens (verifier/reply/token.h). */
struct token_reader;
bool perl_special(struct token_reader *r, char c);
void perl_text(struct token_reader *r);

#endif
