/* What the files of this folder have of each other. */
#ifndef VERIFIER_LANG_JAVASCRIPT_H
#define VERIFIER_LANG_JAVASCRIPT_H

#include "verifier/lang/lang.h"
#include "verifier/lang/lexing.h"

extern const struct lang lang_javascript;
extern const struct outline_row javascript_outline;
void lex_javascript(struct lexer *l, char until);
bool sure_javascript(struct lexer *l);

#endif
