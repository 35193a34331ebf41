/* A text in the user's editor ($VISUAL, $EDITOR, else vi). */
#ifndef AGENT_EDIT_H
#define AGENT_EDIT_H

#include "base/error.h"

#include <stddef.h>

/* The edited text, the caller's; ERR_FAILED when the editor fails. The
 * temporary file is private and removed. lang picks its extension. */
int edit_text(const char *lang, const char *text, size_t len, char **ret_text, struct error *err);

#endif
