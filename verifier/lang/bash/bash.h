/* What the files of this folder have of each other. */
#ifndef VERIFIER_LANG_BASH_H
#define VERIFIER_LANG_BASH_H

#include "verifier/lang/lang.h"
#include "verifier/lang/lexing.h"

extern const struct lang lang_bash;
void lex_bash(struct lexer *l, char until);
bool sure_bash(struct lexer *l);

#endif
