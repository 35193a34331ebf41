/* The launcher and the init that waits below it, between two runs (standby.c). */
#ifndef SANDBOX_KEEPER_STANDBY_H
#define SANDBOX_KEEPER_STANDBY_H

#include "sandbox/native/keeper/keeper.h"

/* Has an init made for the next run, which may need another size of disk. */
void standby_order(struct keeper *k, const struct standby *standby);
/* -1: there is none, and none can be had. */
int standby_ensure(struct keeper *k, const struct protocol_limits *limits);
/* Whether the next run may share the net namespace of the last. */
bool standby_net_is_clean(struct keeper *k);
/* The launcher of a keeper that will have no other run: it dies while what came of this one is
 * told. */
void standby_dismiss(const struct keeper *k);
void standby_discard(struct keeper *k);

#endif
