/* Programs given by hand: which language a file is in. */
#ifndef AGENT_SOURCE_H
#define AGENT_SOURCE_H

#include "agent/cli/settings.h"

/* That of the path's extension; NULL: it tells nothing. */
const struct language *source_by_ending(const char *path);
/* --lang, else the extension of path, else the #! line of code; ERR_USAGE that
 * lists the languages when none tells. */
const struct language *source_language(const struct settings *settings, const char *path,
				       const char *code, size_t len, struct error *err);

#endif
