/* What a run's record has of the program that is to be saved (save.h). */
#ifndef AGENT_SAVE_RECORDED_H
#define AGENT_SAVE_RECORDED_H

#include "agent/record/recording.h"

struct save_recorded {
	struct recording recording;
	struct recorded_task task;
	struct context context; /* whose last cell is the run's program */
	char *output;		/* of that, standard output; owned */
	size_t output_len;
};

/* ERR_USAGE where the run's program left nothing, or its inputs are gone. To be released in any
 * case. */
int save_recorded_load(struct save_recorded *ret, struct audit *audit, const char *run,
		       struct error *err);
void save_recorded_release(struct save_recorded *r);
#define cleanup_save_recorded __attribute__((cleanup(save_recorded_release)))

#endif
