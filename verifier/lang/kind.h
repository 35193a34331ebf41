/* What a byte of code is, for those who mark it and those who read the marks. */
#ifndef VERIFIER_LEX_KIND_H
#define VERIFIER_LEX_KIND_H

enum lex_kind { LEX_CODE, LEX_STRING, LEX_COMMENT };

#endif
