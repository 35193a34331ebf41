/* The results a file holds from before. */
#ifndef AGENT_BATCH_EARLIER_H
#define AGENT_BATCH_EARLIER_H

#include "agent/cli/batch/outcome.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a result from before stands or does not. */
enum batch_standing {
	STANDS,
	STANDING_NONE,	    /* there is none */
	STANDING_CANCELLED, /* or ended by what was not the task's fault */
	STANDING_FAILED,    /* and that is to be run again */
	STANDING_TASK,	    /* the task is another now */
	STANDING_SETTINGS,
	STANDING_UNKNOWN, /* it does not say what it was asked */
	STANDING_COUNT,
};

struct batch_earlier {
	struct buf text;	      /* of the file */
	struct batch_outcome *lines;  /* owned; in the file's order */
	struct batch_outcome **index; /* owned; by id and repeat */
	size_t count;
};

/* The results of fd, whose path is for messages. A torn last line is passed over; a
 * whole one that is no result is ERR_USAGE: such a file is not written over. */
int batch_earlier_read(struct batch_earlier *e, int fd, const char *path, bool answers,
		       struct error *err);
/* Whether a unit has a result that stands for that key; with retry_failed only
 * success does. One that does not is dropped when the file is written. *ret_success:
 * whether the one that stands is a success. */
enum batch_standing batch_earlier_settle(struct batch_earlier *e, const char *id, uint32_t repeat,
					 const char *key, bool retry_failed, bool *ret_success);
/* The first result of a unit, or NULL. */
const struct batch_outcome *batch_earlier_find(const struct batch_earlier *e, const char *id,
					       uint32_t repeat);
/* Whether it has any. */
bool batch_earlier_has(const struct batch_earlier *e, const char *id, uint32_t repeat);
int batch_earlier_write(const struct batch_earlier *e, const char *path, struct error *err);
void batch_earlier_release(struct batch_earlier *e);

#endif
