/* What was in a context whose server died, out of the log. */
#ifndef AGENT_DOORS_REREAD_H
#define AGENT_DOORS_REREAD_H

#include "agent/doors/service/contexts.h"

struct audit;

/* For who has it (contexts_take): its programs that happened, and the files that they had. Nothing
 * where it is not one that is to be read again (struct held). On failure it stays one. */
int held_reread(struct held *held, struct audit *audit, struct error *err);

#endif
