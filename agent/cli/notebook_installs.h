/*
 * Whether text for a shell installs something, told from where its commands begin. For an
 * explanation before anything runs, and no wall: what is not seen here finds no network.
 */
#ifndef AGENT_NOTEBOOK_INSTALLS_H
#define AGENT_NOTEBOOK_INSTALLS_H

#include <stddef.h>

/* The first command that does, where it begins in the text; NULL: none does. */
const char *notebook_installs(const char *text, size_t len);

#endif
