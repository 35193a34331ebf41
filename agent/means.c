/*
 * The means of who runs: what of them is owned. They decide nothing of what a run comes to, and
 * nothing here writes or reads a record.
 */
#include "agent/means.h"

#include <stdlib.h>

void means_release(struct means *m)
{
	free(m->prompts_dir);
	price_list_release(&m->prices);
	*m = (struct means){ .prompts_dir = NULL };
}
