/* What was asked, as a name. */
#ifndef AGENT_BATCH_KEY_H
#define AGENT_BATCH_KEY_H

#include "agent/cli/batch/batch.h"

struct task_line;

/* The half of the settings. ERR_CONFIG: a prompt of --prompts cannot be read. */
int batch_settings_key(const struct batch *batch, char ret[BATCH_KEY_HALF + 1], struct error *err);
/* The whole, of one task: its members that decide its run, and what its files hold. */
void batch_key(const struct batch *batch, const struct task_line *line,
	       char ret[BATCH_KEY_LEN + 1]);

#endif
