/* What the files of this folder have of each other. */
#ifndef VERIFIER_LANG_PYTHON_H
#define VERIFIER_LANG_PYTHON_H

#include "verifier/lang/lang.h"
#include "verifier/lang/lexing.h"

extern const struct lang lang_python;
extern const struct outline_row python_outline;
void lex_python(struct lexer *l, char until);
bool sure_python(struct lexer *l);
/* Of a cell that could decide what later ones seem to do (forges.c); end with NULL. */
/* Where a part of an imported module gets another name (parts.c). */
bool python_parts(const char *code, size_t len, size_t *ret_start, size_t *ret_end);
extern const char *const python_forges[], *const python_forges_text[], *const python_forges_flat[];

#endif
