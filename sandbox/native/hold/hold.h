/*
 * The insides of assay-hold.so, which is loaded into an interpreter whose state shall be copied.
 * Theory of operation: hold.c. It runs where guests run and holds no power: nothing that it says
 * is believed for more than an exit status would be (keeper/held.c looks itself).
 */
#ifndef SANDBOX_HOLD_HOLD_H
#define SANDBOX_HOLD_HOLD_H

#include "sandbox/native/keeper/context.h"

/* --- check.c --- */

/* Why a copy of this process would not be the same state, in words; NULL: it would. control is
 * a descriptor of ours. */
const char *check_copy(int control);
/* In a copy: what is open for reading, and had its position in common with the original, has one
 * of its own. */
int check_separate(int control);

#endif
