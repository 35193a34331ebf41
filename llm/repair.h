/* One rejected parameter of a request body may be taken out or renamed. Pure. */
#ifndef LLM_REPAIR_H
#define LLM_REPAIR_H

#include "base/json.h"
#include "llm/llm.h"

/*
 * Changes body when error says that the server does not know or not support
 * the parameter param. Returns a sentence that says what was changed, the
 * caller's to free, or NULL when nothing could be.
 */
char *repair_body(struct json *body, const struct llm_error *error, const char *param);

#endif
