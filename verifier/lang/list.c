/*
 * The list of languages, and nothing else: each is defined in the folder of its name. The first
 * is the one to take where nobody says which; the order is that in which code without a name is
 * tried.
 */
#include "verifier/lang/lang.h"

#include "verifier/lang/bash/bash.h"
#include "verifier/lang/javascript/javascript.h"
#include "verifier/lang/perl/perl.h"
#include "verifier/lang/python/python.h"

const struct lang *const lang_rows[] = {
	&lang_python, &lang_javascript, &lang_bash, &lang_perl, NULL,
};
_Static_assert(sizeof(lang_rows) / sizeof(*lang_rows) <= LANGS_MAX + 1,
	       "room for what is kept of each");
