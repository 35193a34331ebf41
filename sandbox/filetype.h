/* Media types by content. */
#ifndef SANDBOX_FILETYPE_H
#define SANDBOX_FILETYPE_H

#include <stddef.h>

/* Media type by content; a name only tells kinds of text apart. */
const char *filetype_guess(const char *path, const char *bytes, size_t len);

#endif
