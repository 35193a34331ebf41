/* This program as the sharer of inputs (share.c). */
#ifndef SANDBOX_KEEPER_SHARE_H
#define SANDBOX_KEEPER_SHARE_H

/* When it is started for that: its exit code. */
int share_main(void);

#endif
