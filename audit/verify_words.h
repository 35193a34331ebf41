/* Whether the full-text index has the words of the runs, and no others. Internal to audit/. */
#ifndef AUDIT_VERIFY_WORDS_H
#define AUDIT_VERIFY_WORDS_H

#include "audit/db.h"

/*
 * In the caller's snapshot. Each word of the index is looked up as a search would; what is said of
 * runs that are not in it is for the caller to say. *ret_problem is what does not fit, owned by the
 * caller, or NULL.
 */
int verify_words(struct audit *audit, char **ret_problem, struct error *err);

#endif
