/* Words of the program's own. Internal to audit/. */
#ifndef AUDIT_VOCABULARY_H
#define AUDIT_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>

bool vocabulary_has(const char *text, size_t len);

#endif
