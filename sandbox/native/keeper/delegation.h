/* A v2 group that was delegated to us (delegation.c). */
#ifndef SANDBOX_KEEPER_DELEGATION_H
#define SANDBOX_KEEPER_DELEGATION_H

#include <stdbool.h>

/* Makes our own v2 group one that hands controllers down, if it was delegated to
 * us: moves all it has into a leaf. */
bool delegation_take(const char *path);

#endif
