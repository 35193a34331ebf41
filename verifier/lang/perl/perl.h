/* What the files of this folder have of each other. */
#ifndef VERIFIER_LANG_PERL_H
#define VERIFIER_LANG_PERL_H

#include "verifier/lang/lang.h"
#include "verifier/lang/lexing.h"

extern const struct lang lang_perl;
void lex_perl(struct lexer *l, char until);

#endif
