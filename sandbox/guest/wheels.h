/* Wheels of Python packages that lie in a folder of the user's, as a part of what a run's
 * environment was. */
#ifndef SANDBOX_GUEST_WHEELS_H
#define SANDBOX_GUEST_WHEELS_H

#include "base/error.h"
#include "base/hash.h"

/* Adds the name and the bytes of every regular file *.whl of the folder, in the order of their
 * names; a folder that is not there has none. 0; -1 with err when one cannot be read. */
int wheels_add(struct hash *h, const char *folder, struct error *err);

#endif
