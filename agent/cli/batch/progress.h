/* What is watched, drawn. */
#ifndef AGENT_BATCH_PROGRESS_H
#define AGENT_BATCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct batch_watch;

/* Draws when it is time to, or now. */
void batch_progress_draw(struct batch_watch *w, bool now);
/* Milliseconds until it is; -1: never. */
int batch_progress_in(const struct batch_watch *w, int64_t now_ms);

#endif
