/* A check that an earlier program could have decided. */
#ifndef AGENT_STAGES_AGAIN_H
#define AGENT_STAGES_AGAIN_H

#include "base/error.h"

#include <stdbool.h>

struct run;

struct again {
	char *without; /* the cells left out, in words; owned; NULL: it did not run again */
	bool same;     /* what it printed and left: they decided nothing of that */
};
/* Runs the program once more, without them, where that can be had. 0 however that came out. */
int run_again(struct run *r, struct again *ret, struct error *err);

#endif
