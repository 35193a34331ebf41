/* What a stranger's JSON text would take in memory, before it is parsed: a value costs some hundred
 * bytes, however short it is written. */
#ifndef BASE_JSON_WEIGHT_H
#define BASE_JSON_WEIGHT_H

#include <stddef.h>

/* As many values as the text can have at most, but for the outermost. */
size_t json_weight(const char *text, size_t len);

#endif
