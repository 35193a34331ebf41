/* This program where the kernel is gVisor's (single.c). */
#ifndef SANDBOX_KEEPER_SINGLE_H
#define SANDBOX_KEEPER_SINGLE_H

#define KEEPER_SINGLE "--single" /* its argument */

/* Serves one run; its exit status. */
int single_main(void);

#endif
